"""What is graded: every kind of exercise, right, wrong, and as it was shipped."""

import json
from functools import cache
from pathlib import Path

import pytest

from minigrad.course.check import Crash, probes
from minigrad.course.exercises import catalogue
from minigrad.course.grade.examiner import Result, is_by_hand
from minigrad.course.grade.remote_function import raised
from tests.answers.rows import solution_of
from tests.course.grade.conftest import Grade

ROOT = Path(__file__).resolve().parents[3]


@cache
def cells_of(folder: str, lesson: str) -> tuple[str, ...]:
    """The code of a built notebook."""
    (path,) = (ROOT / folder).glob(f"{lesson}*/*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return tuple("".join(c["source"]) for c in cells if c["cell_type"] == "code")


LOOKS = ("look_at", "look_also", "look_at_rest")
LOOKED_AT = [
    name
    for name in catalogue.names()
    if any(hasattr(catalogue.load(name).spec, look) for look in LOOKS)
]
"""What an exercise's own module looks at, through a stand-in."""


@pytest.mark.parametrize("exercise", [*LOOKED_AT, "01.1", "01.2", "01.4", "03.2"])
def test_solutions_get_all_points_and_shipped_notebooks_none(
    graded: Grade, exercise: str
) -> None:
    lesson = exercise[:2]
    solved = graded(exercise, *cells_of("solutions", lesson))
    assert (solved.state, solved.points) == ("solved", solved.of), solved
    shipped = graded(exercise, *cells_of("exercises", lesson))
    assert (shipped.state, shipped.points) == ("not tried", 0)


def test_no_exercise_of_the_course_waits_for_a_person() -> None:
    assert [name for name in LOOKED_AT if is_by_hand(catalogue.load(name))] == []


def test_a_gym_exercise_is_graded(graded: Grade) -> None:
    solved = graded("gym.Sigmoid", *cells_of("solutions", "gym"))
    assert (solved.state, solved.points) == ("solved", solved.of)


MUL = """
import minigrad as mg

class Mul(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return RETURNED
"""


def mul(returned: str) -> str:
    return MUL.replace("RETURNED", returned)


def test_a_wrong_gradient_gets_nothing_but_its_name(graded: Grade) -> None:
    result = graded("01.4", mul("grad_output * x, grad_output * y"))
    assert (result.state, result.points, result.mistakes[:1]) == ("wrong", 0, ("A03",))
    words = dict(result.rows)
    assert "the gradient" in words["what happened"]
    assert "seed" not in " ".join(words.values())


def test_right_numbers_with_something_else_wrong_get_half(graded: Grade) -> None:
    source = """
import minigrad as mg
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.x
"""
    result = graded("gym.Square", source)
    assert (result.state, result.mistakes) == ("wrong", ("S06",))
    assert result.points == result.of / 2
    nothing = source.replace("2 * ctx.x", "3 * ctx.x")
    assert graded("gym.Square", nothing).points == 0


def test_exception_at_what_the_statement_does_not_speak_of_costs_nothing(
    graded: Grade,
) -> None:
    whole = "import minigrad as mg\n" + solution_of("gym.Linear").source
    rows = whole.replace("x @ W.t() + b", "mg.stack([W @ row + b for row in x])")
    result = graded("gym.Linear", rows)
    assert rows != whole
    assert (result.state, result.points) == ("solved", result.of), result
    assert "doesn't mention such a tensor" in str(result.rows)
    square = "import minigrad as mg\n" + solution_of("gym.Square").source
    indexed = square.replace("return x * x", "y = x * x; y[:] = y; return y")
    assert graded("gym.Square", indexed).points == 0


@pytest.mark.parametrize(
    ("exercise", "cell", "mistake"),
    [
        ("01.3", "self.factor = factor; return x * factor", "S04"),
        ("02.4", "ctx.factor = factor; return x * factor", ""),
    ],
)
def test_looks_of_an_exercise_see_into_the_box(
    graded: Grade, exercise: str, cell: str, mistake: str
) -> None:
    name = {"01.3": "Scaled", "02.4": "Scale"}[exercise]
    forward, back = cell.split("; ")
    class_wide = f"{name}.factor = factor" if mistake == "S04" else forward
    read = f"{name}.factor" if mistake == "S04" else "ctx.factor"
    source = f"""
import minigrad as mg
class {name}(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        {class_wide}
        {back}
    @staticmethod
    def backward(ctx, grad):
        return 1 * grad * {read}, None
"""
    result = graded(exercise, source)
    # The numbers were right as it was shipped; that is no half of a repair.
    assert (result.state, result.points) == ("wrong", 0)
    assert result.mistakes == ((mistake,) if mistake else ("S06",)), result.rows


def test_a_cycle_in_the_box_is_a_cycle_out_here(graded: Grade) -> None:
    source = """
import minigrad as mg
class Exp(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = x.exp()
        return ctx.kept
    @staticmethod
    def backward(ctx, grad):
        return ctx.kept * grad
"""
    assert graded("03.3", source).mistakes == ("S07",)


def test_the_engines_own_messages_are_made_out_here(graded: Grade) -> None:
    cells = [
        c.replace("return grad_output * ctx.k, None", "return grad_output * ctx.k + 0")
        for c in cells_of("solutions", "04")
    ]
    result = graded("04.3", *cells)
    assert result.mistakes == ("A01",), result
    assert "incorrect number of gradients" in dict(result.rows)["what happened"]


def test_products_made_in_the_box_are_counted_out_here(graded: Grade) -> None:
    source = """
import minigrad as mg
class Linear(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b
    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        all_three = g @ W, g.T @ x, g.sum(0)
        return tuple(v if n else None for v, n in zip(all_three, ctx.needs_input_grad))
"""
    result = graded("04.2", source)
    assert result.mistakes == ("A07",), result


def test_answers_to_questions_count_as_far_as_they_are_right(graded: Grade) -> None:
    def check(exercise: str, answers: str) -> Result:
        cell = f"from minigrad.course import check\ncheck('{exercise}', {answers})"
        return graded(exercise, cell)

    truth = catalogue.load("03.2").spec.truth()
    few = {"a": truth["a"], "b": "1", "c": "b", "d": "a"}
    result = check("03.2", repr(few))
    assert (result.state, result.points) == ("wrong", 3 / len(truth))
    unreadable = check("03.2", "['too', 'few']")
    assert (unreadable.state, unreadable.points) == ("wrong", 0)
    assert "2 answers for" in unreadable.note
    assert check("01.1", "['true', 'true', 'true', 'true', 'true']").points == 1
    assert check("01.1", "object()").points == 0


def test_whoever_never_ends_is_told_where(graded: Grade) -> None:
    source = mul("grad_output * y, grad_output * x").replace(
        "x, y = ctx.saved_tensors", "x, y = ctx.saved_tensors\n        while True: pass"
    )
    result = graded("01.4", source, seconds=3.0)
    assert result.state == "crashed"
    assert "Mul.backward was still running" in result.note


def test_a_notebook_of_any_style_is_read(graded: Grade) -> None:
    cells = [
        "%matplotlib inline\n!ls\nimport matplotlib.pyplot as plt\nplt.plot([1])",
        "raise RuntimeError('a cell that fails')",
        "this is no Python",
        "from IPython.display import display, HTML\nimport minigrad as torch",
        "from minigrad.course import *\nexercise('01.1'); hint('01.4')",
        MUL.replace("import minigrad as mg", "")
        .replace("mg.", "torch.")
        .replace("RETURNED", "grad_output * y, grad_output * x")
        .replace("class Mul", "class Product"),
        "check('01.4', Product)",
    ]
    result: Result = graded("01.4", *cells)
    assert (result.state, result.points) == ("solved", 4), result


def test_the_graded_operation_is_not_there(graded: Grade) -> None:
    source = """
import minigrad as mg
import minigrad.nn.functional as F
class Sigmoid(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        WAY
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        return grad * y * (1 - y)
"""
    for way in ("mg.sigmoid(x)", "x.sigmoid()", "F.sigmoid(x)", "mg.nn.Sigmoid()(x)"):
        result = graded("gym.Sigmoid", source.replace("WAY", f"y = {way}"))
        assert result.points == 0
        assert "sigmoid does the work that this exercise asks" in result.rows[0][1]
        assert "Which sums, products, powers" in dict(result.rows)["try"]
    own = "y = 1 / (1 + (-x.clamp(-700, 700)).exp())"
    assert graded("gym.Sigmoid", source.replace("WAY", own)).state == "solved"


def test_the_engine_does_not_differentiate_for_an_answer(graded: Grade) -> None:
    source = (
        mul("delegated(x, y, grad_output)")
        + """
def delegated(x, y, g):
    with mg.enable_grad():
        x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
        return mg.autograd.grad(x * y, (x, y), g)
"""
    )
    result = graded("01.4", source)
    assert result.points == 0
    assert "write the formula" in result.rows[0][1]


def test_two_gradings_with_one_secret_see_the_same_numbers(graded: Grade) -> None:
    wrong = mul("grad_output * x, grad_output * y")
    first, second = graded("01.4", wrong), graded("01.4", wrong)
    assert first.rows == second.rows


SHRINKS = {
    "with mg.no_grad(): w.mul_(0.5)": "",
    "w.data.mul_(0.5)": "was made before shrink(w)",
    "w = w / 2": "is [",
    "w.mul_(0.5)": "InplaceError",
    "w.requires_grad_(False).mul_(0.5)": "doesn't require grad any more",
}
HALVES = {
    "w / 2": "",
    "w.clone().mul_(0.5)": "",
    "w.detach() / 2": "no path back to w",
    "w * w / w.detach() / 2": "the gradient of w is",
}


@pytest.mark.parametrize(("shrink", "said"), SHRINKS.items())
def test_a_change_of_a_tensor_in_the_box_is_a_change_out_here(
    graded: Grade, shrink: str, said: str
) -> None:
    check_weights(graded, shrink, "w / 2", said)


@pytest.mark.parametrize(("half", "said"), HALVES.items())
def test_a_way_back_through_the_box_is_a_way_back_out_here(
    graded: Grade, half: str, said: str
) -> None:
    check_weights(graded, "with mg.no_grad(): w.mul_(0.5)", half, said)


def check_weights(graded: Grade, shrink: str, half: str, said: str) -> None:
    source = f"""
import minigrad as mg
def shrink(w):
    {shrink}
def halved(w):
    return {half}
"""
    result = graded("08.4", source)
    assert (result.state == "solved") == (said == ""), result
    assert said in dict(result.rows).get("what happened", "")


def test_look_that_stops_in_the_box_says_what_was_raised_there() -> None:
    crash = Crash("", ("KeyError", "LookupError", "Exception"), "'a'", True, "d[a]", 3)

    def ask(*_: object) -> None:
        raise raised(crash)

    def answer() -> None:
        """Stands for one in a box."""

    probes.stands_for(answer, probes.Elsewhere(0, ask))
    assert probes.tried(answer, (answer,)) is crash
