"""What a recording shows of the learner's values, whatever they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.names import Names
from minigrad.tracing.pictures import json_number
from minigrad.tracing.values import ValueStore, brief, mark_of
from tests.tracing.programs import shown_locals


class Evil:
    """Raises wherever it can be asked."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError(name)

    def __repr__(self) -> str:
        raise ValueError("repr")

    def __len__(self) -> int:
        raise ValueError("len")

    __eq__ = __hash__ = __bool__ = __len__


class EvilText(str):
    __eq__ = __hash__ = __repr__ = Evil.__len__


class EvilError(Exception):
    def __str__(self) -> str:
        raise ValueError("str")


def self_holding() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


ODD = {
    "text array": np.array(["a"]),
    "text scalar": np.str_("a"),
    "object array": np.array([None]),
    "structured": np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]),
    "dates": np.array(["2024-01-01"], dtype="datetime64[D]"),
    "date": np.datetime64("2024-01-01"),
    "long double": np.ones(2, dtype=np.longdouble),
    "long complex": np.ones(2, dtype=np.clongdouble),
    "masked": np.ma.array([1.0, 2.0], mask=[True, True]),
    "huge int": 10**5000,
    "self-holding list": self_holding(),
    "evil": Evil(),
    "evil text": EvilText("a"),
    "list of evil": [Evil(), Evil()],
    "error": EvilError(),
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_odd_local_is_shown_somehow_and_can_be_saved(value: Any) -> None:
    trace = Trace()
    with Recorder(trace):
        odd = value
        after = 1
    assert odd is value
    assert after == 1
    assert len(shown_locals(trace, "odd")) == 1
    json.dumps(trace.data, allow_nan=False)


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_odd_argument_attribute_and_result_raise_nothing(value: Any) -> None:
    class Odd(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, odd):
            ctx.odd = odd
            return x * 2

    def give_back(odd: Any) -> Any:
        return odd

    trace = Trace()
    with Recorder(trace):
        Odd.apply(mg.ones(2, requires_grad=True), value)
        give_back(value)
        give_back((value, value))
    json.dumps(trace.data, allow_nan=False)


def test_exception_without_a_text_is_told_by_its_name() -> None:
    trace = Trace()
    with pytest.raises(EvilError), Recorder(trace):
        raise EvilError
    assert trace.data["meta"]["error"] == "EvilError"


@pytest.mark.parametrize("values", [[1.0, 2.0], np.array([1.0, 2.0])])
def test_value_that_was_understood_is_still_shown(values: Any) -> None:
    trace = Trace()
    with Recorder(trace):
        shown = values
        after = 1
    assert shown is values
    assert after == 1
    assert shown_locals(trace, "shown")[0]["t"] in "AL"
    assert brief(np.array([1.0, 2.0])) == "[1, 2]"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (np.float32(0.1), 0.1),
        (np.int64(3), 3),
        (np.bool_(True), 1),
        (np.float64("nan"), "nan"),
        (np.complex64(1j), "1j"),
        (np.longdouble(2), "2.0"),
    ],
)
def test_number_becomes_what_json_carries(number: Any, shown: object) -> None:
    assert json_number(number) == shown
    assert type(json_number(number)) is type(shown)


def test_array_changed_in_place_is_shown_anew() -> None:
    trace = Trace()
    with Recorder(trace):
        array = np.zeros(2)
        array[0] = 5
        done = True
    assert done
    rows = [
        trace.data["values"][ref["v"]]["rows"] for ref in shown_locals(trace, "array")
    ]
    assert rows == [[[0.0, 0.0]], [[5.0, 0.0]]]


def test_tensor_changed_through_its_array_is_shown_anew() -> None:
    trace = Trace()
    with Recorder(trace):
        tensor = mg.zeros(2)
        tensor.array[0] = 5
        done = True
    assert done
    assert len(shown_locals(trace, "tensor")) == 2


def test_dict_and_set_that_grow_are_shown_anew() -> None:
    trace = Trace()
    with Recorder(trace):
        table, members = {}, set()
        table["a"] = 1
        members.add(1)
        done = True
    assert done
    assert [r["r"] for r in shown_locals(trace, "table")] == ["dict of 0", "dict of 1"]
    assert [r["r"] for r in shown_locals(trace, "members")] == ["set of 0", "set of 1"]


def test_unchanged_local_is_shown_once() -> None:
    trace = Trace()
    with Recorder(trace):
        array, table = np.zeros(2), {"a": 1}
        first = 1
        second = 2
    assert first < second
    assert len(array) == 2 * len(table)
    assert len(shown_locals(trace, "array")) == len(shown_locals(trace, "table")) == 1


def test_mark_of_a_long_list_does_not_read_its_elements() -> None:
    class Unread(list[int]):
        def __iter__(self) -> Any:
            raise AssertionError("read")

    assert mark_of(Unread(range(9)))[2] == 9
    assert mark_of([1, 2]) != mark_of([1, 3])


def test_name_that_was_found_is_good_while_it_holds() -> None:
    names, tensor = Names(), mg.zeros(2)
    variables = {"first": tensor}
    names.add(variables)
    assert names.of(tensor) == "first"
    variables["second"] = variables.pop("first")
    names.moment += 1
    assert names.of(tensor) == "second"
    variables["second"] = mg.zeros(2)
    assert names.of(tensor) is None


def test_tensor_without_a_name_has_one_when_a_line_has_bound_it() -> None:
    names, tensor = Names(), mg.zeros(2)
    variables = {"first": mg.zeros(2)}
    names.add(variables)
    assert names.of(tensor) is None
    variables["second"] = tensor
    assert names.of(tensor) is None  # nothing of the program's has run meanwhile
    names.moment += 1
    assert names.of(tensor) == "second"


def test_sketch_lives_as_long_as_a_note_leads_to_it() -> None:
    store = ValueStore(Names())
    array = np.arange(100.0)
    note, same = store.ref(array), store.ref(array.copy())
    assert note[1] is same[1]
    del note
    assert list(store._sketches.values()) == [same[1]]
    del same
    assert not store._sketches
