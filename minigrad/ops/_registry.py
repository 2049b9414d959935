"""``@op``: one class becomes a function, a method, and a row of the op table."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from minigrad.engine._tensor_methods import TensorMethods
from minigrad.engine.builtin import Builtin
from minigrad.engine.inplace import apply_in_place
from minigrad.engine.promotion import do_not_broadcast
from minigrad.engine.tensor import Tensor
from minigrad.ops import functions

Operation = TypeVar("Operation", bound=type[Builtin])


@dataclass(frozen=True)
class Op:
    """One row of the op table: what the laws, the stubs and the catalogue need."""

    name: str
    function: type[Builtin]
    reference: Callable[..., Any]
    samples: Sequence[tuple[Any, ...]]
    call: Callable[..., Tensor]
    operator: str | None
    in_place: bool
    differentiable: bool


OPS: dict[str, Op] = {}

REFLECTED = frozenset({"add", "sub", "mul", "truediv", "pow", "matmul"})
"""The operators that Python also asks the right operand for, as ``__r...__``."""


def op(
    name: str,
    *,
    node_name: str | Callable[..., str],
    reference: Callable[..., Any],
    samples: Sequence[tuple[Any, ...]],
    arguments: Callable[..., tuple[Any, ...]] | None = None,
    operator: str | None = None,
    reflected: Callable[..., Tensor] | None = None,
    in_place: bool = False,
    differentiable: bool = True,
) -> Callable[[Operation], Operation]:
    """Register a Builtin as ``minigrad.<name>`` and ``Tensor.<name>``.

    ``samples`` are argument lists (nested lists stand for tensors); every law runs on
    each of them. ``reference`` is NumPy's function for the same arguments.
    ``arguments`` turns what a caller writes into what forward takes. ``operator`` is
    the Python operator, such as ``"add"`` for ``__add__``, ``__radd__``, ``__iadd__``;
    ``reflected`` is asked in place of it if only the right operand is a tensor;
    ``in_place`` adds ``<name>_``. ``node_name`` is the name of the recorded node, or a
    function from the arguments of forward to it.
    Raises: ValueError for a name taken already, or without samples.
    """
    if name in OPS:
        raise ValueError(f"op {name!r} is registered already, as {OPS[name].function}")
    if not samples:
        raise ValueError(f"op {name!r} has no samples, so nothing would test it")

    def register(cls: Operation) -> Operation:
        name_nodes(cls, node_name)
        call = make_call(name, cls, arguments)
        OPS[name] = Op(
            name, cls, reference, samples, call, operator, in_place, differentiable
        )
        setattr(functions, name, call)
        functions.__all__.append(name)
        setattr(TensorMethods, name, call)
        if operator is not None:
            add_operators(operator, call, reflected)
        if in_place:
            add_in_place(name, cls, operator, arguments)
        return cls

    return register


def make_call(
    name: str, cls: type[Builtin], arguments: Callable[..., tuple[Any, ...]] | None
) -> Callable[..., Tensor]:
    """The function that users call: it fills in defaults and applies the class."""
    normal = arguments if arguments is not None else bound_arguments(cls)
    given_all = arguments is None and not has_defaults(cls)
    apply = cls.apply

    def call(*args: Any, **kwargs: Any) -> Any:
        values = args if given_all and not kwargs else normal(*args, **kwargs)
        try:
            return apply(*values)
        except ValueError as error:
            if is_broadcast_error(error):
                raise do_not_broadcast(name, *shapes_of(values)) from None
            raise

    call.__name__ = call.__qualname__ = name
    call.__doc__ = cls.__doc__
    call.__signature__ = inspect.signature(  # type: ignore[attr-defined]
        arguments if arguments is not None else cls.forward
    )
    return call


def is_broadcast_error(error: ValueError) -> bool:
    """Whether NumPy refused operands that have no common shape."""
    return str(error).startswith("operands could not be broadcast together with shapes")


def shapes_of(operands: tuple[Any, ...]) -> list[tuple[int, ...]]:
    """The shapes of two operands; a number has the shape ()."""
    return [getattr(operand, "shape", ()) for operand in operands[:2]]


def has_defaults(cls: type[Builtin]) -> bool:
    """Whether forward has parameters that a caller may leave out."""
    parameters = inspect.signature(cls.forward).parameters.values()
    return any([p.default is not inspect.Parameter.empty for p in parameters])


def bound_arguments(cls: type[Builtin]) -> Callable[..., tuple[Any, ...]]:
    """Puts keywords in their places and fills in forward's defaults."""
    signature = inspect.signature(cls.forward)

    def normal(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args

    return normal


def name_nodes(cls: type[Builtin], node_name: str | Callable[..., str]) -> None:
    """Give the nodes of ``cls`` their name, or let their arguments choose it."""
    if isinstance(node_name, str):
        cls._backward_cls.__name__ = cls._backward_cls.__qualname__ = node_name
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


def add_operators(
    operator: str,
    call: Callable[..., Tensor],
    reflected: Callable[..., Tensor] | None = None,
) -> None:
    """Python's operator and, for two operands, the one with the sides exchanged."""
    setattr(TensorMethods, f"__{operator}__", call)
    if operator not in REFLECTED:
        return
    if reflected is None:

        @functools.wraps(call)
        def reflected(self: Tensor, other: Any) -> Tensor:
            return call(other, self)

    setattr(TensorMethods, f"__r{operator}__", reflected)


def add_in_place(
    name: str,
    cls: type[Builtin],
    operator: str | None,
    arguments: Callable[..., tuple[Any, ...]] | None,
) -> None:
    """The method that overwrites its tensor, ``<name>_``."""

    def overwrite(self: Tensor, *args: Any) -> Tensor:
        values = (self, *args) if arguments is None else arguments(self, *args)
        try:
            return apply_in_place(cls, *values)
        except ValueError as error:
            if is_broadcast_error(error):
                raise do_not_broadcast(f"{name}_", *shapes_of(values)) from None
            raise

    overwrite.__name__ = overwrite.__qualname__ = f"{name}_"
    overwrite.__doc__ = f"``{name}``, written into this tensor's own memory."
    setattr(TensorMethods, f"{name}_", overwrite)
    if operator is not None:
        setattr(TensorMethods, f"__i{operator}__", overwrite)


METHODS_HEAD = '''"""Built from the op table by `python -m minigrad build`."""

from typing import Any

from minigrad.engine.tensor import Tensor

class TensorMethods:
'''

FUNCTIONS_HEAD = '''"""Built from the op table by `python -m minigrad build`."""

from typing import Any

from minigrad.engine.tensor import Tensor

__all__: list[str]

'''


def stub_files() -> dict[str, str]:
    """The type stubs of all methods and functions, by path below the repository."""
    methods = [METHODS_HEAD]
    free = [FUNCTIONS_HEAD]
    for row in OPS.values():
        parameters = stub_parameters(row.call)
        as_method = ", ".join(["self", *parameters[1:]])
        free.append(f"def {row.name}({', '.join(parameters)}) -> Tensor: ...\n")
        names = [row.name]
        if row.operator is not None:
            names.append(f"__{row.operator}__")
            if row.operator in REFLECTED:
                names.append(f"__r{row.operator}__")
        if row.in_place:
            names.append(f"{row.name}_")
            if row.operator is not None:
                names.append(f"__i{row.operator}__")
        for name in names:
            ignore = ""
            if name in ("__eq__", "__ne__"):
                ignore = "  # type: ignore[override]  # elementwise, as in torch"
            methods.append(f"    def {name}({as_method}) -> Tensor: ...{ignore}\n")
    return {
        "minigrad/engine/_tensor_methods.pyi": "".join(methods),
        "minigrad/ops/functions.pyi": "".join(free),
    }


def stub_parameters(call: Callable[..., Tensor]) -> list[str]:
    """The parameters of one op, as a stub writes them."""
    written = []
    for index, parameter in enumerate(inspect.signature(call).parameters.values()):
        text = str(parameter.replace(annotation=inspect.Parameter.empty))
        name, equals, default = text.partition("=")
        kind = "Tensor | float" if index == 0 else "Any"
        written.append(f"{name}: {kind}{' = ' + default if equals else ''}")
    return written
