"""What goes wrong between a program and a GPU, in words for its user."""

from __future__ import annotations


class GpuError(Exception):
    """A program cannot be run on a GPU, or failed there."""


class GpuUnavailableError(GpuError):
    """There is no GPU that programs can run on, or something is missing that it takes."""


class GpuInputError(GpuError, ValueError):
    """A program is given other tensors than it takes."""


class LaunchError(GpuError):
    """A kernel could not be loaded or launched, or did something that the GPU stopped."""
