"""As in tests/engine: minigrad under torch's name, and tests/parity runs torch."""

from typing import Any

import pytest

import minigrad


@pytest.fixture
def torch() -> Any:
    """The module under test; tests/parity puts torch itself in its place."""
    return minigrad
