"""How a module keeps parameters, buffers and modules apart from other attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.nn.parameter import Parameter


class Kind(NamedTuple):
    """What a table of a module holds, in the words of its refusals."""

    holds: type[Any]
    says: str
    wanted: str
    fix: str


class Registry:
    """What a module has by name, in tables apart from its other attributes."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _not_in_state: set[str]

    def __init__(self) -> None:
        # Past __setattr__, which needs these.
        vars(self).update(_parameters={}, _buffers={}, _modules={}, _not_in_state=set())

    def __setattr__(self, name: str, value: Any) -> None:
        own = vars(self)
        for table, kind in KINDS.items():
            if isinstance(value, kind.holds) and table != "_buffers":
                plural = "parameters" if table == "_parameters" else "module"
                check_is_started(self, plural)
                forget(self, name, table)
                if table == "_parameters":
                    check_name(self, "parameter", name)
            elif name not in own.get(table, ()):
                continue
            check_value(self, table, name, value)
            own[table][name] = value
            return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """What is registered under ``name``; Python asks only if nothing else has it.

        Raises: ModuleAttributeError.
        """
        own = self.__dict__
        for kind in KINDS:
            if kind in own and name in own[kind]:
                return own[kind][name]
        raise errors.ModuleAttributeError.at(
            type(self).__name__,
            f"'{type(self).__name__}' object has no attribute '{name}'",
            "set it in __init__, after super().__init__()",
        )

    def __delattr__(self, name: str) -> None:
        for table in registered(self):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__()}
        return sorted(names.union(*registered(self)))

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None keeps the name, for a part that was left out.

        Raises: ModuleNameError; ModuleAttributeError before ``__init__``;
        ArgumentTypeError.
        """
        check_name(self, "parameter", name)
        check_value(self, "_parameters", name, param)
        self._parameters[name] = param

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Add a tensor that training does not change, such as a running mean.

        Without ``persistent`` it is not in ``state_dict()``.
        """
        check_name(self, "buffer", name)
        check_value(self, "_buffers", name, tensor)
        self._buffers[name] = tensor
        (self._not_in_state.discard if persistent else self._not_in_state.add)(name)

    def register_module(self, name: str, module: Registry | None) -> None:
        """Add a module inside this one."""
        check_name(self, "module", name)
        check_value(self, "_modules", name, module)
        self._modules[name] = module

    add_module = register_module


KINDS = {
    "_parameters": Kind(Parameter, "parameter", "nn.Parameter", "nn.Parameter(value)"),
    "_modules": Kind(Registry, "child module", "nn.Module", "an object of a Module"),
    "_buffers": Kind(Tensor, "buffer", "Tensor", "minigrad.tensor(value)"),
}
"""The tables of a module."""


def registered(module: Registry) -> tuple[dict[str, Any], ...]:
    """The three tables by name; none before ``Module.__init__``."""
    own = vars(module)
    return tuple([own[kind] for kind in KINDS if kind in own])


def forget(module: Registry, name: str, but: str) -> None:
    """Remove ``name`` from everywhere but one table."""
    own = vars(module)
    own.pop(name, None)
    for kind in KINDS:
        if kind != but:
            own[kind].pop(name, None)


def check_is_started(module: Registry, what: str) -> None:
    """Refuse to register in a module whose ``__init__`` has not run.

    Raises: ModuleAttributeError.
    """
    if "_parameters" not in vars(module):
        raise errors.ModuleAttributeError.at(
            type(module).__name__,
            f"cannot assign {what} before Module.__init__() call",
            "call super().__init__() first",
        )


def check_name(module: Registry, kind: str, name: str) -> None:
    """Refuse a name that no path could hold, or that is taken.

    Raises: ModuleAttributeError; ModuleNameError.
    """
    check_is_started(module, kind)
    what = ""
    if "." in name:
        what = f'{kind} name can\'t contain ".", and "{name}" does'
    elif name == "":
        what = f'{kind} name can\'t be empty string ""'
    else:
        table: Any = vars(module)[f"_{kind}s"]
        if hasattr(module, name) and name not in table:
            what = f"attribute '{name}' already exists"
    if what:
        raise errors.ModuleNameError.at(
            type(module).__name__, what, "choose another name"
        )


def check_value(module: Registry, table: str, name: str, value: Any) -> None:
    """Refuse what a table does not hold; each may hold None, parameters are leaves.

    Raises: ArgumentTypeError; ArgumentValueError.
    """
    kind = KINDS[table]
    if value is not None and not isinstance(value, kind.holds):
        given = value.type() if isinstance(value, Tensor) else type(value).__name__
        raise errors.ArgumentTypeError.at(
            type(module).__name__,
            f"cannot assign '{given}' as {kind.says} '{name}' ({kind.wanted} or None "
            "expected)",
            f"give {kind.fix}; to keep another value there, first: del module.{name}",
        )
    if kind.holds is Parameter and value is not None and value.grad_fn is not None:
        raise errors.ArgumentValueError.at(
            type(module).__name__,
            f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
            "parameters must be created explicitly",
            "compute it in forward()",
        )


def module_at(module: Registry, target: str) -> Any:
    """The module at a path of names with dots between them.

    Raises: ModuleAttributeError.
    """
    owner: Any = module
    for name in target.split(".") if target else ():
        found = getattr(owner, name, None)
        if not isinstance(found, Registry):
            says = f"`{name}` is not an nn.Module" if hasattr(owner, name) else ""
            raise no_such(owner, name, says)
        owner = found
    return owner


def parameter_at(module: Registry, target: str) -> Parameter:
    """The parameter at a path of names with dots between them.

    Raises: ModuleAttributeError.
    """
    path, _, name = target.rpartition(".")
    owner = module_at(module, path)
    found = getattr(owner, name, None)
    if not isinstance(found, Parameter):
        says = f"`{name}` is not an nn.Parameter" if hasattr(owner, name) else ""
        raise no_such(owner, name, says)
    return found


def no_such(owner: Any, name: str, says: str) -> errors.ModuleAttributeError:
    """The error for a path that leads nowhere, or to something else."""
    kind = type(owner).__name__
    return errors.ModuleAttributeError.at(
        kind,
        says or f"{kind} has no attribute `{name}`",
        "see the paths that there are: print(model)",
    )
