"""A recording of torch's own autograd: the same story, and torch as without it."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import pytest

import minigrad
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.budget import ctx_changes
from minigrad.tracing.story import Story
from tests.parity.recorded import OF_LINES, PROGRAMS, both, record, scale_class
from tests.views.folding import value_text


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_engines_know_the_same_calls(torch: Any, name: str) -> None:
    def calls(engine: Any) -> list[Any]:
        data = record(PROGRAMS[name], engine, True)[0].data
        made = [event for event in data["events"] if event.get("outs")]
        return [
            (event["label"], *[tensors(event[part], data) for part in ("ins", "outs")])
            for event in made
        ]

    def tensors(values: list[Any], data: Any) -> list[Any]:
        return [
            (one["name"], one["needs"], data["values"][one["v"]["v"]]["rows"])
            for one in values
            if "v" in one
        ]

    assert calls(torch) == calls(minigrad)
    assert calls(minigrad)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_engines_tell_the_same_story(torch: Any, name: str) -> None:
    ours, theirs = both(PROGRAMS[name], torch, lines=True)
    assert theirs == ours
    assert len(ours) > 3


@pytest.mark.parametrize(
    "name",
    [
        "a_function_whose_forward_takes_ctx",
        "a_function_with_setup_context",
        "hooks_of_every_kind",
        "double_backward",
    ],
)
def test_story_is_the_same_without_lines(torch: Any, name: str) -> None:
    ours, theirs = both(PROGRAMS[name], torch, lines=False)
    assert theirs == ours


def test_comparison_of_stories_sees_a_difference(torch: Any) -> None:
    def other(torch: Any) -> None:
        factor = 10 if torch is minigrad else 11
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        scale_class(torch).apply(x, factor).sum().backward()

    ours, theirs = both(other, torch, lines=True)
    different = [a[0] for a, b in zip(ours, theirs, strict=True) if a != b]
    assert {"ctx.save", "grad", "grad.accumulate"} <= set(different)


def training(torch: Any) -> Any:
    """A step of a small network."""
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)
    )
    torch.nn.functional.mse_loss(layers(torch.ones(2, 3)), torch.ones(2, 1)).backward()
    with torch.no_grad():
        for parameter in layers.parameters():
            parameter -= 0.1 * parameter.grad
    return [*layers.parameters()]


def checkpointed(torch: Any, reentrant: bool) -> Any:
    """A region that is run again in backward."""
    from torch.utils.checkpoint import checkpoint

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = checkpoint(lambda x: (x * x).exp(), x, use_reentrant=reentrant)
    y.sum().backward()
    return [y, x.grad]


def views_changed_in_place(torch: Any) -> Any:
    """A base and its view, each changed, and all their versions."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    base = x * 2
    view = base[1:]
    base.mul_(3)
    view[0] = 5.0
    base.sum().backward()
    return [base, view, x.grad, base._version, view._version, x._version]


def transforms(torch: Any) -> Any:
    """vmap of a gradient."""
    slope = torch.func.grad(lambda x: (x * x).sum())
    return [torch.func.vmap(slope)(torch.ones(3, 2)), slope(torch.ones(2))]


