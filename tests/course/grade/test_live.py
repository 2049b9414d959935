"""Answers that are handed live objects: graphs, nodes, toys, Functions to be tested."""

import threading
from typing import Any

import pytest

from minigrad.course.exercises import ex07_5, ex13_4
from minigrad.course.exercises.rules import function_of
from minigrad.course.grade import examiner
from minigrad.course.grade.remote_function import source_of
from minigrad.course.notebook import checking
from tests.answers import rows
from tests.course.grade.attacks import LIVE
from tests.course.grade.conftest import Grade
from tests.course.grade.test_examiner import cells_of


def as_in_the_notebook(graded: Grade, exercise: str, answer: Any, *cells: str) -> Any:
    """The result of the judge, which has to say what ``check`` says."""
    result = graded(exercise, *cells)
    seed = examiner.number_from(b"secret", "cases", exercise, "0")
    verdict = checking.examine(exercise, answer, seed=seed, seconds=30)
    rows = [row for row in verdict.rows() if row[0] not in ("numbers", "see it")]
    told = [tuple(row) for row in result.rows]
    assert (result.state, told) == (verdict.state, rows), result.note
    return result


@pytest.mark.parametrize(
    ("exercise", "name", "points"),
    [
        ("05.3", "down_and_turned_round", 4),
        ("05.3", "with_two_marks", 4),
        ("05.3", "pre_order", 0),
        ("05.3", "asks_in_a_list", 0),
        ("05.3", "calls_itself", 0),
        ("05.5", "with_lists", 6),
        ("05.5", "counting_down", 3),  # right, and a line too long
        ("05.5", "records", 3),
        ("05.5", "overwrites_inside", 0),
        ("05.5", "adds_to_nothing", 0),
    ],
)
def test_walks_and_traversals_get_what_the_check_says(
    graded: Grade, exercise: str, name: str, points: int
) -> None:
    answer = rows.named(exercise, name)
    hand_in = f"from minigrad.course import check\ncheck('{exercise}', {answer.hands})"
    made = answer.made_anew()
    result = as_in_the_notebook(graded, exercise, made, answer.source, hand_in)
    assert result.points == points


@pytest.mark.parametrize(
    ("old", "new", "points"),
    [
        ("", "", 5),
        ("self.count[0] += 1", "self.count[0] = 1", 0),
        ("return Toy(list(self.values))", "return self.view()", 0),
        ("return self.toy\n", "return Toy([0.0])\n", 0),
    ],
)
def test_toys_get_what_the_check_says(
    graded: Grade, old: str, new: str, points: int
) -> None:
    change = [old, new] if old else []
    answer = rows.Answer("08.6", "", 0, {"replace": change})
    made = answer.made_anew()
    assert as_in_the_notebook(graded, "08.6", made, answer.source).points == points


@pytest.mark.parametrize(
    ("exercise", "name", "points"),
    [
        ("12.2", "in_a_dictionary", 3),
        ("12.2", "outside", 0),
        ("12.3", "folder_of_its_own", 4),
        ("12.3", "without_finally", 0),
        ("12.5", "with_an_attribute", 5),
        ("12.5", "random_state_not_restored", 0),
        ("12.6", "equal_layers", 0),
        ("15.2", "moves_the_result", 4),
        ("15.2", "unbatched_side_stretched_wrongly", 0),
        ("15.3", "negative_axis", 0),
        ("15.4", "transposes_the_samples", 3),
        ("15.6", "not_in_turns", 0),
        ("16.3", "names", 6),
        ("16.3", "labels_shuffled_alone", 0),
        ("16.4", "bits", 5),
        ("16.4", "breaks_double_use", 0),
        ("16.5", "one_hot", 4),
        ("16.5", "benchmark_cold", 0),
        ("16.6", "half_of_it_describes_code", 0),
    ],
)
def test_hooks_checkpoints_batches_and_training_get_what_the_check_says(
    graded: Grade, exercise: str, name: str, points: int
) -> None:
    answers = rows.answers_to(exercise)
    answer = next(each for each in answers if each.row.get("name") == name)
    hand_in = f"from minigrad.course import check\ncheck('{exercise}', {answer.hands})"
    made = answer.made_anew()
    result = as_in_the_notebook(graded, exercise, made, answer.source, hand_in)
    assert result.points == points


def exp(kept: str) -> str:
    return f"""
import gc
import minigrad as mg
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        {kept}
        ctx.save_for_backward(result)
        return result
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.saved_tensors[0]
"""


@pytest.mark.parametrize(
    ("kept", "mistakes"),
    [
        ("pass", ()),
        ("global last; last = result", ("S07",)),
        ("mg.last = result", ("S07",)),
        ("gc.collect()", ("S07",)),
    ],
)
def test_whatever_keeps_a_result_alive_in_the_box_is_noticed(
    graded: Grade, kept: str, mistakes: tuple[str, ...]
) -> None:
    assert graded("03.3", exp(kept)).mistakes == mistakes


def test_result_that_is_kept_weakly_is_gone_in_the_box_too(graded: Grade) -> None:
    weakly = exp("import weakref; ctx.kept = weakref.ref(result)").replace(
        "ctx.saved_tensors[0]", "ctx.kept()"
    )
    assert graded("03.3", weakly).state == "crashed"


SAID = {
    "every path anew, however often": "still running",
    "endings by heart": "one that was made up",
    "a class that everything belongs to": "nothing is raised, and",
    "the names of what is tested": "hands_on refuses a Round",
    "the order of what is tested": "hands_on refuses a Round",
}
"""What these are told, so that it is known what has stopped them."""


@pytest.mark.parametrize("exercise", ["03.3", "05.3", "05.5", "07.5", "08.6"])
def test_attacks_on_live_objects_score_nothing_and_their_twin_all(
    exercise: str, graded: Grade
) -> None:
    cells = cells_of("solutions", exercise[:2])
    for name, attack in LIVE[exercise].items():
        result = graded(exercise, *cells, attack, seconds=2.0)
        points = 2.0 if exercise == "07.5" else 0.0  # its Round is right
        assert (result.state == "solved", result.points) == (False, points), name
        said = " ".join([result.note, *dict(result.rows).values()])
        assert SAID.get(name, "") in said
        assert len(said) < 10_000, name
    honest = graded(exercise, *cells)
    assert (honest.state, honest.points) == ("solved", honest.of), honest


def test_functions_that_are_sent_say_nothing_of_themselves() -> None:
    sent = [(rule.function, rule.does) for rule in ex07_5.RULES]
    products = [(function_of(rule), "Doubled") for rule, _ in ex13_4.RULES]
    for function, does in [*products, *sent]:
        source = source_of(function)
        assert "class Given(" in source
        for telling in (does, '"""', "wrong", "right"):
            assert telling not in source


def test_memory_is_measured_where_nobody_else_is(graded: Grade) -> None:
    # Other threads of the judge take memory while they grade.
    stop = threading.Event()

    def take_memory() -> None:
        while not stop.wait(0.002):
            kept = bytearray(8_000_000)
            stop.wait(0.002)
            del kept

    thread = threading.Thread(target=take_memory)
    thread.start()
    try:
        right = graded("03.4", "def peak(n, size): return 8 * (2 * n + 3) * size")
        wrong = graded("03.4", "def peak(n, size): return 24 * n * size")
    finally:
        stop.set()
        thread.join(10)
    assert (right.state, wrong.state) == ("solved", "wrong"), (right, wrong)
    assert graded("03.4", "def peak(n, size): return float('nan')").points == 0
