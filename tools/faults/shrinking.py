"""Smaller versions of a program. Each function changes a copy; whether it makes sense is for the verifier to say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, SymbolOpInterface

from ...dialects.types import shape_of
from ...dialects.uop import ConstOp, KernelOp, LaunchOp, YieldOp
from ...rewriting.dead import erase_unused

Position = int
"""The place of an op in `module.walk()`."""


def count_ops(module: ModuleOp) -> int:
    """Ops besides functions, kernels and what ends them."""
    return len(statements(module))


def statements(module: ModuleOp) -> list[Position]:
    """The ops that may be deleted."""
    return [
        place
        for place, op in enumerate(module.walk())
        if op is not module and not op.has_trait(IsTerminator) and not op.has_trait(SymbolOpInterface)
    ]


def symbols(module: ModuleOp) -> list[Position]:
    """The functions and kernels that nobody names."""
    named = {
        attribute.root_reference.data
        for op in module.walk()
        for attribute in (*op.properties.values(), *op.attributes.values())
        if isinstance(attribute, SymbolRefAttr)
    }
    return [
        place
        for place, op in enumerate(module.walk())
        if op.has_trait(SymbolOpInterface) and getattr(op.get_attr_or_prop("sym_name"), "data", None) not in named
    ]


def without_symbols(module: ModuleOp, chosen: Collection[Position]) -> ModuleOp | None:
    """Without these functions and kernels."""
    copy, ops = _copy(module)
    for place in chosen:
        _erase(ops[place])
    return copy


def without_dead(module: ModuleOp) -> ModuleOp:
    """Without ops that compute what nobody uses."""
    copy, _ = _copy(module)
    for block in _bodies(copy):
        erase_unused(block)
    return copy


def without_statements(module: ModuleOp, chosen: Collection[Position], *, cut: bool = False) -> ModuleOp | None:
    """Without these ops; a value that they gave is replaced by one of its type: an operand of the op or an argument
    of the function, or else by a new argument. None where there is none.

    cut: by a new argument in any case
    """
    copy, ops = _copy(module)
    for place in sorted(chosen):
        op = ops[place]
        for result in op.results:
            if result.first_use is None:
                continue
            value = None if cut else _stand_in(op, result.type)
            value = value or _new_argument(op, result)
            if value is None:
                return None
            result.replace_all_uses_with(value)
    for place in sorted(chosen, reverse=True):
        _erase(ops[place])
    return copy


def results_of(module: ModuleOp) -> list[tuple[Position, int]]:
    """The results of functions and tensor kernels that nobody calls: place of the return, number of its operand."""
    ops = list(module.walk())
    return [
        (place, number)
        for place, op in enumerate(ops)
        if isinstance(op, ReturnOp | YieldOp) and _is_free(op.parent_op(), module)
        for number in range(len(op.operands))
    ]


def without_results(module: ModuleOp, chosen: Collection[tuple[Position, int]]) -> ModuleOp | None:
    """Without these results; none may be left with none."""
    copy, ops = _copy(module)
    for place in {place for place, _ in chosen}:
        op = ops[place]
        kept = [value for number, value in enumerate(op.operands) if (place, number) not in chosen]
        if not kept:
            return None
        op.operands = kept
        _update_type(op.parent_op())
    return copy


def arguments_of(module: ModuleOp) -> list[tuple[Position, int]]:
    """The unused arguments of functions and kernels that nobody calls: place of the op, number of the argument."""
    return [
        (place, argument.index)
        for place, op in enumerate(module.walk())
        if op.regions and _is_free(op, module) and (block := op.regions[0].blocks.first) is not None
        for argument in block.args
        if argument.first_use is None
    ]


def without_arguments(module: ModuleOp, chosen: Collection[tuple[Position, int]]) -> ModuleOp | None:
    """Without these arguments."""
    copy, ops = _copy(module)
    for place, number in sorted(chosen, reverse=True):
        block = ops[place].regions[0].block
        block.erase_arg(block.args[number])
        _update_type(ops[place])
    return copy


def constants_of(module: ModuleOp) -> Iterator[tuple[Position, int]]:
    """Constants that could be simpler: place, and the number to try."""
    for place, op in enumerate(module.walk()):
        if isinstance(op, ConstOp):
            for number in (0, 1):
                if op.number == number:
                    break
                yield place, number


def with_constant(module: ModuleOp, place: Position, number: int) -> ModuleOp | None:
    """With another number in a constant."""
    copy, ops = _copy(module)
    op = ops[place]
    assert isinstance(op, ConstOp)
    new = ConstOp.of(type(op.number)(number), op.result.type)
    op.properties = new.properties
    return copy


def extents_of(module: ModuleOp) -> list[int]:
    """The extents above 1 of all tensors, vectors and buffers, greatest first."""
    values: Iterator[SSAValue] = (
        value
        for op in module.walk()
        for value in (
            *op.results,
            *(argument for region in op.regions for block in region.blocks for argument in block.args),
        )
    )
    return sorted({extent for value in values for extent in shape_of(value.type) if extent > 1}, reverse=True)


def smaller_extents(extents: Sequence[int]) -> Iterator[Mapping[int, int]]:
    """What to try: one extent smaller, alone or with its multiples."""
    for extent in extents:
        multiples = [other for other in extents if other % extent == 0]
        for smaller in dict.fromkeys((1, 2, extent // 2)):
            if smaller < extent:
                yield {extent: smaller}
                if len(multiples) > 1:
                    yield {other: other // extent * smaller for other in multiples}


def with_extents(text: str, extents: Mapping[int, int]) -> str:
    """The text with other numbers wherever an extent or another number stands alone."""
    numbers = "|".join(map(str, extents))
    pattern = rf"(?:(?<=[<x])|(?<![\w.%@#:\"\-]))({numbers})(?=x)|(?<![\w.%@#:\"\-])({numbers})(?![\w.\"])"
    return re.sub(pattern, lambda match: str(extents[int(match[0])]), text)


SIMPLER_TYPES = (("f64", "f32"), ("f16", "f32"), ("bf16", "f32"), ("i64", "i32"), ("i16", "i32"), ("i8", "i32"))
"""Element types to replace, and by what."""


def with_type(text: str, old: str, new: str) -> str:
    """The text with another element type everywhere."""
    return re.sub(rf"(?:(?<=\dx)|(?<![\w%@\"]))(?<!\")({old})(?!\w)", new, text)


def _copy(module: ModuleOp) -> tuple[ModuleOp, list[Operation]]:
    copy = module.clone()
    return copy, list(copy.walk())


def _bodies(module: ModuleOp) -> Iterator[Block]:
    for op in module.ops:
        for region in op.regions:
            yield from region.blocks


def _erase(op: Operation) -> None:
    block = op.parent
    if block is not None:
        op.detach()
        op.erase(safe_erase=False)


def _outermost(op: Operation) -> Operation:
    """The function or kernel that an op is in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        op, parent = parent, parent.parent_op()
    return op


