"""bench/fusion.py runs, and uop-partition chooses what the simulator's counters say is cheaper."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "fusion.py"

JOINED = ("sums of 512 rows of 64, beside 33 columns", "erf(x) · yᵀ, 512×512")
CUT = ("sums of 512 rows of 1024, beside 33 columns",)


def test_prices_order_what_is_counted() -> None:
    result = subprocess.run([sys.executable, str(BENCH), *JOINED, *CUT], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    choices = {line.split(" | ")[0][2:]: line.strip("| ").split(" | ")[-2:] for line in result.stdout.splitlines()[2:]}
    assert choices == {name: ["joined"] * 2 for name in JOINED} | {name: ["cut"] * 2 for name in CUT}
