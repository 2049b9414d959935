"""Facts go through the wall unchanged; whatever is malformed does not."""

import json
import os
import struct
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from minigrad.course.check import examination
from minigrad.course.check.casefile import CaseFile
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import Case, Facts, Returned
from minigrad.course.check.judge import judge
from minigrad.course.check.limits import Deadline
from minigrad.course.check.observation import derive, observe
from minigrad.course.check.references import References
from minigrad.course.exercises import catalogue
from minigrad.course.grade import expected, frames, serialization
from minigrad.course.grade import messages as say
from tests.answers import rows

VARIED = (
    "gym.Square",
    "gym.BroadcastMul",
    "gym.SortWithIndices",
    "gym.InplaceScale",
    "gym.JvpMul",
    "gym.Dropout",
)


def seen(exercise_id: str) -> tuple[Exercise, list[Case], list[Facts]]:
    """What an honest worker sees of a right answer."""
    exercise = catalogue.load(exercise_id)
    answer = rows.right(exercise_id)[0].made_anew()
    cases = exercise.cases(np.random.default_rng(7))
    with examination.answers_running(Deadline(60.0)):
        found = observe(answer, exercise.contract, cases, derived=False)
    return exercise, cases, found


def through_the_wall(found: list[Facts]) -> say.Observed:
    header, body = serialization.packed(say.Observed(tuple(found)))
    header = json.loads(json.dumps(header, allow_nan=False))
    return serialization.unpacked(header, body, [say.Observed])


def through_the_wall_too(exercise: Exercise, cases: list[Case]) -> Any:
    answer = rows.right(exercise.id)[0].made_anew()
    found = derive(answer, exercise.contract, cases, Deadline(60.0))
    header, body = serialization.packed(say.Observed(seconds=tuple(found)))
    header = json.loads(json.dumps(header, allow_nan=False))
    return serialization.unpacked(header, body, [say.Observed]).seconds


def flat(value: Any) -> list[Any]:
    """Everything in facts, in one list."""
    if isinstance(value, np.ndarray):
        return [value.dtype, value.shape, value.tolist()]
    if isinstance(value, tuple | list):
        return [each for part in value for each in flat(part)]
    if hasattr(value, "__dataclass_fields__"):
        return flat(list(vars(value).values()))
    return [value]


@pytest.mark.parametrize("exercise_id", VARIED)
def test_facts_of_a_right_answer_come_back_whole_and_prove_it(exercise_id: str) -> None:
    exercise, cases, found = seen(exercise_id)
    came = expected.completed(through_the_wall(found).facts, exercise.contract, cases)
    np.testing.assert_equal(flat(came), flat(found))
    came = expected.derived(came, through_the_wall_too(exercise, cases), cases)
    case = CaseFile(came, exercise, References(exercise))
    assert expected.unproven(case, cases, expected.COMPARED) == ""


def test_the_order_of_axes_in_memory_goes_through_too() -> None:
    array = np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0)
    header, body = serialization.packed(say.Called(value=array))
    came = serialization.unpacked(header, body, [say.Called]).value
    np.testing.assert_array_equal(came, array)
    assert came.strides == array.strides


def without_passes(facts: Facts) -> Facts:
    return replace(facts, trials=tuple(replace(t, passes=()) for t in facts.trials))


def test_a_report_that_leaves_out_what_is_wrong_proves_nothing() -> None:
    exercise, cases, found = seen("gym.Square")
    silent = [without_passes(facts) for facts in found]
    came = expected.completed(silent, exercise.contract, cases)
    assert judge(came, exercise).findings == ()  # it finds fault with nothing
    case = CaseFile(came, exercise, References(exercise))
    assert "the gradients" in expected.unproven(case, cases, expected.COMPARED)


def test_a_report_on_fewer_cases_proves_nothing() -> None:
    exercise, cases, found = seen("gym.Square")
    came = expected.completed(found[:1], exercise.contract, cases)
    case = CaseFile(came, exercise, References(exercise))
    lacking = expected.unproven(case, cases, expected.COMPARED)
    assert lacking == f"1 of {len(cases)} cases"


def test_a_report_on_other_calls_is_none() -> None:
    exercise, cases, found = seen("gym.Square")
    fewer = replace(found[0], trials=found[0].trials[:3])
    with pytest.raises(frames.FrameError, match="a report on plain, double"):
        expected.completed([fewer, *found[1:]], exercise.contract, cases)


def test_inputs_are_those_of_the_judge_whatever_was_reported() -> None:
    exercise, cases, found = seen("gym.Square")
    nothing = tuple(np.zeros_like(x) for x in cases[0].inputs)
    forged = replace(found[0], case=replace(cases[0], inputs=nothing))
    came = expected.completed([forged], exercise.contract, cases)
    assert came[0].case is cases[0]
    np.testing.assert_equal(came[0].trials[0].inputs, cases[0].inputs)


ARRAY = ["<f8", [2], [0]]


def called(value: object) -> list[object]:
    return ["Called", [None, value, -1, []]]


