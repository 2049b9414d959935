"""The report card: what it counts, what it says, and that it is one whole file."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import minigrad as mg
from minigrad import course
from minigrad.course.check import Verdict, last_report_card
from minigrad.course.notebook import journal
from minigrad.course.notebook.report_card import costs_of
from minigrad.errors import ArgumentValueError

SENTENCES = [f"Sentence {n} says <what> happened." for n in range(1, 6)]
ROWS, WIDTH = 8, 4


class Scale(mg.autograd.Function):
    """Keeps its input, and an array as an attribute."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x, w)
        ctx.mask = mg.ones(ROWS, WIDTH) > 0
        return x * w

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, w = ctx.saved_tensors
        return grad_output * w, grad_output * x


class Total(mg.autograd.Function):
    """Keeps nothing but a shape."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.shape = x.shape
        return x.sum()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.expand(ctx.shape)


@pytest.fixture(autouse=True)
def no_page_stays() -> Iterator[None]:
    """What 16.6 compares a sentence with is gone for the next test."""
    yield
    last_report_card.BEGAN.clear()


def step_of() -> Callable[[], None]:
    x, w = mg.ones(ROWS, WIDTH), mg.ones(ROWS, WIDTH, requires_grad=True)

    def step() -> None:
        Total.apply(Scale.apply(Scale.apply(x, w), w)).backward()

    return step


def test_bytes_are_counted_once_and_without_data_and_parameters() -> None:
    costs = costs_of(step_of())
    # Two masks of a byte a number, and what leaves the first Scale, of four bytes.
    assert costs["Scale"].kept == 2 * ROWS * WIDTH + 4 * ROWS * WIDTH
    assert costs["Total"].kept == 0
    assert (costs["Scale"].calls, costs["Total"].calls) == (2, 1)
    assert (costs["Scale"].shared, costs["Total"].shared) == (0, 0)
    assert [*costs] == ["Scale", "Total"]
    assert all([c.forward > 0 and c.backward > 0 for c in costs.values()])


def test_built_in_operations_keep_what_they_keep() -> None:
    x, w = mg.ones(ROWS, WIDTH), mg.ones(ROWS, WIDTH, requires_grad=True)
    found = costs_of(lambda: ((x * w).exp() * w).sum().backward())
    assert {name: cost.kept for name, cost in found.items()} == {
        "Mul": 4 * ROWS * WIDTH,  # not data and a parameter, but what exp keeps, too
        "Exp": 4 * ROWS * WIDTH,
        "Sum": 0,
    }


def test_costs_are_a_table_as_text_and_as_html() -> None:
    shown = course.costs(step_of())
    head, scale, total = repr(shown).splitlines()
    assert head.split("  ")[0] == "Function"
    assert re.fullmatch(r"Scale +2 +192 +0 +0\.\d{3} +0\.\d{3}", scale)
    assert total.startswith("Total")
    assert len({len(head), len(scale), len(total)}) == 1
    assert "<td>Scale</td><td>2</td><td>192</td><td>0</td>" in shown._repr_html_()
    with pytest.raises(ArgumentValueError, match=r"costs: the step recorded nothing"):
        course.costs(lambda: None)


class Squashed(mg.autograd.Function):
    """Keeps its result, which the next Function keeps as its input."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = x.clamp(min=0)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (result,) = ctx.saved_tensors
        return grad_output * (result > 0)


class Again(Squashed):
    """Keeps its result, too."""