def anomalies(torch: Any) -> Any:
    """Anomaly mode, with a learner's Function."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        scale_class(torch).apply(x, 3.0).sum().backward()
    return [x.grad]


def only_some_inputs(torch: Any) -> Any:
    """backward(inputs=...), and gradients of a leaf and of what is not reached."""
    a, b = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    y = (scale_class(torch).apply(a, 2.0) * b).sum()
    y.backward(inputs=[a], retain_graph=True)
    found = torch.autograd.grad(
        y, [b, torch.ones(1, requires_grad=True)], None, True, allow_unused=True
    )
    a.sum().backward()
    return [a.grad, b.grad, *found]


OTHERS = [
    training,
    lambda torch: checkpointed(torch, True),
    lambda torch: checkpointed(torch, False),
    views_changed_in_place,
    transforms,
    lambda torch: forward_mode(torch),
    anomalies,
    only_some_inputs,
]


def facts(torch: Any, value: Any) -> Any:
    """A value so that two runs can be compared."""
    if isinstance(value, torch.Tensor):
        return value.tolist(), value.requires_grad, value._version, str(value.dtype)
    if isinstance(value, Exception):
        return type(value), str(value)
    return [facts(torch, v) for v in value] if isinstance(value, list) else value


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("program", [*PROGRAMS.values(), *OTHERS])
def test_torch_does_what_it_does_without_a_recording(torch: Any, program: Any) -> None:
    try:
        alone = program(torch)
    except Exception as error:
        alone = error
    trace, heard = record(program, torch, lines=True)
    assert facts(torch, heard) == facts(torch, alone)
    assert not [say for say in trace.sentences() if "stumbled" in say]
    assert trace.data["meta"]["engines"] == ["torch"]


def places(torch: Any) -> list[Any]:
    """What a recording replaces in torch."""
    function = torch.autograd.function
    return [
        vars(function._SingleLevelFunction).get("apply"),
        function.FunctionCtx.set_materialize_grads,
        torch.autograd._engine_run_backward,
        torch._C._len_torch_function_stack(),
        vars(torch.autograd.graph.saved_tensors_hooks)["__enter__"],
        vars(torch.autograd.graph.saved_tensors_hooks)["__exit__"],
        torch.utils.checkpoint.CheckpointFunction.backward,
    ]


@pytest.mark.parametrize("named", [False, True])
def test_what_forward_sets_is_heard_by_place_and_by_name(
    torch: Any, named: bool
) -> None:
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            given: Any = ((), {"value": False}) if named else ((False,), {})
            ctx.set_materialize_grads(*given[0], **given[1])
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            assert h is None
            return g * 2

    x = torch.tensor(1.0, requires_grad=True)
    with minigrad.record() as trace:
        Two.apply(x)[0].backward()
    kinds = [event["k"] for event in trace.data["events"]]
    assert "grad.absent" in kinds
    assert x.grad == 2


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_stays_in_torch_after_a_recording(torch: Any, fails: bool) -> None:
    before = places(torch)
    Scale = scale_class(torch)
    own = dict(vars(Scale))
    x = torch.tensor(1.0, requires_grad=True)
    during: list[Any] = []
    try:
        with minigrad.record() as trace:
            during += places(torch)
            y = Scale.apply(x, 2.0)
            y.backward(retain_graph=True)
            assert not fails
    except AssertionError:
        pass
    assert all(a != b for a, b in zip(during, before, strict=True))
    assert places(torch) == before
    assert dict(vars(Scale)) == own
    count = len(trace)
    y.backward()
    assert (len(trace), x.grad.item()) == (count, 4.0)


def test_class_is_its_own_again_while_forward_runs(torch: Any) -> None:
    seen: list[Any] = []

    class Looks(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(vars(Looks)["forward"])
            return x * 2

    own = vars(Looks)["forward"]
    with minigrad.record():
        Looks.apply(torch.ones(2, requires_grad=True))
    assert seen == [own]


def test_inherited_forward_is_not_left_on_the_class(torch: Any) -> None:
    Scale = scale_class(torch)
    Heir = type("Heir", (Scale,), {})
    names = set(vars(Heir))
    with minigrad.record() as trace:
        Heir.apply(torch.ones(2, requires_grad=True), 2.0)
    assert set(vars(Heir)) == names
    assert any("Heir.forward" in say for say in trace.sentences(1))


def test_gradient_is_stored_without_a_copy_as_ever(torch: Any) -> None:
    def shares(torch: Any) -> bool:
        x = torch.ones(3, requires_grad=True)
        given = torch.ones(3)
        scale_class(torch).apply(x, 2.0).backward(given)
        kept: list[Any] = []
        y = torch.ones(3, requires_grad=True)
        y.register_hook(lambda g: kept.append(g.data_ptr()))
        (y * 2).sum().backward()
        return bool(kept[0] == y.grad.data_ptr())

    assert record(shares, torch, lines=False)[1] is shares(torch)


def test_saved_tensors_are_not_unpacked_for_the_recording(torch: Any) -> None:
    calls: list[str] = []

    def unpack(tensor: Any) -> Any:
        calls.append("unpack")
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), unpack)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with minigrad.record():
        with hooks:
            y = scale_class(torch).apply(x, 2.0) * x
        y.sum().backward()
    assert calls == ["unpack", "unpack"]


def test_recording_keeps_no_tensor_of_torch_alive(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with minigrad.record(lines=False):
        saved = x * 1.0
        y = scale_class(torch).apply(saved, 2.0).exp()
        node = y.grad_fn.next_functions[0][0]
        gone = [weakref.ref(one) for one in (saved, y, node)]
        del saved, y, node
        assert [one() for one in gone] == [None, None, None]


def test_apply_that_was_taken_before_the_recording_is_heard(torch: Any) -> None:
    scale = scale_class(torch).apply
    with minigrad.record() as trace:
        scale(torch.ones(2, requires_grad=True), 2.0)
    assert [ctx["name"] for ctx in trace.data["ctxs"]] == ["ScaleBackward"]


def test_learners_lines_are_shown(torch: Any) -> None:
    trace, _ = record(PROGRAMS["a_function_whose_forward_takes_ctx"], torch, True)
    lines = [e for e in trace.data["events"] if e["k"] == "line"]
    names = {trace.data["sources"][event["s"]]["name"] for event in lines}
    assert {"Scale.forward", "Scale.backward"} <= names
    locals_seen = {n for e in trace.data["events"] for n in e.get("loc", {})}
    assert "grad_output" in locals_seen


def test_what_cannot_be_seen_is_said_once_and_kept(torch: Any) -> None:
    trace, _ = record(PROGRAMS["two_backwards_into_one_grad"], torch, lines=False)
    notes = [e["say"] for e in trace.data["events"] if e["k"] == "note"]
    assert [note.split(",")[0] for note in notes] == [
        "This is torch's own apply",
        "This is torch's own engine",
    ]
    assert trace.data["meta"]["unseen"] == notes
    assert trace.data["meta"]["engines"] == ["torch"]


def test_two_engines_in_one_recording_are_announced(torch: Any) -> None:
    with minigrad.record() as trace:
        (minigrad.tensor(1.0, requires_grad=True) * 2).backward()
        (torch.tensor(1.0, requires_grad=True) * 2).backward()
    assert trace.data["meta"]["engines"] == ["minigrad", "torch"]
    notes = [say for say in trace.sentences(1) if say.startswith("Until here")]
    assert len(notes) == 1
    assert notes[0].startswith("Until here it was minigrad, from here on it's torch.")


def test_minigrad_alone_says_nothing_of_torch(torch: Any) -> None:
    trace, _ = record(PROGRAMS["one_tensor_used_three_times"], minigrad, lines=True)
    assert trace.data["meta"]["engines"] == ["minigrad"]
    assert "unseen" not in trace.data["meta"]
    assert not [e for e in trace.data["events"] if e["k"] == "note"]


def test_torch_imported_during_the_recording_is_said_to_be_unheard(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hidden:
        hidden.delitem(sys.modules, "torch")
        recorder = Recorder(Trace())
        recorder.__enter__()
    recorder.__exit__(None, None, None)
    (note,) = recorder.trace.data["meta"]["unseen"]
    assert "import it before" in note


def test_torch_that_differs_does_not_keep_minigrad_from_being_recorded(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(torch._C._autograd, "_get_sequence_nr")
    before = places(torch)
    with minigrad.record() as trace:
        assert places(torch) == before
        (minigrad.tensor(1.0, requires_grad=True) * 2).backward()
    assert trace.data["meta"]["engines"] == ["minigrad"]
    (note,) = trace.data["meta"]["unseen"]
    assert note.startswith("This version of torch isn't recorded, because it differs: ")


def test_recorder_that_stumbles_lets_the_program_go_on(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: Any) -> None:
        raise ValueError("of no use")

    monkeypatch.setattr(Story, "node_picked", stumble)
    x = torch.tensor(1.0, requires_grad=True)
    with minigrad.record() as trace:
        scale_class(torch).apply(x, 2.0).backward()
    assert x.grad.item() == 2.0
    assert [say for say in trace.sentences(1) if "(ValueError: of no use)" in say]


def test_torch_in_another_thread_is_not_heard(torch: Any) -> None:
    def elsewhere() -> None:
        scale_class(torch).apply(torch.ones(2, requires_grad=True), 2).sum().backward()

    with minigrad.record() as trace:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert trace.data["graph"]["nodes"] == []


def test_dtype_that_numpy_lacks_keeps_its_name(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    with minigrad.record() as trace:
        scale_class(torch).apply(x, 2.0)
    assert {v["dtype"] for v in trace.data["values"].values()} == {"bfloat16"}


def test_function_transforms_are_said_to_be_unheard(torch: Any) -> None:
    trace, _ = record(transforms, torch, lines=False)
    assert trace.data["meta"]["unseen"] == trace.sentences(1)
    assert "function transforms isn't recorded" in trace.sentences(1)[0]


def test_nodes_of_torch_from_before_the_recording_are_shown(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = scale_class(torch).apply(x, 3.0) * x
    with minigrad.record() as trace:
        y.backward()
    said = trace.sentences(3)
    assert "ScaleBackward was already in the graph." in said
    assert x.grad.item() == 12.0


def test_change_in_place_is_shown_at_once_on_all_that_saved_the_value(
    torch: Any,
) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with minigrad.record() as trace:
        y = x * 1
        kept = scale_class(torch).apply(y, 2.0) * y
        with torch.no_grad():
            y.mul_(3)
    (event,) = [e for e in trace.data["events"] if e["k"] == "inplace"]
    told = [
        (ref["ver"], ref["now"])
        for change in ctx_changes(event)
        for ref in change["set"].values()
    ]
    assert told == [(0, 1), (0, 1)]
    assert "The box of Scale counts on version 0." in event["say"]
    assert kept.requires_grad


@pytest.mark.parametrize("registered", ["before", "while recording"])
def test_hooks_of_the_learner_are_steps_wherever_torch_keeps_them(
    torch: Any, registered: str
) -> None:
    def double(grad: Any) -> Any:
        return grad * 2

    def with_hooks() -> Any:
        x = torch.tensor(3.0, requires_grad=True)
        y = scale_class(torch).apply(x, 2.0)
        y.register_hook(double)
        y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
        return x, y

    if registered == "before":
        x, y = with_hooks()
        with minigrad.record(lines=False) as trace:
            y.backward()
    else:
        with minigrad.record(lines=False) as trace:
            x, y = with_hooks()
            y.backward()
    hooks = [e for e in trace.data["events"] if e["k"].startswith("hook.")]
    assert [event["k"] for event in hooks] == ["hook.tensor", "hook.pre"]
    assert "Your hook double sees 1 on the way to " in hooks[0]["say"]
    assert ", and makes it 2." in hooks[0]["say"]
    assert x.grad.item() == 6.0
    assert list(y._backward_hooks.values()) == [double]


def test_hook_on_a_tensor_that_nobody_holds_is_heard_if_it_was_put_on_in_time(
    torch: Any,
) -> None:
    x = torch.tensor(3.0, requires_grad=True)

    def hooked() -> Any:
        y = x * 2.0
        y.register_hook(lambda grad: grad * 5)
        return y * 1.0

    before = hooked()
    with minigrad.record(lines=False) as trace:
        before.backward()
        hooked().backward()
    hooks = [e for e in trace.data["events"] if e["k"].startswith("hook.")]
    assert len(hooks) == 1
    assert x.grad.item() == 20.0
    assert "only if the tensor is a leaf" in trace.data["meta"]["unseen"][0]


def test_hooks_that_torch_calls_by_hooks_of_its_own_are_said_to_be_no_steps(
    torch: Any,
) -> None:
    calls: list[str] = []
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    layer = torch.nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda *_: calls.append("module"))
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda _: calls.append("several")
    )
    with minigrad.record(lines=False) as trace:
        layer(a * b).sum().backward()
    assert calls == ["module", "several"]
    assert not [e for e in trace.data["events"] if e["k"].startswith("hook.")]
    (said,) = trace.data["meta"]["unseen"]
    assert "of several tensors together, only by its lines" in said


def test_hook_that_takes_itself_off_is_off_after_the_recording(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    handle = x.register_hook(lambda grad: handle.remove())
    with minigrad.record(lines=False) as trace:
        (x * 2.0).backward()
        (x * 2.0).backward()
    hooks = [e for e in trace.data["events"] if e["k"] == "hook.tensor"]
    assert len(hooks) == 1
    assert not x._backward_hooks


def test_hook_that_goes_backward_itself_is_told_once_for_each_call(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    inner = torch.tensor(2.0, requires_grad=True)
    inner.register_hook(lambda grad: grad * 2)

    def goes_back(grad: Any) -> None:
        if inner.grad is None:
            with torch.enable_grad():
                (inner * inner).backward()

    y = x * inner
    y.register_hook(goes_back)
    with minigrad.record(lines=False) as trace:
        y.backward()
    says = [e["say"] for e in trace.data["events"] if e["k"] == "hook.tensor"]
    assert [say.partition(", and")[0] for say in says] == [
        "Your hook <lambda> sees 4 on the way to inner",
        "Your hook goes_back sees 1 on the way to mul",
        "Your hook <lambda> sees 3 on the way to inner",
    ]
    assert (x.grad.item(), inner.grad.item()) == (2.0, 14.0)


def packed_by_the_learner(torch: Any) -> Any:
    """Saved values that are kept as arrays of NumPy's."""

    def to_array(tensor: Any) -> Any:
        return tensor.detach().numpy()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(to_array, torch.tensor):
        y = x.exp() * x
    y.sum().backward()
    return [x.grad]


