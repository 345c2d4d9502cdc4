"""Where an operation of an exported graph came from: the user's line, out of PyTorch's stack trace."""

import os
import re
import site
import sysconfig
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import FrameSummary

import torch
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr

from ..rewriting.locations import UNKNOWN
from .torch_internals import stack_trace_filter

COMMAND = "<command>"
"""File name of code that stands on the command line; `linecache` holds its text."""

_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+)', re.MULTILINE)

_OWN = os.path.realpath(Path(__file__).parent) + os.sep

_TORCH = os.path.realpath(Path(torch.__file__).parent) + os.sep

_FOREIGN = (
    _OWN,
    *(
        os.path.realpath(folder) + os.sep
        for folder in (*site.getsitepackages(), site.getusersitepackages(), sysconfig.get_path("stdlib"))
    ),
)


@cache
def is_users(file: str) -> bool:
    """Whether code in `file` is the user's: not in an installed package, Python's library or this package."""
    if file.startswith("<"):
        return file == COMMAND
    return not os.path.realpath(file).startswith(_FOREIGN)


@cache
def _is_torch(file: str) -> bool:
    return os.path.realpath(file).startswith(_TORCH)


def shown_path(file: str) -> str:
    """`file` relative to the working directory if it lies below, else as it is."""
    if file.startswith("<"):
        return file
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def frame_location(stack_trace: str | None) -> LocationAttr:
    """The innermost of the user's frames in `stack_trace`; when none is the user's, the innermost outside of PyTorch,
    which is that of the library that has the model; else the innermost at all."""
    frames = [(match["file"], int(match["line"])) for match in _FRAME.finditer(stack_trace or "")]
    if not frames:
        return UNKNOWN
    others = [frame for frame in frames if not _is_torch(frame[0])]
    file, line = next((frame for frame in reversed(frames) if is_users(frame[0])), (others or frames)[-1])
    return FileLineColLoc(StringAttr(shown_path(file)), IntAttr(line), IntAttr(0))


def users_line(frames: Sequence[FrameSummary]) -> str:
    """`model.py:7`, the innermost of the user's frames; of all, where none is the user's; "" where there are none."""
    shown = [frame for frame in frames if is_users(frame.filename)] or frames
    return f"{shown_path(shown[-1].filename)}:{shown[-1].lineno}" if shown else ""


def node_location(metadata: Mapping[str, object]) -> LocationAttr:
    """The location of an FX node, from its `meta`."""
    trace = metadata.get("stack_trace")
    return frame_location(trace if isinstance(trace, str) else None)


@contextmanager
def whole_stack_traces(caller: str) -> Generator[None]:
    """Let `torch.export` record all of the user's frames with each operation.

    caller: file that calls `torch.export`; frames above it belong to whoever started the export.
    """

    def users_below_caller(frames: list[FrameSummary]) -> list[FrameSummary]:
        calls = [position for position, frame in enumerate(frames) if frame.filename == caller]
        below = frames[calls[-1] + 1 :] if calls else frames
        return [frame for frame in below if is_users(frame.filename)]

    with stack_trace_filter(users_below_caller):
        yield
