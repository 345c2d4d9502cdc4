"""Running the user's code without allocating."""

from collections.abc import Generator
from contextlib import contextmanager

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .torch_internals import replaced_parameters


@contextmanager
def fake_tensors(mode: FakeTensorMode | None = None) -> Generator[FakeTensorMode]:
    """Make every tensor fake: it has a shape and a dtype and no data.

    mode: an earlier one, to go on with its tensors

    `torch.compile` in the user's code does nothing, and modules can be converted with `half()` and the like.
    """
    with (
        replaced_parameters(),
        torch.compiler.set_stance("force_eager"),
        mode or FakeTensorMode(allow_non_fake_inputs=True) as active,
    ):
        yield active
