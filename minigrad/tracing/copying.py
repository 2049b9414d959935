"""A copy of all that a program starts from, so that it can run again on the copy.

``copy.deepcopy`` shares functions, and refuses a tensor with a history; ``cloudpickle``
gives the classes of this process back themselves, and each function variables of its
own where two had one. In both, arrays lose the memory that they share.
"""

from __future__ import annotations

import abc
import dis
import io
import math
import pickle
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

import numpy as np

from minigrad.engine.core.ctx import FunctionMeta
from minigrad.engine.core.node import _FunctionBase
from minigrad.engine.core.tensor import Tensor
from minigrad.nn.module import Module
from minigrad.tracing.copies import exact_copy, lowest_of, place_of, span_of
from minigrad.tracing.harmless import holds
from minigrad.tracing.marks import ATOMS
from minigrad.tracing.sources import is_installed
from minigrad.tracing.trace import Trace

READS_A_NAME: Final = ("LOAD_NAME", "LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")
ONCE_ONLY: Final = (
    *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType),
    io.IOBase,
)
"""What moves on when it is used, and cannot be copied where it stands."""
NUMBERS: Final = ATOMS - {str}
SHARED: Final[tuple[Any, ...]] = (
    *(*ATOMS, range, slice, type(Ellipsis), type(NotImplemented)),
    *(types.ModuleType, types.BuiltinFunctionType, types.CodeType),
    *(np.dtype, np.generic),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet, Trace),
)
"""What never changes, or belongs to nobody's program."""
COPIED: Final = (np.ndarray, Tensor, _FunctionBase)
"""What is copied, also where its class comes with a package."""
METACLASSES: Final = (type, FunctionMeta, abc.ABCMeta)
OF_A_FUNCTION: Final = (
    *("__defaults__", "__kwdefaults__", "__qualname__", "__module__", "__doc__"),
    "__annotations__",
)
MADE_ANEW: Final = ("__dict__", "__weakref__", "_abc_impl", "_backward_cls")
PACKAGES: Final = frozenset(
    {"builtins", "collections", "functools", "itertools"}
    | {"minigrad", "numpy", "random", "types"}
)
"""Of what else is installed, objects are shared: they may be one of a kind."""


class CannotCopyError(Exception):
    """Something that a program starts from has no copy; the text says what."""


class Itself(NamedTuple):
    """Stands where ``value`` is not to be copied."""

    value: Any