@pytest.mark.parametrize(
    ("header", "body", "words"),
    [
        ("text", b"", "no message"),
        (["Loaded", []], b"", "an answer to something else"),
        (["Called", [None]], b"", "1 values for a Called"),
        (["Called", {"crash": None}], b"", "a dict in place of a list"),
        (called({"a": ["|O", [1], [0]]}), bytes(8), "dtype '|O'"),
        (called({"a": ["<M8[ns]", [1], [0]]}), bytes(8), "dtype"),
        (called({"a": [["<f8"], [1], [0]]}), bytes(8), "dtype"),
        (called({"a": ["<f8", [-1], [0]]}), bytes(8), "shape"),
        (called({"a": ["<f8", [2**40], [0]]}), bytes(8), "shape"),
        (called({"a": ["<f8", [0, 2**40], [0, 1]]}), b"", "shape"),
        (called({"a": ["<f8", [1] * 40, list(range(40))]}), bytes(8), "axes"),
        (called({"a": ["<f8", [2, 2], [0, 0]]}), bytes(32), "axes"),
        (called({"a": ["<f8", [True], [0]]}), bytes(8), "bool in place of a int"),
        (called({"a": ARRAY}), bytes(8), "more numbers than came"),
        (called({"a": ARRAY}), bytes(17), "belong to no array"),
        (called({"a": ARRAY[:2]}), bytes(16), "without dtype"),
        (called({"a": ARRAY, "t": []}), bytes(16), "no kind"),
        (called({"z": 1}), b"", "of the kind 'z'"),
        (called({"d": [[1, 2]]}), b"", "int in place of a str"),
        (called({"d": [["a"]]}), b"", "no mapping|is none"),
        (called({"f": "1"}), b"", "no number"),
        (called(2**70), b"", "64 bits"),
        (called("x" * 10_000), b"", "10000 characters"),
        (called({"l": [0] * 10_000}), b"", "10000 things"),
        (["Called", [[1, 2], None, -1, []]], b"", "2 values for a Crash"),
    ],
)
def test_malformed_answers_are_refused(header: Any, body: bytes, words: str) -> None:
    with pytest.raises(frames.FrameError, match=words):
        serialization.unpacked(header, body, [say.Called])


def test_what_is_not_plain_arrives_as_the_name_of_its_type() -> None:
    value = {"a": [1, (2.5, float("nan"))], "b": object(), "c": np.array(["x"])}
    came = serialization.unpacked(
        *serialization.packed(say.Called(value=value)), [say.Called]
    ).value
    assert came["b"] == serialization.Other("object")
    assert came["a"][1][0] == 2.5
    assert np.isnan(came["c"]).all()


def test_half_a_surrogate_can_be_written_to_a_file() -> None:
    header = called("\ud800")
    came = serialization.unpacked(header, b"", [say.Called]).value
    assert came.encode() == b"?"


def test_long_texts_are_cut_where_they_are_said() -> None:
    header, body = serialization.packed(Returned("x" * 10_000, None))
    assert len(serialization.unpacked(header, body, [Returned]).kind) == 2000


def frame(text: bytes, magic: bytes = b"mgr1", size: int | None = None) -> bytes:
    return struct.pack("<4sII", magic, size or len(text), 0) + text


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (frame(b"{}", magic=b"XXXX"), "did not begin like one"),
        (frame(b"", size=2**32 - 1), "an answer of 4294967295 bytes"),
        (frame(b"[" * 100_000), "cannot be read"),
        (frame(b"[" * 60 + b"]" * 60), "nested too deeply"),
        (frame(b"[NaN]"), "no number of JSON"),
        (frame(b"\xff\xfe"), "cannot be read"),
        (frame(b"9" * 5000), "cannot be read"),
        (b"mgr1", "ended before it had answered"),
    ],
)
def test_what_is_no_frame_is_refused(sent: bytes, words: str) -> None:
    reader, writer = os.pipe()
    thread = threading.Thread(target=lambda: (os.write(writer, sent), os.close(writer)))
    thread.start()
    try:
        with pytest.raises(frames.FrameError, match=words):
            frames.read(reader, until=time.monotonic() + 10)
    finally:
        os.close(reader)
        thread.join(10)


def test_an_answer_that_trickles_in_is_too_late() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"mg")
    try:
        with pytest.raises(frames.TooLateError):
            frames.read(reader, until=time.monotonic() + 0.05)
    finally:
        os.close(reader)
        os.close(writer)


def test_a_byte_that_somebody_else_has_read_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    honest = os.read

    def stolen(number: int, count: int) -> bytes:
        honest(number, count)
        return honest(number, count)

    os.write(writer, b"mgr1")
    monkeypatch.setattr(os, "read", stolen)
    try:
        with pytest.raises(frames.TooLateError):
            frames.read(reader, until=time.monotonic() + 0.3)
    finally:
        monkeypatch.undo()
        os.close(reader)
        os.close(writer)


def test_a_pipe_that_nobody_reads_is_not_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        with pytest.raises(frames.TooLateError):
            frames.write(writer, [], bytes(100_000), until=time.monotonic() + 0.05)
    finally:
        os.close(reader)
        os.close(writer)
