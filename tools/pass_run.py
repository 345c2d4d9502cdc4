"""One run of one pass, and the hooks around it."""

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.passes import ModulePass


@dataclass
class PassRun:
    """One run of one pass.

    ops: what the pass runs on and, afterwards, what it has left in that place: the module,
         or inside a nested pipeline the operation of its anchor
    """

    pass_: ModulePass
    ops: tuple[Operation, ...]
    nested: bool = False
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    @property
    def name(self) -> str:
        return self.pass_.name


class PassInstrumentation:
    """Hooks around each pass. `after_pass` may raise to make the pass a failed one."""

    def before_pass(self, run: PassRun) -> None: ...

    def after_pass(self, run: PassRun) -> None: ...

    def pass_failed(self, run: PassRun, error: Exception) -> None: ...
