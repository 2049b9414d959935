"""The judge alone: facts that are made by hand, and what it says of them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from minigrad.course.check import gradient_checks
from minigrad.course.check.casefile import sum_to
from minigrad.course.check.exercise import Exercise
from minigrad.course.check.facts import (
    Array,
    Attribute,
    Case,
    Contract,
    Crash,
    Declared,
    Facts,
    Output,
    Pass,
    Returned,
    Saved,
    Second,
    Tangent,
    Trial,
    is_float,
)
from minigrad.course.check.formulas import rules_of
from minigrad.course.check.judge import judge
from minigrad.course.exercises.catalogue import load
from minigrad.mistakes import TABLE, MistakeTableError, entries_of

X = np.array([0.5, -2.0, 1.5])
Y = np.array([3.0, 0.75, -1.25])
G = np.array([1.7, -0.6, 2.2])
SQUARE = np.array([[1.5, -0.5], [0.25, 2.0]])


def exercise(
    contract: Contract,
    reference: Callable[..., Any],
    gradients: Callable[..., Any],
    **more: Any,
) -> Exercise:
    """An exercise of which only the numbers count."""
    spec = SimpleNamespace(
        CONTRACT=contract, reference=reference, gradients=gradients, **more
    )
    return replace(load("01.4"), spec=spec, mistake_hints={})


PRODUCT = exercise(
    Contract("Product", ("x", "y")),
    lambda x, y: x * y,
    lambda g, x, y: (sum_to(g * y, x.shape), sum_to(g * x, y.shape)),
    wrong_gradients=lambda g, x, y: iter([("L04", (g * x, g * y))]),
)
PRODUCTS = [
    Case("three", (X, Y), G),
    Case("square", (SQUARE, SQUARE.T + 0.3), SQUARE - 0.8),
    Case("single", (X.astype("f4"), Y.astype("f4")), G.astype("f4")),
]

SCALE = exercise(
    Contract("Scale", ("x", "c")),
    lambda x, c: x * c,
    lambda g, x, c: (g * c, None),
    factors=lambda x, c: iter([("C07", 1 / c)]),
)
SCALES = [Case("2.5", (X, 2.5), G), Case("-3", (Y, -3.0), G), Case("4", (X, 4.0), G)]

BOTH = exercise(
    Contract("Both", ("x",), ("twice", "square")),
    lambda x: (2 * x, x * x),
    lambda g, x: (2 * g[0] + 2 * x * g[1],),
)
PAIR = [Case("three", (X,), (G, G[::-1] + 0.1)), Case("more", (Y,), (Y, X))]


@dataclass
class Fake:
    """A simulated answer: what its two methods compute, and what it leaves behind."""

    of: Exercise
    cases: Sequence[Case]
    backward: Callable[..., Any] | None = None
    forward: Callable[..., Any] | None = None
    trial: dict[str, Any] = field(default_factory=dict)
    declared: dict[str, Any] = field(default_factory=dict)

    def ids(self) -> tuple[str, ...]:
        """The ids of everything that is refused."""
        found = judge(self.facts(), self.of).findings
        return tuple(id for each in found for id in each.ids)

    def facts(self) -> list[Facts]:
        """What would be seen."""
        declared = replace(
            Declared("Fake", (), False, ("x", "y"), ("x", "y")), **self.declared
        )
        return [Facts(c, declared, tuple(self.trials(c))) for c in self.cases]

    def trials(self, case: Case) -> list[Trial]:
        """The usual trials of one case."""
        sent = {
            "plain": case.upstreams,
            "double": tuple(None if g is None else 2 * g for g in case.upstreams),
            "negative": tuple(None if g is None else -g for g in case.upstreams),
            "zero": tuple(None if g is None else 0 * g for g in case.upstreams),
        }
        if len(case.upstreams) > 1:
            sent["output 0"] = (case.upstreams[0], None)
            sent["output 1"] = (None, case.upstreams[1])
        found = [self.one(case, name, g) for name, g in sent.items()]
        if len(case.differentiable) > 1:
            frozen = (True, *[False] * (len(case.inputs) - 1))
            found.append(self.one(case, "only 0", case.upstreams, frozen))
        again = self.one(case, "again", case.upstreams)
        found.append(replace(again, passes=again.passes * 2))
        return found

    def one(
        self, case: Case, name: str, gs: Any, needed: tuple[bool, ...] = ()
    ) -> Trial:
        """One call and one pass through it."""
        needed = needed or tuple(map(is_float, case.inputs))
        found = (self.forward or self.of.reference)(*case.inputs)
        ys = found if isinstance(found, tuple) else (found,)
        marked = self.of.contract.non_differentiable
        outputs = tuple(
            Output("Tensor", np.asarray(y), i not in marked) for i, y in enumerate(ys)
        )
        trial = Trial(
            name, case.inputs, needed, None, outputs, marked=marked, kept=True
        )
        run = self.run(case, gs, needed, [np.asarray(y) for y in ys])
        return replace(trial, passes=(run,), **self.trial)

    def run(self, case: Case, gs: Any, needed: Sequence[bool], ys: list[Array]) -> Pass:
        """What backward returns, and what of it arrives."""
        if self.backward is None:
            filled = tuple(
                np.zeros_like(y) if g is None else g
                for g, y in zip(gs, ys, strict=True)
            )
            g = filled if len(filled) > 1 else filled[0]
            raw = self.of.gradients(g, *case.inputs)
        else:
            raw = self.backward(*gs, *case.inputs)
        returned = tuple(
            Returned("NoneType" if v is None else "Tensor", v) for v in raw
        )
        arrived = tuple(
            None if v is None or not need else sum_to(v, x.shape)
            for v, x, need in zip(raw, case.inputs, needed, strict=False)
        )
        refused = any(
            v is not None and got is None and need
            for v, got, need in zip(raw, arrived, needed, strict=False)
        )
        error = Crash("backward", ("GradientShapeError",), "shape", False)
        return Pass(
            tuple(gs),
            error if refused else None,
            ("Tensor",) * len(gs),
            "tuple",
            returned,
            () if refused else arrived,
        )


def with_trial(facts: list[Facts], name: str, **changes: Any) -> list[Facts]:
    """The facts with something else in all trials of this name."""
    return [
        replace(
            f,
            trials=tuple(
                replace(t, **changes) if t.name == name else t for t in f.trials
            ),
        )
        for f in facts
    ]


def ids_of(facts: list[Facts], of: Exercise) -> tuple[str, ...]:
    """The ids of everything that is refused."""
    return tuple(id for each in judge(facts, of).findings for id in each.ids)


@pytest.mark.parametrize(
    ("of", "cases"), [(PRODUCT, PRODUCTS), (SCALE, SCALES), (BOTH, PAIR)]
)
def test_right_facts_are_not_accused(of: Exercise, cases: list[Case]) -> None:
    judgement = judge(Fake(of, cases).facts(), of)
    assert (judgement.findings, judgement.remarks) == ((), ())


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        (("C01",), lambda g, x, y: (y, x)),
        (("C02",), lambda g, x, y: (g * g * y, g * g * x)),
        (("C03",), lambda g, x, y: (g, g)),
        (("C04",), lambda g, x, y: (g.mean() * y, g.mean() * x)),
        (("C05",), lambda g, x, y: (x * y * y, x * y * x)),
        (("C06", "L02"), lambda g, x, y: (2 * g * y, 2 * g * x)),
        (("L01",), lambda g, x, y: (-g * y, -g * x)),
        (("L02",), lambda g, x, y: (3 * g * y, 3 * g * x)),
        (("A03", "L04"), lambda g, x, y: (g * x, g * y)),
        (("L04",), lambda g, x, y: (g * x, g * x)),
        (("L05",), lambda g, x, y: (g * x * y, g * x)),
        (("A05",), lambda g, x, y: (g * y, None)),
        (("A01",), lambda g, x, y: (g * y,)),
        (("C01", "L01"), lambda g, x, y: (y, -g * x)),
        ((), lambda g, x, y: (g * (x + y), g * x)),
    ],
)
def test_wrong_rule_is_named_by_its_numbers(
    wanted: tuple[str, ...], rule: Callable[..., Any]
) -> None:
    found = judge(Fake(PRODUCT, PRODUCTS, rule).facts(), PRODUCT).findings
    assert found
    assert tuple(id for each in found for id in each.ids) == wanted


def test_story_has_to_hold_where_the_answer_is_right() -> None:
    def only_here(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return (g * x if x.ndim == 2 else g * y), g * x

    assert "L04" in Fake(PRODUCT, PRODUCTS, lambda g, x, y: (g * x, g * x)).ids()
    assert Fake(PRODUCT, PRODUCTS, only_here).ids() == ()


def test_ratio_is_named_by_the_quantity_that_it_follows() -> None:
    assert Fake(SCALE, SCALES, lambda g, x, c: (g, None)).ids() == ("C07", "C03")
    assert Fake(SCALE, SCALES, lambda g, x, c: (g * c / 3, None)).ids() == ("L02",)
    assert Fake(SCALE, SCALES, lambda g, x, c: (g * int(c), None)).ids() == ("T02",)


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        (("A02",), lambda g, x, c: (g * c, g * x)),
        (("A03",), lambda g, x, c: (None, g * c)),
    ],
)
def test_gradient_for_a_plain_number(
    wanted: tuple[str, ...], rule: Callable[..., Any]
) -> None:
    assert Fake(SCALE, SCALES, rule).ids() == wanted


BROADCAST = [
    Case("rows", (np.ones((2, 3)) * X, np.array([2.0, -1.0, 0.5])), SQUARE[:, :1] * G),
    Case(
        "columns", (np.ones((2, 3)) * Y, np.array([[2.0], [-1.0]])), SQUARE[:, 1:] * G
    ),
]


def spread(sums: Callable[[Array, Array], Array]) -> Callable[..., Any]:
    """The product's rule with another way to sum for the second input."""
    return lambda g, x, y: (g * y, sums(g * x, y))


