"""Reading the input and writing the output of a command, with errors for people."""

import os
import sys

from .diagnostics import Diagnostic, DiagnosticError, Source

STDIN = "-"
STDOUT = "-"


def read_source(path: str | None) -> Source:
    """The text of a file, or of standard input for `-` and None. Raises `DiagnosticError`."""
    name = "<stdin>" if path is None or path == STDIN else path
    try:
        if path is None or path == STDIN:
            content = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                content = file.read()
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DiagnosticError(Diagnostic("error", f"cannot read the input: {reason}", name)) from error
    try:
        return Source(name, content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line_start = content.rfind(b"\n", 0, error.start) + 1
        line = content.count(b"\n", 0, line_start) + 1
        message = f"the input is not UTF-8 text (byte 0x{content[error.start]:02x})"
        column = error.start - line_start + 1
        raise DiagnosticError(Diagnostic("error", message, name, line, column)) from error


def write_output(path: str | None, text: str) -> None:
    """Write `text` to a file, or to standard output for `-` and None. Raises `DiagnosticError`.

    A regular file is replaced in one step when all is written: an error leaves the old one as it was.
    """
    if path is None or path == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    path = os.path.realpath(path)  # write through a link rather than replace it
    replaces = os.path.isfile(path) or not os.path.lexists(path)
    written = f"{path}.{os.getpid()}.tmp" if replaces else path
    try:
        try:
            with open(written, "w", encoding="utf-8") as file:
                file.write(text)
            if replaces:
                if os.path.exists(path):
                    os.chmod(written, os.stat(path).st_mode & 0o7777)
                os.replace(written, path)
        except OSError:
            if replaces and os.path.exists(written):
                os.remove(written)
            raise
    except OSError as error:
        raise DiagnosticError(Diagnostic("error", f"cannot write the output: {error.strerror}", path)) from error
