"""The engine without the places where it notifies observers, to time what they cost.

All that the bench knows of the engine's inside stands here.
"""

from __future__ import annotations

import ast
import functools
import gc
import sys
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from minigrad import errors
from minigrad.bench.harness import NotComparedError, Program

Codes: TypeAlias = dict[tuple[str, str, int], CodeType]

ENGINE = "minigrad.engine."

TELLS = frozenset({"observed", "notify"})
"""The names that stand where the engine notifies an observer."""


class WithoutListening(ast.NodeTransformer):
    """Leaves out what runs only for observers, and the test for them."""

    def visit_If(self, node: ast.If) -> Any:
        """Nothing, in place of ``if mode.observed: ...``."""
        is_question = isinstance(node.test, (ast.Attribute, ast.Name, ast.Compare))
        if is_question and names_in(node.test) & TELLS and not node.orelse:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Nothing, in place of ``notify(...)``."""
        call = node.value
        is_told = isinstance(call, ast.Call) and names_in(call.func) & TELLS
        return ast.copy_location(ast.Pass(), node) if is_told else node


def names_in(tree: ast.AST) -> set[str]:
    """The variables and attributes that an expression names."""
    found = [getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(tree)]
    return set(found)


def heard_and_unheard(program: Program) -> tuple[Program, Program]:
    """``program`` on the engine as it is, and on one without observers.

    Raises: NotComparedError if no function of the engine asks.
    """
    found = [one for one in gc.get_objects() if type(one) is FunctionType]
    asks = {one: one.__code__ for one in found if place(one.__code__) in codes_of(one)}
    silent = {one: codes_of(one)[place(code)] for one, code in asks.items()}
    changed = [one for one, code in asks.items() if code.co_code != silent[one].co_code]
    if not changed:
        what = f"no function of the engine names {' or '.join(sorted(TELLS))}"
        fix = "write down in TELLS how it asks now"
        raise NotComparedError(errors.message("minigrad.bench.unheard", what, fix))

    def with_codes(codes: dict[FunctionType, CodeType]) -> Program:
        def run() -> Any:
            for function in changed:
                function.__code__ = codes[function]
            try:
                return program()
            finally:
                for function in changed:
                    function.__code__ = asks[function]

        return run

    return with_codes(asks), with_codes(silent)


def place(code: CodeType) -> tuple[str, str, int]:
    """Where a code stands: a property has several of one name."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


def codes_of(function: FunctionType) -> Codes:
    """The codes of a function's module, by their place, as they are without asking."""
    module = str(function.__module__)
    return unheard_codes(module) if module.startswith(ENGINE) else {}


@functools.cache
def unheard_codes(module: str) -> Codes:
    """The same for a module of the engine."""
    file = str(sys.modules[module].__file__)
    tree = WithoutListening().visit(ast.parse(Path(file).read_text(encoding="utf-8")))
    codes = [compile(tree, file, "exec", dont_inherit=True)]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return {place(code): code for code in codes}
