"""One change of the source: each kind is found where it's made, and nothing else is."""

from __future__ import annotations

import linecache
import os
import textwrap
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from minigrad.course import examine
from minigrad.course.check import Finding, examination, repaired
from minigrad.course.check import repair as module
from minigrad.course.check.observation import observe
from minigrad.course.check.repair import Repair, repair
from minigrad.course.exercises import catalogue
from minigrad.mistakes import TABLE

NUMBER = count()
X, Y = np.array([[1.5, -2.0, 0.7], [0.3, 4.0, -1.1]]), np.array([[2.0], [-3.0]])


def made(source: str, **names: Any) -> Any:
    """The function (or class) that some source defines, with lines to be read."""
    name = f"<repair {next(NUMBER)}>"
    source = textwrap.dedent(source).lstrip()
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    space: dict[str, Any] = {"__name__": name, "np": np, **names}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def mended(answer: Any, right: Callable[..., Any], *inputs: Any) -> Repair | None:
    """What makes ``answer`` give what ``right`` gives, for all of these."""

    def is_right(given: Any) -> bool:
        try:
            got = answer(*given)
            return bool(np.array_equal(got, right(*given), equal_nan=True))
        except Exception:
            return False

    return repair(
        answer, lambda: is_right(inputs[0]), lambda: all(map(is_right, inputs))
    )


BOTH = [(X, Y), (X[:, :1] - 0.2, Y + 1.5), (2 * X, Y - 4.0)]
ONE: dict[str, tuple[str, Callable[..., Any]]] = {
    "sign": ("x + y", lambda x, y: x - y),
    "number_factor": ("3 * x + y", lambda x, y: 2 * x + y),
    "exponent": ("x ** 2 + y", lambda x, y: x**3 + y),
    "factor": ("x * y + y", lambda x, y: x * y * y + y),
    "term": ("np.sin(x + y)", lambda x, y: np.sin(x)),
    "division": ("y - x / y", lambda x, y: y - x * y),
    "operator": ("np.cos(x * y)", lambda x, y: np.cos(x + y)),
    "brackets": ("(x + y) * 7", lambda x, y: x + y * 7),
    "reduced_first": (
        "x.sum(-1, keepdims=True) * y.sum()",
        lambda x, y: (x * y.sum()).sum(-1, keepdims=True),
    ),
    "mean": ("x.sum() * y", lambda x, y: x.mean() * y),
    "axis": ("x.max(0) + y.sum()", lambda x, y: x.max(1) + y.sum()),
    "other_axis": ("x.cumsum(0) * y", lambda x, y: x.cumsum(1) * y),
    "kept_axis": ("x.sum(1) + y.sum()", lambda x, y: x.sum(1, keepdims=True) + y.sum()),
    "bound": ("x * (x > 1.5)", lambda x, y: x * (x >= 1.5)),
    "condition": ("x * (x > y)", lambda x, y: x * (x < y)),
    "whole": ("x.round() + y", lambda x, y: x + y),
    "call": ("abs(x) + y", lambda x, y: x + y),
    "edge": ("[x * n for n in range(4)]", lambda x, y: [x * n for n in range(5)]),
    "function": ("np.floor(x) + y", lambda x, y: np.ceil(x) + y),
    "places": ("np.subtract(x, y)", lambda x, y: y - x),
    "name": ("np.exp(x) * 0.5", lambda x, y: np.exp(y) * 0.5),
    "compared": ("y * (x > 1)", lambda x, y: y * (y > 1)),
    "number": ("x[0] + y", lambda x, y: x[1] + y),
    "edge_of_slice": ("x.ravel()[1:] + y", lambda x, y: x.ravel()[:] + y),
}


@pytest.mark.parametrize("kind", ONE)
def test_one_change_is_found_and_said_by_its_kind_and_line(kind: str) -> None:
    source, right = ONE[kind]
    answer = made(f"def f(x, y):\n    z = 99\n    return {source}\n")
    found = mended(answer, right, *BOTH)
    assert found is not None
    assert (found.kind, found.line) == (kind, f"return {source}")
    assert found.where == f"f, line 3: return {source}"


