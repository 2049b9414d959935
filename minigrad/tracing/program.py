"""What a recording ran: its code, and a copy of all that it started from.

``copy.deepcopy`` shares functions, and refuses a tensor with a history; ``cloudpickle``
gives each function variables of its own where two had one. In both, arrays lose the
memory that they share.
"""

from __future__ import annotations

import abc
import ast
import bisect
import contextlib
import dis
import inspect
import io
import linecache
import pickle
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import numpy as np

from minigrad.engine.core.ctx import FunctionMeta
from minigrad.engine.core.node import _FunctionBase
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import running_task, this_mode
from minigrad.engine.interpreters import current_kind
from minigrad.nn.module import Module
from minigrad.tracing.copies import exact_copy, lowest_of, place_of, span_of
from minigrad.tracing.harmless import holds
from minigrad.tracing.marks import ATOMS
from minigrad.tracing.modes import Modes, quiet
from minigrad.tracing.sources import is_installed, is_ours
from minigrad.tracing.trace import Trace

SESSION: Final = "__minigrad_again__"
"""The name of the recording in a block that runs again."""
MOST_BYTES: Final = 200_000_000
FUTURE: Final = 0x1FE0000
"""The flags of a code object that ``from __future__`` has set."""
READS_A_NAME: Final = ("LOAD_NAME", "LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")
ONCE_ONLY: Final = (
    *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType),
    io.IOBase,
)
"""What moves on when it is used, and cannot be copied where it stands."""
SHARED: Final = (
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet, Trace),
)
"""What belongs to nobody's program."""
ENGINES_OWN: Final[Any] = (Tensor, _FunctionBase)
METACLASSES: Final = (type, FunctionMeta, abc.ABCMeta)
MADE_ANEW: Final = ("__dict__", "__weakref__", "_abc_impl", "_backward_cls")
MADE_OF: Final[dict[type, Callable[[Any], tuple[Any, ...]]]] = {
    types.MethodType: lambda method: (method.__func__, method.__self__),
    staticmethod: lambda wrapper: (wrapper.__func__,),
    classmethod: lambda wrapper: (wrapper.__func__,),
    property: lambda one: (one.fget, one.fset, one.fdel),
    weakref.ref: lambda reference: (reference(),),
}
PACKAGES: Final = frozenset(
    {"builtins", "collections", "functools", "itertools"}
    | {"minigrad", "numpy", "random", "types"}
)
"""Of what else is installed, objects are shared: they may be one of a kind."""

Json = dict[str, Any]


class CannotCopyError(Exception):
    """Something that a program starts from has no copy; the text says what."""


