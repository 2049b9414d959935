"""What a recording ran: the code, and a copy of all that it started from."""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from minigrad.engine.grad_mode import running_task, this_mode
from minigrad.engine.interpreters import current_kind
from minigrad.tracing.copying import CannotCopyError, Copier, Reader
from minigrad.tracing.modes import Modes, quiet
from minigrad.tracing.sources import is_ours

SESSION: Final = "__minigrad_again__"
"""The name of the recording in the program that runs again."""
MOST_BYTES: Final = 200_000_000
FUTURE: Final = 0x1FE0000
"""The flags of a code object that ``from __future__`` has set."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """The code inside ``with record():``, which may stand inside a function.

    ``session`` is the variable in which it looks for the recording.
    """

    code: CodeType
    filename: str
    is_function: bool = False
    session: str = SESSION

    def run(self, start: Json, space: dict[str, Any], session: Any) -> None:
        """Run the block in ``space``; ``session`` records it."""
        space[self.session] = session
        if self.is_function:
            FunctionType(self.code, space)(**start["locals"])
        else:
            exec(self.code, space)


@dataclass(frozen=True)
class Call:
    """A function and what it was called with: that of ``step``."""

    def run(self, start: Json, space: dict[str, Any], session: Any) -> None:
        """Make the call again."""
        function, args, kwargs = start["call"]
        with session:
            function(*args, **kwargs)


@dataclass
class Program:
    """A program that can run again from where it started; ``why_not`` if it cannot."""

    code: Block | Call | None = None
    start: tuple[bytes, list[Any]] | None = None
    modes: Modes | None = None
    options: Json | None = None
    why_not: str = ""
    edits: dict[Any, Any] = field(default_factory=dict)
    proof: Any = None
    theirs: dict[int, Any] | None = None

    def run(self, session: Any) -> None:
        """Run on a fresh copy of the start; what it prints and raises is kept quiet."""
        assert self.code is not None
        assert self.start is not None
        assert self.modes is not None
        reader = Reader(*self.start)
        start, session.names, space = reader.load(), reader.load(), reader.home
        session.start = reader.tensors()
        del reader  # it keeps alive what nobody else refers to
        space.update(start["globals"])
        with self.modes.in_force(), quiet(), contextlib.suppress(Exception):
            this_mode().saved_tensors_hooks = start["hooks"]
            self.code.run(start, space, session)


def remember(
    driver: FrameType | None, call: Any, cell: Block | None, most: int, options: Json
) -> Program:
    """The program that is about to be recorded, to be run again later."""
    try:
        return program_of(driver, call, cell, most, options)
    except CannotCopyError as error:
        return Program(why_not=str(error))
    except RecursionError:
        return Program(why_not="what the program starts from is too deeply nested")
    except Exception as error:  # a recording must not fail for what may never be asked
        why = f"the program can't be copied ({type(error).__name__}: {error})"
        return Program(why_not=why)


def program_of(
    driver: FrameType | None, call: Any, cell: Block | None, most: int, options: Json
) -> Program:
    """The program with a copy of its start; it is a call, a cell, or what stands there.

    Raises: CannotCopyError.
    """
    if current_kind() or running_task() is not None:
        raise CannotCopyError(
            "the program began inside a function transform or a backward"
        )
    code: Block | Call
    variables: Json = {}
    if call is not None:
        code, home = Call(), home_of(call[0], driver)
    elif driver is not None:
        code, variables = (cell, {}) if cell is not None else block_of(driver)
        home = driver.f_globals
    else:
        raise CannotCopyError("no program of yours is around the recording")
    copier = Copier(home, most)
    asked_for = copier.asked_for(code.code) if isinstance(code, Block) else {}
    copier.named |= variables
    hooks = this_mode().saved_tensors_hooks
    start = {"call": call, "hooks": hooks, "locals": variables, "globals": asked_for}
    copier.take(start)
    spaces = [] if driver is None else [driver.f_locals, driver.f_globals]
    has_them = copier.named if call is None else {}
    copier.take([copier.known(names, has_them) for names in spaces])
    return Program(code, copier.taken, Modes(), options)


def home_of(function: Callable[..., Any], driver: FrameType | None) -> Json:
    """The variables that a function of the learner's looks up."""
    plain = getattr(function, "__func__", function)
    owner = getattr(function, "__self__", None)
    rules = [getattr(owner, name, None) for name in ("forward", "backward")]
    for one in (*rules, inspect.unwrap(plain)):
        if isinstance(one, FunctionType) and not is_ours(one.__code__.co_filename):
            return one.__globals__
    return {} if driver is None else driver.f_globals


