"""uop-plan-buffers on random programs: nothing that is needed is overwritten; plans that lose a result are refused."""

import random

import numpy as np
import pytest
from module_text import parse
from test_program import DOUBLE, x
from xdsl.dialects.builtin import FunctionType, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from uop.dialects.types import byte_count
from uop.dialects.uop import LaunchOp
from uop.passes.uop.uop_plan_buffers import ALIGNMENT, plan_function
from uop.rewriting.diagnostics import PassError
from uop.runtime.program import Program


def random_program(seed: int) -> FuncOp:
    """Launches of up to three results of random sizes, that read a few earlier ones."""
    draw = random.Random(seed)
    block = Block(arg_types=[TensorType(f32, [8])])
    values: list[SSAValue] = list(block.args)
    for _ in range(draw.randint(1, 25)):
        operands = [draw.choice(values[-6:]) for _ in range(draw.randint(1, 3))]
        types = [TensorType(f32, [draw.choice((0, 1, 8, 63, 64, 65, 1000))]) for _ in range(draw.randint(1, 3))]
        launch = LaunchOp.of("f", operands, types)
        block.add_op(launch)
        values += launch.results
    returned = draw.sample(values, k=min(2, len(values)))
    block.add_op(ReturnOp(*returned))
    return FuncOp("program", FunctionType.from_lists([values[0].type], [v.type for v in returned]), Region(block))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_needed_is_never_overwritten(seed: int) -> None:
    function = random_program(seed)
    plan_function(function)
    function.verify()
    written: dict[int, SSAValue] = {}  # byte, in steps of the alignment → the result that was last put there
    places: dict[SSAValue, range] = {}
    own: set[SSAValue] = set(function.body.block.args)
    for op in function.body.block.ops:
        for operand in op.operands:
            assert operand in own or all(written[byte] is operand for byte in places[operand])
        if isinstance(op, LaunchOp):
            for result, offset in zip(op.results, op.offsets(), strict=True):
                if offset is None:
                    own.add(result)
                    continue
                assert offset % ALIGNMENT == 0
                places[result] = range(offset, offset + byte_count(result.type), ALIGNMENT)
                written |= dict.fromkeys(places[result], result)
            # Neither what the launch reads nor its other results lie where a result does.
            for value in (*op.operands, *op.results):
                assert value in own or all(written[byte] is value for byte in places[value])
    returned = function.body.block.last_op
    assert returned is not None
    assert own.issuperset(returned.operands)


def planned(first: int, second: int) -> str:
    """DOUBLE with a third launch, and places for the first two: both are read by the third."""
    return (
        DOUBLE.replace("LIMIT", "6")
        .replace("@double(%0) :", f"@double(%0) arena [{first}] :")
        .replace("@double(%1) :", f"@double(%1) arena [{second}] :")
        .replace("func.return %1", "%4 = uop.launch @double(%1) : (tensor<6xf32>) -> tensor<6xf32>\n  func.return %4")
        .replace("%3 = uop.reshape %2 : tensor<6xf32>", "%5 = uop.launch @double(%2) : (tensor<6xf32>) -> tensor<6xf32>"
                 "\n  %3 = uop.reshape %5 : tensor<6xf32>")
    )  # fmt: skip


def test_a_plan_is_carried_out() -> None:
    run = Program(parse(planned(0, 32))).run([x()])
    np.testing.assert_array_equal(run.outputs[0], 4 * x().reshape(6))
    np.testing.assert_array_equal(run.outputs[1], 8 * x().reshape(3, 2))
    assert (run.arena, run.unplanned) == (56, 48)


@pytest.mark.parametrize("offset", [0, 4, 20])
def test_a_plan_that_loses_a_result_is_refused(offset: int) -> None:
    with pytest.raises(PassError, match=f"bytes {offset} to {offset + 24} of the arena hold a result that is still"):
        Program(parse(planned(0, offset)))