@pytest.mark.parametrize(
    ("wanted", "sums"),
    [
        ((), lambda a, y: sum_to(a, y.shape)),
        (("R01",), lambda a, y: a),
        (("R09",), lambda a, y: a.sum(0) if y.ndim == 1 else a),
        (("R11",), lambda a, y: np.full(y.shape, a.sum())),
        (("R04",), lambda a, y: sum_to(a, y.shape) * y.size / a.size),
    ],
)
def test_sum_over_copies(
    wanted: tuple[str, ...], sums: Callable[[Array, Array], Array]
) -> None:
    def wrong_gradients(g: Array, x: Array, y: Array) -> Any:
        yield "R11", (None, np.full(y.shape, (g * x).sum()))

    of = replace(PRODUCT, spec=SimpleNamespace(**vars(PRODUCT.spec)))
    of.spec.wrong_gradients = wrong_gradients
    assert Fake(of, BROADCAST, spread(sums)).ids() == wanted


def test_lost_dimension_is_told_by_the_numbers() -> None:
    column = [BROADCAST[1]]
    facts = Fake(PRODUCT, column, spread(lambda a, y: a.sum(1))).facts()
    assert ids_of(facts, PRODUCT) == ("R03",)


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        (("N01",), lambda a, b, x: (2 * zero(a, x),)),
        (("N04",), lambda a, b, x: (2 * zero(b, x) + 2 * x * zero(a, x),)),
        (("N07",), lambda a, b, x: (2 * one(a, x) + 2 * x * one(b, x),)),
        (("N06",), lambda a, b, x: (zero(None, x) if a is None or b is None
                                     else 2 * a + 2 * x * b,)),
    ],
)  # fmt: skip
def test_several_outputs(wanted: tuple[str, ...], rule: Callable[..., Any]) -> None:
    assert Fake(BOTH, PAIR, rule).ids() == wanted