class Copier(pickle.Pickler):
    """Takes down whole object graphs: tensors with their history, functions, classes.

    Functions and classes are copied where their variables are those of ``home``, the
    learner's own; those of packages stay what they are. Each copy of a function looks
    its variables up in the copy of ``home``: they are ``asked`` for.
    """

    def __init__(self, home: Json, most: float) -> None:
        self._text = io.BytesIO()
        super().__init__(self._text, pickle.HIGHEST_PROTOCOL)
        self.asked: dict[str, None] = {}
        self.met: set[int] = set()
        """The ids of the tensors and models that were taken."""
        self._count = 0
        self._home, self._name = home, home.get("__name__")
        self._left = most
        ours = {k: v for k, v in home.items() if k[:2] == k[-2:] == "__"}
        self._shared: list[Any] = [ours]
        self._places = {id(home): 0}
        modules = [m for n, m in list(sys.modules.items()) if n.startswith("minigrad")]
        held = [list(vars(m).values()) for m in modules if vars(m) is not home]
        self._as_they_are = {id(value) for values in held for value in values}
        """The ids of what is not copied: there is but one of what a module holds."""

    def take(self, space: str, values: Mapping[str, Any]) -> None:
        """Take down ``values`` as they are now; what is met twice is copied once.

        Raises: CannotCopyError for what moves on when it is used.
        """
        for name, value in values.items():
            try:
                self.dump((space, name, value))
            except CannotCopyError as error:
                raise CannotCopyError(f"{name} holds {error}") from None
            self._count += 1

    def take_asked(self) -> None:
        """Take down the variables of ``home`` that functions ask for, as do theirs."""
        done = 0
        while done < len(self.asked):
            name = list(self.asked)[done]
            done += 1
            if name in self._home:
                self.take("home", {name: self._home[name]})

    @property
    def taken(self) -> tuple[bytes, list[Any], int]:
        """What a Reader makes it again of, as often as it is needed."""
        return self._text.getvalue(), self._shared, self._count

    def persistent_id(self, value: Any) -> int | None:
        """The number of what is shared; None for what is to be copied."""
        if type(value) in ATOMS or not self._is_shared(value):
            return None
        place = self._places.setdefault(id(value), len(self._shared))
        if place == len(self._shared):
            self._shared.append(value)
        return place

    def _is_shared(self, value: Any) -> bool:
        kind = type(value)
        if issubclass(kind, types.BuiltinMethodType):  # len, but not numbers.append
            owner = getattr(value, "__self__", None)
            return owner is None or isinstance(owner, (types.ModuleType, type))
        if issubclass(kind, SHARED) or id(value) in self._as_they_are:
            return True
        if issubclass(kind, ONCE_ONLY):
            raise CannotCopyError(f"a {kind.__name__}, which cannot be taken back")
        if issubclass(kind, FunctionType):
            is_homes = value.__globals__ is self._home
            return not is_homes and value.__closure__ is None
        if issubclass(kind, type):
            is_homes = kind in METACLASSES and value.__module__ == self._name
            return not is_homes and owner_of(value) is None
        if issubclass(kind, weakref.ref):
            return value() is None or isinstance(value(), type)
        if value is self._home or issubclass(kind, (np.ndarray, *ENGINES_OWN)):
            return value is self._home
        module = str(kind.__module__)
        if module == self._name or module.partition(".")[0] in PACKAGES:
            return False
        file = getattr(sys.modules.get(module), "__file__", None)
        return file is None or is_installed(file)

    def reducer_override(self, value: Any) -> Any:
        """How to make a copy: a function, what it is given, what is then put on it."""
        kind: Any = type(value)
        if issubclass(kind, (Tensor, Module)):
            self.met.add(id(value))
        if kind in MADE_OF:
            return kind, MADE_OF[kind](value)
        if kind is FunctionType:
            return self._function(value)
        if issubclass(kind, type):
            return self._class(value)
        if issubclass(kind, np.ndarray):
            return self._array(value)
        if kind is types.CellType:  # it may have no value yet
            held = {"cell_contents": value.cell_contents} if holds(value) else {}
            return kind, (), held, None, None, put_on
        if issubclass(kind, ENGINES_OWN):
            held = {n: getattr(value, n) for n in slots_of(kind) if hasattr(value, n)}
            held |= getattr(value, "__dict__", {})
            return object.__new__, (kind,), held, None, None, put_on
        try:
            told = value.__reduce_ex__(4)
        except Exception:  # a lock, say: nothing that a program starts from
            told = ""
        return (itself, (self._as_it_is(value),)) if isinstance(told, str) else told

    def _as_it_is(self, value: Any) -> Any:
        self._as_they_are.add(id(value))
        return value

    def _function(self, value: FunctionType) -> Any:
        is_homes = value.__globals__ is self._home
        if is_homes:
            self.asked |= names_of(value.__code__)
        space = self._as_it_is(value.__globals__)
        made_of = value.__code__, space, value.__name__, None, value.__closure__
        held = {n: getattr(value, n) for n in ("__defaults__", "__kwdefaults__")}
        return FunctionType, made_of, held | vars(value), None, None, put_on

    def _class(self, value: type) -> Any:
        owner = owner_of(value)
        if owner is not None:
            return getattr, (owner, "_backward_cls")
        named = ("__module__", "__qualname__", "__slots__")
        body = {name: vars(value)[name] for name in named if name in vars(value)}
        state = {
            name: item
            for name, item in vars(value).items()
            if type(item) is not types.MemberDescriptorType
            and name not in {*MADE_ANEW, *body}
        }
        made_of = value.__name__, value.__bases__, body
        return type(value), made_of, state, None, None, put_on

    def _array(self, value: Any) -> Any:
        """A copy in memory of its own, which parts of one array share as before."""
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner is value or value.dtype.hasobject or not value.size:
            self._left -= 0 if value.dtype.hasobject else span_of(value)
            if self._left < 0:
                raise CannotCopyError("values that need too much memory")
            made: Any = exact_copy, (self._as_it_is(exact_copy(value)),)
        else:
            place = value.dtype, place_of(value) - lowest_of(owner), value.strides
            made = part_of, (owner, value.shape, *place)
        return *made, value.flags.writeable, None, None, np.ndarray.setflags


