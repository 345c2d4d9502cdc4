"""convert-torch-to-uop: from the exported PyTorch graph to uop ops in tensor form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue
from xdsl.passes import ModulePass

from ...dialects.torch import AtenOp
from ...dialects.types import element_of, is_element_type, shape_of
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import PassError, emit_remark
from ...rewriting.locations import source_lines
from .lowerings import LOWERINGS, Unsupported
from .lowerings.promotion import compute_type
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


@dataclass(frozen=True)
class ConvertTorchToUopPass(ModulePass):
    """Rewrite every `torch.aten` in the functions of the module as uop ops on tensors, with PyTorch's meaning.

    Each ATen op becomes the ops of its lowering (`passes/torch/lowerings`) at its location. Floats of 16 bits are
    computed in f32 and rounded once per ATen op. Ops that nothing uses are dropped.
    Leaves alone: ops of other dialects. Refuses, all of a function at once: overloads without a lowering, arguments and
    dtypes that a lowering does not support, dynamic shapes.
    """

    name = "convert-torch-to-uop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                for block in function.body.blocks:
                    convert_block(block, function.sym_name)


def convert_block(block: Block, function: StringAttr) -> None:
    """Rewrite the ATen ops of one block. Raises `CannotLower`."""
    calls = [op for op in block.ops if isinstance(op, AtenOp)]
    if not calls:
        return
    builder = Builder(block)
    refusals: list[Refusal] = []
    for call in calls:
        builder.before = call
        try:
            with builder.at(call.location):
                lower(builder, call)
        except Unsupported as error:
            refusals.append(Refusal(call, error.reason, error.advice))
    if refusals:
        raise CannotLower(function.data, refusals)
    erase_unused(block, also=(AtenOp,))


def lower(builder: Builder, call: AtenOp) -> None:
    """Build what computes the results of `call` and put it in their place. Raises `Unsupported`."""
    overload = call.overload.data
    if overload in ASSERTIONS:
        emit_remark(call, f"`{overload}` is dropped: a compiled program does not check it")
        return
    _check_types(call)
    rule = LOWERINGS.get(overload)
    if rule is None:
        if overload.partition(".")[0].removesuffix("_like").removesuffix("_functional") in RANDOM:
            raise Unsupported("it draws random numbers", "draw them outside of the program and pass them to it")
        raise Unsupported("no lowering for this overload", _advice(overload))
    results = rule.apply(builder, call)
    if len(results) > len(call.results):  # PyTorch gives None for a gradient that is not asked for
        results = [result for result in results if result is not None]
    if len(results) != len(call.results):
        raise Unsupported(f"it has {len(call.results)} results where {len(results)} are expected")
    for old, new in zip(call.results, results, strict=True):
        if new is not None:
            old.replace_all_uses_with(_finished(new, old))
        elif old.uses:
            raise Unsupported(f"its result {old.index} is not computed")


def _finished(new: Tensor, old: OpResult) -> SSAValue:
    """What stands in the place of a call's result: rounded, where it was computed wider."""
    element = element_of(old.type)
    value = new.cast(element).value if new.element == compute_type(element) else new.value
    if value.type != old.type:
        raise Unsupported(f"result {old.index} of these operands and arguments is {value.type}, not {old.type}")
    return value


def _check_types(call: AtenOp) -> None:
    """Refuse element types that uop has not, and shapes that are not known."""
    # What another call makes is reported there.
    given = [value for value in call.operands if isinstance(value, BlockArgument)]
    for value in (*given, *call.results):
        if not is_element_type(element_of(value.type)):
            raise Unsupported(f"element type {element_of(value.type)} is not supported")
        if any(extent < 0 for extent in shape_of(value.type)):
            raise Unsupported(f"the shape of {value.type} is not known", "export with static shapes")


def _advice(overload: str) -> str:
    """What to do about an overload that has no lowering."""
    near = get_close_matches(overload, LOWERINGS, n=1, cutoff=0.85)  # `amx`, not another operator
    if near:
        return f"there is one for `{near[0]}`"
    return "write it with other operations, or add a lowering to passes/torch/lowerings"
