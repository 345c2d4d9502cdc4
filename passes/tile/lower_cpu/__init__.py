"""The parts of `convert-tile-to-cpu-kernel`."""
