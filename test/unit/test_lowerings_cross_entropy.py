"""`F.linear_cross_entropy` in chunks: PyTorch's samples of it, with ignored targets, weights, biases and smoothing."""

import pytest

from uop.tools.checking.opinfo import OpInfoSuite
from uop.tools.checking.outcomes import Verdict


@pytest.mark.parametrize("variant", ["chunked", "chunked_none"])
def test_samples(variant: str) -> None:
    suite = OpInfoSuite(("tensors",), samples=4, match=f"linear_cross_entropy.{variant}")
    outcomes = [outcome for case in suite.cases() if case.op.endswith(variant) for outcome in suite.check(case)]
    assert len(outcomes) == 4
    assert [outcome.case for outcome in outcomes if outcome.verdict is not Verdict.RIGHT] == []
