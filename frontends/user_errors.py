"""Exceptions that the user's code raises, told by the user's own lines."""

import re
import traceback
from collections.abc import Generator
from contextlib import contextmanager

from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from .errors import CaptureError, FrontendError
from .source_locations import is_users, shown_path


@contextmanager
def user_errors(what: str = "") -> Generator[None]:
    """Turn what the code under it raises into a `CaptureError` at the innermost of the user's lines.

    what: said first where none of the lines is the user's: `torch.export cannot take the program`
    """
    try:
        yield
    except FrontendError:
        raise
    except SyntaxError as error:
        file = shown_path(error.filename) if error.filename else None
        raise CaptureError(f"SyntaxError: {error.msg}", file, error.lineno, error.offset, error.end_offset) from None
    except Exception as error:
        raise _capture_error(error, what) from None


def _capture_error(error: Exception, what: str) -> CaptureError:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_users(frame.filename)]
    message = _message(error)
    if not frames:
        return CaptureError(f"{what}: {message}" if what else message)
    *callers, last = frames
    file = shown_path(last.filename)
    # Columns say where in the line, and mean nothing when the expression goes on in another line.
    within_line = last.colno is not None and last.end_lineno == last.lineno
    column = last.colno + 1 if within_line and last.colno is not None else None
    end_column = last.end_colno + 1 if within_line and last.end_colno is not None else None
    calls = tuple(f"{shown_path(frame.filename)}:{frame.lineno} in {frame.name}" for frame in reversed(callers))
    return CaptureError(message, file, last.lineno, column, end_column, calls)


_STATIC_SHAPES = {
    "_local_scalar_dense": "without `.item()` and `float()`, a tensor of no dimensions computes the same",
    "index": "torch.where(mask, x, 0) keeps the shape",
    "nonzero": "torch.where(mask, x, 0) keeps the shape, and (x != 0).sum() counts",
    "masked_select": "torch.where(mask, x, 0) keeps the shape",
    "_unique2": "torch.sort puts equal elements side by side, and torch.bucketize finds them",
    "unique_dim": "torch.sort puts equal elements side by side",
    "unique_consecutive": "x[1:] != x[:-1] says where a run begins",
    "bincount": "torch.zeros(n).index_add(0, x, torch.ones(len(x))) counts in n bins",
    "repeat_interleave": "a number of repeats that is a Python int is static",
}
"""ATen op whose result has a shape that depends on data, or is a number out of it → what to do instead."""


def static_shape_advice(overload: object) -> str:
    """What stands for an operation whose result depends on data in its shape, after a semicolon; or nothing."""
    name = str(overload).removeprefix("aten.").partition(".")[0]
    return f"; {_STATIC_SHAPES[name]}" if name in _STATIC_SHAPES else ""


_UNKNOWN_TYPE = re.compile(r"Found <class '(.+?)'> in output, which is not a known type")
"""What PyTorch says of a result that is no tensor, number or registered container."""

_LOST_VALUE = "We found a fake tensor in the exported program constant's list"
"""What PyTorch says where operations below those that it records give what it records the use of: derivatives."""


def _message(error: Exception) -> str:
    match error:
        case DynamicOutputShapeException():
            what = f"the shape of what {error.func} gives depends on data"
            return f"{what}, which is not supported: shapes are static{static_shape_advice(error.func)}"
        case DataDependentOutputException() | GuardOnDataDependentSymNode():
            return "the program depends on the data in a tensor (`if x > 0`, `x.item()`), which is not supported"
        case RuntimeError() if found := _UNKNOWN_TYPE.match(str(error)):
            name = found[1].rpartition(".")[2]
            return (
                f"the program gives an object of {name}, which torch.export does not know: return a tuple or a dict, "
                f"or register the class with torch.export.register_dataclass({name})"
            )
        case RuntimeError() if _LOST_VALUE in str(error):
            return "torch.export does not record all that torch.autograd.grad computes with: write the derivative out"
        case _:
            paragraph = str(error).strip().split("\n\n")[0]
            return f"{type(error).__name__}: {paragraph}" if paragraph else type(error).__name__