class Reader(pickle.Unpickler):
    """Makes what a Copier has taken: in ``spaces``, of which one is that of home."""

    def __init__(self, text: bytes, shared: list[Any], count: int) -> None:
        super().__init__(io.BytesIO(text))
        home = dict(shared[0])
        self._shared = [home, *shared[1:]]
        self.spaces: dict[str, Json] = {"home": home, "locals": {}}
        for _ in range(count):
            space, name, value = self.load()
            self.spaces.setdefault(space, {})[name] = value
        made: dict[int, Any] = dict(self.memo.copy())
        self.tensors = [made[n] for n in sorted(made) if isinstance(made[n], Tensor)]
        """In the order in which they were taken."""

    def persistent_load(self, place: int) -> Any:
        return self._shared[place]


def itself(value: Any) -> Any:
    """What is shared is its own copy."""
    return value


def owner_of(value: type) -> Any:
    """The Function for whose nodes a class was made; None for any other class."""
    owner = vars(value).get("_forward_cls")
    return owner if owner is not None and "_backward_cls" in vars(owner) else None


def put_on(value: Any, held: Json) -> None:
    """Give something its attributes."""
    for name, item in held.items():
        setattr(value, name, item)


def part_of(owner: Any, shape: Any, dtype: Any, offset: int, strides: Any) -> Any:
    """An array in the memory of the copy of ``owner``."""
    memory = owner if owner.base is None else owner.base
    return np.ndarray(shape, dtype, memory, offset, strides)


@cache
def slots_of(kind: Any) -> list[str]:
    """The slots of a class and of those it is built on; no property hides them."""
    items = [item for base in kind.__mro__ for item in vars(base).items()]
    slots = [(n, one) for n, one in items if type(one) is types.MemberDescriptorType]
    return [name for name, slot in slots if getattr(kind, name) is slot]


@cache
def names_of(code: CodeType) -> dict[str, None]:
    """The variables outside of it that a code asks for, and those inside it."""
    found = {
        instruction.argval: None
        for instruction in dis.get_instructions(code)
        if instruction.opname in READS_A_NAME
    }
    for inside in code.co_consts:
        found |= names_of(inside) if isinstance(inside, CodeType) else {}
    return found


@dataclass
class Program:
    """A program that can run again from where it started; ``why_not`` if it cannot.

    ``code`` finds the recording in the variable ``session``; without it the program is
    a call.
    """

    code: CodeType | None = None
    session: str = SESSION
    start: tuple[bytes, list[Any], int] | None = None
    modes: Modes | None = None
    options: Json | None = None
    why_not: str = ""
    edits: tuple[tuple[Any, Any], ...] = ()
    proof: Any = None
    theirs: dict[int, Any] | None = None

    def run(self, session: Any) -> None:
        """Run on a fresh copy of the start; what it prints and raises is kept quiet."""
        assert self.start is not None
        assert self.modes is not None
        reader = Reader(*self.start)
        spaces, session.start = reader.spaces, reader.tensors
        del reader  # it keeps alive what nobody else refers to
        session.names = [spaces.pop(key) for key in list(spaces) if "names" in key]
        home, start, variables = spaces["home"], spaces["start"], spaces["locals"]
        with self.modes.in_force(), quiet(), contextlib.suppress(Exception):
            this_mode().saved_tensors_hooks = start["hooks"]
            home[self.session] = session
            if self.code is None:
                function, args, kwargs = start["the call"]
                with session:
                    function(*args, **kwargs)
            elif self.code.co_flags & inspect.CO_OPTIMIZED:
                FunctionType(self.code, home)(**variables)
            else:
                exec(self.code, home)


Cell = tuple[CodeType, str]
"""Code that holds a block, and the variable in which that finds its recording."""


def remember(
    driver: FrameType | None, call: Any, cell: Cell | None, most: int, options: Json
) -> Program:
    """The program that is about to be recorded, to be run again later."""
    try:
        return program_of(driver, call, cell, most, options)
    except CannotCopyError as error:
        return Program(why_not=str(error))
    except Exception as error:  # a recording must not fail for what may never be asked
        why = f"the program can't be copied ({type(error).__name__}: {error})"
        return Program(why_not=why)