def zero(g: Array | None, x: Array) -> Array:
    return np.zeros_like(x) if g is None else g


def one(g: Array | None, x: Array) -> Array:
    return np.ones_like(x) if g is None else g


def test_marks_and_materialised_zeros() -> None:
    contract = replace(BOTH.contract, materialize_grads=False, non_differentiable=(1,))
    spec = SimpleNamespace(
        CONTRACT=contract, reference=BOTH.reference, gradients=lambda g, x: (2 * g[0],)
    )
    of = replace(BOTH, spec=spec)
    cases = [replace(c, upstream=(c.upstreams[0], None)) for c in PAIR]

    def rule(a: Array, b: None, x: Array) -> tuple[Array]:
        return (2 * zero(a, x),)

    good = Fake(of, cases, rule, trial={"materialize_grads": False}).facts()
    assert ids_of(good, of) == ()
    assert ids_of(with_trial(good, "plain", materialize_grads=True), of) == ("N03",)
    assert ids_of(with_trial(good, "plain", marked=()), of) == ("N05",)
    outputs = good[0].trials[0].outputs
    wrong = tuple(replace(y, requires_grad=i == 1) for i, y in enumerate(outputs))
    assert "N08" in ids_of(with_trial(good, "plain", outputs=wrong, marked=(0,)), of)


