"""`torch.export` and its decompositions as the importer needs them: quiet, and with the user's lines."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Generator, Mapping
from typing import Any, cast

import torch
import torch.export

from ..rewriting.locations import source_lines
from .dynamic_shapes import DynamicShapes, SpecializationWarning, specialized_sizes
from .element_types import dtype_name
from .errors import Problem, UnsupportedProgramError
from .functional_graph import functional_program
from .source_locations import node_location, whole_stack_traces
from .torch_internals import run_decompositions

_INTERPOLATIONS = (
    *(f"{name}{d}d" for name in ("upsample_nearest", "_upsample_nearest_exact") for d in (1, 2, 3)),
    *("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"),
)

KEPT = (
    torch.ops.aten.scaled_dot_product_attention.default,
    torch.ops.aten._safe_softmax.default,
    torch.ops.aten.rms_norm.default,
    *(getattr(getattr(torch.ops.aten, name), kind) for name in _INTERPOLATIONS for kind in ("default", "vec")),
    *(getattr(torch.ops.aten, f"{name}_pad{d}d").default for name in ("reflection", "replication") for d in (1, 2, 3)),
    torch.ops.aten.im2col.default,
    torch.ops.aten.col2im.default,
    torch.ops.aten.grid_sampler_2d.default,
    torch.ops.aten.grid_sampler_3d.default,
    torch.ops.aten.index_add.default,
    torch.ops.aten.index_copy.default,
    *(getattr(torch.ops.aten.linspace, kind) for kind in torch.ops.aten.linspace.overloads() if "out" not in kind),
    torch.ops.aten.soft_margin_loss.default,
)
"""Operations that stay whole although PyTorch would decompose them: attention would become a CPU kernel's call, its
softmax a test of each element and the mean square of `rms_norm` a power and a mean, which say less than the names, and
what moves elements would become reads and writes at places that are data. `index_add` and `index_copy` refuse what
`index_put` takes: negative places, and a source that broadcasts. The decomposition of `linspace` does not truncate the
ends among integers, that of `soft_margin_loss` does not round between its steps: neither gives what PyTorch gives."""


@contextlib.contextmanager
def quiet_export() -> Generator[None]:
    """Keep what PyTorch warns and logs about the inside of exporting and of fake tensors off the terminal.

    What goes wrong is raised as well, so nothing is lost.
    """
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.split(".")[0] == "torch"]
    disabled = [logger for logger in loggers if not logger.disabled]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in disabled:
            logger.disabled = True
        try:
            yield
        finally:
            for logger in disabled:
                logger.disabled = False


def export_module(
    module: torch.nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: DynamicShapes | None = None,
) -> torch.export.ExportedProgram:
    """`torch.export.export` with, for every operation, the user's innermost line.

    `torch.compile` in the user's code does nothing.
    args, kwargs: real or fake tensors that `module` is called with. dynamic_shapes: which of their sizes may differ,
      none where it is None; a warning says which of them the program fixes. Raises what `torch.export.export` raises.
    """
    printed = io.StringIO()  # of a failed export, PyTorch prints the graph so far to stderr
    with (
        quiet_export(),
        whole_stack_traces(__file__),
        torch.compiler.set_stance("force_eager"),
        contextlib.redirect_stderr(printed),
    ):
        exported = torch.export.export(module, args, dict(kwargs or {}), dynamic_shapes=cast("Any", dynamic_shapes))
    sys.stderr.write(printed.getvalue())
    if dynamic_shapes is not None:
        for message in specialized_sizes(exported, module, args, kwargs or {}, dynamic_shapes):
            warnings.warn(f"uop: {message}", SpecializationWarning, stacklevel=2)
    return exported


def decompose(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """`exported` without mutation, in operations that have lowerings, or else in core ATen ones and those of `KEPT`.

    Raises `UnsupportedProgramError`.
    """
    _check_outputs(exported)
    with quiet_export():
        functional = functional_program(exported)
        if functional is not None:
            return functional
        with _regions_keep_locations(exported.graph_module):
            return run_decompositions(exported, KEPT)


def _check_outputs(exported: torch.export.ExportedProgram) -> None:
    """Refuse `aminmax(out=…)` into another dtype, which PyTorch refuses when it runs, and converts when decomposed."""
    problems: list[Problem] = []
    for node in exported.graph.nodes:
        if node.target is torch.ops.aten.aminmax.out:
            dtypes = {value.meta["val"].dtype for value in node.all_input_nodes}
            if len(dtypes) > 1:
                location = ", ".join(source_lines(node_location(node.meta)))
                names = ", ".join(sorted(map(dtype_name, dtypes)))
                problems.append(Problem(location, str(node.target), f"its input and `out` have dtypes {names}"))
    if problems:
        raise UnsupportedProgramError(problems)


@contextlib.contextmanager
def _regions_keep_locations(module: torch.fx.GraphModule) -> Generator[None]:
    """Interpret graphs inside `module` (the bodies of `torch.no_grad()` and the like) node by node.

    `run_decompositions` inlines them, but calls their generated code, whose stack trace is not the user's.
    """
    regions = [inner for inner in module.modules() if isinstance(inner, torch.fx.GraphModule) and inner is not module]
    for region in regions:
        region.forward = torch.fx.Interpreter(region).run
    try:
        yield
    finally:
        for region in regions:
            del region.forward
