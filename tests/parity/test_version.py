"""Which torch the facts are about."""

from typing import Any


def test_torch_is_the_version_that_was_observed(torch: Any) -> None:
    assert torch.__version__.split("+")[0] == "2.13.0"