class Copier(pickle.Pickler):
    """Takes down whole object graphs: tensors with their history, functions, classes.

    Functions and classes are copied where their variables are those of ``home``, the
    learner's own; those of packages stay what they are. Each copy of a function looks
    its variables up in the copy of ``home``. ``named`` are the variables taken so far.
    """

    def __init__(self, home: dict[str, Any], most: float) -> None:
        self._text = io.BytesIO()
        super().__init__(self._text, pickle.HIGHEST_PROTOCOL)
        self.named: dict[str, Any] = {}
        self._home = home
        self._left = most
        ours = {k: v for k, v in home.items() if k[:2] == k[-2:] == "__"}
        self._shared: list[Any] = [ours]
        self._places = {id(home): 0}
        self._met: set[int] = set()
        self._one_of_a_kind = ids_in_package(home)

    def take(self, value: Any) -> None:
        """Take down ``value`` as it is now; what is met twice is copied once.

        Raises: CannotCopyError for what moves on when it is used.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.dump(value)
        except CannotCopyError as error:
            for name, held in reversed(self.named.items()):
                if not has_copy(held, self._home):
                    raise CannotCopyError(f"{name} holds {error}") from None
            raise CannotCopyError(f"the program starts from {error}") from None

    @property
    def taken(self) -> tuple[bytes, list[Any]]:
        """What a Reader makes it again of, as often as it is needed."""
        return self._text.getvalue(), self._shared

    def asked_for(self, code: CodeType) -> dict[str, Any]:
        """The variables of ``home`` that ``code`` asks for."""
        names = [name for name in names_of(code) if name in self._home]
        found = {name: self._home[name] for name in names}
        self.named.update(found)
        return found

    def known(self, names: Mapping[str, Any], but: Container[str]) -> dict[str, Any]:
        """The variables whose tensors and models have been taken; not those ``but``."""
        return {
            name: value
            for name, value in list(names.items())
            if isinstance(value, (Tensor, Module))
            and id(value) in self._met
            and name not in but
        }

    def persistent_id(self, value: Any) -> int | None:
        """The number of what is shared; None for what is to be copied."""
        if type(value) in NUMBERS:
            return None
        if type(value) is Itself:
            value = value.value
        elif not self._is_shared(value):
            return None
        place = self._places.setdefault(id(value), len(self._shared))
        if place == len(self._shared):
            self._shared.append(value)
        return place

    def _is_shared(self, value: Any) -> bool:
        kind = type(value)
        if issubclass(kind, types.BuiltinMethodType) and is_method(value):
            return False
        if issubclass(kind, SHARED) or id(value) in self._one_of_a_kind:
            return True
        if issubclass(kind, ONCE_ONLY):
            raise CannotCopyError(f"a {kind.__name__}, which cannot be taken back")
        if issubclass(kind, FunctionType):
            is_homes = value.__globals__ is self._home
            return not is_homes and value.__closure__ is None
        if issubclass(kind, type):
            is_ours = type(value) in METACLASSES and self._is_homes(value)
            return not is_ours and owner_of(value) is None
        if issubclass(kind, weakref.ref):
            return value() is None or isinstance(value(), type)
        return value is self._home or not (
            issubclass(kind, COPIED) or self._is_copied(kind)
        )

    def _is_homes(self, value: type) -> bool:
        """Whether a class was made by a program whose variables are copied."""
        return value.__module__ == self._home.get("__name__") or any(
            function.__globals__ is self._home for function in functions_of(value)
        )

    def _is_copied(self, kind: type) -> bool:
        name = str(kind.__module__)
        if name.partition(".")[0] in PACKAGES or self._is_homes(kind):
            return True
        file = getattr(sys.modules.get(name), "__file__", None)
        return file is not None and not is_installed(file)

    def reducer_override(self, value: Any) -> Any:
        """How to make a copy: a function, what it is given, what is then put on it."""
        kind = type(value)
        if issubclass(kind, (Tensor, Module)):
            self._met.add(id(value))
        for kinds, reduced in self._reducers():
            if issubclass(kind, kinds):
                return reduced(value)
        try:
            told = value.__reduce_ex__(4)
        except Exception:  # a lock, say: nothing that a program starts from
            told = ""
        return (itself, (Itself(value),)) if isinstance(told, str) else told

    def _reducers(self) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
        yield FunctionType, self._function
        yield type, self._class
        yield types.MethodType, lambda m: (type(m), (m.__func__, m.__self__))
        yield types.CellType, reduced_cell
        yield weakref.ref, lambda r: (weakref.ref, (r(),))
        yield np.ndarray, self._array
        yield (Tensor, _FunctionBase), reduced_engines_own
        yield (staticmethod, classmethod), lambda w: (type(w), (w.__func__,))
        yield property, lambda p: (property, (p.fget, p.fset, p.fdel))

    def _function(self, value: FunctionType) -> Any:
        is_homes = value.__globals__ is self._home
        space = value.__globals__ if is_homes else Itself(value.__globals__)
        asked_for = self.asked_for(value.__code__) if is_homes else {}
        held = {name: getattr(value, name) for name in OF_A_FUNCTION} | vars(value)
        made_of = value.__code__, space, value.__name__, None, value.__closure__
        state = held, asked_for
        return FunctionType, made_of, state, None, None, put_on_function

    def _class(self, value: type) -> Any:
        owner = owner_of(value)
        if owner is not None:
            return getattr, (owner, "_backward_cls")
        named = ("__module__", "__qualname__", "__slots__")
        body = {name: vars(value)[name] for name in named if name in vars(value)}
        state = {
            name: item
            for name, item in vars(value).items()
            if not isinstance(item, types.MemberDescriptorType)
            and name not in MADE_ANEW
            and name not in body
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
            made: Any = exact_copy, (Itself(exact_copy(value)),)
        else:
            place = value.dtype, place_of(value) - lowest_of(owner), value.strides
            made = part_of, (owner, value.shape, *place)
        return *made, value.flags.writeable, None, None, np.ndarray.setflags


class Reader(pickle.Unpickler):
    """Makes what a Copier has taken, one after the other, and the copy of ``home``."""

    def __init__(self, text: bytes, shared: list[Any]) -> None:
        super().__init__(io.BytesIO(text))
        self.home: dict[str, Any] = dict(shared[0])
        self._shared = [self.home, *shared[1:]]

    def persistent_load(self, place: int) -> Any:
        return self._shared[place]

    def tensors(self) -> list[Tensor]:
        """The tensors that were made, in the order in which they were taken."""
        made: dict[int, Any] = dict(self.memo.copy())
        return [made[n] for n in sorted(made) if isinstance(made[n], Tensor)]


def itself(value: Any) -> Any:
    """What is shared is its own copy."""
    return value


def has_copy(value: Any, home: dict[str, Any]) -> bool:
    """Whether a value can be copied at all."""
    try:
        Copier(home, math.inf).dump(value)
    except CannotCopyError:
        return False
    return True


def reduced_cell(cell: types.CellType) -> Any:
    """A variable of an outer function, which may have no value yet."""
    held = {"cell_contents": cell.cell_contents} if holds(cell) else {}
    return types.CellType, (), held, None, None, put_on


def owner_of(value: type) -> Any:
    """The Function for whose nodes a class was made; None for any other class."""
    owner = vars(value).get("_forward_cls")
    return owner if owner is not None and "_backward_cls" in vars(owner) else None


def reduced_engines_own(value: Any) -> Any:
    """A tensor or a node, with its history and whatever else it holds."""
    kind: Any = type(value)
    held = {
        name: getattr(value, name) for name in slots_of(kind) if hasattr(value, name)
    }
    held |= getattr(value, "__dict__", {})
    return object.__new__, (kind,), held, None, None, put_on


def put_on_function(function: FunctionType, state: Any) -> None:
    """Give a function what it holds, and its space the variables that it asks for."""
    held, asked_for = state
    put_on(function, held)
    function.__globals__.update(asked_for)


def put_on(value: Any, held: dict[str, Any]) -> None:
    """Give something its attributes."""
    for name, item in held.items():
        setattr(value, name, item)


def part_of(owner: Any, shape: Any, dtype: Any, offset: int, strides: Any) -> Any:
    """An array in the memory of the copy of ``owner``."""
    memory = owner if owner.base is None else owner.base
    return np.ndarray(shape, dtype, memory, offset, strides)


def ids_in_package(home: dict[str, Any]) -> set[int]:
    """The objects that modules of this package hold: there is but one of each."""
    modules = [m for n, m in list(sys.modules.items()) if n.startswith("minigrad")]
    return {
        id(value)
        for module in modules
        if vars(module) is not home
        for value in vars(module).values()
    }


def is_method(value: Any) -> bool:
    """Whether a built-in function belongs to an object, as ``numbers.append`` does."""
    owner = getattr(value, "__self__", None)
    return owner is not None and not isinstance(owner, (types.ModuleType, type))


def functions_of(value: type) -> Iterator[FunctionType]:
    """The functions that a class itself defines."""
    for item in vars(value).values():
        function = getattr(item, "__func__", item)
        if isinstance(function, FunctionType):
            yield function


@cache
def slots_of(kind: type) -> tuple[str, ...]:
    """The slots of a class and of those it is built on; no property hides them."""
    return tuple(
        [
            name
            for base in kind.__mro__
            for name, item in vars(base).items()
            if isinstance(item, types.MemberDescriptorType)
            and getattr(kind, name) is item
        ]
    )


@cache
def names_of(code: CodeType) -> tuple[str, ...]:
    """The variables outside of it that a code asks for, and those inside it."""
    found = [
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in READS_A_NAME
    ]
    inside = [const for const in code.co_consts if isinstance(const, CodeType)]
    found += [name for one in inside for name in names_of(one)]
    return tuple(dict.fromkeys(found))