BLOCKS = {
    "order": (
        "def f(n):\n    n = n + 1\n    m = n\n    return n, m",
        lambda n: (n + 1, n),
    ),
    "line": ("def f(n):\n    m = [n]\n    m.append(4)\n    return m", lambda n: [n]),
    "added": (
        "def f(n):\n    t = 0\n    for i in range(n):\n        t = i + 2\n    return t",
        lambda n: sum(i + 2 for i in range(n)),
    ),
    "inside": (
        "def f(n):\n    t = 1\n    for i in range(n):\n        t += i\n"
        "        t *= 5\n    return t",
        lambda n: 5 * (1 + sum(range(n))),
    ),
    "unpacked": (
        "def f(n):\n    a, b = n.saved_tensors\n    return a - b * b",
        lambda n: n.saved_tensors[1] - n.saved_tensors[0] ** 2,
    ),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_lines_that_are_misplaced_are_found(kind: str) -> None:
    source, right = BLOCKS[kind]
    given: list[Any] = [3, 5, 6]
    if kind == "unpacked":
        pairs = (3, 4), (2, 7), (5, 1)
        given = [SimpleNamespace(saved_tensors=pair) for pair in pairs]
    found = mended(made(source), right, *[(n,) for n in given])
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ("3 * x - y", lambda x, y: 2 * x + y),  # two mistakes
        ("x + y", lambda x, y: x + y if x is X else x - y),  # only one case
        ("np.tanh(x)", lambda x, y: np.hypot(x, y)),  # no small change
    ],
)
def test_more_than_one_change_is_none(source: str, right: Callable[..., Any]) -> None:
    answer = made(f"def f(x, y):\n    return {source}\n")
    assert mended(answer, right, *BOTH) is None


def test_changes_of_several_kinds_say_the_line_alone() -> None:
    answer = made("def f(n):\n    m = n\n    return m + 2\n")
    found = mended(answer, lambda n: n - 2, (5,), (6,))
    assert found is not None
    assert (found.kind, found.line) == ("", "return m + 2")
    assert found.ids == ()


def test_changes_of_several_kinds_in_several_lines_say_nothing() -> None:
    answer = made("def f(n):\n    m = n + 1\n    return m * 3\n")
    assert mended(answer, lambda n: 6, (1,), (1,)) is None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("open(n)", {"open": print}),
        ("os.getpid()", {"os": os}),
        ("Path(str(n))", {"Path": Path}),
        ("FOLDER.exists()", {"FOLDER": Path("x")}),
        ("getattr(n, 'x', n) and n.unlink", {}),
        ("import os", {}),
        ("(lambda: __import__('os'))()", {}),
        ("SEEN.append(n)", {"SEEN": []}),
        ("n.dump('x')", {}),
        ("raise SystemExit", {}),
        ("np.lib.os.getpid()", {}),
    ],
)
def test_what_may_touch_more_than_numbers_is_left_alone(
    line: str, names: dict[str, Any]
) -> None:
    answer = made(f"def f(n):\n    if n > 9: {line}\n    return n + 1\n", **names)
    assert mended(answer, lambda n: n - 1, (1,), (2,)) is None
    answer = made("def f(n):\n    if n > 9: abs(n)\n    return n + 1\n", **names)
    assert mended(answer, lambda n: n - 1, (1,), (2,)) is not None


def test_function_of_an_outer_function_with_a_module_is_left_alone() -> None:
    source = """
    def outer(k):
        def f(n):
            return k.path and n + 1
        return f

    f = outer(K)
    """
    assert mended(made(source, K=os), lambda n: n - 1, (1,), (2,)) is None
    assert mended(made(source, K=np), lambda n: n - 1, (1,), (2,)) is None
    safe = made(source.replace("k.path", "k.pi"), K=np)
    assert mended(safe, lambda n: n - 1, (1,), (2,)) is not None


def test_nothing_is_tried_where_no_alarm_could_stop_it() -> None:
    answer = made("def f(n):\n    return n + 1\n")
    found: list[Any] = []
    thread = Thread(
        target=lambda: found.append(mended(answer, lambda n: n - 1, (1,), (2,)))
    )
    thread.start()
    thread.join()
    assert found == [None]
    assert mended(answer, lambda n: n - 1, (1,), (2,)) is not None


def test_factor_of_zero_is_told_as_a_term() -> None:
    answer = made("def f(x, y):\n    return x * y * 2 + x * 0.5\n")
    found = mended(answer, lambda x, y: x * y * 2, *BOTH)
    assert found is not None
    assert found.kind == "term"


def test_function_that_gives_1_is_told_as_the_factor_that_it_hides() -> None:
    one, two = np.array([[1.0, 0.0, 1.0]]), np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    answer = made("def f(x, y): return x * y / y.sum()")
    found = mended(answer, lambda x, y: x * y, (X, one), (X, two))
    assert found is not None
    assert found.kind == "extra_factor"


def test_line_of_a_change_is_that_of_the_part_that_changes() -> None:
    answer = made("def f(x, y):\n    return (\n        x\n        + -(\n y))\n")
    sources = module._Source.of(answer)
    assert sources is not None
    before = [edit.number for edit in sources.edits("put_in", [])]
    list(sources.edits("leave_out", []))
    assert [edit.number for edit in sources.edits("put_in", [])] == before


