"""``@op``: one class becomes a function, a method, and a row of the op table."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from minigrad import errors
from minigrad.engine import fast_path
from minigrad.engine._tensor_methods import TensorMethods
from minigrad.engine.builtin import Builtin
from minigrad.engine.core.ctx import no_backward
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.interpreters import one_by_one
from minigrad.engine.promotion import do_not_broadcast
from minigrad.ops import functions
from minigrad.ops._later import ADDED, CALLS, FUNCTIONS, add

Operation = TypeVar("Operation", bound=type[Builtin])
Called = TypeVar("Called", bound=Callable[..., Any])
Variant: TypeAlias = tuple[type[Builtin], tuple[Any, ...]]


class Op(NamedTuple):
    """One row of the op table: what the laws, the stubs and the catalogue need.

    An overload has a dot in its name, as ``max.dim``: it is a row of its own, called
    through the function ``max``. A composite, made of other operations, has no
    ``function``.
    """

    name: str
    function: type[Builtin] | None
    reference: Callable[..., Any]
    samples: Sequence[tuple[Any, ...]]
    call: Callable[..., Any]
    operator: str | None = None
    in_place: bool = False
    differentiable: bool = True

    @property
    def public_name(self) -> str:
        """The name under which users call it."""
        return self.name.partition(".")[0]


OPS: dict[str, Op] = {}

METHODS: dict[str, Callable[..., Any]] = {}
"""Every method of Tensor that comes from here, by name."""

IN_PLACE: dict[str, Callable[..., Any]] = {}
"""Every method that changes its tensor, by name, with the form that does not."""

OPERATORS: dict[str, Callable[..., Any]] = {}
"""Python's operators, such as ``__add__``, and what they call."""

HOMES: tuple[dict[str, str], dict[str, str]] = ({}, {})
"""For every function, and for every method of Tensor, the family it comes from."""

REFLECTED = frozenset(
    {"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"}
    | {"and", "or", "xor"}
)
"""The operators that Python also asks the right operand for, as ``__r...__``."""

EXCHANGED = frozenset({"add", "mul"})
"""Those for which torch computes ``2 * x`` as ``x * 2``: x comes first in the graph."""

NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}
"""The keywords that torch takes under NumPy's name too."""


def op(
    name: str,
    *,
    node_name: str | Callable[..., str] = "",
    doc: str = "",
    reference: Callable[..., Any],
    samples: Sequence[tuple[Any, ...]],
    arguments: Callable[..., tuple[Any, ...]] | None = None,
    returns: Callable[..., Any] | None = None,
    operator: str | None = None,
    reflected: Callable[..., Tensor] | None = None,
    in_place: bool = False,
    keywords: Callable[..., Variant] | None = None,
    method: bool = True,
    public: bool = True,
    differentiable: bool = True,
) -> Callable[[Operation], Operation]:
    """Register a Builtin as ``minigrad.<name>`` and ``Tensor.<name>``.

    ``samples`` are argument lists (nested lists stand for tensors); every law runs on
    each of them. ``reference`` is NumPy's function for the same arguments.
    ``arguments`` turns what a caller writes into what forward takes; ``returns`` gives
    several outputs their names. ``operator`` is the Python operator, such as ``"add"``
    for ``__add__``, ``__radd__``, ``__iadd__``; ``reflected`` is asked in place of it
    if only the right operand is a tensor. ``in_place`` adds ``<name>_``;
    ``keywords`` is asked in their presence for another operation and its arguments.
    Without ``method`` there is the function alone; if it is not ``public``, neither:
    another module calls it, such as ``nn.functional``. ``node_name`` is the name of the
    recorded node, or a function from the arguments of forward to it, where it is not
    the name of the class and ``Backward0``. ``doc`` is for a class that a function
    makes: it is documented so, and named after the operation. An overload, named with
    a dot, makes a row and no function.
    Raises: ValueError for a name taken already, or without samples.
    """
    check_row(name, samples)

    def register(cls: Operation) -> Operation:
        if doc:
            cls.__name__ = cls.__qualname__ = name.partition(".")[0].capitalize()
            cls.__doc__ = doc
        name_nodes(cls, node_name or f"{cls.__name__}Backward0")
        cls.has_rule = cls.backward is not no_backward
        call = make_call(name, cls, arguments, returns, keywords)
        quick = quickest(cls, call)
        if arguments is None and returns is None and keywords is None:
            call = quick
        OPS[name] = Op(
            name, cls, reference, samples, call, operator, in_place, differentiable
        )
        if public and "." not in name:
            publish(name, call, method=method)
        if operator is not None:
            add_operators(operator, call, reflected, quick)
        if in_place:
            add_in_place(name, cls, operator, arguments, keywords)
        return cls

    return register


def answer(
    name: str, forward: Callable[..., Any], operands: int = 1, **row: Any
) -> type[Builtin]:
    """An elementwise operation without a gradient, registered: forward is all of it."""
    members: dict[str, Any] = {"elementwise": True, "operands": operands}
    members |= {"forward": staticmethod(forward), "__module__": forward.__module__}
    kind = type(name.capitalize(), (Builtin,), members)
    return op(name, differentiable=False, **row)(kind)