KEPT = {
    "S06": Attribute("x", "Tensor", X, True),
    "S07": Attribute("y", "Tensor", X, False, True),
    "S08": Attribute("x", "ndarray", X, True),
    "": Attribute("mask", "ndarray", X > 0, False),
}


@pytest.mark.parametrize("wanted", KEPT)
def test_what_is_kept_on_ctx(wanted: str) -> None:
    fake = Fake(PRODUCT, PRODUCTS, trial={"attributes": (KEPT[wanted],)})
    assert fake.ids() == ((wanted,) if wanted else ())


@pytest.mark.parametrize(
    ("wanted", "change"),
    [
        ("M02", {"changed": (0,)}),
        ("M05", {"backward_changed_input": True}),
        ("M05", {"backward_changed_output": True}),
        ("M05", {"backward_changed_saved": True}),
        ("A17", {"outputs": (Output("list", None, False),)}),
    ],
)
def test_flag_of_a_trial_is_named(wanted: str, change: dict[str, Any]) -> None:
    assert Fake(PRODUCT, PRODUCTS, trial=change).ids() == (wanted,)


def of_pass(facts: list[Facts], name: str, **changes: Any) -> list[Facts]:
    """The facts with something else in all passes of the trials of this name."""
    return [
        replace(
            f,
            trials=tuple(
                replace(t, passes=tuple(replace(p, **changes) for p in t.passes))
                if t.name == name
                else t
                for t in f.trials
            ),
        )
        for f in facts
    ]


def crash(kind: str, text: str, inside: bool = True, line: str = "") -> Crash:
    """An exception in backward."""
    return Crash("backward", (kind, "Exception"), text, inside, line, 7)


@pytest.mark.parametrize(
    ("wanted", "name", "change"),
    [
        ("A04", "plain", {"returned_kind": "list"}),
        ("A16", "plain", {"returned_kind": "NoneType"}),
        ("A06", "only 0", {"gradients": (None, None)}),
        ("M01", "plain", {"upstream_changed": True}),
        ("S10", "again", {"gradients": (X * 7, X * 7)}),
        ("S10", "again", {"crash": crash("IndexError", "pop from empty list")}),
        ("M05", "again", {"crash": crash("SavedModifiedError", "modified")}),
        ("A11", "plain", {"crash": crash("ValueError", "too many values to unpack")}),
        ("A13", "plain", {"crash": crash("TypeError", "2 arguments", inside=False)}),
    ],
)
def test_pass_is_named(wanted: str, name: str, change: dict[str, Any]) -> None:
    facts = Fake(PRODUCT, PRODUCTS[:1]).facts()
    assert ids_of(facts, PRODUCT) == ()
    assert ids_of(of_pass(facts, name, **change), PRODUCT) == (wanted,)


def test_typo_in_backward_has_no_name() -> None:
    facts = Fake(PRODUCT, PRODUCTS[:1]).facts()
    name_error = crash("NameError", "name 'z' is not defined")
    (found,) = judge(of_pass(facts, "plain", crash=name_error), PRODUCT).findings
    assert (found.ids, found.crashed) == ((), True)
    assert "line 7" in found.where


def test_none_for_an_unused_output_crashes() -> None:
    facts = Fake(BOTH, PAIR).facts()
    broken = of_pass(
        facts,
        "output 0",
        crash=crash("TypeError", "unsupported operand"),
        received=("Tensor", "NoneType"),
    )
    assert ids_of(broken, BOTH) == ("N02",)


def live(facts: list[Facts], gradients: Any, rewritten: bool = False) -> list[Facts]:
    """The facts with a first of two live calls that got these gradients."""
    plain = facts[0].trials[0]
    run = replace(plain.passes[0], gradients=gradients)
    first = replace(plain, name="first", passes=(run,), rewritten=rewritten)
    return [replace(facts[0], trials=(*facts[0].trials, first)), *facts[1:]]


