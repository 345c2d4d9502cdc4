"""Kernels on which rules about memory and reductions are proved: small programs in each form, of several element types.

Such rules are functions of a graph, so that no term says where they apply. Each kernel is run before and after the rule
on special and on random numbers. Sums of floats are of numbers that add up exactly in any order, also in 16 bits, for a
reduction may combine its elements in any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from ...dialects import get_all_dialects
from ...dialects.semantics import numpy_dtype
from ...dialects.types import element_of, is_bool, is_float, shape_of
from ...dialects.uop import KernelOp
from ...rewriting.driver import Order, rewrite
from ...rewriting.patterns import Assumption, Rule
from ...rewriting.rules import Rules
from ..interpret.buffers import poisoned_buffer
from ..interpret.program import interpret_kernel
from .agreement import same_results
from .kernel_texts import kernel_texts

Array = np.ndarray[Any, Any]

ROUNDS = 4
"""Inputs that each kernel is run on."""

ROUNDED = 8
"""Units in the last place of 1, or of a result, that a rule which holds up to rounding may move it."""


def check_on_kernels(rule: Rule) -> Iterator[tuple[str, int, str | None]]:
    """For each kernel on which the rule fires: its name, the number of inputs, and what is wrong, if anything is."""
    alone = Rules(rule)
    for name, original in kernels_with(rule.term.head.op).items():
        module = original.clone()
        if not rewrite(module, alone, order=Order.ONE_SWEEP, assuming=rule.assumes).fired:
            continue
        module.verify()
        yield name, ROUNDS, _compare(rule, name, kernel_of(original), kernel_of(module))


def _compare(rule: Rule, name: str, before: KernelOp, after: KernelOp) -> str | None:
    """The first input on which two kernels differ by more than the rule claims."""
    for round in range(ROUNDS):
        inputs = [_input(argument.type, round, place) for place, argument in enumerate(before.body.block.args)]
        expected, actual = run(before, inputs), run(after, inputs)
        for x, y in zip(expected, actual, strict=True):
            same = same_results(x, y)
            if Assumption.ROUNDING in rule.assumes and x.dtype.kind == "f":
                same |= np.isclose(x, y, ROUNDED * np.finfo(x.dtype).eps, ROUNDED * np.finfo(x.dtype).eps)
            if not same.all():
                place = tuple(int(axis[0]) for axis in np.nonzero(~same))
                return f"{name}, inputs {round}, element {list(place)}: {x[place]} became {y[place]}"
    return None


def run(kernel: KernelOp, inputs: Sequence[Array]) -> list[Array]:
    """What a kernel gives; in tensor form, or with outputs as its first arguments, whose names begin with "out"."""
    if kernel.is_tensor_form:
        outputs = [poisoned_buffer(type) for type in kernel.declared_results.data]
        interpret_kernel(kernel, [*outputs, *inputs])
        return outputs
    arguments = kernel.body.block.args
    outputs = [poisoned_buffer(x.type) for x in arguments if x.name_hint and x.name_hint.startswith("out")]
    interpret_kernel(kernel, [*outputs, *inputs[len(outputs) :]])
    return outputs


def _input(type: Attribute, round: int, place: int) -> Array:
    """Numbers for an argument: small ones, of floats with halves and, from the third round on, −0, ∞ and NaN."""
    element, shape = element_of(type), shape_of(type)
    generator = np.random.default_rng((round, place))
    if is_bool(element):
        return generator.integers(0, 2, shape) == 1
    numbers = generator.integers(-3, 10, shape)
    if not is_float(element):
        low = 0 if str(element) == "ui8" else None
        return np.maximum(numbers, 0 if low == 0 else -3).astype(numpy_dtype(element))
    halves = numbers.astype(numpy_dtype(element)) / 2
    if round < 2 or not halves.size:
        return halves
    special = np.array([inf, nan, -inf, -0.0, -0.0, -0.0], halves.dtype)
    return np.where(generator.integers(0, 3, shape) == 0, special[generator.integers(0, 6, shape)], halves)


@cache
def kernels_with(op: type[Operation]) -> dict[str, ModuleOp]:
    """The kernels that have an op of this class, by name."""
    return {
        name: module for name, module in _kernels().items() if any(isinstance(inner, op) for inner in module.walk())
    }


@cache
def _kernels() -> dict[str, ModuleOp]:
    return {name: parse(text) for name, text in kernel_texts().items()}


def parse(text: str) -> ModuleOp:
    return Parser(_context(), text).parse_module()


def kernel_of(module: ModuleOp) -> KernelOp:
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp)
    return kernel


@cache
def _context() -> Context:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context
