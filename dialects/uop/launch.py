"""The program that launches kernels: its lines, and what lies in whose memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, SymbolRefAttr, TensorType, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from ..argument_attributes import mutated_result
from ..syntax import number, print_attributes, print_operands
from ..types import byte_count, element_of
from .kernel import KernelOp
from .movement import ReshapeOp
from .reduction import parse_typed


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Run a kernel: a line of the program. It has value semantics and stays the same from partition to the printer.

    operands and results: tensors. The kernel takes the results' buffers, then the operands'.
    reuse: of each result the operand whose buffer it takes, which nobody reads from then on, or `own`:
    `uop.launch @f(%k, %x) reuse [0, own] : …`. The kernel reads nothing of that operand; what it does not write of the
    result is as it was.
    arena: where memory is planned, each result's offset in bytes in the memory that the function's launches share,
    or `own` for a result that does not lie there: `uop.launch @f(%x) arena [256, own] : …`.
    """

    name = "uop.launch"

    kernel = prop_def(SymbolRefAttr)
    reuse = opt_prop_def(ArrayAttr)
    arena = opt_prop_def(ArrayAttr)
    arguments = var_operand_def(TensorType.constr())
    outputs = var_result_def(TensorType.constr())

    @staticmethod
    def of(kernel: str, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]) -> LaunchOp:
        return LaunchOp.create(
            operands=arguments, result_types=result_types, properties={"kernel": SymbolRefAttr(kernel)}
        )

    def verify_(self) -> None:
        if self.kernel.nested_references.data:
            raise VerifyException(f"a kernel is named by one symbol, not {self.kernel}")
        if self.arena is not None:
            if len(self.arena) != len(self.results):
                raise VerifyException(f"{len(self.results)} results have {len(self.arena)} places in the arena")
            if not all(map(_is_place, self.arena)):
                raise VerifyException("a place in the arena is an offset in bytes from 0 on, or own")
        if self.reuse is not None:
            self._verify_reuse(self.reuse)

    def _verify_reuse(self, reuse: ArrayAttr[Attribute]) -> None:
        if len(reuse) != len(self.results) or not all(map(_is_place, reuse)):
            raise VerifyException("reuse names an operand's place for each result, or own")
        if any(_both_known(pair) for pair in zip(self.reused(), self.offsets(), strict=True)):
            raise VerifyException("a result that takes an operand's buffer has no place of its own in the arena")
        if (reason := verify_reuse(self)) is not None:
            raise VerifyException(reason)

    def take(self, operands: Sequence[int | None]) -> None:
        """Let results take the buffers of operands: the operand's place for each result, None for one that does not."""
        self.reuse = _places(operands) if any(place is not None for place in operands) else None

    def reused(self) -> tuple[int | None, ...]:
        """The operand whose buffer each result takes, None for one with a buffer of its own."""
        return self._known(self.reuse)

    def place(self, offsets: Sequence[int | None]) -> None:
        """Plan the memory of the results: offsets in bytes, None for memory of its own."""
        self.arena = _places(offsets)

    def offsets(self) -> tuple[int | None, ...]:
        """The offset of each result in the arena, None for one with memory of its own."""
        return self._known(self.arena)

    def _known(self, places: ArrayAttr[Attribute] | None) -> tuple[int | None, ...]:
        if places is None:
            return (None,) * len(self.results)
        return tuple(place.value.data if isinstance(place, IntegerAttr) else None for place in places)

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        properties: dict[str, Attribute] = {"kernel": SymbolRefAttr(parser.parse_symbol_name())}
        position = parser.pos
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        for name in ("reuse", "arena"):
            if parser.parse_optional_keyword(name):
                properties[name] = ArrayAttr(
                    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_place(parser))
                )
        return parse_typed(cls, parser, operands, position, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel.root_reference.data)
        printer.print_string("(")
        print_operands(printer, self.operands)
        printer.print_string(")")
        for name, places in (("reuse", self.reuse), ("arena", self.arena)):
            if places is not None:
                texts = ("own" if place is None else str(place) for place in self._known(places))
                printer.print_string(f" {name} [{', '.join(texts)}]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_function_type([x.type for x in self.operands], [x.type for x in self.results])


def _is_place(place: Attribute) -> bool:
    return isinstance(place, UnitAttr) or (
        isinstance(place, IntegerAttr) and place == number(place.value.data) and place.value.data >= 0
    )


def _places(known: Sequence[int | None]) -> ArrayAttr[Attribute]:
    return ArrayAttr(UnitAttr() if place is None else number(place) for place in known)


def _both_known(pair: tuple[int | None, int | None]) -> bool:
    return None not in pair


def _parse_place(parser: Parser) -> Attribute:
    """`256`, or `own`."""
    return UnitAttr() if parser.parse_optional_keyword("own") else number(parser.parse_integer(allow_boolean=False))


def shown_by(view: SSAValue) -> SSAValue:
    """The argument or the launch's result that `view` shows, itself or in another shape."""
    while isinstance(view.owner, ReshapeOp):
        view = view.owner.input
    return view


def buffer_of(value: SSAValue) -> SSAValue:
    """The argument or the launch's result in whose memory `value` lies: what it is a view of, and what that took the
    buffer of."""
    value = shown_by(value)
    while (taken := _taken_operand(value)) is not None:
        value = shown_by(taken)
    return value


def _taken_operand(value: SSAValue) -> SSAValue | None:
    """The operand whose buffer the result of a launch takes."""
    launch = value.owner
    if not isinstance(value, OpResult) or not isinstance(launch, LaunchOp) or launch.reuse is None:
        return None
    place = launch.reused()[value.index]
    return None if place is None else launch.operands[place]


def readers_after(launch: LaunchOp, place: int) -> Iterator[Operation]:
    """The operations that read what operand `place` shows when the launch has been carried out, or while it is: the
    launch itself where another operand shows it too."""
    waiting = [shown_by(launch.operands[place])]
    while waiting:
        value = waiting.pop()
        for use in value.uses:
            if isinstance(use.operation, ReshapeOp):
                waiting.append(use.operation.result)
            elif use.operation is launch:
                if use.index != place:
                    yield launch
            elif not use.operation.is_before_in_block(launch):
                yield use.operation


def obstacle(launch: LaunchOp, result: int, operand: int) -> tuple[str, Operation] | None:
    """Why a result must not take the operand's buffer, and the operation that says so; None where it may.

    What the kernel reads of the operand is not looked at here: see `verify_reuse`.
    """
    old = launch.operands[operand]
    new = launch.results[result]
    if element_of(old.type) != element_of(new.type) or byte_count(old.type) != byte_count(new.type):
        return "it has elements of another type, or another number of them", launch
    if (reader := next(readers_after(launch, operand), None)) is not None:
        told = "this launch itself" if reader is launch else "a later operation"
        return f"{told} reads the old value", reader
    buffer = buffer_of(old)
    if isinstance(buffer, BlockArgument) and mutated_result(buffer) is None:
        return "the caller keeps what it gives", launch
    return None


def becomes_result(argument: BlockArgument) -> bool:
    """Whether the result that is the new value of a mutated argument lies in the argument's memory."""
    place, end = mutated_result(argument), argument.block.last_op
    if place is None or not isinstance(end, ReturnOp) or place not in range(len(end.operands)):
        return False
    return buffer_of(end.operands[place]) is argument


def verify_reuse(launch: LaunchOp) -> str | None:
    """Why a launch must not take the buffers that it says it takes; None where it may."""
    taken: set[SSAValue] = set()
    for result, operand in enumerate(launch.reused()):
        if operand is None:
            continue
        if operand not in range(len(launch.operands)):
            return f"there is no operand {operand} whose buffer a result could take"
        if not isinstance(launch.parent, Block) or not isinstance(function := launch.parent_op(), FuncOp):
            return "only a launch of a function takes buffers of others"
        told = f"result {result} must not take the buffer of operand {operand}"
        if (found := obstacle(launch, result, operand)) is not None:
            reason, at = found
            return f"{told}: {reason}" + ("" if at is launch else f", {_told(at)}")
        buffer = buffer_of(launch.operands[operand])
        if buffer in taken:
            return f"{told}: two results take it"
        taken.add(buffer)
        if isinstance(buffer, BlockArgument) and not becomes_result(buffer):
            return f"{told}: what the function gives as the new value of that argument lies elsewhere"
        kernel = None if function.parent is None else SymbolTable.lookup_symbol(function, launch.kernel)
        if isinstance(kernel, KernelOp) and kernel.is_tensor_form:
            return f"{told}: a kernel in tensor form takes no buffers"
        if kernel is not None:
            arguments = kernel.regions[0].block.args
            place = len(launch.results) + operand
            if place < len(arguments) and arguments[place].first_use is not None:
                return f"{told}: the kernel reads it"
    return None


def _told(op: Operation) -> str:
    return f"the launch of @{op.kernel.root_reference.data}" if isinstance(op, LaunchOp) else op.name
