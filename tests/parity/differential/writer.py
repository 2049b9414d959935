"""Writes the source of a random program, one statement after the other.

A program is decided by its seed alone. The writer knows of every tensor what it takes
to go on without an exception: shape, dtype, whether it requires grad, whose memory it
uses, and whether a node keeps that memory.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

SHAPES = [(), (3,), (1, 3), (2, 1), (2, 3), (3, 2), (2, 3, 2)]
FLOATS = ("float32", "float64")


@dataclass(eq=False)
class Var:
    """A tensor of the program; ``requires`` is None where that is not certain.

    ``refuses`` tells why it cannot be changed in place, if it cannot.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float64"
    requires: bool | None = False
    leaf: bool = False
    memory: int = 0
    view: bool = False
    contiguous: bool = True
    refuses: str = ""

    @property
    def floating(self) -> bool:
        return self.dtype in FLOATS


@dataclass
class Program:
    """Source as a list of statements, and the features that they show."""

    seed: int
    statements: list[str]
    features: set[str] = field(default_factory=set)
    mistake: str = ""

    @property
    def source(self) -> str:
        return "\n".join(self.statements) + "\n"


class Writer:
    """A program in the making."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.program = Program(seed, [])
        self.vars: list[Var] = []
        self.kept: set[int] = set()
        self.numbers = itertools.count()
        self.memories = itertools.count(1)
        self.classes = itertools.count()
        self.functions: list[Any] = []
        self.margin = ""
        self.recording = True

    def line(self, text: str, *features: str) -> None:
        """Add one statement; it may go over several lines."""
        lines = [self.margin + part for part in text.splitlines()]
        self.program.statements.append("\n".join(lines))
        self.program.features.update(features)

    @contextlib.contextmanager
    def block(self, head: str, *features: str) -> Iterator[None]:
        """A ``with`` block around the statements written inside."""
        self.line(head, *features)
        self.margin += "    "
        before = len(self.program.statements)
        yield
        if len(self.program.statements) == before:
            self.line("pass")
        self.margin = self.margin[:-4]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def number(self) -> float:
        """A factor that rounding errors do not reach."""
        return self.random.choice([-1.5, -1.0, -0.5, 0.25, 0.5, 0.75, 1.25, 1.5, 2.0])

    def fresh(self, prefix: str = "t") -> str:
        return f"{prefix}{next(self.numbers)}"

    def literal(self, shape: tuple[int, ...], integers: bool = False) -> str:
        """Nested lists of random numbers."""
        if not shape:
            if integers:
                return str(self.random.randint(-3, 3))
            return str(self.random.randint(-15, 15) / 8)
        rows = [self.literal(shape[1:], integers) for _ in range(shape[0])]
        return f"[{', '.join(rows)}]"

    def constant(self, shape: tuple[int, ...], dtype: str = "float64") -> str:
        """The source of a tensor of random numbers."""
        values = self.literal(shape, dtype == "int64")
        return f"torch.tensor({values}, dtype=torch.{dtype})"

    def make(self, expression: str, var: Var, *features: str) -> Var:
        """Bind ``expression`` to the name of ``var``, which joins the pool."""
        self.line(f"{var.name} = {expression}", *features)
        return self.add(var)

    def add(self, var: Var) -> Var:
        if not var.memory:
            var.memory = next(self.memories)
        if not self.recording:
            var.requires = False
        var.leaf = var.requires is False or var.leaf
        self.vars.append(var)
        return var

    def result(self, shape: tuple[int, ...], *inputs: Var, dtype: str = "") -> Var:
        """A new tensor computed from ``inputs``."""
        dtype = dtype or promoted(*inputs)
        requires = any_requires(*inputs) if dtype in FLOATS else False
        return Var(self.fresh(), shape, dtype, requires)

    def view_of(
        self, var: Var, shape: tuple[int, ...], contiguous: bool = True, why: str = ""
    ) -> Var:
        """A tensor on the memory of ``var``."""
        why = var.refuses or why
        if not self.recording and var.requires is not False:
            why = why or "made under no_grad"
        return replace(
            var,
            name=self.fresh(),
            shape=shape,
            leaf=False,
            view=True,
            contiguous=var.contiguous and contiguous,
            refuses=why,
        )

    def keep(self, *variables: Var) -> None:
        """A node saves these."""
        if self.recording:
            self.kept.update(var.memory for var in variables)

    def pick(self, *wanted: Callable[[Var], object]) -> Var | None:
        """A tensor of the pool with these properties; later ones are likelier."""
        found = [var for var in self.vars if all(test(var) for test in wanted)]
        if not found:
            return None
        return found[max(self.random.randrange(len(found)) for _ in range(2))]

    def float_var(self) -> Var:
        """Any floating-point tensor of the pool: there always is one."""
        found = self.pick(lambda var: var.floating)
        assert found is not None
        return found

    def changeable(self, var: Var) -> bool:
        """Whether an in-place change of ``var`` breaks nothing."""
        if var.refuses or var.memory in self.kept or not var.floating:
            return False
        family = [v for v in self.vars if v.memory == var.memory]
        if any(v.refuses not in ("", "detached", "expanded") for v in family):
            return False
        leaves = any(v.leaf and v.requires is not False for v in family)
        return not (self.recording and leaves)

    def changed(self, var: Var, *operands: Var) -> None:
        """``var`` was changed in place: what aliases it may now require grad."""
        if not self.recording or not any_requires(var, *operands):
            return
        for other in self.vars:
            if other.memory == var.memory and other.refuses != "detached":
                if not other.requires:
                    other.requires = None
                other.leaf = False
        var.requires = var.requires or any_requires(*operands) or None


def any_requires(*variables: Var) -> bool | None:
    """Whether something computed from these requires grad."""
    flags = [var.requires for var in variables if var.floating]
    return True if True in flags else None if None in flags else False


def promoted(*variables: Var) -> str:
    """The dtype of a result: of the highest kind, where dimensions beat numbers."""
    floats = [var for var in variables if var.floating]
    chosen = floats or list(variables)
    large = [var for var in chosen if var.shape] or chosen
    order = ("bool", "int64", *FLOATS)
    return max((var.dtype for var in large), key=order.index)


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common shape of two; None if there is none."""
    longer = max(len(a), len(b))
    pairs = zip((1,) * (longer - len(a)) + a, (1,) * (longer - len(b)) + b, strict=True)
    shape = []
    for one, other in pairs:
        if one != other and 1 not in (one, other):
            return None
        shape.append(other if one == 1 else one)
    return tuple(shape)
