"""A copy of all that a program starts from, so that it can run again on the copy."""

from __future__ import annotations

import abc
import dis
import io
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from minigrad.engine.function import FunctionMeta
from minigrad.engine.node import _FunctionBase
from minigrad.engine.tensor import Tensor
from minigrad.nn.module import Module
from minigrad.tracing.sources import is_installed
from minigrad.tracing.trace import Trace

READS_A_NAME: Final = ("LOAD_NAME", "LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")
ONCE_ONLY: Final = (
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    io.IOBase,
)
"""What moves on when it is used, and cannot be copied where it stands."""
SHARED: Final = (
    *(type(None), bool, int, float, complex, str, bytes, range, slice),
    *(types.ModuleType, types.BuiltinFunctionType, types.CodeType),
    *(np.dtype, np.generic, type(Ellipsis), type(NotImplemented)),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet, Trace),
)
"""What never changes, or belongs to nobody's program."""
METACLASSES: Final = (type, FunctionMeta, abc.ABCMeta)
MADE_ANEW: Final = ("__dict__", "__weakref__", "_abc_impl", "_backward_cls")
PACKAGES: Final = frozenset(
    {"builtins", "collections", "functools", "itertools"}
    | {"minigrad", "numpy", "random", "types"}
)
"""Of what else is installed, objects are shared: they may be one of a kind."""


class CannotCopyError(Exception):
    """Something that a program starts from has no copy; the text says what."""