def test_two_live_calls() -> None:
    facts = Fake(PRODUCT, PRODUCTS).facts()
    right = facts[0].trials[0].passes[0].gradients
    assert ids_of(live(facts, right), PRODUCT) == ()
    assert ids_of(live(facts, (X, X)), PRODUCT) == ("S05",)
    assert ids_of(live(facts, right, rewritten=True), PRODUCT) == ("S05",)
    on_class = Fake(PRODUCT, PRODUCTS, declared={"state_on_class": ("kept",)}).facts()
    assert ids_of(live(on_class, (X, X)), PRODUCT) == ("S04",)


def test_wrong_for_numbers_that_were_not_tried_is_no_mixing_up() -> None:
    facts = Fake(PRODUCT, PRODUCTS).facts()
    other = replace(facts[0].trials[0], name="second", inputs=(X + 1, Y))
    (run,) = other.passes
    other = replace(other, passes=(replace(run, gradients=(X, X)),))
    facts[0] = replace(facts[0], trials=(*facts[0].trials, other))
    (found,) = judge(facts, PRODUCT).findings
    assert found.ids == ()


def test_value_that_changed_before_forward_ended() -> None:
    def rule(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return g * (y + 1), g * x

    moved = (Saved(X, X), Saved(Y, Y + 1))
    kept = (Saved(X, X), Saved(Y, Y))
    assert Fake(PRODUCT, PRODUCTS[:1], rule, trial={"saved": moved}).ids() == ("S03",)
    assert Fake(PRODUCT, PRODUCTS[:1], rule, trial={"saved": kept}).ids() == ()


def test_exchanged_names_are_read_from_the_source() -> None:
    def rule(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return g * x, g * y

    other = {"unpacked_names": ("y", "x")}
    assert Fake(PRODUCT, PRODUCTS, rule, declared=other).ids()[0] == "S02"
    assert Fake(PRODUCT, PRODUCTS, declared=other).ids() == ()


def test_needed_gradients_only() -> None:
    def all_of_them(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return g * y, g * x

    contract = replace(PRODUCT.contract, skips_unneeded=True)
    spec = SimpleNamespace(**{**vars(PRODUCT.spec), "CONTRACT": contract})
    asks = replace(PRODUCT, spec=spec)
    assert Fake(asks, PRODUCTS, all_of_them).ids() == ("A07",)
    assert Fake(PRODUCT, PRODUCTS, all_of_them).ids() == ()


def test_digits_and_dtypes() -> None:
    def rounded(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return (g * y).astype("f4").astype(g.dtype), g * x

    def double(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return g * y.astype("f8"), g * x

    assert Fake(PRODUCT, PRODUCTS, rounded).ids() == ("T01",)
    cast = Fake(PRODUCT, PRODUCTS, double)
    assert cast.ids() == ()
    (remark,) = judge(cast.facts(), cast.of).remarks
    assert remark.id == "T03"


def test_order_in_memory() -> None:
    def by_memory(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        turned = not y.flags.c_contiguous
        return g * (y.T if turned else y), g * x

    cases = [PRODUCTS[0], Case("c", (SQUARE, SQUARE + 1), SQUARE), PRODUCTS[1]]
    turned = np.asfortranarray(SQUARE + 0.5)
    cases[2] = Case("transposed", (SQUARE, turned), SQUARE)
    assert Fake(PRODUCT, cases, by_memory).ids() == ("T04",)
    cases[1] = Case("c", (SQUARE, SQUARE + 1), SQUARE)

    def all_squares(g: Array, x: Array, y: Array) -> tuple[Array, ...]:
        return g * (y.T if y.ndim == 2 else y), g * x

    assert Fake(PRODUCT, cases, all_squares).ids() == ()


RELU = exercise(
    Contract("Relu", ("x",)),
    lambda x: np.maximum(x, 0),
    lambda g, x: (g * (x > 0),),
)
RELUS = [Case("zeros", (np.array([0.0, -1.0, 2.0]),), G), Case("none", (X,), G)]


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        (("L10",), lambda g, x: (g * (x >= 0),)),
        (("L19",), lambda g, x: (g * np.maximum(x, 0) / x,)),
        ((), lambda g, x: (g * (x > 0) + (x == -1.0),)),
    ],
)
def test_wrong_at_special_points(
    wanted: tuple[str, ...], rule: Callable[..., Any]
) -> None:
    with np.errstate(all="ignore"):
        found = judge(Fake(RELU, RELUS, rule).facts(), RELU).findings
    assert tuple(id for each in found for id in each.ids) == wanted
    assert found


def test_overflow_for_large_numbers() -> None:
    large = [Case("large", (np.array([1000.0, 1.0, -2.0]),), G), RELUS[1]]

    def softly(x: Array) -> Array:
        return np.where(x > 0, np.log(np.exp(x)), 0)

    with np.errstate(all="ignore"):
        assert Fake(RELU, large, forward=softly).ids() == ("L20",)
    assert Fake(RELU, large).ids() == ()


ROWS = exercise(
    Contract("Rows", ("x", "axis")),
    lambda x, axis: x.sum(axis),
    lambda g, x, axis: (np.broadcast_to(np.expand_dims(g, axis), x.shape) * 1.0, None),
)


def test_option_that_is_not_handled() -> None:
    wide = np.arange(6.0).reshape(2, 3)
    cases = [
        Case("axis 0", (wide, 0), G),
        Case("axis 1", (wide, 1), G[:2]),
        Case("axis -1", (wide + 1, -1), G[:2]),
    ]

    def last_only(g: Array, x: Array, axis: int) -> tuple[Array | None, ...]:
        return (np.ones(x.shape) * g[:, None] if len(g) == 2 else g[:2] * 0.3), None

    def nearly(g: Array, x: Array, axis: int) -> tuple[Array | None, ...]:
        return (np.ones(x.shape) * (g[:, None] if len(g) == 2 else 0.3)), None

    assert Fake(ROWS, cases, last_only).ids() == ("R08",)
    assert Fake(ROWS, cases, nearly).ids() == ()
    assert Fake(ROWS, cases).ids() == ()


def with_second(second: Second) -> list[Facts]:
    """The facts of a right product with this second derivative."""
    facts = Fake(PRODUCT, PRODUCTS[:1]).facts()
    return [replace(facts[0], second=second)]


def asking(what: str) -> Exercise:
    """The product with a demand on its second derivative."""
    contract = replace(PRODUCT.contract, second_derivative=what)
    spec = SimpleNamespace(**{**vars(PRODUCT.spec), "CONTRACT": contract})
    return replace(PRODUCT, spec=spec)


ONES = (np.ones(3), np.ones(3))
# The derivative of sum(g * y) + sum(g * x) for x, y and g.
RIGHT = (G, G, X + Y)
REFUSED = Crash("backward", ("OnceDifferentiableError",), "once_differentiable", False)


@pytest.mark.parametrize(
    ("demand", "second", "wanted"),
    [
        ("wanted", Second(ONES, RIGHT, True), ()),
        ("wanted", Second(ONES, (None, None, None), False), ("D02",)),
        ("wanted", Second(ONES, (None, None, None), True, REFUSED), ("D03",)),
        ("refused", Second(ONES, (None, None, None), True, REFUSED), ()),
        ("refused", Second(ONES, (None, None, None), False), ("D02",)),
        ("any", Second(ONES, (None, None, None), False), ()),
    ],
)
def test_second_derivative(
    demand: str, second: Second, wanted: tuple[str, ...]
) -> None:
    assert ids_of(with_second(second), asking(demand)) == wanted


def test_lost_second_derivative_is_remarked_where_nobody_asks() -> None:
    lost = with_second(Second(ONES, (None, None, None), False))
    (remark,) = judge(lost, asking("any")).remarks
    assert remark.ids == ("D02",)
    right = with_second(Second(ONES, RIGHT, True))
    assert judge(right, asking("any")).remarks == ()


def test_saved_intermediate_is_told_from_a_cut() -> None:
    lost = with_second(Second(ONES, (None, None, X + Y), True))
    between = with_trial(lost, "plain", saved=(Saved(X + Y, X + Y, in_graph=False),))
    inputs = with_trial(lost, "plain", saved=(Saved(X, X),))
    assert ids_of(between, asking("wanted")) == ("D01",)
    assert ids_of(inputs, asking("wanted")) == ("D02",)


FORWARD = replace(
    PRODUCT,
    spec=SimpleNamespace(
        **{**vars(PRODUCT.spec), "CONTRACT": replace(PRODUCT.contract, jvp=True)}
    ),
)
MISSING = Crash("jvp", ("TypeError",), "'NoneType' and 'Tensor'", True, "", 3)
EMPTY = Crash("jvp", ("ValueError",), "not enough values to unpack", True, "", 3)


@pytest.mark.parametrize(
    ("wanted", "first", "second"),
    [
        ((), Tangent((G, None), (G * Y,)), Tangent((None, G), (G * X,))),
        (("D04",), Tangent((G, None), (G * X,)), Tangent((None, G), (G * Y,))),
        (("D05",), Tangent((G, None), (G * Y,)), Tangent((None, G), (0 * G,))),
        (("D07",), Tangent((G, None), (), MISSING), Tangent((None, G), (G * X,))),
        (("D06",), Tangent((G, None), (), EMPTY), Tangent((None, G), (), EMPTY)),
    ],
)
def test_forward_mode(wanted: tuple[str, ...], first: Tangent, second: Tangent) -> None:
    (facts,) = Fake(FORWARD, PRODUCTS[:1]).facts()
    assert ids_of([replace(facts, tangents=(first, second))], FORWARD) == wanted


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"id": "L99"}, r"number 1 \(L99\): this id is not in the table"),
        ({"id": "L11", "wrong": {"z": "g"}}, "does not say for which argument"),
        ({"id": "L11", "wrong": {"x": "g *"}}, "is not a formula"),
        ({"id": "L11", "wrong": {"x": "h * 2"}}, "the name 'h'"),
        ({"id": "L11", "wrong": {"x": "g.T"}}, "cannot hold"),
        ({"id": "L11", "wrong": {"x": "__import__('os')"}}, "cannot hold"),
        ({"id": "L11", "wrong": {"x": "np.load('f')"}}, "cannot hold"),
    ],
)
def test_bad_entry_is_explained(table: dict[str, Any], says: str) -> None:
    with pytest.raises(MistakeTableError, match=says):
        rules_of([table], PRODUCT.contract, "a.toml")


