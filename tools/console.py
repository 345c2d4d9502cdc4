"""Where commands print tables."""

from __future__ import annotations

from rich.console import Console


def console() -> Console:
    """Standard output, as wide as the terminal; piped text is as wide as the tables need."""
    result = Console(highlight=False)
    return result if result.is_terminal else Console(highlight=False, width=160)