def checkpointed_in(torch: Any, reentrant: bool) -> Any:
    """A region that is run again in backward, of either engine."""
    x = torch.tensor(2.0, requires_grad=True)
    part = __import__(f"{torch.__name__}.utils.checkpoint").utils.checkpoint
    y = part.checkpoint(lambda x: (x * x).sin(), x, use_reentrant=reentrant)
    y.backward()
    return [x.grad]


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(
    "program",
    [packed_by_the_learner, lambda torch: checkpointed_in(torch, False)],
    ids=["packed", "checkpointed"],
)
def test_saved_values_are_packed_and_computed_again_in_the_same_steps(
    torch: Any, program: Any, lines: bool
) -> None:
    def told(engine: Any) -> list[str]:
        events = record(program, engine, lines)[0].data["events"]
        return [
            event["say"].partition(" It keeps")[0]
            for event in events
            if event["lvl"] <= 1 and event["k"] not in OF_LINES
        ]

    ours = told(minigrad)
    assert told(torch) == ours
    words = "runs again" if program is not packed_by_the_learner else "pack hook"
    assert [say for say in ours if words in say]


def test_value_that_a_checkpoint_forgets_is_shown_as_such(torch: Any) -> None:
    trace, _ = record(lambda m: checkpointed_in(m, False), torch, lines=False)
    saved = [
        ref.get("r")
        for event in trace.data["events"]
        for key, ref in event.get("ctx", {}).get("set", {}).items()
        if key.startswith("saved.") and event["k"] == "graph.node"
    ]
    assert saved[:3] == ["computed again when needed"] * 3


