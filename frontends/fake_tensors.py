"""Running the user's code without allocating."""

from collections.abc import Generator
from contextlib import contextmanager

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .torch_internals import replaced_parameters


@contextmanager
def fake_tensors() -> Generator[FakeTensorMode]:
    """Make every tensor fake: it has a shape and a dtype and no data.

    `torch.compile` in the user's code does nothing, and modules can be converted with `half()` and the like.
    """
    with (
        replaced_parameters(),
        torch.compiler.set_stance("force_eager"),
        FakeTensorMode(allow_non_fake_inputs=True) as mode,
    ):
        yield mode
