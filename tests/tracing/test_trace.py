"""Keeping a recording in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minigrad.tracing import Trace
from minigrad.tracing.trace import TraceFileError
from tests.tracing.programs import record_scale


def test_saved_recording_loads_as_it_was(tmp_path: Path) -> None:
    trace = record_scale()
    assert Trace.load(trace.save(tmp_path / "scale.json")).data == trace.data


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not json", "is not JSON"),
        ("[1, 2]", "no recording"),
        ('{"schema": "minigrad.trace/9"}', "of schema 'minigrad.trace/9'"),
        ('{"schema": "minigrad.trace/1", "meta": {}}', "damaged: sources, values"),
    ],
)
def test_other_file_is_refused_with_the_reason(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TraceFileError, match=says):
        Trace.load(path)


def test_failed_save_leaves_the_old_file_and_no_half_written_one(
    tmp_path: Path,
) -> None:
    path = record_scale().save(tmp_path / "scale.json")
    before = path.read_text(encoding="utf-8")
    broken = Trace({"schema": object()})
    with pytest.raises(TypeError):
        broken.save(path)
    assert path.read_text(encoding="utf-8") == before
    assert [item.name for item in tmp_path.iterdir()] == ["scale.json"]
    assert json.loads(before)["schema"] == "minigrad.trace/1"
