"""A learner's workspace, and a room in which it may be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from minigrad import _workspace
from minigrad.course.notebook import journal
from minigrad.course.room import sender
from tests.course.room.rooms import Running, open_room


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that is the current folder, and a sender that is not patient."""
    folder = tmp_path / "workspace"
    (folder / _workspace.SHIPPED).mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sender, "PAUSES", (0.02,))
    monkeypatch.setattr(sender, "SENDER", sender.Sender())
    monkeypatch.setattr(journal, "listeners", [lambda: sender.SENDER.noticed()])
    return folder


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Running]:
    with open_room(tmp_path / "room.jsonl") as running:
        yield running
