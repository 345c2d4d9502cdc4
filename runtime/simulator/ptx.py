"""The syntax of a PTX module: what the parser produces and the linker consumes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(eq=False, slots=True)
class Register:
    """A virtual register. Identity counts: scopes may declare the same name again."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Special:
    """A read-only special register such as %tid.x, or WARP_SZ."""

    name: str


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal: an integer, or the bits of a float of `float_bits` bits."""

    value: int
    float_bits: int = 0


@dataclass(eq=False, slots=True)
class Variable:
    """A declared variable. space: global, const, shared, local or param."""

    name: str
    space: str
    size: int
    alignment: int
    type: str
    initial: bytes = b""
    is_dynamic: bool = False  # extern shared memory, sized at launch


@dataclass(frozen=True, slots=True)
class Symbol:
    """The address of a variable, or the name of a function or a table of labels."""

    name: str
    variable: Variable | None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """[base + offset]."""

    base: Register | Symbol | Immediate
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """{a, b, …}. An element may be None: the sink `_`."""

    elements: tuple[Operand | None, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """p|q: two destinations."""

    first: Operand | None
    second: Operand | None


@dataclass(frozen=True, slots=True)
class Not:
    """!p: a predicate, negated."""

    register: Register


Operand: TypeAlias = Register | Special | Immediate | Symbol | Address | Vector | Pair | Not


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `line` is the CUDA line, 0 when unknown; `file` the number of its file.

    guard: the predicate register and whether it is negated. name and modifiers: `ld.global.f32` gives "ld"
    and ("global", "f32"). None stands for the sink `_` among the operands.
    """

    text: str
    line: int
    file: int
    guard: tuple[Register, bool] | None
    name: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand | None, ...]

    @property
    def opcode(self) -> str:
        """The opcode with its modifiers, as written."""
        return ".".join((self.name, *self.modifiers))

    @property
    def type(self) -> str:
        """The last modifier, which is the operation's type."""
        return self.modifiers[-1] if self.modifiers else ""

    def has(self, *modifiers: str) -> bool:
        """Whether one of `modifiers` is among the opcode's."""
        return any(modifier in self.modifiers for modifier in modifiers)


@dataclass(slots=True)
class Function:
    """A kernel (entry) or a device function. Labels map to the index of the instruction that follows.

    tables: lists of labels for indexed branches.
    """

    name: str
    is_entry: bool
    returns: list[Variable] = field(default_factory=list[Variable])
    parameters: list[Variable] = field(default_factory=list[Variable])
    variables: list[Variable] = field(default_factory=list[Variable])
    body: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


@dataclass(slots=True)
class Module:
    """A PTX file. files: the names in `.file` directives, by number."""

    target: str
    variables: list[Variable]
    functions: dict[str, Function]
    files: dict[int, str]

    @property
    def kernels(self) -> list[str]:
        """The names of the entry functions, in order."""
        return [function.name for function in self.functions.values() if function.is_entry]
