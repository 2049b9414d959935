"""What if: the edit changes what follows from it, and nothing else anywhere."""

from __future__ import annotations

import copy
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import errors
from minigrad.autograd.graph import saved_tensors_hooks
from minigrad.engine import observe
from minigrad.tracing import Trace
from minigrad.tracing.edits import first_difference
from minigrad.tracing.places import places_at
from minigrad.tracing.program import WhatIfError
from minigrad.utils.checkpoint import checkpoint
from minigrad.views.recording import Recording
from minigrad.views.whatif import Edits
from tests.parity.differential import run
from tests.parity.differential.statements import write_program
from tests.tracing.programs import Scale
from tests.views.edited_programs import computed, edits, inner_edits, shown
from tests.views.folding import facts_at, stops_of, value_text

noted: list[Any] = []


class Square(mg.autograd.Function):
    """factor * x ** 2."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * ctx.factor

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x * ctx.factor, None


def kept(program: Callable[[], Any]) -> Recording:
    """A recording of a call, with all that is needed to run it again."""
    return mg.step(program, keep_values=True)


def squared(x: Any) -> Recording:
    """Twice the square of ``x``, tripled; its gradient is 12 x."""
    with mg.record(keep_values=True) as trace:
        y = Square.apply(x, 2.0)
        (y * 3).sum().backward()
    return trace


def grad_in(recording: Recording, name: str = "x.grad") -> Any:
    """The last value of a ``.grad`` in a recording."""
    nodes = {
        node["id"]: f"{node['tensor']}.grad"
        for node in recording.data["graph"]["nodes"]
    }
    told = [e for e in recording.data["events"] if "new" in e and "n" in e]
    events = [e for e in told if nodes[e["n"]] == name]
    return recording.data["values"][events[-1]["new"]["v"]]["rows"]


def without_edits(recording: Recording) -> Trace:
    """The recording without the steps that tell of edits."""
    events = [e for e in recording.data["events"] if e["k"] != "what.if"]
    return Trace({**recording.data, "events": events})


def test_grad_of_a_leaf_that_is_another_ends_as_such() -> None:
    x = mg.tensor([3.0, 4.0], requires_grad=True)
    asked = squared(x).what_if("x.grad was empty", gradient=[0.0, 1.0])
    assert asked.outcome == "Then x.grad is [0, 1] instead of [36, 48]."


def test_saved_value_attribute_and_gradient_have_their_consequences() -> None:
    x = mg.tensor([3.0, 4.0], requires_grad=True)
    trace = squared(x)
    at = "SquareBackward is ready and runs next"
    saved = trace.what_if(at, saved={0: [5.0, 4.0]})
    attribute = trace.what_if(at, attributes={"factor": 0.5})
    gradient = trace.what_if(at, gradient=[1.0, -1.0])
    assert grad_in(saved.recording) == [[60, 48]]
    assert grad_in(attribute.recording) == [[9, 12]]
    assert grad_in(gradient.recording) == [[12, -16]]
    assert saved.sentence == (
        "What if saved[0] of SquareBackward were [5, 4] instead of [3, 4]? Then x.grad "
        "is [60, 48] instead of [36, 48]."
    )
    assert repr(saved) == f"<WhatIf: {saved.sentence}>"


def test_objects_that_do_not_like_to_be_asked_their_class_are_left_in_peace() -> None:
    class Shy:
        """As what stands for torch.distributed.reduce_op, which warns."""

        @property
        def __class__(self) -> Any:
            asked.append("class")
            return Shy

    asked: list[str] = []
    here = Shy()
    here.in_a_cycle = [here]
    trace = squared(mg.tensor([3.0, 4.0], requires_grad=True))
    at = "SquareBackward is ready and runs next"
    asked.clear()
    what_if = trace.what_if(at, saved={0: [5.0, 4.0]})
    assert grad_in(what_if.recording) == [[60, 48]]
    assert asked == []


def test_recording_and_tensors_of_the_learner_stay_as_they_were() -> None:
    x = mg.tensor([3.0, 4.0], requires_grad=True)
    heard: list[Any] = []
    x.register_hook(heard.append)
    y = x * 1.0
    with mg.record(keep_values=True) as trace:
        y.mul_(2)
        noted.append(mg.rand(1).item())
        print("printed once")
        (y * y).sum().backward()
    before = repr(trace.data), x.grad.tolist(), x._version, y._version, len(heard)
    state, node, count = mg.get_rng_state().tolist(), y.grad_fn, len(noted)
    new = trace.what_if("MulBackward0 is ready", gradient=lambda old: old * 0)
    assert grad_in(new.recording, "x.grad") == [[0, 0]]
    assert before == (
        *(repr(trace.data), x.grad.tolist(), x._version, y._version, len(heard)),
    )
    assert state == mg.get_rng_state().tolist()
    assert node is y.grad_fn
    assert len(noted) == count
    assert not observe.has(object)
    assert mg.is_grad_enabled()


def test_nothing_is_printed_again(capsys: pytest.CaptureFixture[str]) -> None:
    def program() -> None:
        print("once")
        x = mg.tensor(2.0, requires_grad=True)
        (x * x).backward()

    kept(program).what_if("MulBackward0 is ready", gradient=2.0)
    assert capsys.readouterr().out == "once\n"


def test_edit_in_forward_goes_on_through_forward() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        Square.apply(x, 2.0).backward()
    # The attribute is there before the line that computes with it.
    new = trace.what_if("return x * x * ctx.factor", attributes={"factor": 10.0})
    assert "Square.forward returns 90." in " ".join(new.recording.sentences())
    assert grad_in(new.recording) == [[60]]


def test_saved_value_that_is_edited_as_it_is_taken_is_edited_when_it_is_kept() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    trace = squared(x)
    new = trace.what_if("apply takes what was saved", saved={0: 5.0})
    assert grad_in(new.recording) == [[60]]


def test_gradient_on_an_edge_is_added_to_what_waits() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        (x * 3 + x * 5).backward()
    both = trace.what_if("Both are here", gradient=100.0)
    assert grad_in(both.recording) == [[105]]
    begin = trace.what_if("backward begins", gradient=10.0)
    assert grad_in(begin.recording) == [[80]]
    grad = trace.what_if("x.grad was empty", gradient=-1.0)
    assert "x.grad is -1 from here on" in " ".join(grad.recording.sentences(1))


def test_saved_value_is_another_once_a_gradient_of_its_node_was_sent() -> None:
    x, y = leaf(3.0), leaf(4.0)
    with mg.record(keep_values=True) as trace:
        z = x * y
        z.backward(retain_graph=True)
        z.backward()
    both = trace.what_if("x gets", gradient=1.0, saved={1: 5.0}, node="MulBackward0")
    assert grad_in(both.recording) == [[1 + 4]]
    assert grad_in(both.recording, "y.grad") == [[3 + 5]]


def test_rule_with_a_hook_after_it_returns_once_in_an_edited_run() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        y = Square.apply(x, 1.0)
        y.grad_fn.register_hook(lambda *given: None)
        y.backward()
    new = trace.what_if("x gets", gradient=1.0)
    assert grad_in(new.recording) == [[1]]
    assert len(without_edits(new.recording)) == len(trace)


def test_whole_training_goes_on_from_the_edit() -> None:
    w = mg.nn.Parameter(mg.tensor(1.0))
    optimizer = mg.optim.SGD([w], lr=0.1)
    with mg.record(keep_values=True) as trace:
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).backward()
            optimizer.step()
    new = trace.what_if("w.grad was empty", gradient=10.0)
    # w becomes 1 - 0.1 * 10 = 0, and the second gradient 2 * 0.
    assert grad_in(new.recording, "w.grad") == [[0]]
    assert w.item() == pytest.approx(0.64)


def test_second_derivative_goes_through_the_edited_value() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        (slope,) = mg.autograd.grad(Square.apply(x, 1.0), x, create_graph=True)
        slope.backward()
    new = trace.what_if("SquareBackward is ready", saved={0: 5.0})
    # It keeps its place in the graph: the slope of 2 x is 2, wherever x is.
    assert new.outcome.startswith("Then the gradient asked for, that of x, is 10 ")
    assert grad_in(new.recording) == [[2]]
    factor = trace.what_if("SquareBackward is ready", attributes={"factor": 4.0})
    assert grad_in(factor.recording) == [[8]]


def test_hooks_checkpoint_and_changes_in_place_run_again() -> None:
    x = mg.tensor(2.0, requires_grad=True)

    def program() -> None:
        y = checkpoint(lambda x: (x * x).exp(), x, use_reentrant=False)
        z = y.clone()
        z.register_hook(lambda grad: grad * 10)
        z.mul_(3)
        z.backward()

    trace = kept(program)
    slope = 4 * float(np.exp(np.float32(4)))
    x.grad = None
    doubled = trace.what_if("CloneBackward0 is ready", gradient=lambda g: g * 2)
    (was,), (now,) = grad_in(trace), grad_in(doubled.recording)
    assert was[0] == pytest.approx(30 * slope, rel=1e-4)
    assert now[0] == pytest.approx(60 * slope, rel=1e-4)
    assert x.grad is None


@pytest.mark.parametrize("step", ["backward begins", "has its value again"])
def test_packed_value_is_another_each_time_it_is_unpacked(step: str) -> None:
    def to_half(tensor: Any) -> Any:
        noted.append("pack")
        return tensor.numpy().astype(np.float16)

    def to_single(array: Any) -> Any:
        noted.append("unpack")
        return mg.tensor(array.astype(np.float32))

    noted.clear()
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record(keep_values=True) as trace:
        with saved_tensors_hooks(to_half, to_single):
            y = Square.apply(x, 1.0)
        y.sum().backward(retain_graph=True)
        y.sum().backward()
    edited = trace.what_if(step, saved={0: {1: 5.0}}, node="SquareBackward")
    assert grad_in(edited.recording) == [[4.0, 20.0]]
    assert "saved[0] of SquareBackward were [1, 5] instead of [1, 2]" in (
        edited.sentence
    )
    told = [e["say"] for e in edited.recording.data["events"] if e["k"] == "what.if"]
    assert len(told) == 2
    assert edited.sentence.count("were") == 1
    assert noted == ["pack", "unpack", "unpack"]
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [4.0, 8.0]


def test_value_that_a_checkpoint_computes_again_is_another() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        y = checkpoint(lambda x: (x * 3).sin(), x, use_reentrant=False)
        y.backward()
    edited = trace.what_if("SinBackward0 is ready", saved={0: 0.0})
    assert grad_in(edited.recording) == [[3.0]]
    kinds = [e["k"] for e in edited.recording.data["events"]]
    assert kinds.index("rerun.end") < kinds.index("what.if")
    assert kinds.index("what.if") < kinds.index("hook.unpack")


def test_packed_value_that_nobody_reads_any_more_cannot_be_another() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        with saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
            y = Square.apply(x, 1.0)
        y.backward(retain_graph=True)
    says = r"there is no saved\[0\] to edit at step"
    with pytest.raises(errors.ArgumentValueError, match=says):
        trace.what_if("is finished", saved={0: 5.0}, node="SquareBackward")


def test_change_in_place_of_what_was_saved_is_noticed_after_an_edit_too() -> None:
    def program() -> None:
        y = mg.tensor(2.0, requires_grad=True) * 1
        z = Square.apply(y, 1.0)
        y.add_(1)
        z.backward()

    trace = kept(program)
    assert (
        "modified by an inplace operation: a tensor of" in trace.data["meta"]["error"]
    )
    new = trace.what_if("apply takes what was saved", saved={0: 5.0})
    said = new.recording.data["meta"].get("error", "")
    assert "is at version 1; expected version 0 instead" in said


def test_edits_can_be_made_one_after_the_other() -> None:
    trace = squared(mg.tensor(3.0, requires_grad=True))
    at = "SquareBackward is ready"
    first = trace.what_if(at, saved={0: 5.0})
    second = first.recording.what_if(at, attributes={"factor": 1.0})
    assert second.outcome == "Then x.grad is 30 instead of 60."
    assert grad_in(first.recording) == [[60]]


def test_one_element_of_many_and_another_node() -> None:
    x = mg.ones(3, 4, requires_grad=True)
    with mg.record(keep_values=True) as trace:
        y = Square.apply(x, 1.0)
        (y * y).sum().backward()
    edit = {0: {(1, 2): 5.0}}
    new = trace.what_if("backward begins", saved=edit, node="SquareBackward")
    assert new.outcome == "Then x.grad at [1, 2] is 20 instead of 4."


def several(x: Any, names: dict[str, Any] | None = None) -> None:
    """Many kinds of nodes between x and its gradient; ``names`` collects tensors."""
    a = (x * 2).exp()
    b = Square.apply(a, 0.5)
    c = checkpoint(lambda b: (b + 1).log(), b, use_reentrant=False)
    c.register_hook(lambda grad: grad * 3)
    d = c.clone().reshape(2, 1)
    d.mul_(2)
    e = (d @ d.t()).sum()
    (slope,) = mg.autograd.grad(Square.apply(x, 1.0).sum(), x, create_graph=True)
    f = (slope * slope).sum()
    for name, value in {"a": a, "b": b, "c": c, "e": e, "slope": slope}.items():
        (names or {}).get(name, lambda tensor: None)(value)
    (e + f).backward()


@pytest.mark.parametrize("name", ["b", "c", "slope"])
def test_edited_gradient_is_what_a_hook_would_have_made_of_it(name: str) -> None:
    trace = mg.step(several, leaf([0.1, 0.2]), keep_values=True)
    nodes: list[str] = []
    several(leaf([0.1, 0.2]), {name: lambda t: nodes.append(t.grad_fn.name())})
    arrivals = [
        at
        for at, event in enumerate(trace.data["events"], 1)
        if event["k"] == "node.enter" and event["say"].startswith(nodes[0])
    ]
    found = []
    for at in arrivals:
        new = trace.what_if(at, gradient=lambda grad: grad * -1.5)
        found.append(grad_in(new.recording)[0])
    x = leaf([0.1, 0.2])
    several(x, {name: lambda t: t.grad_fn.register_prehook(times(-1.5))})
    assert any(np.allclose(x.grad.tolist(), one, rtol=1e-4) for one in found)
    several(other := leaf([0.1, 0.2]))
    assert not np.allclose(x.grad.tolist(), other.grad.tolist())


def times(factor: float) -> Callable[[Any], Any]:
    return lambda grads: tuple(grad * factor for grad in grads)


def leaf(value: Any) -> Any:
    return mg.tensor(value, requires_grad=True)


@pytest.mark.parametrize("seed", range(3))
def test_edit_that_changes_nothing_tells_the_same_story(seed: int) -> None:
    source = write_program(seed).source
    trace = mg.step(run.run, source, mg, keep_values=True)
    steps = stops_of(trace.data, 1)[1:]
    random.Random(seed).shuffle(steps)
    edited = 0
    for step in steps:
        here = places_at(trace.data, step)
        keys = [str(one.key) for one in here if one.kind == "entry"]
        saved = [key.split(".")[1] for key in keys if key.startswith("saved")]
        same = {int(place): lambda old: old for place in saved}
        gradients = {one.key: lambda old: old for one in here if one.kind == "gradient"}
        if not same and not gradients:
            continue
        new = trace.what_if(step, saved=same, gradient=gradients or None)
        assert first_difference(trace, without_edits(new.recording)) is None
        assert new.outcome == "Then everything ends as it did."
        edited += 1
        if edited == 2:
            return


def test_picture_shows_the_edited_gradient_where_it_waits() -> None:
    with mg.record(keep_values=True) as trace:
        x = mg.tensor(2.0, requires_grad=True)
        (x * 3 + x * 5).backward()

    def shown(words: str, value: float) -> str:
        data = trace.what_if(words, gradient=value).recording.data
        steps = list(enumerate(data["events"], 1))
        at = next(i for i, e in steps if e["k"] == "what.if")
        if "n" not in data["events"][at - 1]:  # it is sent in the step after
            at = next(i for i, e in steps if i > at and e["k"] == "grad")
        edit, facts = data["events"][at - 1], facts_at(data, at)
        if "slot" not in edit:
            return value_text(data, facts["grads"][edit["n"]])
        waiting = facts["waiting"][edit["n"]][str(edit["slot"])]
        return value_text(data, waiting["total"])

    assert shown("MulBackward0 is ready", 10.0) == "float32 scalar 10"
    assert shown("Both are here", 100.0) == "float32 scalar 105"
    assert shown("backward begins", 7.0) == "float32 scalar 7"
    assert "scalar -1" in shown("x.grad was empty", -1.0)


def test_difference_is_marked_where_the_edit_is() -> None:
    trace = squared(mg.tensor(3.0, requires_grad=True))
    new = trace.what_if("SquareBackward is ready", saved={0: 5.0})
    assert new.difference is not None
    (_, right) = new.steps[new.difference.step]
    marked = new.recording.data["events"][right - 1]
    assert marked["say"] == (
        "Edited: saved[0] of SquareBackward is 5 from here on, not 3."
    )
    assert new._data()["titles"] == ["the original", "your edit"]
    assert trace.data["meta"]["title"] == ""


NODE = "SquareBackward is ready"


@pytest.fixture(scope="module")
def one() -> Recording:
    """A recording of which nothing is asked but what is refused."""
    return squared(mg.tensor(3.0, requires_grad=True))


@pytest.mark.parametrize(
    ("step", "edit", "says"),
    [
        (999, {"gradient": 1.0}, r"there is no step 999: the recording has \d+ steps"),
        ("no such words", {"gradient": 1.0}, "no step says 'no such words'"),
        (NODE, {}, r"nothing is to be another.*\n.*saved\[0\], ctx\.factor, gradient"),
        (NODE, {"saved": {3: 1.0}}, r"there is no saved\[3\] to edit at step \d+\n.*"),
        (NODE, {"saved": {0: [1.0, 2.0]}}, r"has shape \[\], and the new one \[2\]"),
        (NODE, {"saved": {0: {1: 2.0}}}, r"has shape \[\], and no element 1"),
        (NODE, {"saved": {0: "five"}}, r"holds float32 numbers, and not 'five'"),
        (NODE, {"attributes": {"fcator": 1.0}}, r"there is no ctx\.fcator to edit"),
        (NODE, {"gradient": {1: 1.0}}, r"there is no gradient\[1\] to edit"),
        (1, {"gradient": 1.0}, r"no gradient to edit at step 1\n.*another step"),
        (NODE, {"saved": {0: 1.0}, "node": "Cube"}, r"no node Cube\n.*take one of Sq"),
        ("lets it go", {"saved": {0: 1.0}}, r"there is no saved\[0\] to edit"),
    ],
)
def test_edit_that_cannot_be_made_is_refused(
    one: Recording, step: Any, edit: dict[str, Any], says: str
) -> None:
    with pytest.raises(errors.ArgumentValueError, match=says):
        one.what_if(step, **edit)


@pytest.mark.parametrize(
    ("what", "text", "grad"),
    [
        ("node SquareBackward", "{1: 5.0}", [6.0, 20.0]),
        ("waits SquareBackward", "[1.0, 1.0]", [2.0, 4.0]),
        ("edge e1", "[1.0, 1.0]", [2.0, 4.0]),
        ("node AccumulateGrad", "[1.0, 0.0]", [6.0, 0.0]),
        ("value AccumulateGrad 0", "{0: 2.0}", [12.0, 12.0]),
        ("entry c0 saved.0", "{1: 5.0}", [6.0, 30.0]),
        ("entry c0 attr.factor", "2.0", [12.0, 24.0]),
    ],
)
def test_page_is_answered(what: str, text: str, grad: list[float]) -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.record(keep_values=True) as trace:
        (Square.apply(x, 1.0) * 3).sum().backward()
    says = [event["say"] for event in trace.data["events"]]
    at = next(i for i, say in enumerate(says, 1) if say.startswith(NODE))
    for node in trace.data["graph"]["nodes"]:
        what = what.replace(node["label"], node["id"])
    shown = Edits(trace).edit({"edits": [{"position": at, "what": what, "text": text}]})
    assert grad_in(Recording(shown["trace"])) == [grad]


def test_node_must_be_one() -> None:
    with mg.record(keep_values=True) as trace:
        x = mg.tensor(2.0, requires_grad=True)
        (x * x * x).backward()
    says = "more than one node MulBackward0\n.*take one of n0, n2|n1, n2"
    with pytest.raises(errors.ArgumentValueError, match=says):
        trace.what_if("backward begins", saved={0: 1.0}, node="MulBackward0")


def test_gradient_that_begins_beside_others_is_refused() -> None:
    with mg.record(keep_values=True) as trace:
        y = leaf(2.0) * 3
        mg.autograd.backward([y, y])
    with pytest.raises(errors.ArgumentValueError, match="more than one gradient"):
        trace.what_if("backward begins", gradient=1.0)
    with pytest.raises(WhatIfError, match="for MulBackward0 is a sum of several here"):
        trace.what_if("backward begins", gradient={1: 1.0})


def test_integers_stay_integers() -> None:
    with mg.record(keep_values=True) as trace:
        x = mg.ones(3, requires_grad=True)
        x[mg.tensor([0, 2])].sum().backward()
    ctxs = [c["name"] for c in trace.data["ctxs"]]
    node = next(name for name in ctxs if name.startswith("Index"))
    says = "holds int64 numbers, and not list of 2"
    with pytest.raises(errors.ArgumentValueError, match=says):
        trace.what_if("backward begins", saved={0: [0.5, 1.0]}, node=node)


def test_recording_without_its_program_says_how_to_get_one() -> None:
    with mg.record() as trace:
        mg.ones(2, requires_grad=True).sum().backward()
    with pytest.raises(WhatIfError, match=r"record\(keep_values=True\)"):
        trace.what_if("backward begins", gradient=1.0)


def test_recording_of_torch_says_that_it_cannot(one: Recording) -> None:
    theirs = Recording(copy.deepcopy(one.data))
    theirs.program = one.program
    theirs.data["meta"]["engines"] = ["torch"]
    with pytest.raises(WhatIfError, match="torch ran, and doesn't let anyone change"):
        theirs.what_if("backward begins", gradient=1.0)
    assert Edits(theirs).hello({})["why"] == (
        "You can't change values here: torch ran, and doesn't let anyone change what "
        "it's about to use. To be able to, record the program with import minigrad as "
        "torch."
    )


def test_program_that_does_not_do_the_same_twice_is_found_out() -> None:
    def program() -> None:
        x = mg.tensor(2.0, requires_grad=True)
        (x * int.from_bytes(os.urandom(3))).backward()

    with pytest.raises(WhatIfError, match=r"doesn't do the same twice\. Step \d+ was"):
        kept(program).what_if("backward begins", gradient=2.0)


def test_what_moves_on_when_it_is_used_is_named() -> None:
    factors = iter(n for n in (2.0, 3.0))
    with mg.record(keep_values=True) as trace:
        x = mg.tensor(1.0, requires_grad=True)
        (x * next(factors)).backward()
    with pytest.raises(WhatIfError, match=r"factors.*generator, which cannot be"):
        trace.what_if("backward begins", gradient=2.0)
    assert next(factors) == 3.0


def test_tensor_that_no_copy_stands_for_is_not_touched() -> None:
    w = mg.tensor(2.0, requires_grad=True)
    Scale.hidden = w  # of a class of another module
    try:
        with mg.record(keep_values=True) as trace:
            (Scale.hidden * 3).backward()
        with pytest.raises(WhatIfError, match="changes a tensor of yours"):
            trace.what_if("backward begins", gradient=2.0)
        assert w.grad is not None
        assert w.grad.item() == 3
    finally:
        del Scale.hidden


def test_recording_under_way_is_not_disturbed(one: Recording) -> None:
    with (
        mg.record() as other,
        pytest.raises(WhatIfError, match="a recording is under way"),
    ):
        one.what_if("backward begins", gradient=2.0)
    with mg.record() as other:
        mg.ones(2, requires_grad=True).sum().backward()
    assert len(other) > 2


def test_interrupted_run_leaves_no_trace(one: Recording) -> None:
    def stop(old: Any) -> Any:
        raise KeyboardInterrupt

    modes = mg.is_grad_enabled(), mg.get_rng_state().tolist()
    with pytest.raises(KeyboardInterrupt):
        one.what_if("backward begins", gradient=stop)
    assert not observe.has(object)
    assert modes == (mg.is_grad_enabled(), mg.get_rng_state().tolist())
    assert one.what_if("backward begins", gradient=2.0).outcome.startswith("Then x.g")


def test_error_that_the_edit_causes_is_told() -> None:
    with mg.record(keep_values=True) as trace:
        x = mg.tensor(1.0, requires_grad=True)
        (x * 3).backward()
        if x.grad.item() > 5:
            raise ValueError("too steep")
    new = trace.what_if("MulBackward0 is ready", gradient=2.0)
    assert "the end is ValueError: too steep instead of not there" in new.outcome


@pytest.mark.parametrize("seed", [0, 5, 155])
def test_edited_leaf_shows_what_the_program_written_so_would(seed: int) -> None:
    found = list(edits(seed))
    assert found
    for what, edited, scratch in found:
        assert shown(edited.data) == shown(scratch.data), what


@pytest.mark.parametrize("seed", [2, 8])
def test_edit_inside_shows_what_the_program_written_so_would(seed: int) -> None:
    kinds = []
    for one, edited, scratch in inner_edits(seed):
        assert computed(edited) == computed(scratch), one
        kinds.append(one.kind)
    assert kinds == ["saved", "gradient", "sent", "grad"]
    for one, edited, otherwise in inner_edits(seed, off=1):
        assert computed(edited) != computed(otherwise), one


def test_leaf_starts_with_its_new_value_wherever_it_comes_from() -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    layer = mg.nn.Linear(2, 1)
    with mg.record(keep_values=True) as trace:
        twice = w.detach() * 2  # before any call that joins the graph
        bias = mg.tensor(1.0, requires_grad=True)
        shift = float(bias.item())
        loss = (layer(w) * twice.sum() + bias * shift).sum()
        loss.backward()
    of_w = trace.what_if(leaf={"w": [0.0, 4.0]})
    assert grad_in(of_w.recording, "bias.grad") == [[1]]
    assert "bias.grad is [8] instead of [6]" in of_w.outcome
    of_bias = trace.what_if(leaf={"bias": 3.0})
    assert of_bias.outcome == "Then bias.grad is 3 instead of 1."
    assert of_bias.sentence.startswith("What if bias were 3 instead of 1? Then ")
    weight = trace.what_if(leaf={"layer.weight": [[1.0, 1.0]]})
    assert grad_in(weight.recording, "w.grad") == [[6, 6]]
    assert w.tolist() == [1.0, 2.0]


def test_edits_of_several_kinds_do_not_move_each_other() -> None:
    trace = squared(leaf(3.0))
    first = trace.what_if("SquareBackward is ready", saved={0: 5.0}).recording
    second = first.what_if(leaf={"x": 1.0}).recording
    assert grad_in(first) == [[60]]
    assert grad_in(second) == [[60]]  # what is saved is 5, whatever x was
    told = [(one["what"], one["new"]) for one in second.data["meta"]["edits"]]
    assert told == [("saved[0] of SquareBackward", "5"), ("x", "1")]


def test_edit_that_a_later_one_leaves_no_place_for_is_said() -> None:
    x = leaf(3.0)
    with mg.record(keep_values=True) as trace:
        (Square.apply(x, 1.0) if x.item() > 1 else x * 2).backward()
    first = trace.what_if(NODE, saved={0: 5.0}).recording
    says = r"doesn't come any more to the step at which saved\[0\] is edited"
    with pytest.raises(WhatIfError, match=says):
        first.what_if(leaf={"x": 0.5})


def test_leaf_that_is_not_there_is_refused(one: Recording) -> None:
    says = "no tensor 'y' that the program starts with\n.*take one of x"
    with pytest.raises(errors.ArgumentValueError, match=says):
        one.what_if(leaf={"y": 1.0})
    with pytest.raises(errors.ArgumentValueError, match="shape"):
        one.what_if(leaf={"x": [1.0, 2.0]})


def writes_a_file() -> None:
    Path(os.devnull).write_text("nothing")  # nobody keeps that
    with tempfile.TemporaryFile("w") as file:
        file.write(str(leaf(1.0).sum().backward()))


def asks_a_person() -> None:
    (leaf(1.0) * float(input("How much?"))).backward()


def draws_without_a_seed() -> None:
    (leaf(1.0) * np.random.default_rng().normal()).backward()


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (writes_a_file, "can't run it again: it writes to "),
        (asks_a_person, r"can't run it again: it asks for input\(\)"),
        (draws_without_a_seed, "doesn't do the same twice"),
    ],
)
def test_program_that_cannot_run_again_says_why(
    program: Callable[[], None], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "2")
    trace = kept(program)
    with pytest.raises(WhatIfError, match=says):
        trace.what_if("backward begins", gradient=2.0)
    assert len(asked) == (program is asks_a_person)
    assert input("?") == "2"


@pytest.mark.parametrize(
    ("what", "text", "number", "step", "name"),
    [
        ("node n0", "0.25", 0.25, 0.01, "x"),
        ("entry c0 attr.factor", "3", 3.0, 1.0, None),
        ("entry c0 attr.way", "'up'", None, 0.1, None),
        ("entry c0 flag.dirty", "", None, 0.1, None),
        ("edge e0", "7.5", 7.5, 0.1, None),
    ],
)
def test_page_is_told_what_can_be_typed_over(
    what: str, text: str, number: float | None, step: float, name: str | None
) -> None:
    class Scaled(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.factor, ctx.way = 3, "up"
            return x * ctx.factor

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * ctx.factor

    x = leaf(0.25)
    with mg.record(keep_values=True) as trace:
        y = Scaled.apply(x)
        (y * 2.5).backward()
    for node in trace.data["graph"]["nodes"]:
        if node["kind"] == "accumulate":
            what = what.replace("n0", node["id"])
    for edge in trace.data["graph"]["edges"]:
        if edge["to"] == node_at(trace, "AccumulateGrad"):
            what = what.replace("e0", edge["id"])
    asked = {"what": what, "position": len(trace), "edits": []}
    told = {"text": text, "number": number, "step": pytest.approx(step), "name": name}
    assert Edits(trace).describe(asked) == told


def node_at(trace: Recording, label: str) -> str:
    nodes = trace.data["graph"]["nodes"]
    return str(next(node["id"] for node in nodes if node["label"] == label))
