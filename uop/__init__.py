"""uop: a compiler from PyTorch to CUDA in which nothing is hidden.

`uop.compile` compiles a module, and `torch.compile(module, backend="uop")` needs no import of this. Neither PyTorch
nor anything else is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from uop.tools.torch_compile.compiled import CompiledProgram


def compile(
    module: torch.nn.Module,
    args: Any,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Mapping[str, Any] | Sequence[Any] | None = None,
    **options: Any,
) -> CompiledProgram:
    """Compile `module` for what it is called with: a callable with `.stages`, `.kernels` and `.print("tile")`.

    args:    the positional inputs, a tuple, or a tensor where there is one; their shapes and dtypes are fixed, but for
    dynamic_shapes: which sizes may differ from call to call, as `torch.export.export` takes it; each has an upper
      bound, `torch.export.Dim("s", max=4096)`
    options: `arch`, `target`, `device`, `schedule` and `check`, as for `torch.compile(…, options={…})`

    For inference: what the program gives carries no gradients. Raises `ValueError` for options that there are not, and
    errors that tell the user's lines for what cannot be exported or compiled.
    """
    from uop.tools.torch_compile.compiled import compile_module

    return compile_module(module, args, kwargs, options, dynamic_shapes)
