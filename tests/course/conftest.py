"""Each test of the course begins with an empty journal."""

import pytest

from minigrad.course.notebook import journal


@pytest.fixture(autouse=True)
def empty_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_unkept", [])
