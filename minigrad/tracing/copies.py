"""Copies of arrays, of nodes, and of all that a program can reach, each as it is now.

pickle copies, and is told what is shared. ``copy.deepcopy`` shares functions with the
variables that they change, and refuses a tensor with a history; a class that
``cloudpickle`` loads where it was made is the learner's own, with other methods. In
both, arrays lose the memory that they share.
"""

from __future__ import annotations

import abc
import dis
import io
import pickle
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from minigrad.engine.core.ctx import FunctionMeta
from minigrad.engine.core.node import NOT_A_TENSOR, _FunctionBase, split_edge
from minigrad.engine.core.saved import FREED, Record
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.saved_hooks import HookedRecord
from minigrad.engine.views import CopySlices
from minigrad.nn.module import Module
from minigrad.tracing.codes import is_installed
from minigrad.tracing.harmless import holds
from minigrad.tracing.trace import Trace
from minigrad.tracing.values import ATOMS

READS_A_NAME: Final = ("LOAD_NAME", "LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")
ONCE_ONLY: Final = (
    *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType),
    io.IOBase,
)
"""What moves on when it is used, and cannot be copied where it stands."""
ENGINES_OWN: Final[Any] = (Tensor, _FunctionBase)
METACLASSES: Final = (type, FunctionMeta, abc.ABCMeta)
MADE_ANEW: Final = ("__dict__", "__weakref__", "_abc_impl", "_backward_cls")
NAMES_OF_A_CLASS: Final = ("__module__", "__qualname__", "__slots__")
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

Copy = Callable[[Any], Any]
Json = dict[str, Any]
Start = tuple[bytes, list[Any], int]
"""What was pickled, what is shared, and how many things there are to be read."""


class CannotCopyError(Exception):
    """Something that a program starts from has no copy; the text says what."""


def array_of(value: Any) -> Any:
    """The plain numbers of a value."""
    return np.asarray(value.array if isinstance(value, Tensor) else value)


def copied(value: Any, copy: Copy) -> Any:
    """``value`` with copies of its arrays, also inside a list; without its history."""
    if isinstance(value, Tensor):
        tensor = Tensor(copy(value.array))
        tensor._requires_grad = value._requires_grad
        return tensor
    if isinstance(value, (np.ndarray, np.generic)):
        return copy(value)
    if type(value) in (list, tuple):
        return type(value)([copied(item, copy) for item in value])
    return value


def node_like(node: Any, copy: Copy) -> Any:
    """A node with copies of all that ``node`` holds, which leads to no other node."""
    if node is None:
        return None
    like: Any = object.__new__(type(node))
    put_on(like, {name: copied(held, copy) for name, held in held_by(node).items()})
    like._edges = tuple([edge_like(edge) for edge in node._edges])
    like._attached = None
    saved = () if node._saved is FREED else tuple.__iter__(node._saved)
    like._saved = tuple([saved_like(one, copy) for one in saved])
    if isinstance(node, CopySlices):
        like.inner = node_like(node.inner, copy)
    return like


def edge_like(edge: Any) -> Any:
    """An edge to what is asked of the node at its other end: shapes and dtypes."""
    if edge is None or edge is NOT_A_TENSOR:
        return edge
    receiver, slot = split_edge(edge)
    asked = types.SimpleNamespace(_output_metadata=receiver._output_metadata)
    return asked, slot


def saved_like(packed: Any, copy: Copy) -> Any:
    """What a node like another one saves; what is packed until it is unpacked."""
    if isinstance(packed, HookedRecord):
        return packed
    tensor = packed.tensor if isinstance(packed, Record) else packed
    return copied(tensor, copy) if isinstance(tensor, Tensor) else None


def exact_copy(array: Any) -> Any:
    """A copy whose elements lie in memory at the same distances.

    Sums are made in the order of memory: elsewhere they would round differently.
    """
    if array.dtype.hasobject or array.size == 0 or array.ndim == 0:
        return array.copy()
    low, high = bounds_of(array)
    memory = np.empty(high - low, np.uint8).data
    start = place_of(array) - low
    copy: Any = np.ndarray(array.shape, array.dtype, memory, start, array.strides)
    # Written once where several elements are one place in memory.
    once = tuple([slice(0, 1) if step == 0 else slice(None) for step in copy.strides])
    copy[once] = array[once]
    return copy


