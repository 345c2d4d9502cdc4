"""The plan of a module whose kernels are in their last form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ..dialects.function_sizes import FunctionSizes
from ..dialects.symbols import Extent
from ..dialects.types import element_of, shape_of, type_name
from ..dialects.uop import LaunchOp, ReshapeOp
from ..rewriting.diagnostics import PassError
from .artifact.plan import Kernel, Launch, Plan, PlanError, Value
from .artifact.sizes import Size, Symbol


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
    name, launched = function.sym_name.data, tuple(launches)
    sizes = FunctionSizes.of(function)
    symbols = tuple(_symbol(name, sizes, inputs, function) for name in sizes.symbols)
    for extents, told in ((sizes.arguments, inputs), (sizes.results, results)):
        for number, each in extents.items():
            place = told[number]
            values[place] = replace(values[place], extents=tuple(map(_size, each)))
    made = tuple(values)
    plan = Plan(name, target, arch, made, inputs, results, kernels, launched, sources, entry, symbols)
    try:
        plan.check()
    except PlanError as error:
        op = function if error.launch is None else launch_ops[error.launch]
        help = "drop `arena` from the launches and run uop-plan-buffers again" if "arena" in str(error) else None
        raise PassError(str(error), op, help) from error
    return plan


def _symbol(name: str, sizes: FunctionSizes, inputs: Sequence[int], function: FuncOp) -> Symbol:
    """Where the value of a symbol comes from. Raises `PassError` where no length of an argument tells it."""
    place, symbol = sizes.symbols[name]
    for number, extents in sizes.arguments.items():
        for axis, extent in enumerate(extents):
            offset = extent.evaluate({name: 0}) if extent.symbols == (name,) else 0
            factor = extent.evaluate({name: 1}) - offset if extent.symbols == (name,) else 0
            if factor > 0 and extent == Extent.of(name) * factor + offset:
                return Symbol(name, symbol.low, symbol.high, inputs[place], inputs[number], axis, factor, offset)
    raise PassError(f"no dimension of an argument tells the size {name}", function)


def _size(extent: Extent) -> Size:
    if extent.constant is not None:
        return extent.constant
    return tuple(
        (tuple(f if isinstance(f, str) else (_size(f.dividend), f.divisor) for f in factors), coefficient)
        for factors, coefficient in extent.terms
    )


def _dtype(type: Attribute) -> str:
    return type_name(element_of(type))
