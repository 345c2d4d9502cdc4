"""`torch.export` and its decompositions as the importer needs them: quiet, and with the user's lines."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.export

from .source_locations import whole_stack_traces

KEPT = (
    torch.ops.aten.scaled_dot_product_attention.default,
    torch.ops.aten.rms_norm.default,
)
"""Operations that stay whole although PyTorch would decompose them: attention would become a CPU kernel's call,
and the mean square of `rms_norm` a power and a mean, which say less than the name."""


@contextmanager
def quiet_export() -> Iterator[None]:
    """Keep what `torch.export` warns and logs about its own inside off the terminal."""
    logger = logging.getLogger("torch.export")
    disabled = logger.disabled
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logger.disabled = True
        try:
            yield
        finally:
            logger.disabled = disabled


def export_module(
    module: torch.nn.Module, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
) -> torch.export.ExportedProgram:
    """`torch.export.export` with static shapes and, for every operation, the user's innermost line.

    args, kwargs: real or fake tensors that `module` is called with. Raises what `torch.export.export` raises.
    """
    with quiet_export(), whole_stack_traces(__file__):
        return torch.export.export(module, args, dict(kwargs or {}))


def decompose(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """`exported` in core ATen operations and those of `KEPT`, without mutation and views."""
    table = torch.export.default_decompositions()
    for overload in KEPT:
        table.pop(overload, None)
    with quiet_export(), _regions_keep_locations(exported.graph_module):
        return exported.run_decompositions(table)


@contextmanager
def _regions_keep_locations(module: torch.fx.GraphModule) -> Iterator[None]:
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
