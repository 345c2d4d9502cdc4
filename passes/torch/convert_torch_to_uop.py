"""convert-torch-to-uop: from the exported PyTorch graph to uop ops in tensor form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, OpResult
from xdsl.passes import ModulePass

from ...dialects.torch import AtenOp
from ...dialects.types import element_of, is_element_type, shape_of
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import PassError, emit_remark
from ...rewriting.locations import source_lines
from .bounded_functions import begin_bounded, finish_bounded, has_extents, has_symbols
from .lowerings import LOWERINGS, Unsupported
from .lowerings.lowering import shape_in
from .lowerings.promotion import compute_type
from .lowerings.registry import Symbolic
from .lowerings.tensor import Tensor

ASSERTIONS = ("_assert_async.msg", "_assert_async", "_assert_tensor_metadata", "_assert_scalar")
"""Calls that only check: what they check is not computed."""


RANDOM = {
    *("_sample_dirichlet", "_standard_gamma", "bernoulli", "binomial", "cauchy", "exponential", "geometric"),
    *("log_normal", "multinomial", "normal", "poisson", "rand", "randint", "randn", "randperm", "uniform"),
    "rrelu_with_noise",
}
"""Operations that draw random numbers, by their names without `_like` and `_functional`."""


@dataclass(frozen=True)
class Refusal:
    """A call that is not lowered, and why."""

    op: AtenOp
    reason: str
    advice: str | None

    @property
    def summary(self) -> str:
        """The overload and the reason: the same for every call that is refused alike."""
        return f"`{self.op.overload.data}`: {self.reason}"

    def __str__(self) -> str:
        lines = ", ".join(source_lines(self.op.location)) or "unknown line"
        types = ", ".join(str(value.type) for value in (self.op.operands or self.op.results))
        advice = "" if self.advice is None else f"; {self.advice}"
        return f"{lines}: `{self.op.overload.data}` on {types}: {self.reason}{advice}"


class CannotLower(PassError):
    """Calls of a function that are not lowered: `refusals`, at least one."""

    def __init__(self, function: str, refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        count = "1 operation" if len(refusals) == 1 else f"{len(refusals)} operations"
        listing = "".join(f"\n  {refusal}" for refusal in refusals)
        super().__init__(f"cannot lower {count} of @{function}:{listing}", refusals[0].op)


class ConvertTorchToUopPass(ModulePass):
    """Rewrite every `torch.aten` in the functions of the module as uop ops on tensors, with PyTorch's meaning.

    Each ATen op becomes the ops of its lowering (`passes/torch/lowerings`) at its location. Floats of 16 bits are
    computed in f32 and rounded once per ATen op. Ops that nothing uses are dropped.
    Leaves alone: ops of other dialects. Refuses, all of a function at once: overloads without a lowering, arguments and
    dtypes that a lowering does not support.

    Sizes that are known when the program runs become their greatest values: tensors have room for all elements, and
    which of them are meant is written where it counts (reductions take the identity for the others, `arange` and means
    use the size as data). Arguments and results have `uop.extents`. Refused is what a lowering does not know how to do
    with such a size.
    """

    name = "convert-torch-to-uop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                if has_symbols(function):
                    _convert_with_symbols(function)
                    continue
                for block in function.body.blocks:
                    convert_block(block, function.sym_name)


def _convert_with_symbols(function: FuncOp) -> None:
    """Rewrite the ATen ops of a function that has symbols, and its type. Raises `CannotLower`."""
    block = function.body.block
    builder = Builder(block)
    symbolic = begin_bounded(function, builder)
    _lower_calls(builder, block, function.sym_name, symbolic)
    finish_bounded(function, builder, symbolic)


def convert_block(block: Block, function: StringAttr) -> None:
    """Rewrite the ATen ops of one block. Raises `CannotLower`."""
    if any(isinstance(op, AtenOp) for op in block.ops):
        _lower_calls(Builder(block), block, function, None)
        erase_unused(block, also=(AtenOp,))


def _lower_calls(builder: Builder, block: Block, function: StringAttr, symbolic: Symbolic | None) -> None:
    refusals: list[Refusal] = []
    for call in [op for op in block.ops if isinstance(op, AtenOp)]:
        builder.before = call
        try:
            with builder.at(call.location):
                lower(builder, call, symbolic)
        except Unsupported as error:
            refusals.append(Refusal(call, error.reason, error.advice))
    if refusals:
        raise CannotLower(function.data, refusals)


def lower(builder: Builder, call: AtenOp, symbolic: Symbolic | None = None) -> None:
    """Build what computes the results of `call` and put it in their place. Raises `Unsupported`."""
    overload = call.overload.data
    if overload in ASSERTIONS:
        emit_remark(call, f"`{overload}` is dropped: a compiled program does not check it")
        return
    _check_types(call, symbolic)
    rule = LOWERINGS.get(overload)
    if rule is None:
        if overload.partition(".")[0].removesuffix("_like").removesuffix("_functional") in RANDOM:
            raise Unsupported("it draws random numbers", "draw them outside of the program and pass them to it")
        raise Unsupported("no lowering for this overload", _advice(overload))
    results = rule.apply(builder, call, symbolic)
    if len(results) > len(call.results):  # PyTorch gives None for a gradient that is not asked for
        results = [result for result in results if result is not None]
    if len(results) != len(call.results):
        raise Unsupported(f"it has {len(call.results)} results where {len(results)} are expected")
    for old, new in zip(call.results, results, strict=True):
        if new is not None:
            _replace(old, new, symbolic)
        elif old.uses:
            raise Unsupported(f"its result {old.index} is not computed")


def _replace(old: OpResult, new: Tensor, symbolic: Symbolic | None) -> None:
    """Let `new` stand in the place of a call's result: rounded, where it was computed wider."""
    element = element_of(old.type)
    if new.element == compute_type(element):
        new = new.cast(element)
    if new.dims is None and new.bounded.type == old.type:
        old.replace_all_uses_with(new.bounded)
        return
    if symbolic is None or new.element != element or new.shape != shape_in(symbolic.scope, old.type):
        made = new.bounded.type if new.dims is None else f"{list(new.shape)} of {new.element}"
        raise Unsupported(f"result {old.index} of these operands and arguments is {made}, not {old.type}")
    symbolic.tensors[old] = new


def _check_types(call: AtenOp, symbolic: Symbolic | None) -> None:
    """Refuse element types that uop has not, and shapes that are not known."""
    # What another call makes is reported there.
    given = [value for value in call.operands if isinstance(value, BlockArgument)]
    for value in (*given, *call.results):
        if not is_element_type(element_of(value.type)):
            raise Unsupported(f"element type {element_of(value.type)} is not supported")
        if symbolic is not None and has_extents(value.type):
            continue
        if any(extent < 0 for extent in shape_of(value.type)):
            raise Unsupported(f"the shape of {value.type} is not known", "export with static shapes")


def _advice(overload: str) -> str:
    """What to do about an overload that has no lowering."""
    near = get_close_matches(overload, LOWERINGS, n=1, cutoff=0.85)  # `amx`, not another operator
    if near:
        return f"there is one for `{near[0]}`"
    return "write it with other operations, or add a lowering to passes/torch/lowerings"
