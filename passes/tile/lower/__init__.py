"""The parts of convert-tile-to-gpu-kernel: how each construct of tile form becomes hardware primitives."""
