"""What a compilation loads. Each module costs a first compilation a third of a millisecond or more."""

import subprocess
import sys

PROGRAM = """
func.func @forward(%x: tensor<16x64xf32>, %w: tensor<64x16xf32>) -> tensor<16x16xf32> {
  %0 = torch.aten "mm"(%x, %w) : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %1 = torch.aten "relu"(%0) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %1 : tensor<16x16xf32>
}
"""

CODE = f"""
import sys
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from uop.targets.c import c_text
from uop.tools.pipeline import run_pipeline
from uop.tools.pipelines import CompileOptions, uop_to_c
from uop.tools.plugins import make_context

context = make_context()
context.load_dialect(Builtin)
context.load_dialect(Func)
module = Parser(context, {PROGRAM!r}).parse_module()
run_pipeline(module, context, uop_to_c(CompileOptions()))
assert "forward" in c_text(module)
print(*sys.modules)
"""

RULES_OF_GPUS = ("attention", "attention_rows", "long_row", "matrix", "product", "vector_product", "window_product")

OTHERS = (
    *("torch", "rich", "z3", "sympy"),
    *("uop.frontends", "uop.runtime", "uop.targets.cuda", "uop.passes.gpu_kernel"),
    *("uop.passes.loop.choose_schedule", "uop.passes.loop.schedule_rules"),
    *(f"uop.passes.loop.{rule}_rule" for rule in RULES_OF_GPUS),
    *("uop.passes.tile.convert_tile_to_gpu_kernel", "uop.passes.tile.tile_mma", "uop.passes.tile.tile_vectorize"),
    *("uop.passes.tile.tile_prepare", "uop.passes.tile.bank_conflicts", "uop.passes.uop.uop_split_scan"),
    *("uop.passes.uop.uop_factor_rows", "uop.passes.uop.uop_approximate", "uop.passes.rule_families"),
)
"""What no program for a CPU needs, or this one not."""

MOST_MODULES = 152
"""Of rewriting and of the passes behind `convert-torch-to-uop`, which the front end has loaded already."""


def test_a_program_for_a_cpu_loads_no_rule_of_gpus() -> None:
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert not {name for name in loaded if any(name == other or name.startswith(f"{other}.") for other in OTHERS)}
    ours = {name for name in loaded if name.startswith(("uop.passes.", "uop.rewriting."))}
    ours = {name for name in ours if not name.startswith("uop.passes.torch")}
    assert 100 < len(ours) <= MOST_MODULES, len(ours)
