"""Layers put together at random, as nobody writes them down as a test: each network means what PyTorch says."""

import pytest
from generators.layers import Network, networks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_checks import check_natively

from uop.runtime.native.compiler import CompilerNotFoundError, find_compiler
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

try:
    find_compiler()
except CompilerNotFoundError as error:
    pytest.skip(str(error), allow_module_level=True)

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)

vector_bytes = st.sampled_from([16, 32, 64])


@settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=SLOW)
@given(networks(), vector_bytes)
def test_natively(network: Network, vector_bytes: int) -> None:
    check_natively(network.captured(), vector_bytes)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(networks(), vector_bytes)
def test_many_natively(network: Network, vector_bytes: int) -> None:
    check_natively(network.captured(), vector_bytes)


@settings(max_examples=5, deadline=None, derandomize=True, database=None, suppress_health_check=SLOW)
@given(networks())
def test_in_the_simulator(network: Network) -> None:
    result = run_captured(network.captured(), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))


@pytest.mark.slow
@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(networks())
def test_many_in_the_simulator(network: Network) -> None:
    result = run_captured(network.captured(), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
