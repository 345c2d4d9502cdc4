"""Compiled programs as data: a plan of launches and the kernels' texts and binaries, which run without the compiler.

Nothing here imports the compiler, xDSL or PyTorch: `from uop.runtime.artifact import load; load("DIR")(x, y)` needs
numpy, and what the device needs.
"""

from .loaded import LoadedProgram, load

__all__ = ["LoadedProgram", "load"]
