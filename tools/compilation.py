"""Compile a captured program stage by stage: what `uop compile` and `uop run` share."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..targets.cuda import cuda_text
from .pipeline import run_pipeline
from .pipelines import STAGES, CompileOptions
from .printing import TextPrinter

if TYPE_CHECKING:
    from ..frontends.imported import Imported

CUDA = "cuda"
"""The form after the last stage: text for the CUDA compiler."""

STAGE_NAMES = (*(stage.name for stage in STAGES), CUDA)
"""The forms of a program in the order of the pipeline, as `--ir` takes them."""

FILE_NAMES = {name: f"{name.replace('-', '_')}.mlir" for name in STAGE_NAMES} | {CUDA: "kernels.cu"}
"""Stage → the file that `-o` writes it to."""


def compile_stages(
    imported: Imported, options: CompileOptions, *, verify: bool = True
) -> Iterator[tuple[str, ModuleOp]]:
    """Take an imported program through the pipeline, in place; (name, module) of each form as it is reached.

    verify: check the IR, SSA dominance included, after each pass.
    """
    context = Context()
    module = imported.module
    for stage in STAGES:
        for step in stage.steps:
            run_pipeline(module, context, step.spell(options), verify=verify)
        yield stage.name, module


def stage_text(name: str, module: ModuleOp, *, locations: bool = True) -> str:
    """The text of a form: IR that `uop-opt` reads, or CUDA.

    locations: write `loc("model.py":7:0)` behind each op that has one; CUDA names the lines in comments.
    """
    if name == CUDA:
        return cuda_text(module)
    stream = io.StringIO()
    TextPrinter(stream, print_debuginfo=locations, unknown_locations=False).print_op(module)
    return stream.getvalue() + "\n"
