"""Where an operation of an exported graph came from: the user's line, out of PyTorch's stack trace."""

import os
import re
import site
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import FrameSummary, StackSummary

from torch.fx.proxy import TracerBase
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr

from ..rewriting.locations import UNKNOWN

COMMAND = "<command>"
"""File name of code that stands on the command line; `linecache` holds its text."""

_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+)', re.MULTILINE)

_OWN = os.path.realpath(Path(__file__).parent) + os.sep

_FOREIGN = (
    _OWN,
    *(
        os.path.realpath(folder) + os.sep
        for folder in (*site.getsitepackages(), site.getusersitepackages(), sysconfig.get_path("stdlib"))
    ),
)


def is_users(file: str) -> bool:
    """Whether code in `file` is the user's: not in an installed package, Python's library or this package."""
    if file.startswith("<"):
        return file == COMMAND
    return not os.path.realpath(file).startswith(_FOREIGN)


def shown_path(file: str) -> str:
    """`file` relative to the working directory if it lies below, else as it is."""
    if file.startswith("<"):
        return file
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def frame_location(stack_trace: str | None) -> LocationAttr:
    """The innermost of the user's frames in `stack_trace`; when none is the user's, the innermost at all."""
    frames = [(match["file"], int(match["line"])) for match in _FRAME.finditer(stack_trace or "")]
    if not frames:
        return UNKNOWN
    file, line = next((frame for frame in reversed(frames) if is_users(frame[0])), frames[-1])
    return FileLineColLoc(StringAttr(shown_path(file)), IntAttr(line), IntAttr(0))


def node_location(metadata: Mapping[str, object]) -> LocationAttr:
    """The location of an FX node, from its `meta`."""
    trace = metadata.get("stack_trace")
    return frame_location(trace if isinstance(trace, str) else None)


@contextmanager
def whole_stack_traces(caller: str) -> Iterator[None]:
    """Let `torch.export` record the user's helper functions too, not `forward` methods alone.

    caller: file that calls `torch.export`; frames above it belong to whoever started the export.
    """
    original = TracerBase._filter_traceback_frames  # pyright: ignore[reportPrivateUsage] # torch: "can be overridden"

    def below_caller(tracer: TracerBase, frames: StackSummary) -> StackSummary:
        callers = [position for position, frame in enumerate(frames) if frame.filename == caller]
        below: list[FrameSummary] = frames[callers[-1] + 1 :] if callers else list(frames)
        users = [frame for frame in below if is_users(frame.filename)]
        return StackSummary.from_list(users or original(tracer, StackSummary.from_list(below)))

    TracerBase._filter_traceback_frames = below_caller  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = original  # pyright: ignore[reportPrivateUsage]