def test_reentrant_checkpoint_runs_again_before_the_backward_inside_begins(
    torch: Any,
) -> None:
    def told(engine: Any) -> list[str]:
        trace, _ = record(lambda m: checkpointed_in(m, True), engine, lines=False)
        kinds = ("rerun.begin", "rerun.end", "backward.begin", "backward.end")
        return [e["k"] for e in trace.data["events"] if e["k"] in kinds]

    assert told(torch) == told(minigrad)
    assert told(torch)[:3] == ["backward.begin", "rerun.begin", "rerun.end"]
    trace, _ = record(lambda m: checkpointed_in(m, True), torch, lines=False)
    again = {n["label"]: n["again"] for n in trace.data["graph"]["nodes"]}
    assert again == {
        "CheckpointFunctionBackward": False,
        "AccumulateGrad": True,
        "MulBackward0": True,
        "SinBackward0": True,
    }


@pytest.mark.parametrize("reentrant", [True, False])
def test_part_that_fails_when_it_runs_again_is_over(
    torch: Any, reentrant: bool
) -> None:
    calls: list[int] = []

    def fails_again(x: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        return x.sin()

    x = torch.tensor(2.0, requires_grad=True)
    checkpoint = torch.utils.checkpoint.checkpoint
    with minigrad.record(lines=False) as trace:
        y = checkpoint(fails_again, x, use_reentrant=reentrant)
        with pytest.raises(ZeroDivisionError):
            y.backward()
        y = x * 2
    kinds = [event["k"] for event in trace.data["events"]]
    assert kinds.count("rerun.begin") == 1
    assert "rerun.end" not in kinds
    again = {n["label"]: n["again"] for n in trace.data["graph"]["nodes"]}
    assert again["MulBackward0"] is False


def test_what_was_packed_while_recording_is_unpacked_after_it_in_silence(
    torch: Any,
) -> None:
    calls: list[str] = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: tensor.detach(), lambda kept: calls.append("unpack") or kept
    )
    with minigrad.record(lines=False) as trace, hooks:
        y = x.exp()
    count = len(trace)
    y.sum().backward()
    assert calls == ["unpack"]
    assert len(trace) == count


