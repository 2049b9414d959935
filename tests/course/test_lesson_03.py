"""The exercises of lesson 03, and what it looks at memory with."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import minigrad as mg
from minigrad import course, errors
from minigrad.course import catalogue, examine
from minigrad.course.looks import chains
from minigrad.lint import is_teaching
from tests.course.test_first_lessons import made


def test_truth_of_questions_is_among_the_choices() -> None:
    for name in ("03.1", "03.2"):
        loaded = catalogue.load(name)
        truth = loaded.spec.truth()
        for question in loaded.questions:
            assert not question.choices or truth[question.id] in question.choices
            assert truth[question.id] not in question.wrong
    alive = catalogue.load("03.1").spec.truth()
    assert list(alive.values()) == ["alive", "gone", "alive", "gone", "alive", "gone"]
    assert gc.isenabled()


RIGHT = ["it raises: a second time", "12.0", "what the nodes saved", "it runs"]


@pytest.mark.parametrize("number", ["12.0", "12", "12.", "tensor(12.)"])
def test_second_backward_is_found_out(number: str) -> None:
    assert examine("03.2", [RIGHT[0], number, *RIGHT[2:]]).state == "solved"


@pytest.mark.parametrize(
    ("place", "said", "says"),
    [
        (0, "it runs, and x.grad doubles", "takes what was saved for an attribute"),
        (1, "6", "a leaf adds"),
        (2, "the gradients in .grad", "Those stay in any case"),
        (2, "a record of forward, to run it again", "never runs forward again"),
        (3, "it raises: a second time", "What was released here?"),
    ],
)
def test_wrong_guess_of_a_second_backward_is_named(
    place: int, said: str, says: str
) -> None:
    answers = [*RIGHT[:place], said, *RIGHT[place + 1 :]]
    verdict = examine("03.2", answers)
    assert verdict.state == "wrong"
    assert says in verdict.message


def test_answer_in_words_is_told_to_be_a_number() -> None:
    verdict = examine("03.2", [RIGHT[0], "twelve", *RIGHT[2:]])
    assert "'twelve' is not a number" in verdict.message
    assert "in digits" in verdict.message


def exp(keep: Any, get: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        result = x.exp()
        keep(ctx, result)
        return result

    return made("Exp", forward, lambda ctx, g: g * get(ctx))


def by_attribute(ctx: Any, result: Any) -> None:
    ctx.kept = result


def by_saving(ctx: Any, result: Any) -> None:
    ctx.save_for_backward(result)


def in_a_list(ctx: Any, result: Any) -> None:
    ctx.kept = [result]


def detached(ctx: Any, result: Any) -> None:
    ctx.kept = result.detach()


def and_collects(ctx: Any, result: Any) -> None:
    ctx.kept = result
    gc.collect()


class Shared:
    """State that all calls share."""

    kept: Any


def on_the_class(ctx: Any, result: Any) -> None:
    Shared.kept = result.detach()


def weakly(ctx: Any, result: Any) -> None:
    ctx.kept = weakref.ref(result)


def test_result_that_is_kept_weakly_is_gone_when_it_is_needed() -> None:
    verdict = examine("03.3", exp(weakly, lambda ctx: ctx.kept()))
    assert verdict.state == "crashed"
    assert "NoneType" in verdict.message


def test_array_of_the_result_on_ctx_is_a_remark() -> None:
    def as_array(ctx: Any, result: Any) -> None:
        ctx.kept = result.numpy()

    verdict = examine("03.3", exp(as_array, lambda ctx: mg.tensor(ctx.kept)))
    assert verdict.state == "solved"
    assert [remark.id for remark in verdict.remarks] == ["S08"]


def saved(ctx: Any) -> Any:
    return ctx.saved_tensors[0]


def kept(ctx: Any) -> Any:
    gc.collect()
    return ctx.kept[0] if isinstance(ctx.kept, list) else ctx.kept


def test_exp_that_leaves_nothing_passes() -> None:
    for keep, get in ((by_saving, saved), (detached, lambda ctx: ctx.kept)):
        verdict = examine("03.3", exp(keep, get))
        assert verdict.state == "solved", verdict.message
        assert [remark.id for remark in verdict.remarks] == (
            ["S06"] if keep is detached else []
        )
    assert "a tensor is still kept as ctx.kept. Autograd cannot" in verdict.message


def test_shipped_leak_is_not_tried() -> None:
    names: dict[str, Any] = {"mg": mg}
    exec(catalogue.load("03.3").spec.SHIPPED, names)
    assert examine("03.3", names["Exp"]).state == "not tried"


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (exp(by_attribute, lambda ctx: ctx.kept), "S07", "result and node are still"),
        (exp(in_a_list, kept), "S07", "result and node are still alive"),
        (exp(and_collects, kept), "S07", "result and node are still alive"),
        (exp(by_saving, lambda ctx: gc.collect() * 0 + saved(ctx)), "S07", "swept up"),
        (exp(on_the_class, lambda ctx: Shared.kept), "S04", "backward of the first"),
        (exp(by_saving, lambda ctx: 1), "", "the gradient is"),
        (made("Exp", lambda ctx, x: x * 2), "", "forward gives"),
    ],
)
def test_exp_that_leaves_something_is_named(
    answer: Any, mistake: str, says: str
) -> None:
    verdict = examine("03.3", answer)
    assert verdict.state == "wrong"
    assert (*verdict.mistakes, "")[0] == mistake, verdict.message
    assert says in verdict.message
    assert gc.isenabled()


@pytest.mark.parametrize(
    "formula",
    [
        lambda n, size: 2 * n * size * 8,
        lambda n, size: (2 * n + 3) * size * 8,
        lambda n, size: 16.0 * n * size,
    ],
)
def test_formula_for_the_peak_passes(formula: Any) -> None:
    assert examine("03.4", formula).state == "solved"


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda n, size: n * size * 8, "outputs only are counted"),
        (lambda n, size: 3 * n * size * 8, "are counted as two"),
        (lambda n, size: 2 * n * size, "numbers are counted, not bytes"),
        (lambda n, size: 2.4 * n * size * 8, "were measured"),
        (lambda n, size: 160 * size * 8, "peak(100, "),
        (lambda n, size: 2 * n * 3000 * 8, "the same for twice as many numbers"),
        (lambda n, size: None, "is None, not a number"),
        (7, "was given 7, not the function peak"),
    ],
)
def test_wrong_formula_for_the_peak_is_named(formula: Any, says: str) -> None:
    verdict = examine("03.4", formula)
    assert verdict.state == "wrong"
    assert says in verdict.message


def test_peak_that_somebody_disturbed_is_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traced_peak, disturbed = chains.traced_peak, iter([7, 7, 7, 2])

    def measured(run: Any) -> int:
        return traced_peak(run) * next(disturbed, 1)

    monkeypatch.setattr(chains, "traced_peak", measured)
    verdict = examine("03.4", lambda n, size: 16 * n * size)
    assert verdict.state == "solved", verdict.message
    assert examine("03.4", lambda n, size: 8 * n * size).state == "wrong"
    assert examine("03.4", lambda n, size: float("nan")).state == "wrong"


def test_chain_of_the_notebook_is_the_one_that_is_measured() -> None:
    x = mg.tensor([0.5, -1.0], dtype=mg.float64, requires_grad=True)
    y = chains.Damped.apply(x)
    assert mg.autograd.gradcheck(chains.Damped.apply, x)
    assert len(y.grad_fn.saved_tensors) == 2


def relu(mask_of: Any, back: Any) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        mask = mask_of(x)
        ctx.save_for_backward(mask)
        return x * (x > 0)

    return made("Relu", forward, lambda ctx, g: g * back(*ctx.saved_tensors))


def test_relu_with_a_byte_a_number_passes() -> None:
    for mask_of in (lambda x: x > 0, lambda x: (x > 0).to(mg.uint8)):
        for seed in range(3):
            verdict = examine("03.5", relu(mask_of, lambda m: m), seed=seed)
            assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("answer", "mistake", "says"),
    [
        (relu(lambda x: (x > 0).to(x.dtype), lambda m: m), "K01", "24 bytes (float64)"),
        (relu(lambda x: x, lambda x: x > 0), "K01", "for 3 numbers; 3 are enough"),
        (relu(lambda x: (x > 0).to(mg.int32), lambda m: m), "K01", "(int32)"),
        (relu(lambda x: x >= 0, lambda m: m), "L10", ""),
        (relu(lambda x: x < 0, lambda m: m), "L01", ""),
        (relu(lambda x: x <= 0, lambda m: m), "L01", "Which side of 0"),
        (relu(lambda x: x > 0, lambda m: 1), "C03", ""),
    ],
)
def test_relu_that_keeps_more_or_is_wrong_is_named(
    answer: Any, mistake: str, says: str
) -> None:
    verdict = examine("03.5", answer)
    assert verdict.state == "wrong"
    assert verdict.mistakes[0] == mistake, verdict.message
    assert says in verdict.message


def test_watching_keeps_nothing_alive() -> None:
    x = mg.ones(10, dtype=mg.float64, requires_grad=True)
    y = x.exp()
    view = y[2:]
    watched = course.watch(y=y, part=view, node=y.grad_fn)
    del y
    assert watched.alive() == {"y": True, "part": True, "node": True}
    assert repr(watched).splitlines()[1] == "part  alive, 80 bytes"
    del view
    assert watched.alive() == {"y": False, "part": False, "node": False}


def test_what_cannot_be_watched_is_refused() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="n is a int"):
        course.watch(n=3)
    with pytest.raises(errors.ArgumentValueError, match="nothing to watch"):
        course.watch()


def test_peak_counts_what_lives_at_one_time() -> None:
    x = mg.ones(100_000, dtype=mg.float64)

    def one_after_the_other() -> None:
        for _ in range(5):
            x.exp()

    def all_at_once() -> None:
        kept = [x.exp() for _ in range(5)]
        kept.clear()

    size = x.array.nbytes
    assert course.peak_bytes(one_after_the_other) < 2.2 * size
    assert 5 * size < course.peak_bytes(all_at_once) < 5.5 * size


def test_teaching_mode_does_not_count() -> None:
    x = mg.ones(1000, dtype=mg.float64, requires_grad=True)

    def back() -> None:
        chains.Damped.apply(x).sum().backward()

    without = course.peak_bytes(back)
    with mg.teaching():
        assert abs(course.peak_bytes(back) - without) < 2000
        assert is_teaching()


def test_peaks_are_measured_one_at_a_time() -> None:
    with pytest.raises(errors.ArgumentValueError, match="traced already"):
        course.peak_bytes(lambda: course.peak_bytes(lambda: None))