def composite(
    name: str,
    *,
    reference: Callable[..., Any] | None = None,
    samples: Sequence[tuple[Any, ...]] = (),
    operator: str | None = None,
    method: bool = True,
    public: bool = True,
    differentiable: bool = True,
) -> Callable[[Called], Called]:
    """Register a function of Tensors that is made of other operations.

    It records their nodes, and none of its own. ``reference`` and ``samples`` as for
    ``op``; a function that only chooses between overloads, which have rows of their
    own, needs none.
    """
    if samples or not any([row.startswith(f"{name}.") for row in OPS]):
        check_row(name, samples)

    def register(function_of_tensors: Called) -> Called:
        call = on_every_example(function_of_tensors)
        if reference is not None:
            OPS[name] = Op(
                name,
                None,
                reference,
                samples,
                call,
                operator,
                differentiable=differentiable,
            )
        if public:
            publish(name, call, method=method)
        if operator is not None:
            add_operators(operator, call)
        return call

    return register


def check_row(name: str, samples: Sequence[tuple[Any, ...]]) -> None:
    """Refuse a row that is there already, or that nothing would test.

    Raises: ValueError.
    """
    if name in OPS:
        raise ValueError(f"op {name!r} is registered already, as {OPS[name].function}")
    if not samples:
        raise ValueError(f"op {name!r} has no samples, so nothing would test it")


def publish(
    name: str, call: Callable[..., Any], function: bool = True, method: bool = True
) -> None:
    """Make ``call`` the function ``name``, and the method of that name."""
    if function:
        CALLS[name] = call
        HOMES[0][name] = family()
        if name not in FUNCTIONS:
            setattr(functions, name, call)
            functions.__all__.append(name)
    if method:
        add_method(name, call, METHODS)


def add_method(
    name: str,
    method: Callable[..., Any],
    table: dict[str, Callable[..., Any]],
    original: Callable[..., Any] | None = None,
) -> None:
    """Make ``method`` Tensor's method ``name``; its stub is like that of ``original``.

    ``table`` says what it is: METHODS, IN_PLACE or OPERATORS.
    """
    add(name, method)
    table[name] = original or method
    HOMES[1][name] = family()


def family() -> str:
    """The module that registers: the nearest one that is being imported."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return str(frame.f_globals["__name__"]).rpartition(".")[2]


def alias(name: str, original: str) -> None:
    """Another name for a function or method, and for its form in place."""
    call = CALLS.get(original) or METHODS.get(original)
    if call is None:  # it is of another family, which this imports
        call = getattr(TensorMethods, original)
    publish(name, call, original in CALLS, original in METHODS)
    if f"{original}_" in IN_PLACE:
        method = ADDED[f"{original}_"]
        add_method(f"{name}_", method, IN_PLACE, IN_PLACE[f"{original}_"])


def make_call(
    name: str,
    cls: type[Builtin],
    arguments: Callable[..., tuple[Any, ...]] | None,
    returns: Callable[..., Any] | None = None,
    keywords: Callable[..., Variant] | None = None,
) -> Callable[..., Any]:
    """The function that users call: it fills in defaults and applies the class."""
    normal = arguments if arguments is not None else bound_arguments(cls)
    given_all = arguments is None and not has_defaults(cls)
    apply = cls.apply

    def call(*args: Any, **kwargs: Any) -> Any:
        values = args
        try:
            if kwargs:
                kwargs = in_torchs_words(call, kwargs)
                if kwargs and keywords is not None:
                    variant, values = keywords(*args, **kwargs)
                    return variant.apply(*values)
            if kwargs or not given_all:
                values = normal(*args, **kwargs)
            output = apply(*values)
        except errors.NoStorageError:
            return one_by_one(call, args, kwargs)
        except ValueError as error:
            if is_broadcast_error(error):
                raise do_not_broadcast(name, *shapes_of(values)) from None
            raise
        return output if returns is None else returns(output)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = cls.__doc__
    call.__annotations__ = {"return": "Tensor" if returns is None else "Any"}
    # For inspect.signature, which looks here when it is asked: importing is quicker.
    call.__wrapped__ = (  # type: ignore[attr-defined]
        keywords or arguments or cls.forward
    )
    return call


def quickest(cls: type[Builtin], call: Callable[..., Any]) -> Callable[..., Any]:
    """``call``, or the form of the fast path for operations of so many operands."""
    apply: Any = cls.apply
    usual: Any = Builtin.apply
    is_usual = cls.elementwise and cls._choose_node is None and not cls.without_edges
    if not is_usual or apply.__func__ is not usual.__func__:
        return call
    code = inspect.unwrap(cls.forward).__code__
    forms = {("input",): fast_path.of_one, ("input", "other"): fast_path.of_two}
    form = forms.get(code.co_varnames[: code.co_argcount])
    if form is None:
        return call
    quick: Any = form(cls, call)
    return functools.update_wrapper(quick, call)


def on_every_example(call: Called) -> Called:
    """``call``; under vmap, if it needs the memory of an example, one by one."""

    @functools.wraps(call)
    def whole(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = in_torchs_words(call, kwargs)
        try:
            return call(*args, **kwargs)
        except errors.NoStorageError:
            return one_by_one(whole, args, kwargs)

    return cast("Called", whole)


def in_torchs_words(call: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """The keywords ``given``, ``axis`` and ``keepdims`` under torch's own names."""
    if NUMPY_NAMES.keys().isdisjoint(given):
        return given
    taken = inspect.signature(call).parameters
    named = dict(given)
    for numpys, torchs in NUMPY_NAMES.items():
        if numpys in named and torchs in taken and torchs not in named:
            named[torchs] = named.pop(numpys)
    return named


