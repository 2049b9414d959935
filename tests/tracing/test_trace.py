"""Keeping a recording in a file."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
from minigrad.tracing import Recorder, Trace
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
        ('{"schema": "minigrad.trace/2", "meta": {}}', "damaged: sources, values"),
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
    assert json.loads(before)["schema"] == "minigrad.trace/2"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"meta": 3}, "meta is int, not dict"),
        ({"values": []}, "values is list, not dict"),
        ({"graph": {}}, "graph has no 'nodes'"),
        ({"events": [{}]}, "event 0 has no 'k'"),
        ({"events": [7]}, "event 0 is int, not dict"),
        ({"sources": [{"name": 3}]}, "'name' of source 0 is int"),
    ],
)
def test_damaged_file_is_refused_with_the_place(
    tmp_path: Path, change: dict[str, object], says: str
) -> None:
    trace = record_scale()
    trace.data.update(change)
    with pytest.raises(TraceFileError, match=f"damaged: {says}"):
        Trace.load(trace.save(tmp_path / "damaged.json"))


def test_folder_that_is_missing_or_given_for_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder .*none'") as raised:
        record_scale().save(tmp_path / "none" / "scale.json")
    assert ".part" not in str(raised.value)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        record_scale().save(tmp_path)


def test_trace_holds_nothing_of_the_program_while_it_is_untold() -> None:
    trace = Trace()

    def program() -> list[Any]:
        x = mg.ones(3).requires_grad_()
        with Recorder(trace):
            y = x * 2
            x.grad = None
        return [weakref.ref(y), weakref.ref(y.grad_fn)]

    references = program()
    gc.collect()
    assert [reference() for reference in references] == [None, None]
    assert trace.sentences(1)[0].startswith("x * 2 gives ")