def test_table_says_which_entry_is_incomplete() -> None:
    whole = {"name": "n", "looks_like": "l", "hint": "h", "concept": "c"}
    assert entries_of({"Z01": whole}, "t.toml")["Z01"].name == "n"
    for broken in ({**whole, "fix": "f"}, {"name": "n"}):
        with pytest.raises(MistakeTableError, match=r"t.toml: the entry \[Z01\]"):
            entries_of({"Z01": broken}, "t.toml")


def test_every_hint_is_a_question_or_something_to_look_at() -> None:
    looks = (
        "Look ",
        "Print ",
        "List ",
        "Count ",
        "Compare ",
        "Write ",
        "Take ",
        "Ask ",
    )
    for id, entry in TABLE.items():
        assert "?" in entry.hint or entry.hint.startswith(looks), (id, entry.hint)


def test_mistakes_that_stay_together_are_known_ones_and_say_why() -> None:
    file = Path(gradient_checks.__file__).with_name("ambiguous.toml")
    rows = tomllib.loads(file.read_text("utf8"))["together"]
    assert all(row["because"] for row in rows)
    pairs = [frozenset(pair) for row in rows for pair in row["pairs"]]
    assert len(set(pairs)) == len(pairs) == len(gradient_checks.AMBIGUOUS) == 23
    assert all(len(pair) == 2 and pair <= TABLE.keys() for pair in pairs)


def test_crash_in_one_bare_case_hides_no_wrong_number_in_another() -> None:
    empty, nine = np.ones((0, 3)), np.array(9.0)
    no_rows = Case("size 0", (empty, empty), empty, is_corner=True)
    no_axes = Case("0 axes", (nine, nine + 1), nine + 2, is_corner=True)
    (seen,) = Fake(PRODUCT, [no_rows]).facts()
    crash = Crash("forward", ("RuntimeError",), "no rows", True)
    raised = replace(seen, trials=(replace(seen.trials[0], crash=crash, passes=()),))
    right = [*Fake(PRODUCT, PRODUCTS).facts(), raised]
    fine = judge([*right, *Fake(PRODUCT, [no_axes]).facts()], PRODUCT)
    assert (fine.findings, len(fine.remarks)) == ((), 1)
    wrong = Fake(PRODUCT, [no_axes], backward=lambda g, x, y: (g * y + 1, g * x))
    assert judge([*right, *wrong.facts()], PRODUCT).findings
    asked = replace(PRODUCT, every_shape=True)
    assert judge([*right, *Fake(PRODUCT, [no_axes]).facts()], asked).findings
