"""The plan of a module whose kernels are in their last form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ..dialects.types import element_of, shape_of, type_name
from ..dialects.uop import LaunchOp, ReshapeOp
from ..rewriting.diagnostics import PassError
from .artifact.plan import Kernel, Launch, Plan, PlanError, Value


def find_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name. Raises `PassError`."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == name:
            return op
    raise PassError(f"the module has no function @{name}", module)


class Sources:
    """The lines of the user's program that the kernels of a plan name, each with its place in `Plan.sources`."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._places)

    def runs(self, numbered: Iterable[tuple[int, Sequence[str]]]) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """`Kernel.lines` of a kernel: from which of its lines on it computes which of the user's.

        numbered: each of its lines by number, and the lines of the user's that it computes
        """
        runs: list[tuple[int, tuple[int, ...]]] = []
        last: Sequence[str] = ()
        for number, sources in numbered:
            if sources != last:
                last = sources
                runs.append((number, tuple(self._places.setdefault(source, len(self._places)) for source in sources)))
        return tuple(runs)


def plan_of(
    function: FuncOp,
    kernels: Mapping[str, Kernel],
    *,
    target: str,
    arch: str,
    sources: tuple[str, ...] = (),
    entry: str = "",
) -> Plan:
    """The plan of a function of launches and reshapes.

    kernels: what it launches, by name; their lines name `sources`
    Raises `PassError` for another operation, and where the launches' places in the arena lose a result.
    """
    values: list[Value] = []
    places: dict[SSAValue, int] = {}
    launches: list[Launch] = []
    launch_ops: list[LaunchOp] = []

    def add(value: SSAValue, view_of: int | None = None, offset: int | None = None) -> int:
        places[value] = len(values)
        name = value.name_hint or f"v{len(values)}"
        values.append(Value(name, _dtype(value.type), shape_of(value.type), view_of, offset))
        return places[value]

    inputs = tuple(add(argument) for argument in function.body.block.args)
    for op in function.body.block.ops:
        if isinstance(op, LaunchOp):
            operands = tuple(places[operand] for operand in op.operands)
            lies = zip(op.results, op.reused(), op.offsets(), strict=True)
            outputs = tuple(
                add(result, None if taken is None else operands[taken], offset) for result, taken, offset in lies
            )
            launches.append(Launch(op.kernel.root_reference.data, outputs, operands))
            launch_ops.append(op)
        elif isinstance(op, ReshapeOp):
            add(op.result, view_of=places[op.input])
        elif isinstance(op, ReturnOp):
            results = tuple(places[operand] for operand in op.operands)
            break
        else:
            raise PassError(f"{op.name} does not stand in a program", op, "uop-partition moves it into a kernel")
    else:
        raise PassError("the program returns nothing", function)
    name, made, launched = function.sym_name.data, tuple(values), tuple(launches)
    plan = Plan(name, target, arch, made, inputs, results, kernels, launched, sources, entry)
    try:
        plan.check()
    except PlanError as error:
        op = function if error.launch is None else launch_ops[error.launch]
        help = "drop `arena` from the launches and run uop-plan-buffers again" if "arena" in str(error) else None
        raise PassError(str(error), op, help) from error
    return plan


def _dtype(type: Attribute) -> str:
    return type_name(element_of(type))
