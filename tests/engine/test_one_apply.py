"""Each built-in gives the same on its fast path as through all phases of apply."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine import observe
from minigrad.engine.builtin import BuiltinBackward
from minigrad.engine.core.saved import Record
from minigrad.engine.core.tensor import Tensor
from minigrad.ops import OPS, Op
from tests.ops import laws

OF_A_CALL = {"leaf_created", "ctx_created", "forward_returned", "edges_wired"}
"""What only an observer of built-in operations is told, who turns the fast path off."""

ROWS = list(laws.rows(False))


def plain(value: Any) -> Any:
    """A value in a form that can be compared with one of another run."""
    if isinstance(value, Tensor):
        kept = value.is_inference() or value._version
        facts = (value.dtype, value.stride(), value.requires_grad, value.output_nr)
        return [*plain(value.array), *facts, kept, value._view_kind]
    if isinstance(value, np.ndarray):
        return [value.shape, value.dtype, value.strides, value.tobytes()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, minigrad.autograd.graph.Node):
        return value.name()
    if isinstance(value, Record):
        return [type(value).__name__, value.version, *plain(value.values())]
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


class Events:
    """An observer that notes all it is told."""

    keeps = False

    def __init__(self, observes: int) -> None:
        self.observes = observes
        self.told: list[Any] = []

    def __getattr__(self, moment: str) -> Any:
        if moment == "gradient_accumulated":  # of the tensor, whether it is a leaf
            return lambda leaf, *facts: self.told.append((moment, plain(list(facts))))
        return lambda *facts: self.told.append((moment, plain(list(facts))))


@contextmanager
def told(observes: int) -> Iterator[Events]:
    events = Events(observes)
    observe.add(events)
    try:
        yield events
    finally:
        observe.remove(events)


def graph(outputs: list[Any]) -> list[Any]:
    """The nodes below some tensors: what each is, keeps, and leads to."""
    order: dict[Any, int] = {}
    todo = [one.grad_fn for one in outputs if one.grad_fn is not None]
    while todo:
        node = todo.pop(0)
        if node not in order:
            order[node] = len(order)
            todo += [below for below, _ in node.next_functions if below is not None]
    facts = []
    for node in order:
        edges = [(order.get(below), number) for below, number in node.next_functions]
        kept = [(one.data, one.version, one.output_nr) for one in handles_of(node)]
        own = plain(sorted(getattr(node, "__dict__", {}).items()))
        flags = node.needs_input_grad, [repr(one) for one in node._input_metadata]
        facts.append([node.name(), edges, len(node._edges), plain(kept), own, *flags])
    return facts


def handles_of(node: Any) -> Any:
    return [one for one in node._raw_saved_tensors if one.data is not None]


def fresh(value: Any) -> Any:
    """Leaves of their own, since gradients are left at them."""
    if isinstance(value, tuple):
        return tuple([fresh(one) for one in value])
    if not isinstance(value, Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def run(row: Op, given: list[Any], observes: int) -> list[Any]:
    """What a call and its backward give: values, nodes, events; or the error."""
    minigrad.manual_seed(3)
    given = [fresh(one) for one in given]
    with told(observes) as events, warnings.catch_warnings():
        # A kernel that is given a word gives up, and says so the first time only.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result = row.call(*given)
            outputs = list(result) if isinstance(result, (tuple, list)) else [result]
            nodes = graph(outputs)
            heads = [one for one in outputs if one.requires_grad]
            if heads:
                ones = [minigrad.ones_like(one) for one in heads]
                minigrad.autograd.backward(heads, ones)
        except Exception as error:
            return [type(error), str(error)]
    calls = [moment for moment, _ in events.told if moment in OF_A_CALL]
    if observes == observe.FUNCTIONS:
        assert calls == []
    elif row.function is not None and not any([one is result for one in given]):
        assert calls
    rest = [one for one in events.told if one[0] not in OF_A_CALL]
    return [type(result), plain(outputs), nodes, rest]


def both(row: Op, given: list[Any]) -> tuple[list[Any], list[Any]]:
    return run(row, given, observe.FUNCTIONS), run(row, given, observe.EVERYTHING)


def variants(sample: tuple[Any, ...]) -> dict[str, list[Any]]:
    """The sample recorded, half recorded, unrecorded, and laid column by column."""
    arrays = laws.variables(sample)
    turned = [one.transpose().copy().transpose() for one in arrays]
    first = [minigrad.tensor(one, requires_grad=i == 0) for i, one in enumerate(arrays)]
    columns = [minigrad.from_numpy(one).requires_grad_() for one in turned]
    plain_tensors = [minigrad.tensor(one) for one in arrays]
    found = {"leaves": laws.leaves(arrays), "first": first, "columns": columns}
    found["unrecorded"] = plain_tensors
    return {name: laws.arguments(sample, given) for name, given in found.items()}


@pytest.mark.parametrize(("name", "row", "sample"), ROWS, ids=[one[0] for one in ROWS])
def test_fast_path_gives_the_nodes_and_events_of_all_phases(
    name: str, row: Op, sample: tuple[Any, ...]
) -> None:
    for given in variants(sample).values():
        fast, whole = both(row, given)
        assert fast == whole
    with minigrad.no_grad():
        fast, whole = both(row, variants(sample)["leaves"])
    assert fast == whole


FIRST = [one for one in ROWS if one[0].endswith("-0")]


@pytest.mark.parametrize(
    ("name", "row", "sample"), FIRST, ids=[one[0] for one in FIRST]
)
def test_fast_path_refuses_with_the_words_of_all_phases(
    name: str, row: Op, sample: tuple[Any, ...]
) -> None:
    given = variants(sample)["leaves"]
    for place in range(len(given)):
        for wrong in (np.ones((7, 5)), "two", None, minigrad.ones(7, 5), 3):
            fast, whole = both(row, [*given[:place], wrong, *given[place + 1 :]])
            assert fast == whole


def test_every_operation_of_the_table_is_among_them() -> None:
    assert {row.name for _, row, _ in ROWS} == set(OPS)


def test_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    x = minigrad.ones(2, 3).requires_grad_()
    fast, whole = both(OPS["sum"], [x])
    assert fast == whole
    right = BuiltinBackward._take_what_was_saved

    def take(node: Any, inputs: Any, result: Any) -> None:
        right(node, inputs, result)
        node.shape = (7,)

    monkeypatch.setattr(BuiltinBackward, "_take_what_was_saved", take)
    fast, whole = both(OPS["sum"], [x])
    assert fast != whole
