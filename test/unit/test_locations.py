"""Law 6: every op of every stage says which lines of the user's program it came from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from uop.rewriting.locations import location_leaves, source_lines
from uop.tools.pass_run import PassRun
from uop.tools.pipeline import run_pipeline
from uop.tools.pipelines import CompileOptions, uop_to_cuda

pytest.importorskip("torch")

from uop.frontends.capture import capture_expression, capture_file
from uop.frontends.captured import Captured

EXPRESSIONS = {
    "seed": "torch.relu(torch.matmul(torch.randn(16, 64) + torch.randn(64), torch.randn(64, 16)))",
    "softmax": "torch.softmax(torch.randn(64, 1000), dim=-1)",
    "layer_norm": "torch.nn.functional.layer_norm(torch.randn(8, 64), (64,), torch.randn(64), torch.randn(64))",
    "attention": (
        "torch.nn.functional.scaled_dot_product_attention("
        "torch.randn(1, 2, 17, 8), torch.randn(1, 2, 17, 8), torch.randn(1, 2, 17, 8), is_causal=True)"
    ),
}
LLAMA_BLOCK = Path(__file__).parents[2] / "examples" / "llama_block.py"


def located_ops(module: ModuleOp) -> Iterator[Operation]:
    """Every op but the module and the program's function, which hold what has a location."""
    return (op for op in module.walk() if not isinstance(op, ModuleOp | FuncOp))


def check(captured: Captured, pipeline: str | Sequence[ModulePass]) -> ModuleOp:
    """Run the passes, looking at the locations after each; what they end in."""
    module = captured.imported().module
    sources = {leaf for op in module.walk() for leaf in location_leaves(op.location)}
    assert sources

    def look(run: PassRun) -> None:
        for op in located_ops(module):
            leaves = location_leaves(op.location)
            assert leaves, f"{run.name} leaves {op.name} without a location:\n{op}"
            assert {*leaves} <= sources, f"{run.name} gives {op.name} a location of its own: {op.location}"

    run_pipeline(module, Context(), pipeline, on_pass=look)
    return module


PIPELINE = uop_to_cuda(CompileOptions())


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_no_pass_drops_a_location(name: str) -> None:
    check(capture_expression(EXPRESSIONS[name]), PIPELINE)


def test_a_model_is_traced_to_its_lines() -> None:
    module = check(capture_file(f"{LLAMA_BLOCK}:make"), PIPELINE)
    lines = {line for op in located_ops(module) for line in source_lines(op.location)}
    text = LLAMA_BLOCK.read_text().split("\n")
    assert {Path(line.rpartition(":")[0]).name for line in lines} == {"llama_block.py"}
    named = [text[int(line.rpartition(":")[2]) - 1] for line in lines]
    for code in ("F.scaled_dot_product_attention", "self.mlp_norm(x)", "rotate_half(q)", "F.silu("):
        assert any(code in line for line in named), code


class DropLocations(ModulePass):
    """Drops the location of the last op."""

    name = "drop-locations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        [*located_ops(op)][-1].location = UnknownLoc()


def test_the_pass_and_the_op_are_named() -> None:
    with pytest.raises(AssertionError, match=r"drop-locations leaves func\.return without a location"):
        check(capture_expression(EXPRESSIONS["softmax"]), [DropLocations()])
