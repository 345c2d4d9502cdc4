"""The cache of the tests: not the user's, and a new one for each run."""

import os
import shutil
import tempfile

import pytest

FOLDER = "UOP_CACHE_DIR"


def pytest_configure(config: pytest.Config) -> None:
    """Processes of pytest-xdist, and those that tests start, share the folder of the one that the user started."""
    if not hasattr(config, "workerinput"):
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="uop-cache-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