def block_of(driver: FrameType) -> tuple[Block, Json]:
    """The block that ``driver`` is about to enter, and the variables that it uses.

    Raises: CannotCopyError if its text is not to be had, or means nothing alone.
    """
    code = driver.f_code
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    if not is_function and driver.f_locals is not driver.f_globals:
        raise CannotCopyError("the program stands in the body of a class")
    inside = with_statement(driver)
    used = {node.id for node in ast.walk(inside) if isinstance(node, ast.Name)}
    variables = {k: v for k, v in driver.f_locals.items() if k in used}
    body: list[ast.stmt] = [inside]
    if is_function:
        inside = WithoutNonlocal().visit(inside)
        body = [function_around(inside, code, list(variables))]
    tree = ast.fix_missing_locations(ast.Module(body, []))
    try:
        compiled = compile(
            tree, code.co_filename, "exec", code.co_flags & FUTURE, dont_inherit=True
        )
    except SyntaxError as error:
        raise CannotCopyError(f"the program cannot stand alone: {error.msg}") from None
    if is_function:
        (compiled,) = [c for c in compiled.co_consts if isinstance(c, CodeType)]
        compiled = compiled.replace(co_qualname=code.co_qualname)
    if compiled.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        raise CannotCopyError("the program yields or awaits")
    block = Block(compiled, code.co_filename, is_function)
    return block, variables if is_function else {}


def with_statement(driver: FrameType) -> ast.With:
    """The statement that ``driver`` runs, with SESSION in the place of its recording.

    Raises: CannotCopyError if it is not to be found.
    """
    code = driver.f_code
    lines = linecache.getlines(code.co_filename, driver.f_globals)
    here = list(code.co_positions())[driver.f_lasti // 2]
    for node in ast.walk(ast.parse("".join(lines))):
        if not isinstance(node, ast.With):
            continue
        entered: list[Any] = [place_of(item.context_expr) for item in node.items]
        if place_of(node) == here:
            number = entered_before(driver)
        elif here in entered:
            number = entered.index(here)
        else:
            continue
        node.items = node.items[number:]
        first = node.items[0]
        name = ast.Name(SESSION, ast.Load())
        first.context_expr = ast.copy_location(name, first.context_expr)
        return node
    raise CannotCopyError("the program's lines can't be found")


def place_of(node: Any) -> tuple[int | None, ...]:
    """Where a piece of code begins and ends, as code objects have it."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def entered_before(driver: FrameType) -> int:
    """How many managers of the statement that ``driver`` runs were entered before."""
    positions = list(driver.f_code.co_positions())
    return sum(
        instruction.opname == "BEFORE_WITH"
        and instruction.offset < driver.f_lasti
        and positions[instruction.offset // 2] == positions[driver.f_lasti // 2]
        for instruction in dis.get_instructions(driver.f_code)
    )


def function_around(
    inside: ast.stmt, code: CodeType, parameters: list[str]
) -> ast.FunctionDef:
    """A function like the one that the block stands in, with nothing but the block."""
    name = "around" if code.co_name.startswith("<") else code.co_name
    (around,) = ast.parse(f"def {name}({', '.join(parameters)}): pass").body
    assert isinstance(around, ast.FunctionDef)
    around.body = [inside]
    ast.copy_location(around, inside)
    around.lineno, around.col_offset = code.co_firstlineno, 0
    return around


class WithoutNonlocal(ast.NodeTransformer):
    """Variables of a function further out are the block's own, when it runs alone."""

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        return ast.Pass(lineno=node.lineno, col_offset=node.col_offset)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node