def test_array_that_two_functions_keep_is_counted_for_both() -> None:
    w = mg.ones(ROWS, WIDTH, requires_grad=True)
    size = 4 * ROWS * WIDTH

    def step() -> None:
        Total.apply(Scale.apply(Squashed.apply(w), w)).backward()

    costs = costs_of(step)
    assert (costs["Squashed"].kept, costs["Squashed"].shared) == (size, size)
    assert (costs["Scale"].kept, costs["Scale"].shared) == (size + size // 4, size)
    page = course.report_card(step, [1.0]).document()
    assert "<td>Squashed</td><td>1</td><td>128</td><td>128</td>" in page

    def alone() -> None:
        Total.apply(Again.apply(Squashed.apply(w))).backward()

    costs = costs_of(alone)
    assert (costs["Squashed"].shared, costs["Again"].shared) == (0, 0)
    assert (costs["Squashed"].kept, costs["Again"].kept) == (size, size)


def test_loss_is_said_alike_wherever_it_is_said() -> None:
    losses = [2.3, *[1.0] * 149, *[0.5] * 150]
    card = course.report_card(step_of(), losses)
    says = "300 steps: the loss went from 2.3 to 0.5, the mean of the last 6."
    assert says in repr(card)
    assert says in card.document()
    assert card._means[0] == 2.3
    assert len(card._means) == 51
    assert "1 step: the loss went from 2.3 to 2.3." in repr(
        course.report_card(step_of(), [2.3])
    )


def test_first_sentence_is_compared_with_the_page() -> None:
    rest = [f"In sentence {n} the loss fell because of it." for n in range(2, 6)]

    def told(first: str) -> Verdict:
        return course.examine("16.6", [first, *rest])

    at_half = "The loss began at 0.5 because all weights are zero."
    last_report_card.BEGAN.clear()
    assert told(at_half).state == "solved"  # no page, so nothing to compare with
    course.report_card(step_of(), [2.32, 1.0])
    verdict = told(at_half)
    assert verdict.state == "wrong"
    assert "sentence 1 says 0.5; on your page the loss began at 2.32" in verdict.message
    assert told("It began at 2,3 because it knows nothing yet.").state == "solved"
    assert told("It began where one begins who knows nothing.").state == "solved"
    course.report_card(step_of(), [0.51, 0.4])
    assert told(at_half).state == "solved"


def test_page_is_one_file_with_all_its_parts(tmp_path: Path) -> None:
    card = course.report_card(step_of(), [2.5, 2.0, 1.0], SENTENCES, title="A <b> run")
    page = card.save(tmp_path / "card.html").read_text("utf8")
    assert "<title>A &lt;b&gt; run</title>" in page
    assert [
        s for s in SENTENCES if s.replace("<what>", "&lt;what&gt;") not in page
    ] == []
    assert "3 steps: the loss went from 2.5 to 1." in page
    row = r"<td>Scale</td><td>2</td><td>192</td><td>0</td><td>0\.\d{3}</td>"
    assert re.search(row, page)
    assert page.count("<iframe") == 1
    assert "Total" in page
    outside = page.replace("http://www.w3.org/", "")
    assert not re.search(r'(?:src|href)="?(?:https?:)?//', outside)
    assert str(Path.home()) not in page
    assert repr(card).startswith("A <b> run. 3 steps: the loss went from 2.5 to 1.")
    assert 'title="A &lt;b&gt; run"' in card._repr_html_()


def test_mistakes_of_the_journal_are_named_counted_and_placed() -> None:
    def checked(exercise: str, state: str, *mistakes: str, diagnosis: str = "") -> None:
        journal.note(
            journal.CHECKED,
            exercise,
            state=state,
            mistakes=list(mistakes),
            diagnosis=diagnosis or " ".join(mistakes),
        )

    journal._unkept.clear()
    checked("16.2", "wrong", "R10")
    checked("16.3", "wrong", "R10")
    checked("16.5", "wrong", diagnosis="A benchmark that's cold: the first calls ...")
    checked("16.5", "wrong", diagnosis="speedup")  # only where it was, not what
    checked("16.5", "solved")
    try:
        card = course.report_card(step_of(), [1.0])
    finally:
        journal._unkept.clear()
    assert card.mistakes == [
        ("uses of one element lost", 2, "16.2, 16.3"),
        ("a benchmark that's cold", 1, "16.5"),
    ]
    assert "1 exercise solved so far" in card.document()
    assert "still to be written" in card.document()


def test_card_without_mistakes_says_so() -> None:
    journal._unkept.clear()
    page = course.report_card(step_of(), [1.0]).document()
    assert "None that a check has named" in page


def test_remark_on_a_right_answer_is_among_the_mistakes() -> None:
    journal._unkept.clear()
    journal.note(journal.CHECKED, "16.2", state="solved", mistakes=[], remarks=["D01"])
    try:
        card = course.report_card(step_of(), [1.0])
    finally:
        journal._unkept.clear()
    assert card.mistakes == [("what's saved is neither input nor output", 1, "16.2")]


@pytest.mark.parametrize(
    ("step", "losses", "sentences", "says"),
    [
        (step_of(), [], [], "there is no loss"),
        (step_of(), [1.0], ["One."], "got 1 sentence, not 5"),
        (lambda: None, [1.0], [], "the step recorded nothing"),
    ],
)
def test_what_no_card_can_be_made_of_is_refused(
    step: Any, losses: list[float], sentences: list[str], says: str
) -> None:
    with pytest.raises(ArgumentValueError, match=says):
        course.report_card(step, losses, sentences)