def bounds_of(array: Any) -> tuple[int, int]:
    """The addresses where an array begins and ends in memory."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return int(low), int(high)


def place_of(array: Any) -> int:
    """The address of the first element."""
    return int(array.__array_interface__["data"][0])


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
        self._home, self._name, self._left = home, home.get("__name__"), most
        self._shared: list[Any] = [
            {k: home[k] for k in home if k[:2] == k[-2:] == "__"}
        ]
        self._places = {id(home): 0}
        modules = [m for n, m in list(sys.modules.items()) if n.startswith("minigrad")]
        held = [list(vars(m).values()) for m in modules if vars(m) is not home]
        self._as_they_are = {id(value) for values in held for value in values}
        """The ids of what is not copied: there is but one of what a module holds."""

    def take(self, values: Mapping[str, Any]) -> None:
        """Take down ``values`` as they are now; what is met twice is copied once.

        And the variables of ``home`` that functions among them ask for, as do theirs.
        Raises: CannotCopyError for what moves on when it is used.
        """
        done: set[str] = set()
        while values:
            for name, value in values.items():
                try:
                    self.dump(value)
                except CannotCopyError as error:
                    raise CannotCopyError(f"{name} holds {error}") from None
                self._count += 1
            names = [n for n in self.asked if n in self._home and n not in done]
            values = {name: self._home[name] for name in names}
            done.update(names)

    def started(self, *start: Any) -> Start:
        """What ``copied`` makes a copy of these of, as often as it is needed."""
        self.dump(start)
        return self._text.getvalue(), self._shared, self._count + 1

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
        if id(value) in self._places or id(value) in self._as_they_are:
            return True
        if issubclass(kind, ONCE_ONLY):
            raise CannotCopyError(f"a {kind.__name__}, which cannot be taken back")
        if issubclass(kind, FunctionType):
            is_homes = value.__globals__ is self._home
            return not is_homes and value.__closure__ is None
        if issubclass(kind, type):
            is_homes = kind in METACLASSES and value.__module__ == self._name
            return not is_homes and owner_of(value) is None
        if issubclass(kind, types.BuiltinMethodType):  # len, but not numbers.append
            return isinstance(value.__self__, (type(None), types.ModuleType, type))
        if issubclass(kind, weakref.ref):
            return value() is None or isinstance(value(), type)
        if issubclass(kind, (np.ndarray, *ENGINES_OWN)):
            return False  # whoever has made the class
        module = str(kind.__module__)
        if module == self._name or module.partition(".")[0] in PACKAGES:
            return issubclass(kind, Trace)  # nobody's program changes one
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
            return kind, (), (None, held)
        if issubclass(kind, ENGINES_OWN):
            return object.__new__, (kind,), held_by(value), None, None, put_on
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
        return FunctionType, made_of, (None, held | vars(value))

    def _class(self, value: type) -> Any:
        owner = owner_of(value)
        if owner is not None:
            return getattr, (owner, "_backward_cls")
        held = {n: item for n, item in vars(value).items() if n not in MADE_ANEW}
        body = {name: held.pop(name) for name in NAMES_OF_A_CLASS if name in held}
        slots = [n for n in held if type(held[n]) is types.MemberDescriptorType]
        state = {name: held[name] for name in held.keys() - slots}
        made_of = value.__name__, value.__bases__, body
        return type(value), made_of, state, None, None, put_on

    def _array(self, value: Any) -> Any:
        """A copy in memory of its own, which parts of one array share as before."""
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner is value or value.dtype.hasobject or not value.size:
            low, high = bounds_of(value)
            self._left -= 0 if value.dtype.hasobject else high - low
            if self._left < 0:
                raise CannotCopyError("values that need too much memory")
            made: Any = exact_copy, (self._as_it_is(exact_copy(value)),)
        else:
            offset = place_of(value) - bounds_of(owner)[0]
            place = value.dtype, offset, value.strides
            made = part_of, (owner, value.shape, *place)
        return *made, value.flags.writeable, None, None, np.ndarray.setflags


class Reader(pickle.Unpickler):
    """Makes what a Copier has taken; functions look their variables up in ``home``."""

    def __init__(self, text: bytes, shared: list[Any]) -> None:
        super().__init__(io.BytesIO(text))
        self.home: Json = dict(shared[0])
        self._shared = [self.home, *shared[1:]]

    def persistent_load(self, place: int) -> Any:
        return self._shared[place]


def copied_anew(start: Start) -> tuple[Json, Any, list[Tensor]]:
    """A fresh copy: home, what was to be there, and the tensors in their order."""
    text, shared, count = start
    reader = Reader(text, shared)
    *_, made = [reader.load() for _ in range(count)]
    held: dict[int, Any] = dict(reader.memo.copy())
    tensors = [held[n] for n in sorted(held) if isinstance(held[n], Tensor)]
    return reader.home, made, tensors


def itself(value: Any) -> Any:
    """What is shared is its own copy."""
    return value


def owner_of(value: type) -> Any:
    """The Function for whose nodes a class was made; None for any other class."""
    owner = vars(value).get("_forward_cls")
    return owner if owner is not None and "_backward_cls" in vars(owner) else None


def held_by(value: Any) -> Json:
    """The slots and attributes of a tensor or a node."""
    kind: Any = type(value)
    slots = [name for name in slots_of(kind) if hasattr(value, name)]
    held = {name: getattr(value, name) for name in slots}
    return held | getattr(value, "__dict__", {})


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
