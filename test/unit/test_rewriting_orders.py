"""Random programs mean the same whatever the order in which the rules are applied, and keep their locations."""

import random

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from uop.dialects.types import i8
from uop.passes.uop.rules import SIMPLIFY
from uop.rewriting.builder import Builder
from uop.rewriting.cse import eliminate_common_subexpressions
from uop.rewriting.driver import Order, rewrite
from uop.rewriting.locations import UNKNOWN
from uop.runtime.interpret.tensors import interpret_function

INPUTS = 24


def program(seed: int) -> FuncOp:
    """A function of two tensors of i8, with arithmetic, comparisons and choices on them and on constants."""
    choose = random.Random(seed)
    tensor = TensorType(i8, [INPUTS])
    block = Block(arg_types=(tensor, tensor))
    builder = Builder(block)
    values: list[SSAValue] = [*block.args]
    conditions: list[SSAValue] = []
    for line in range(40):
        location = FileLineColLoc(StringAttr("model.py"), IntAttr(line + 1), IntAttr(0))
        with builder.at(location):
            if choose.random() < 0.3:
                values.append(builder.constant_like(choose.choice((-1, 0, 1, 2, 3, 8, 127)), values[0]))
            x, y = choose.choices(values[-8:], k=2)
            kind = choose.random()
            if kind < 0.2:
                conditions.append(builder.alu(choose.choice(("lt", "eq", "ge", "ne")), x, y))
            elif kind < 0.35 and conditions:
                values.append(builder.alu("where", choose.choice(conditions), x, y))
            elif kind < 0.5:
                values.append(builder.alu(choose.choice(("neg", "not", "abs")), x))
            else:
                name = choose.choice(("add", "add", "sub", "mul", "mul", "min", "max", "and", "or", "xor"))
                values.append(builder.alu(name, x, y))
    block.add_op(ReturnOp(*values[-3:]))
    function = FuncOp("f", ([tensor, tensor], [tensor] * 3), Region(block))
    ModuleOp([function])
    return function


@pytest.mark.parametrize("order", Order)
def test_all_orders_keep_meaning_and_locations(order: Order) -> None:
    generator = np.random.default_rng(1)
    rewrites = 0
    for seed in range(25):
        inputs = [generator.integers(-128, 128, INPUTS).astype(np.int8) for _ in range(2)]
        function = program(seed)
        expected = interpret_function(function, inputs)
        rewrites += rewrite(function, SIMPLIFY, order=order).rewrites
        eliminate_common_subexpressions(function)
        function.verify()
        for one, other in zip(expected, interpret_function(function, inputs), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"program {seed}")
        assert all(op.location != UNKNOWN for op in function.body.block.ops if not isinstance(op, ReturnOp))
    assert rewrites > 100
