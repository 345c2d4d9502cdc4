"""Fails on line 4."""

TABLE: dict[str, int] = {}
TABLE["missing"]