class Copier:
    """Copies whole object graphs: tensors with their history, functions, classes.

    Functions and classes are copied where their variables are those of ``homes``, the
    learner's own; those of packages stay what they are. Each copy of a function looks
    its variables up in the copy of its home.
    """

    def __init__(self, homes: Iterable[dict[str, Any]], most: float) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}
        self._memory: dict[int, tuple[Any, Any]] = {}
        self._homes: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._left = most
        for home in homes:
            ours = {k: v for k, v in home.items() if k[:2] == k[-2:] == "__"}
            self._homes[id(home)] = (home, ours)
        self._one_of_a_kind = ids_in_package(self._homes)

    @property
    def homes(self) -> list[dict[str, Any]]:
        """The copies of the homes: what has been asked for of them, so far."""
        return [copy for _, copy in self._homes.values()]

    def copy(self, value: Any) -> Any:
        """A copy of ``value``; what is met twice is copied once.

        Raises: CannotCopyError for what moves on when it is used.
        """
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        kind = type(value)
        if issubclass(kind, types.BuiltinMethodType) and is_method(value):
            return getattr(self.copy(value.__self__), value.__name__)
        if issubclass(kind, SHARED) or id(value) in self._one_of_a_kind:
            return value
        if issubclass(kind, ONCE_ONLY):
            raise CannotCopyError(f"{kind.__name__}, which cannot be taken back")
        return self._copier_of(kind)(value)

    def names(self, code: CodeType, home: dict[str, Any]) -> None:
        """Copy the variables of ``home`` that ``code`` asks for."""
        _, copies = self._homes[id(home)]
        for name in names_of(code):
            if name in home and name not in copies:
                copies[name] = None  # whoever asks meanwhile finds it there later
                copies[name] = self.named(name, home[name])

    def named(self, name: str, value: Any) -> Any:
        """A copy of what a variable holds.

        Raises: CannotCopyError with the variable's name.
        """
        try:
            return self.copy(value)
        except CannotCopyError as error:
            raise CannotCopyError(f"{name} holds a {error}") from None

    def known(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """The variables whose tensors and models have a copy by now."""
        found = {}
        for name, value in list(names.items()):
            if isinstance(value, (Tensor, Module)) and id(value) in self._known:
                found[name] = self._known[id(value)][1]
        return found

    def _copier_of(self, kind: type) -> Callable[[Any], Any]:
        for kinds, copier in self._copiers():
            if issubclass(kind, kinds):
                return copier
        return self._instance

    def _copiers(self) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
        yield FunctionType, self._function
        yield type, self._class
        yield types.MethodType, self._method
        yield types.CellType, self._cell
        yield weakref.ref, self._reference
        yield np.ndarray, self._array
        yield (Tensor, _FunctionBase), self._engines_own
        yield (staticmethod, classmethod), self._wrapped
        yield property, self._property

    def _keep(self, value: Any, copy: Any) -> Any:
        self._known[id(value)] = (value, copy)  # kept alive: its id stays its own
        return copy

    def _function(self, value: FunctionType) -> Any:
        _, space = self._homes.get(id(value.__globals__), (None, None))
        if space is None and value.__closure__ is None:
            return value
        cells = value.__closure__ and tuple(self._empty(c) for c in value.__closure__)
        copy = FunctionType(
            value.__code__,
            value.__globals__ if space is None else space,
            value.__name__,
            None,
            cells,
        )
        self._keep(value, copy)
        copy.__defaults__ = self.copy(value.__defaults__)
        copy.__kwdefaults__ = self.copy(value.__kwdefaults__)
        copy.__qualname__, copy.__module__ = value.__qualname__, value.__module__
        copy.__doc__ = value.__doc__
        copy.__annotations__ = value.__annotations__
        for cell in value.__closure__ or ():
            self._fill(cell)
        copy.__dict__.update(self.copy(value.__dict__))
        if space is not None:
            self.names(value.__code__, value.__globals__)
        return copy

    def _empty(self, cell: types.CellType) -> Any:
        """The copy of a cell, without what it holds: that may lead back here."""
        known = self._known.get(id(cell))
        return self._keep(cell, types.CellType()) if known is None else known[1]

    def _fill(self, cell: types.CellType) -> None:
        copy = self._known[id(cell)][1]
        try:
            contents = cell.cell_contents
        except ValueError:
            return  # its variable has no value yet
        try:
            _ = copy.cell_contents
        except ValueError:
            copy.cell_contents = self.copy(contents)

    def _cell(self, value: types.CellType) -> Any:
        copy = self._empty(value)
        self._fill(value)
        return copy

    def _class(self, value: type) -> Any:
        owner = vars(value).get("_forward_cls")
        if owner is not None and "_backward_cls" in vars(owner):
            return self._keep(value, self.copy(owner)._backward_cls)
        if type(value) not in METACLASSES or not self._is_homes(value):
            return value
        bases = tuple([self.copy(base) for base in value.__bases__])
        named = ("__module__", "__qualname__", "__slots__")
        body = {name: vars(value)[name] for name in named if name in vars(value)}
        copy = self._keep(value, type(value)(value.__name__, bases, body))
        for name, item in list(vars(value).items()):
            is_slot = isinstance(item, types.MemberDescriptorType)
            if not is_slot and name not in MADE_ANEW and name not in body:
                setattr(copy, name, self.copy(item))
        return copy

    def _is_homes(self, value: type) -> bool:
        """Whether a class was made by a program whose variables are copied."""
        names = [home.get("__name__") for home, _ in self._homes.values()]
        return value.__module__ in names or any(
            id(function.__globals__) in self._homes for function in functions_of(value)
        )

    def _method(self, value: types.MethodType) -> Any:
        return types.MethodType(self.copy(value.__func__), self.copy(value.__self__))

    def _reference(self, value: weakref.ref[Any]) -> Any:
        target = value()
        if target is None or isinstance(target, type):
            return value
        return self._keep(value, weakref.ref(self.copy(target)))

    def _array(self, value: Any) -> Any:
        """A copy in memory of its own, which parts of one array share as before."""
        if value.dtype.hasobject or not value.size:
            return self._keep(value, value.copy())
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        known = self._memory.get(id(owner))
        if known is None:
            known = self._memory[id(owner)] = (owner, self._memory_like(owner))
        offset = place_of(value) - np.lib.array_utils.byte_bounds(owner)[0]
        parts = value.shape, value.dtype, known[1], offset, value.strides
        copy: Any = np.ndarray(*parts)
        copy.flags.writeable = value.flags.writeable
        return self._keep(value, copy)

    def _memory_like(self, owner: Any) -> Any:
        """As many bytes as ``owner`` spans, and its elements in them."""
        low, high = np.lib.array_utils.byte_bounds(owner)
        self._left -= high - low
        if self._left < 0:
            raise CannotCopyError("values that need too much memory")
        memory = np.empty(high - low, np.uint8)
        parts = owner.shape, owner.dtype, memory, place_of(owner) - low, owner.strides
        write_once(np.ndarray(*parts), owner)
        return memory

    def _engines_own(self, value: Any) -> Any:
        """A tensor or a node, with its history and whatever else it holds."""
        copy = self._keep(value, object.__new__(self.copy(type(value))))
        kind: Any = type(value)
        for slot in slots_of(kind):
            try:
                held = slot.__get__(value)
            except AttributeError:
                continue
            slot.__set__(copy, self.copy(held))
        for name, item in list(getattr(value, "__dict__", {}).items()):
            copy.__dict__[name] = self.copy(item)
        return copy

    def _wrapped(self, value: Any) -> Any:
        return self._keep(value, type(value)(self.copy(value.__func__)))

    def _property(self, value: property) -> Any:
        parts = [self.copy(part) for part in (value.fget, value.fset, value.fdel)]
        return self._keep(value, property(*parts))

    def _instance(self, value: Any) -> Any:
        """A copy by way of what ``pickle`` would ask; itself if that is refused."""
        plain: dict[Any, Callable[[Any], Any]] = {
            list: self._list,
            dict: self._dict,
            tuple: self._tuple,
        }
        if type(value) in plain:
            return plain[type(value)](value)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told = value.__reduce_ex__(4) if self._is_copied(value) else ""
        except Exception:  # a lock, say: nothing that a program starts from
            told = ""
        if isinstance(told, str):
            return self._keep(value, value)
        make, arguments, state, items, pairs, setter = (*told, *[None] * 4)[:6]
        made = self.copy(make)(*[self.copy(one) for one in arguments])
        self._keep(value, made)
        for item in items or ():
            made.append(self.copy(item))
        for key, item in pairs or ():
            made[self.copy(key)] = self.copy(item)
        if state is not None:
            give_state(made, self.copy(state), setter)
        return made

    def _is_copied(self, value: Any) -> bool:
        kind = type(value)
        name = str(kind.__module__)
        if name.partition(".")[0] in PACKAGES or self._is_homes(kind):
            return True
        file = getattr(sys.modules.get(name), "__file__", None)
        return file is not None and not is_installed(file)

    def _list(self, value: list[Any]) -> Any:
        copy = self._keep(value, [])
        copy.extend([self.copy(item) for item in value])
        return copy

    def _dict(self, value: dict[Any, Any]) -> Any:
        home = self._homes.get(id(value))
        if home is not None:
            return home[1]
        copy = self._keep(value, {})
        for key, item in list(value.items()):
            copy[self.copy(key)] = self.copy(item)
        return copy

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        items = tuple([self.copy(item) for item in value])
        known = self._known.get(id(value))  # a list in it may have led here again
        return self._keep(value, items) if known is None else known[1]


def give_state(made: Any, state: Any, setter: Any) -> None:
    """Put a copied state on a new object, as ``pickle`` does."""
    if setter is not None:
        setter(made, state)
    elif hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        held, slots = state if isinstance(state, tuple) else (state, None)
        if held:
            made.__dict__.update(held)
        for name, item in (slots or {}).items():
            setattr(made, name, item)


def ids_in_package(homes: Iterable[int]) -> set[int]:
    """The objects that modules of this package hold: there is but one of each."""
    modules = [m for n, m in list(sys.modules.items()) if n.startswith("minigrad")]
    return {
        id(value)
        for module in modules
        if id(vars(module)) not in homes
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
def slots_of(kind: type) -> tuple[Any, ...]:
    """The slots of a class and of those it is built on."""
    return tuple(
        [
            item
            for base in kind.__mro__
            for item in vars(base).values()
            if isinstance(item, types.MemberDescriptorType)
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


def place_of(array: Any) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])


def write_once(copy: Any, array: Any) -> None:
    """Fill ``copy``, also where several elements are one place in memory."""
    once = tuple([slice(0, 1) if s == 0 else slice(None) for s in copy.strides])
    copy[once] = array[once]
