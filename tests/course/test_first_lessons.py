"""The exercises of lessons 00 and 01: right answers pass, wrong ones are named."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import catalogue as loader
from minigrad.course import examine
from minigrad.course.exercises import ex01_2
from minigrad.course.questions import answers_of
from minigrad.errors import ArgumentValueError

Function = mg.autograd.Function


def made(name: str, forward: Any, backward: Any = None, **body: Any) -> Any:
    methods = {"forward": staticmethod(forward), **body}
    if backward is not None:
        methods["backward"] = staticmethod(backward)
    return type(Function)(name, (Function,), methods)


@pytest.mark.parametrize("name", ["00.1", "00.3", "01.1"])
def test_truth_of_questions_is_found_by_running_and_is_among_the_choices(
    name: str,
) -> None:
    loaded = loader.load(name)
    truth = loaded.spec.truth()
    assert list(truth) == [question.id for question in loaded.questions]
    for question in loaded.questions:
        assert not question.choices or truth[question.id] in question.choices
        assert set(question.wrong).isdisjoint({truth[question.id]})


def test_what_happens_is_what_the_text_of_the_lessons_says() -> None:
    assert loader.load("00.1").spec.truth() == {
        "a": "a box called ctx is made",
        "b": "the result is tied to ctx",
        "c": "backward",
    }
    identity = loader.load("01.1").spec.truth()
    assert list(identity.values()) == ["false", "true", "true", "false", "false"]
    assert loader.load("00.3").spec.truth()["a"] == "(3,)"


@pytest.mark.parametrize("answer", ["abc", "cca", "bbb"])
def test_any_prediction_counts_and_is_shown_beside_the_outcome(answer: str) -> None:
    verdict = examine("00.1", list(answer))
    assert (verdict.state, verdict.points) == ("solved", 1)
    right = sum([outcome.right for outcome in verdict.outcomes])
    assert f"{right} of 3 as you said" in verdict.message
    assert right == sum([a == b for a, b in zip(answer, "bbb", strict=True)])


def test_prediction_that_is_a_known_misconception_is_told_what_is_so() -> None:
    text = examine("01.1", ["true"] * 5).message
    assert "✗ a: you said: true. In fact: false. That looks like: one ctx per " in text
    assert "class. Every call makes a ctx" in text
    assert "✓ b: true: yes." in text


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"a": "(2, 3)", "b": "a"}, "the shape of the output"),
        ({"a": "3", "b": "a"}, "That is a length; a shape is a tuple"),
        ({"a": "[3]", "b": "a"}, "in round brackets"),
        ({"a": "(3)", "b": "a"}, "has a comma after the number"),
        ({"a": "(4,)", "b": "a"}, "'(4,)' is not right"),
        ({"a": "(3,)", "b": "the class Stretch"}, "A class is shared by all calls"),
        ({"a": "(3,)", "b": "c"}, "'the tensor of weights' is not right"),
    ],
)
def test_wrong_reading_of_the_panel_is_named(answers: Any, says: str) -> None:
    verdict = examine("00.3", answers)
    assert verdict.state == "wrong"
    assert says in verdict.message
    assert "(3,)" not in verdict.message or answers["a"] == "(3,)"


@pytest.mark.parametrize("shape", ["(3,)", " (3,) ", "( 3, )"])
def test_right_reading_of_the_panel_passes_however_it_is_spaced(shape: str) -> None:
    assert examine("00.3", {"a": shape, "b": "a"}).state == "solved"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"z": "a"}, "there is no question 'z'"),
        ({"a": "true"}, "no answer to question b"),
        (["true"], "got 1 answer for 5 questions"),
        (["maybe"] * 5, "'maybe' is no answer to question a"),
        (3, "got a int"),
    ],
)
def test_answers_that_cannot_be_read_are_refused_with_the_form(
    answer: Any, says: str
) -> None:
    with pytest.raises(ArgumentValueError, match=says) as caught:
        answers_of(loader.load("01.1"), answer)
    assert 'check("01.1", {"a": ..., "b": ...' in str(caught.value)


DOUBLES = [
    lambda ctx, x: x * 2,
    lambda ctx, x: 2 * x,
    lambda ctx, x: x + x,
]


@pytest.mark.parametrize("forward", DOUBLES)
def test_right_line_passes(forward: Any) -> None:
    assert examine("00.2", made("Double", forward)).state == "solved"


def forgets_return(ctx: Any, x: Any) -> None:
    x * 2


def todo(ctx: Any, x: Any) -> None:
    raise NotImplementedError("TODO: return twice x, in one line")


@pytest.mark.parametrize(
    ("forward", "state", "says"),
    [
        (todo, "not tried", "its line 'TODO"),
        (forgets_return, "wrong", "it is not returned"),
        (lambda ctx, x: x.clone(), "wrong", "That is x itself, unchanged."),
        (lambda ctx, x: x + 2, "wrong", "That is x plus 2, not twice x."),
        (lambda ctx, x: x * x, "wrong", "That is x times x, not twice x."),
        (lambda ctx, x: x / 2, "wrong", "That is half of x."),
        (lambda ctx, x: 6, "wrong", "gave back a int, not a Tensor"),
        (lambda ctx, x: x.sum() * 2, "wrong", "for x = ["),
        (lambda ctx, x: ctx.nothing, "crashed", "AttributeError"),
    ],
)
def test_wrong_line_is_named(forward: Any, state: str, says: str) -> None:
    verdict = examine("00.2", made("Double", forward))
    assert (verdict.state, verdict.points) == (state, 0)
    assert says in verdict.message


def test_wrong_cell_gives_not_tried() -> None:
    assert examine("00.2").state == "not tried"
    assert "not the class Double" in examine("00.2", 3).message


@pytest.mark.parametrize("order", ["fmbkchajl", "fbmkchajl", "bfmkchajl", "fmbchkajl"])
def test_every_order_that_works_is_right(order: str) -> None:
    assert examine("01.2", list(order)).state == "solved"


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("fmkchbajl", "ctx made after forward"),
        ("fmbkdajl", "forward run with recording on"),
        ("fmbkchil", "node wired although nothing requires grad"),
        ("fmekchajl", "one ctx for the whole class"),
        ("fmbkchajgl", "backward run during forward"),
        ("fmbkchaj", "something is missing"),
        ("fmbkchajlf", "line f is there twice"),
        ("mfbkchajl", "A line uses a name that a later line makes"),
        ("fmbkhcajl", "Python cannot read it"),
        ("fmbkchjal", "Python cannot read it"),
        ("bkfmchajl", "A line uses a name that a later line makes"),
        ("flchmbkaj", "UnboundLocalError"),
        ("fmbkchalj", "Python cannot read it"),
    ],
)
def test_wrong_order_is_named_by_running_it(order: str, says: str) -> None:
    verdict = examine("01.2", list(order))
    assert verdict.state == "wrong"
    assert says in verdict.message


def test_recording_asked_inside_no_grad_is_found() -> None:
    spec = ex01_2
    lines = [
        "    needs = [x.requires_grad for x in inputs]",
        "    ctx = cls.backward_class()",
        "    with no_grad():",
        "        recording = grad_mode.enabled and any(needs)",
        "        output = cls.forward(ctx, *inputs)",
        "    ctx.edges = [edge_of(x) for x in inputs] if recording else []",
        "    if recording:",
        "        output.grad_fn = ctx",
        "    return output",
    ]
    found = spec.run_lines(lines)
    assert found is not None
    assert "Whether to record was asked where recording was off" in found.story


def scaled(body: str) -> Any:
    names: dict[str, Any] = {"mg": mg}
    exec(body, names)
    return names["Scaled"]


REPAIRED = """
class Scaled(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None
"""


def test_repaired_methods_pass() -> None:
    assert examine("01.3", scaled(REPAIRED)).state == "solved"


def test_shipped_methods_are_not_tried() -> None:
    shipped = loader.load("01.3").spec.SHIPPED
    assert examine("01.3", scaled(shipped)).state == "not tried"
    renamed = shipped.replace("x * factor", "factor * x")
    assert examine("01.3", scaled(renamed)).state == "wrong"


@pytest.mark.parametrize(
    ("change", "mistakes", "says"),
    [
        (("ctx.factor = factor", "Scaled.factor = factor"), (), "AttributeError"),
        (("ctx.factor", "Scaled.factor"), ("S04",), "factor of the other call"),
        (("    @staticmethod\n", ""), ("A08",), "without @staticmethod"),
        (("grad_output * ctx.factor", "grad_output"), (), "times the upstream one"),
        (("return x * factor", "return x + factor"), (), "forward gives"),
        (("grad_output * ctx.factor, None", "None, None"), (), "gradient is 0 times"),
    ],
)
def test_half_a_repair_is_named(
    change: tuple[str, str], mistakes: tuple[str, ...], says: str
) -> None:
    verdict = examine("01.3", scaled(REPAIRED.replace(*change)))
    assert verdict.state in ("wrong", "crashed")
    assert verdict.mistakes == mistakes
    assert says in verdict.message


LEAKY = REPAIRED.replace("ctx.factor", "Scaled.factor")


def test_leaky_and_clean_pass() -> None:
    pair = [scaled(LEAKY), scaled(REPAIRED)]
    assert examine("01.5", pair).state == "solved"


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ((REPAIRED, REPAIRED), "tests only one call"),
        ((LEAKY, LEAKY), "S04"),
        (
            (LEAKY, REPAIRED.replace("ctx.factor = factor", "ctx.factor = 1")),
            "the first gives 1",
        ),
        (
            (LEAKY.replace("* Scaled.factor, None", "* 3.5, None"), REPAIRED),
            "Even Leaky is right alone",
        ),
    ],
)
def test_pair_that_shows_nothing_is_named(pair: tuple[str, str], says: str) -> None:
    verdict = examine("01.5", [scaled(body) for body in pair])
    assert verdict.state == "wrong"
    assert says in verdict.message


@pytest.mark.parametrize("answer", [3, [], [Function], ["Leaky", "Clean"]])
def test_anything_but_two_classes_is_told_what_to_hand_over(answer: Any) -> None:
    assert 'check("01.5", [Leaky, Clean])' in examine("01.5", answer).message


def test_numbers_are_drawn_anew() -> None:
    wrong = scaled(REPAIRED.replace("grad_output * ctx.factor", "grad_output"))
    texts = {examine("01.3", wrong, seed=seed).findings[0].what for seed in range(8)}
    assert len(texts) > 2
    assert np.unique(list(texts)).size == len(texts)
