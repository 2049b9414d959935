"""How a module keeps parameters, buffers and modules apart from other attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.nn.parameter import Parameter

if TYPE_CHECKING:
    from minigrad.nn.module import Module

KINDS = ("_parameters", "_buffers", "_modules")


def registered(module: Module) -> tuple[dict[str, Any], ...]:
    """The three tables by name; none before ``Module.__init__``."""
    own = vars(module)
    return tuple([own[kind] for kind in KINDS if kind in own])


def find(module: Module, name: str) -> dict[str, Any] | None:
    """The table that has an entry ``name``; None if there is none."""
    own = module.__dict__
    for kind in KINDS:
        if kind in own and name in own[kind]:
            table: dict[str, Any] = own[kind]
            return table
    return None


def register(module: Module, name: str, value: Any) -> bool:
    """Put an attribute into the table where it belongs; is there one?"""
    # Imported here because a module is made of these functions.
    from minigrad.nn.module import Module

    own = vars(module)
    if isinstance(value, Parameter):
        check_is_started(module, "parameters")
        forget(module, name, "_parameters")
        module.register_parameter(name, value)
    elif name in own.get("_parameters", ()):
        check_is_parameter(module, name, value)
        own["_parameters"][name] = value
    elif isinstance(value, Module):
        check_is_started(module, "module")
        forget(module, name, "_modules")
        own["_modules"][name] = value
    elif name in own.get("_modules", ()):
        check_is_module(module, name, value)
        own["_modules"][name] = value
    elif name in own.get("_buffers", ()):
        check_is_buffer(module, name, value)
        own["_buffers"][name] = value
    else:
        return False
    return True


def forget(module: Module, name: str, but: str) -> None:
    """Remove ``name`` from everywhere but one table."""
    own = vars(module)
    own.pop(name, None)
    for kind in KINDS:
        if kind != but:
            own[kind].pop(name, None)


def check_is_started(module: Module, what: str) -> None:
    """Refuse to register in a module whose ``__init__`` has not run.

    Raises: ModuleAttributeError.
    """
    if "_parameters" not in vars(module):
        raise errors.ModuleAttributeError(
            errors.message(
                type(module).__name__,
                f"cannot assign {what} before Module.__init__() call",
                "call super().__init__() first",
            )
        )


def check_name(module: Module, kind: str, name: str) -> None:
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
        raise errors.ModuleNameError(
            errors.message(type(module).__name__, what, "choose another name")
        )


def check_is_parameter(module: Module, name: str, value: Any) -> None:
    """Refuse what is neither a leaf Parameter nor None.

    Raises: ArgumentTypeError; ArgumentValueError.
    """
    if value is not None and not isinstance(value, Parameter):
        raise not_assigned(
            module, name, value, "parameter", "nn.Parameter", "nn.Parameter(value)"
        )
    if value is not None and value.grad_fn is not None:
        raise errors.ArgumentValueError(
            errors.message(
                type(module).__name__,
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                "parameters must be created explicitly",
                "compute it in forward()",
            )
        )


def check_is_module(module: Module, name: str, value: Any) -> None:
    """Refuse what is neither a Module nor None.

    Raises: ArgumentTypeError.
    """
    from minigrad.nn.module import Module

    if value is not None and not isinstance(value, Module):
        raise not_assigned(
            module, name, value, "child module", "nn.Module", "an object of a Module"
        )


def check_is_buffer(module: Module, name: str, value: Any) -> None:
    """Refuse what is neither a tensor nor None.

    Raises: ArgumentTypeError.
    """
    if value is not None and not isinstance(value, Tensor):
        raise not_assigned(
            module, name, value, "buffer", "Tensor", "minigrad.tensor(value)"
        )


def not_assigned(
    module: Module, name: str, value: Any, kind: str, wanted: str, fix: str
) -> errors.ArgumentTypeError:
    """The error for a value that cannot take the place of what is registered."""
    given = value.type() if isinstance(value, Tensor) else type(value).__name__
    return errors.ArgumentTypeError(
        errors.message(
            type(module).__name__,
            f"cannot assign '{given}' as {kind} '{name}' ({wanted} or None expected)",
            f"give {fix}; to keep another value there, first: del module.{name}",
        )
    )


def module_at(module: Module, target: str) -> Module:
    """The module at a path of names with dots between them.

    Raises: ModuleAttributeError.
    """
    from minigrad.nn.module import Module

    owner = module
    for name in target.split(".") if target else ():
        found = getattr(owner, name, None)
        if not isinstance(found, Module):
            says = f"`{name}` is not an nn.Module" if hasattr(owner, name) else ""
            raise no_such(owner, name, says)
        owner = found
    return owner


def parameter_at(module: Module, target: str) -> Parameter:
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
    return errors.ModuleAttributeError(
        errors.message(
            kind,
            says or f"{kind} has no attribute `{name}`",
            "see the paths that there are: print(model)",
        )
    )
