"""`--mlir-timing`: where the time of `uop-opt` goes."""

import time
from collections.abc import Generator
from contextlib import contextmanager


class Timing:
    """CPU and wall seconds of named spans, in the order in which they first ended."""

    def __init__(self) -> None:
        self._rows: dict[object, tuple[str, float, float]] = {}

    def add(self, key: object, name: str, cpu: float, wall: float) -> None:
        """Add to the row of `key`, which is shown as `name`."""
        _, cpu_before, wall_before = self._rows.get(key, (name, 0.0, 0.0))
        self._rows[key] = (name, cpu_before + cpu, wall_before + wall)

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Add the time that the body of the `with` takes to the row `name`."""
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            self.add(name, name, time.process_time() - cpu, time.perf_counter() - wall)

    def table(self) -> str:
        """The rows and their total, as mlir-opt shows them."""
        rows = [*self._rows.values()]
        total_cpu, total_wall = sum(row[1] for row in rows), sum(row[2] for row in rows)
        rule = f"===-{'-' * 73}-==="
        lines = [
            rule,
            f"{'... Execution time report ...':^81}".rstrip(),
            rule,
            f"  Total Execution Time: {total_wall:.4f} seconds",
            "",
            "  ----CPU Time-----   ----Wall Time----   ----Name----",
        ]
        for name, cpu, wall in [*rows, ("Total", total_cpu, total_wall)]:
            cpu_share, wall_share = cpu / (total_cpu or 1), wall / (total_wall or 1)
            lines.append(f"  {cpu:8.4f} ({cpu_share:6.1%})  {wall:8.4f} ({wall_share:6.1%})  {name}")
        return "\n".join(lines)