def test_the_answer_has_its_own_code_again_whatever_happens() -> None:
    answer = made("def f(n):\n    return n + 1\n")
    own = answer.__code__

    def stops() -> bool:
        assert answer.__code__ is not own
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repair(answer, stops, stops)
    assert answer.__code__ is own
    assert mended(answer, lambda n: n - 1, (1,), (2,)) is not None
    assert answer.__code__ is own


def test_helpers_and_variables_of_outer_functions_are_reached() -> None:
    source = """
    def outer(k):
        def f(n):
            return k * (n + 1)
        return f

    f = outer(3)
    """
    answer = made(source)
    found = mended(answer, lambda n: 3 * (n - 1), (1,), (2,))
    assert found is not None
    assert found.where == "f, line 3: return k * (n + 1)"
    helped = made("def f(n):\n    return g(n) * 2\n\ndef g(n):\n    return n + 1\n")
    found = mended(helped, lambda n: (n - 1) * 2, (1,), (2,))
    assert found is not None
    assert found.where == "g, line 5: return n + 1"


def test_function_without_source_or_module_is_left_alone() -> None:
    space: dict[str, Any] = {}
    exec("def f(n):\n    return n + 1\n", space)
    assert space["f"].__module__ in (None, "builtins")
    assert mended(space["f"], lambda n: n - 1, (1,), (2,)) is None


def test_time_that_is_up_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = made("def f(n):\n    return n + 1\n")
    assert repair(answer, lambda: True, lambda: True, seconds=-1.0) is None


def test_each_kind_says_what_it_is_about_and_has_a_name_of_the_table() -> None:
    tried = [module.TABLE.get(way, {}) for way in module.ROUNDS]
    kinds = {*ONE, *BLOCKS}.union(*tried)
    assert kinds <= {*module.TABLE["about"]}
    assert {*module.TABLE["ids"].values()} <= {*TABLE}
    assert Repair("sign", "", "", "backward").ids == ("L01",)
    assert Repair("sign", "", "", "forward").ids == ()


CUBE = """
import minigrad as mg

class f(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return {backward}
"""


def cube(backward: str, forward: str = "x ** 3") -> Any:
    return made(CUBE.format(forward=forward, backward=backward))


def test_repair_wins_over_a_name_that_is_guessed_from_numbers() -> None:
    # For three times the right gradient, any constant could be to blame.
    brackets = "grad_output * (3 * x) ** 2"
    (finding,) = examine("gym.CubeDoubleBackward", cube(brackets)).findings
    assert finding.ids == ()
    assert finding.where == f"f.backward, line 12: return {brackets}"
    assert "It's about brackets" in finding.looks_like
    number = "grad_output * 9 * x ** 2"
    (finding,) = examine("gym.CubeDoubleBackward", cube(number)).findings
    assert finding.ids == ("L02",)
    assert "a number as a factor" in finding.looks_like


def test_repair_leaves_a_name_that_is_proven_alone() -> None:
    (finding,) = examine("gym.CubeDoubleBackward", cube("3 * x ** 2")).findings
    assert finding.ids == ("C01",)
    assert "One change" not in finding.looks_like


@pytest.mark.parametrize("seed", [0, 3, 11])
def test_wrong_forward_is_told_by_its_line_whatever_is_drawn(seed: int) -> None:
    wrong = cube("grad_output * 3 * x ** 2", "x ** 3 + x")
    (finding,) = examine("gym.CubeDoubleBackward", wrong, seed=seed).findings
    assert finding.where == "f.forward, line 7: return x ** 3 + x"
    assert finding.looks_like.endswith("It's about a term of a sum.")


def test_what_runs_in_another_process_is_not_repaired_in_this_one() -> None:
    looked = []

    def look(*given: Any) -> Any:
        looked.append(given)
        return observe(*given)

    exercise = catalogue.load("gym.CubeDoubleBackward")
    wrong = cube("grad_output * (3 * x) ** 2")
    verdict = examination.examine(exercise, wrong, look=look)
    assert verdict.mistakes == ("L02",)
    assert len(looked) == 1


def test_line_that_was_shipped_is_not_told() -> None:
    answer = made("def f(n):\n    return n + 1\n")

    def look_at(given: Any, random: Any) -> Iterator[Finding]:
        n = int(random.integers(5, 9))
        if given(n) != n - 1:
            yield Finding((), "wrong", "f")

    found = []
    for shipped in ("", "    return n + 1\n"):
        spec = SimpleNamespace(look_at=look_at, SHIPPED=shipped)
        again = repaired.BySpec(SimpleNamespace(spec=spec), answer, 0)
        found.append(again.explained(Finding((), "wrong", "f")).where)
    assert found == ["f, line 2: return n + 1", "f"]
