"""What a program's results ought to be, in more precision than it computes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.export
import torch.fx
from torch.export.graph_signature import ConstantArgument
from torch.utils._pytree import tree_map

from .imported import Argument
from .torch_internals import PRODUCTS, in_tf32

ROUNDED = (torch.float16, torch.bfloat16)


class _InFloat64(torch.fx.Interpreter):
    """Runs a graph of core ATen operations with float64 in the place of every floating type.

    A conversion to a 16-bit type rounds to it, since that is what the program asks for. So is what products multiply
    cut to TF32 where that is allowed.
    """

    def __init__(self, module: torch.fx.GraphModule, tf32: bool) -> None:
        super().__init__(module)
        self.tf32 = tf32
        self.result_type: torch.dtype | None = None

    def run_node(self, n: torch.fx.Node) -> Any:
        self.result_type = getattr(n.meta.get("val"), "dtype", None)
        return super().run_node(n)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if str(target).startswith("aten._assert"):
            return None
        if target is torch.ops.aten._softmax.default or target is torch.ops.aten._log_softmax.default:
            args = (*args[:2], False)  # half_to_float is refused for float64, and means nothing for it
        if self.tf32 and self.result_type == torch.float32 and target in PRODUCTS:
            args = tuple(
                in_tf32(x.float()).double() if place in PRODUCTS[target] else x for place, x in enumerate(args)
            )
        dtype = kwargs.get("dtype")
        result = super().call_function(target, tree_map(_widened, args), tree_map(_widened, kwargs))
        if target is torch.ops.aten._to_copy.default and dtype in ROUNDED:
            return result.to(dtype).to(torch.float64)
        return tree_map(_widened, result)


def _widened(value: Any) -> Any:
    """A floating tensor or dtype as float64; anything else as it is."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.to(torch.float64)
    if isinstance(value, torch.dtype) and value.is_floating_point:
        return torch.float64
    return value


def run_in_float64(
    core: torch.export.ExportedProgram, arguments: Sequence[Argument], inputs: Sequence[torch.Tensor], tf32: bool
) -> list[torch.Tensor]:
    """The results of the imported function on `inputs`, computed in float64.

    core:      the decomposed program that was imported
    arguments: those of the imported function, to which `inputs` are the values
    tf32:      whether it was imported while PyTorch allowed products of f32 to use TF32
    """
    values: dict[str, Any] = {
        placeholder: _widened(value.clone())
        for argument, value in zip(arguments, inputs, strict=True)
        for placeholder in argument.placeholders
    }
    for spec in core.graph_signature.input_specs:
        if isinstance(spec.arg, ConstantArgument):
            values[spec.arg.name] = spec.arg.value
        elif spec.arg.name not in values:  # a constant that the import folded
            values[spec.arg.name] = _widened(core.constants[spec.target or ""])
    with torch.no_grad():
        outputs = _InFloat64(core.graph_module, tf32).run(
            *(values[spec.arg.name] for spec in core.graph_signature.input_specs)
        )
    return [output for output in outputs if isinstance(output, torch.Tensor)]