def program_of(
    driver: FrameType | None, call: Any, cell: Cell | None, most: int, options: Json
) -> Program:
    """The program with a copy of its start; it is a call, a cell, or what stands there.

    Raises: CannotCopyError.
    """
    if current_kind() or running_task() is not None:
        raise CannotCopyError(
            "the program began inside a function transform or a backward"
        )
    code, session = cell or (None, SESSION)
    variables: Json = {}
    if call is not None:
        home = home_of(call[0], driver)
    elif driver is None:
        raise CannotCopyError("no program of yours is around the recording")
    else:
        home = driver.f_globals
        if code is None:
            code, variables = block_of(driver)
    copier = Copier(home, most)
    copier.asked |= names_of(code) if code is not None else {}
    hooks = this_mode().saved_tensors_hooks
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copier.take("start", {"the call": call, "hooks": hooks})
        copier.take("locals", variables)
        copier.take_asked()
    has_them = {**variables, **copier.asked} if call is None else {}
    spaces = [] if driver is None else [driver.f_locals, driver.f_globals]
    for number, space in enumerate(spaces):
        names = {n: value for n, value in space.items() if id(value) in copier.met}
        names = {n: value for n, value in names.items() if n not in has_them}
        copier.take(f"names {number}", names)
    return Program(code, session, copier.taken, Modes(), options)


def home_of(function: Callable[..., Any], driver: FrameType | None) -> Json:
    """The variables that a function of the learner's looks up."""
    plain = getattr(function, "__func__", function)
    owner = getattr(function, "__self__", None)
    rules = [getattr(owner, name, None) for name in ("forward", "backward")]
    for one in (*rules, inspect.unwrap(plain)):
        if isinstance(one, FunctionType) and not is_ours(one.__code__.co_filename):
            return one.__globals__
    return {} if driver is None else driver.f_globals


def block_of(driver: FrameType) -> tuple[CodeType, Json]:
    """The block that ``driver`` is about to enter, and the variables that it uses.

    Raises: CannotCopyError if its text is not to be had, or means nothing alone.
    """
    code = driver.f_code
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    if not is_function and driver.f_locals is not driver.f_globals:
        raise CannotCopyError("the program stands in the body of a class")
    inside: ast.stmt = with_statement(driver)
    used = {node.id for node in ast.walk(inside) if isinstance(node, ast.Name)}
    variables = {k: v for k, v in driver.f_locals.items() if k in used}
    if is_function:
        inside = function_around(inside, code, list(variables))
    tree = ast.fix_missing_locations(ast.Module([inside], []))
    flags = code.co_flags & FUTURE
    try:
        compiled = compile(tree, code.co_filename, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise CannotCopyError(f"the program cannot stand alone: {error.msg}") from None
    if is_function:
        (compiled,) = [c for c in compiled.co_consts if isinstance(c, CodeType)]
        compiled = compiled.replace(co_qualname=code.co_qualname)
    if compiled.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        raise CannotCopyError("the program yields or awaits")
    return compiled, variables if is_function else {}


def with_statement(driver: FrameType) -> ast.With:
    """The statement that ``driver`` runs, with SESSION in the place of its recording.

    Raises: CannotCopyError if it is not to be found.
    """
    lines = linecache.getlines(driver.f_code.co_filename, driver.f_globals)
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.With):
            last = node.items[-1].context_expr
            place = node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
            if node.lineno <= driver.f_lineno <= (last.end_lineno or 0):
                break
    else:
        raise CannotCopyError("the program's lines can't be found")
    # Managers that were entered before stay outside: what ran last is ours.
    ran = list(driver.f_code.co_positions())[: driver.f_lasti // 2 + 1]
    line, _, column, _ = next(at for at in reversed(ran) if at != place)
    begins = [(i.context_expr.lineno, i.context_expr.col_offset) for i in node.items]
    del node.items[: bisect.bisect_right(begins, (line or 0, column or 0)) - 1]
    first = node.items[0]
    name = ast.Name(SESSION, ast.Load())
    first.context_expr = ast.copy_location(name, first.context_expr)
    return node


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
