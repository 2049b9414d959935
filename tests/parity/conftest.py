"""The only place that asks for torch: where it is missing, these tests skip."""

from typing import Any

import pytest


@pytest.fixture(scope="session")
def torch() -> Any:
    """torch itself, on one thread."""
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    return module
