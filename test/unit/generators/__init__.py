"""Hypothesis strategies of whole programs: every op of every dialect, with any operands, types and attributes."""