def is_broadcast_error(error: ValueError) -> bool:
    """Whether NumPy refused operands that have no common shape."""
    return str(error).startswith("operands could not be broadcast together with shapes")


def shapes_of(operands: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """The shapes of two operands; a number has the shape ()."""
    return [getattr(operand, "shape", ()) for operand in operands[:2]]


def has_defaults(cls: type[Builtin]) -> bool:
    """Whether forward has parameters that a caller may leave out."""
    return bool(inspect.unwrap(cls.forward).__defaults__)


def bound_arguments(cls: type[Builtin]) -> Callable[..., tuple[Any, ...]]:
    """Puts keywords in their places and fills in forward's defaults."""
    made: list[Callable[..., tuple[Any, ...]]] = []

    def normal(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        if not made:  # on first use: importing has to be quick
            made.append(parameters_of(cls))
        return made[0](*args, **kwargs)

    return normal


def parameters_of(cls: type[Builtin]) -> Callable[..., tuple[Any, ...]]:
    """A function with forward's own parameters that returns them all.

    So Python itself binds the arguments: ten times as fast as ``inspect`` would.
    """
    forward = inspect.unwrap(cls.forward)
    code = forward.__code__
    names = code.co_varnames[: code.co_argcount]
    name = cls.__name__.lower()
    namespace: dict[str, Any] = {}
    exec(f"def {name}({', '.join(names)}): return {', '.join(names)},", namespace)
    made: Any = namespace[name]
    made.__defaults__ = forward.__defaults__
    bound: Callable[..., tuple[Any, ...]] = made
    return bound


def name_nodes(cls: type[Builtin], node_name: str | Callable[..., str]) -> None:
    """Give the nodes of ``cls`` their name, or let their arguments choose it."""
    if isinstance(node_name, str):
        cls._backward_cls.__name__ = cls._backward_cls.__qualname__ = node_name
        cls._choose_node = None
        return
    named: dict[str, type[Any]] = {}

    def choose(inputs: tuple[Any, ...]) -> type[Any]:
        name = node_name(*inputs)
        node = named.get(name)
        if node is None:
            body = {"__module__": cls._backward_cls.__module__, "__slots__": ()}
            node = named[name] = type(name, (cls._backward_cls,), body)
        return node

    cls._choose_node = staticmethod(choose)


def recorded_as(
    node_name: str | Callable[..., str],
) -> Callable[[Operation], Operation]:
    """Give the nodes of an operation that is in no table the name that torch has."""

    def name(cls: Operation) -> Operation:
        name_nodes(cls, node_name)
        return cls

    return name


def add_operators(
    operator: str,
    call: Callable[..., Tensor],
    reflected: Callable[..., Tensor] | None = None,
    quick: Callable[..., Tensor] | None = None,
) -> None:
    """Python's operator and, for two operands, the one with the sides exchanged.

    ``quick`` is called in place of ``call``.
    """
    add_method(f"__{operator}__", quick or call, OPERATORS, call)
    if operator not in REFLECTED:
        return

    if operator in EXCHANGED:
        add_method(f"__r{operator}__", quick or call, OPERATORS, call)
        return

    @functools.wraps(call)
    def exchanged(self: Tensor, other: Any) -> Tensor:
        return call(other, self)

    add_method(f"__r{operator}__", reflected or exchanged, OPERATORS, call)


def add_in_place(
    name: str,
    cls: type[Builtin],
    operator: str | None,
    arguments: Callable[..., tuple[Any, ...]] | None,
    keywords: Callable[..., Variant] | None = None,
) -> None:
    """The method that overwrites its tensor, ``<name>_``."""
    normal = arguments if arguments is not None else bound_arguments(cls)

    def overwrite(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        operation: type[Builtin] = cls
        if kwargs and keywords is not None:
            operation, values = keywords(self, *args, **kwargs)
        else:
            values = normal(self, *args, **kwargs)
        try:
            return apply_in_place(operation, *values)
        except ValueError as error:
            if is_broadcast_error(error):
                raise do_not_broadcast(f"{name}_", *shapes_of(values)) from None
            raise

    overwrite.__name__ = overwrite.__qualname__ = f"{name}_"
    overwrite.__doc__ = f"``{name}``, written into this tensor's own memory."
    add_method(f"{name}_", overwrite, IN_PLACE, OPS[name].call)
    if operator in REFLECTED:
        add_method(f"__i{operator}__", overwrite, OPERATORS, OPS[name].call)
