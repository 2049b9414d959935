"""Wrong rules that an exercise's text file states as formulas, without any Python.

``L04 = [{ x = "grad_output * x" }]`` in ``[wrong]`` says what that mistake returns for
the argument ``x``. A formula knows the arguments, ``grad_output`` (or ``g``) and
``result`` by name, numbers, arithmetic, comparisons and the functions of ``FUNCTIONS``;
with several outputs the names are those of the outputs, and ``grad_`` before them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.course.check.facts import Array, Arrays, Contract
from minigrad.mistakes import TABLE, MistakeTableError

NAMES = """
abs sign exp expm1 log log1p sqrt square sin cos tan arctan tanh sinh cosh round floor
ceil trunc maximum minimum where clip sum mean max min amax amin prod cumsum transpose
swapaxes expand_dims squeeze outer dot matmul flip sort argsort ones_like zeros_like
"""

FUNCTIONS = frozenset(NAMES.split())

ARITHMETIC: Mapping[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}

Names = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """One wrong rule: the mistake it stands for, and a formula for each name."""

    id: str
    formulas: Mapping[str, ast.expr]

    def value(self, name: str, names: Names) -> Array | None:
        """What its formula for this name comes to; None where there is none."""
        if name not in self.formulas:
            return None
        try:
            return np.asarray(evaluator(self.formulas[name])(names), np.float64)
        except (ValueError, TypeError, ArithmeticError):
            return None  # it does not apply to these shapes


def told(
    rules: Sequence[Rule], wanted: Sequence[str], names: Names
) -> list[tuple[str, Arrays]]:
    """What the rules about these arguments, or these outputs, say of each."""
    known = set(wanted)
    with np.errstate(all="ignore"):
        return [
            (rule.id, tuple([rule.value(name, names) for name in wanted]))
            for rule in rules
            if rule.formulas.keys() <= known
        ]


def names_of(
    contract: Contract, inputs: Sequence[Any], gs: Arrays, ys: Arrays
) -> Names:
    """What each name stands for in a formula, on one case."""
    found = dict(zip(contract.outputs, ys, strict=True))
    for name, g in zip(contract.outputs, gs, strict=True):
        found[f"grad_{name}"] = g
    if len(gs) == 1:
        found |= {"g": gs[0], "grad_output": gs[0], "result": ys[0]}
    return found | dict(zip(contract.arguments, inputs, strict=True))


Value = Callable[[Names], Any]


@cache
def evaluator(node: ast.expr) -> Value:
    """What computes a formula that ``parsed`` has let through.

    It is put together once, as it's asked for in every pass.
    """
    if isinstance(node, ast.Constant):
        number: Any = node.value
        value = number if isinstance(number, bool) else np.float64(number)
        return lambda names: value
    if isinstance(node, ast.Name):
        return operator.itemgetter(node.id)
    if isinstance(node, ast.UnaryOp):
        change, inner = ARITHMETIC[type(node.op)], evaluator(node.operand)
        return lambda names: change(inner(names))
    if isinstance(node, ast.BinOp):
        return _of_two(type(node.op), node.left, node.right)
    if isinstance(node, ast.Compare):
        return _of_two(type(node.ops[0]), node.left, node.comparators[0])
    assert isinstance(node, ast.Call)
    function = getattr(np, function_name(node.func))
    parts = [evaluator(part) for part in node.args]
    options = {str(k.arg): evaluator(k.value) for k in node.keywords}

    def call(names: Names) -> Any:
        more = {key: _option(option(names)) for key, option in options.items()}
        return function(*[part(names) for part in parts], **more)

    return call


def _of_two(kind: type, left: ast.expr, right: ast.expr) -> Value:
    join, first, second = ARITHMETIC[kind], evaluator(left), evaluator(right)
    return lambda names: join(first(names), second(names))


def _option(value: Any) -> Any:
    """A keyword such as ``axis=-1``: an int, not a float."""
    return int(value) if isinstance(value, np.float64) else value


def function_name(node: ast.expr) -> str:
    """``exp`` for both ``exp`` and ``np.exp``; else an empty string."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "np" else ""
    return node.id if isinstance(node, ast.Name) else ""


def rules_of(
    tables: Sequence[Mapping[str, Any]],
    contract: Contract,
    file: str,
) -> tuple[Rule, ...]:
    """The wrong rules of a text file.

    Raises: MistakeTableError for an id that the table lacks, or a bad formula.
    """
    found = []
    for number, table in enumerate(tables, 1):
        where = f"{file}, [wrong] number {number} ({table.get('id', 'no id')})"
        if table.get("id") not in TABLE:
            what = "this id is not in the table of mistakes"
            fix = "use an id of minigrad/mistakes.toml, or add it there first"
            raise MistakeTableError(errors.message(where, what, fix))
        if "wrong" in table:
            formulas = _formulas(table["wrong"], contract, where)
            found.append(Rule(table["id"], formulas))
    return tuple(found)


def _formulas(wrong: object, contract: Contract, where: str) -> dict[str, ast.expr]:
    arguments, outputs = set(contract.arguments), set(contract.outputs)
    if not (
        isinstance(wrong, dict)
        and wrong
        and (set(wrong) <= arguments or set(wrong) <= outputs)
    ):
        what = f"wrong = {wrong!r} does not say for which argument it is"
        fix = f'write wrong = {{ {contract.arguments[0]} = "..." }}'
        raise MistakeTableError(errors.message(where, what, fix))
    known = known_names(contract)
    return {name: parsed(text, known, where) for name, text in wrong.items()}


def known_names(contract: Contract) -> set[str]:
    """The names that stand for something in a formula of this exercise."""
    outputs = set(contract.outputs)
    known = set(contract.arguments) | outputs | {f"grad_{name}" for name in outputs}
    return known | ({"g", "grad_output", "result"} if len(outputs) == 1 else set())


def parsed(text: object, known: set[str], where: str) -> ast.expr:
    """A formula as a syntax tree that holds nothing but what is allowed.

    Raises: MistakeTableError
    """
    try:
        tree = ast.parse(str(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        what, fix = (
            f"{text!r} is not a formula",
            "write it as Python would, in one line",
        )
        raise MistakeTableError(errors.message(where, what, fix)) from None
    for reason in _refusals(tree, known):
        what = f"{text!r} has {reason}"
        fix = (
            f"use {', '.join(sorted(known))}, numbers, + - * / ** @ and NumPy functions"
        )
        raise MistakeTableError(errors.message(where, what, fix))
    return tree


def _refusals(node: ast.expr, known: set[str]) -> Iterator[str]:
    """Why this part of a formula is not allowed."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Name):
        if node.id not in known:
            yield f"the name {node.id!r}, which stands for nothing here"
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, int | float):
            yield f"the constant {node.value!r}"
    elif isinstance(node, ast.UnaryOp) and type(node.op) in ARITHMETIC:
        parts = [node.operand]
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        parts = [node.left, node.right]
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        if type(node.ops[0]) not in ARITHMETIC:
            yield "a comparison that arrays do not have"
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and function_name(node.func) in FUNCTIONS:
        if any(k.arg is None for k in node.keywords):
            yield "a ** among the options of a function"
        parts = [*node.args, *(k.value for k in node.keywords)]
    else:
        yield f"{ast.unparse(node)!r}, which a formula cannot hold"
    for part in parts:
        yield from _refusals(part, known)