def forward_mode(torch: Any) -> Any:
    """A learner's jvp, operations, a change in place, and a weight in a graph."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, x_t: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 3 * x**2 * x_t

    forward_ad = torch.autograd.forward_ad
    w = torch.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        y = Cube.apply(dual) * 2
        y.add_(dual)
        z = w * y
        tangent = forward_ad.unpack_dual(z).tangent
    return [tangent.detach()]


def test_tangents_are_steps_and_stand_beside_their_values(torch: Any) -> None:
    alone = forward_mode(torch)
    told = {}
    for engine in (minigrad, torch):
        with minigrad.record(watch=forward_mode) as trace:
            (heard,) = forward_mode(engine)
        tangents = [e for e in trace.data["events"] if e["k"] == "tangent"]
        told[engine] = [event["say"] for event in tangents]
        assert heard.item() == alone[0].item()
        set_now = [event.get("loc", {}) for event in trace.data["events"]]
        duals = [variables["dual"] for variables in set_now if "dual" in variables]
        assert value_text(trace.data, duals[0]).endswith("tangent 1 2")
        labels = {node["id"]: node["label"] for node in trace.data["graph"]["nodes"]}
        assert labels[tangents[-1]["n"]] == "MulBackward0"
    # minigrad adds in place by way of a new tensor, which has no name
    unnamed = [say.replace("y has", "The output of add has") for say in told[torch]]
    assert unnamed == told[minigrad]
    assert told[torch] == [
        "The value 2 has the tangent 1 beside it.",
        "The output of Cube has the tangent 12 beside it.",
        "The output of mul has the tangent 24 beside it.",
        "y has the tangent 25 beside it.",
        "The output of mul has the tangent 75 beside it.",
    ]


def test_looking_for_tangents_makes_no_node(torch: Any) -> None:
    def numbers(engine: Any) -> list[int]:
        w = engine.tensor(3.0, requires_grad=True)
        forward_ad = torch.autograd.forward_ad
        with forward_ad.dual_level():
            x = forward_ad.make_dual(engine.tensor(2.0), engine.tensor(1.0))
            y = (w * x).exp()
        start = y.grad_fn.next_functions[0][0]._sequence_nr()
        return [y.grad_fn._sequence_nr() - start]

    assert record(numbers, torch, lines=True)[1] == numbers(torch)


def test_step_takes_a_function_class_of_torch(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    trace = minigrad.step(scale_class(torch), x, 2.0)
    assert trace.data["meta"]["title"].endswith("Scale.apply")
    assert [ctx["name"] for ctx in trace.data["ctxs"]] == ["ScaleBackward"]


def test_terms_of_torchs_numbers_are_said_not_to_be_told(torch: Any) -> None:
    def program(engine: Any) -> None:
        x = engine.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()

    theirs = minigrad.step(program, torch).explain("x.grad", (0,))
    assert theirs.value == 2.0
    assert "run the program with import minigrad as torch" in str(theirs)
    ours = minigrad.step(program, minigrad).explain("x.grad", (0,))
    assert "its terms can't be shown" not in str(ours)


def test_player_draws_the_graph_of_torch(torch: Any) -> None:
    with minigrad.record() as trace:
        scale_class(torch).apply(torch.ones(2, requires_grad=True), 2.0).sum()
    bundle = trace._repr_mimebundle_()
    assert "Scale.apply ties the box" in bundle["text/plain"]
    assert bundle["text/html"].startswith("<div data-minigrad-player")
    gc.collect()


def changed_in_place(torch: Any) -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, first: Any, second: Any) -> Any:
            first.mul_(2)
            ctx.mark_dirty(first, second)
            return first, second

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            return first * 2, second

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    z = x * 3.0
    Doubled.apply(y, z)
    y.mul_(5)
    part = y[0]
    part.add_(1)
    y.sum().backward()


@pytest.mark.parametrize("engine", ["minigrad", "torch"])
def test_change_in_place_says_who_counts_it_and_where_the_handle_goes(
    torch: Any, engine: str
) -> None:
    trace = minigrad.step(changed_in_place, minigrad if engine == "minigrad" else torch)
    says = trace.sentences(level=1)
    changes = [say.partition(":")[0] for say in says if "in place:" in say]
    assert changes == [
        "y was changed in place",
        "y was changed in place",
        "z was changed in place",
        "y was changed in place",
        "part was changed in place",
    ]
    moved = [say for say in says if "y.grad_fn is this " in say]
    assert [say.partition(" ")[0] for say in moved] == ["y", "set"]


@pytest.mark.parametrize("engine", ["minigrad", "torch"])
def test_parameters_are_called_by_the_path_in_their_model(
    torch: Any, engine: str
) -> None:
    def program(torch: Any) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(2, 1))
        model(torch.ones(1, 2)).sum().backward()

    trace = minigrad.step(program, minigrad if engine == "minigrad" else torch)
    nodes = {
        node["id"]: f"{node['tensor']}.grad" for node in trace.data["graph"]["nodes"]
    }
    told = [e for e in trace.data["events"] if e["k"] == "grad.accumulate"]
    changes = [nodes[event["n"]] for event in told]
    assert sorted(changes) == ["model.0.bias.grad", "model.0.weight.grad"]