def _stand_in(op: Operation, type: Attribute) -> SSAValue | None:
    """A value of a type that is there before `op`."""
    for operand in op.operands:
        if operand.type == type:
            return operand
    body = _outermost(op).regions[0].blocks.first
    assert body is not None, "the op is in it"
    return next((argument for argument in body.args if argument.type == type), None)


def _new_argument(op: Operation, result: SSAValue) -> SSAValue | None:
    outermost = _outermost(op)
    module = outermost.parent_op()
    if not isinstance(module, ModuleOp) or not _is_free(outermost, module):
        return None
    if isinstance(outermost, KernelOp) and not outermost.is_tensor_form:
        return None
    block = outermost.regions[0].block
    argument = block.insert_arg(result.type, len(block.args))
    argument.name_hint = result.name_hint or "a"
    _update_type(outermost)
    return argument


def _is_free(op: Operation | None, module: ModuleOp) -> bool:
    """Whether a function or kernel may take and give other values, since no launch says what it must."""
    if not isinstance(op, FuncOp | KernelOp):
        return False
    launched = {inner.kernel.root_reference.data for inner in module.walk() if isinstance(inner, LaunchOp)}
    return op.sym_name.data not in launched


def _update_type(op: Operation | None) -> None:
    if isinstance(op, FuncOp):
        op.update_function_type()
    elif isinstance(op, KernelOp) and op.is_tensor_form:
        end = op.body.block.last_op
        assert end is not None
        op.properties["result_types"] = ArrayAttr([value.type for value in end.operands])
