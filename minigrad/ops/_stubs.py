"""The files that ``python -m minigrad build`` writes from the op table."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.ops._later import CALLS, load_all
from minigrad.ops._registry import HOMES, IN_PLACE, METHODS, OPERATORS

HEAD = '''"""Built from the op table by `python -m minigrad build`."""

from typing import Any

from minigrad.engine.core.tensor import Tensor

'''
METHODS_HEAD = f"{HEAD}class TensorMethods:\n"
FUNCTIONS_HEAD = f"{HEAD}__all__: list[str]\n\n"

HOMES_HEAD = '''"""Where each operation is, a function, a method, or BOTH.

Built by `python -m minigrad build`.
"""

from typing import Final
'''


def built_files() -> dict[str, str]:
    """The type stubs, and who has what, by path below the repository."""
    load_all()
    return {
        "minigrad/engine/_tensor_methods.pyi": METHODS_HEAD + "".join(method_stubs()),
        "minigrad/ops/functions.pyi": FUNCTIONS_HEAD + "".join(function_stubs()),
        "minigrad/ops/_homes.py": homes(),
    }


def homes() -> str:
    """The module that ``_later`` reads: the names in each family."""
    functions, methods = [set(table.items()) for table in HOMES]
    text = HOMES_HEAD
    for title, those in {
        "BOTH": functions & methods,
        "FUNCTIONS": functions - methods,
        "METHODS": methods - functions,
    }.items():
        names: dict[str, list[str]] = {}
        for name, family in sorted(those):
            names.setdefault(family, []).append(name)
        rows = [listed(family, names[family]) for family in sorted(names)]
        text += f"\n{title}: Final = {{\n{''.join(rows)}}}\n"
    return text


def listed(family: str, names: list[str]) -> str:
    """The row of a family: its names in one line, or in several."""
    row = f'    "{family}": "{" ".join(names)}",\n'
    if len(row) <= 89:
        return row
    margin = " " * 8
    lines = textwrap.wrap(
        " ".join(names), 88, initial_indent=margin, subsequent_indent=margin
    )
    return "\n".join([f'    "{family}": """', *lines, '    """,\n'])


def function_stubs() -> Iterator[str]:
    """A line for every function, in the order of the alphabet."""
    for name, call in sorted(CALLS.items()):
        yield stub_line("", name, stub_parameters(call), stub_result(call))


def method_stubs() -> Iterator[str]:
    """A line for every method of Tensor."""
    for name, call in sorted((METHODS | IN_PLACE | OPERATORS).items()):
        parameters = ["self", *stub_parameters(call)[1:]]
        if name in OPERATORS and "*" in parameters:
            parameters = parameters[: parameters.index("*")]
        # A method may be called bool or int, so no other can say that it returns one.
        result = "Tensor" if stub_result(call) == "Tensor" else "Any"
        line = stub_line("    ", name, parameters, result)
        if name in ("__eq__", "__ne__"):
            ignore = "  # type: ignore[override]  # elementwise, as in torch"
            line = line.rstrip() + ignore + "\n"
        yield line


def stub_line(indent: str, name: str, parameters: list[str], result: str) -> str:
    """One function of a stub, broken where it is too long as the formatter breaks."""
    text = ", ".join(parameters)
    line = f"{indent}def {name}({text}) -> {result}: ..."
    if len(line) <= 88:
        return f"{line}\n"
    inner = f"{indent}    "
    if len(inner + text) > 88:
        text = f",\n{inner}".join(parameters) + ","
    return f"{indent}def {name}(\n{inner}{text}\n{indent}) -> {result}: ...\n"


def stub_parameters(call: Callable[..., Any]) -> list[str]:
    """The parameters of one op, as a stub writes them."""
    written = []
    keyword_only = False
    for index, parameter in enumerate(inspect.signature(call).parameters.values()):
        text = str(parameter.replace(annotation=inspect.Parameter.empty))
        name, equals, default = text.replace("'", '"').partition("=")
        kind = "Tensor | float" if index == 0 and not name.startswith("*") else "Any"
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            written.append("*")
        star = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        keyword_only = keyword_only or star
        written.append(f"{name}: {kind}{' = ' + default if equals else ''}")
    return written


def stub_result(call: Callable[..., Any]) -> str:
    """What one op returns, as a stub writes it."""
    written = getattr(call, "__annotations__", {}).get("return", "Tensor")
    return str(written) if written in ("Tensor", "bool", "int") else "Any"
