"""What programs of torch's early years write: it warns, or says what to write now."""

from __future__ import annotations

import warnings
from typing import Any

from minigrad import errors


def mark_shared_storage(ctx: Any, *pairs: Any) -> None:
    """Do nothing: which tensors share memory is known without it."""
    warnings.warn(
        errors.message(
            "ctx.mark_shared_storage",
            "`mark_shared_storage` is deprecated. Tensors with shared storages are "
            "automatically tracked",
            "leave the call out",
        ),
        FutureWarning,
        stacklevel=2,
    )


def saved_variables(node: Any) -> Any:
    """The old name of ``saved_tensors``."""
    warnings.warn(
        errors.message(
            node.name(),
            "'saved_variables' is deprecated; use 'saved_tensors'",
            "write ctx.saved_tensors",
        ),
        DeprecationWarning,
        stacklevel=2,
    )
    return node.saved_tensors


def init_object(self: Any) -> None:
    """Warn about an object of a Function, whose methods are all static."""
    warnings.warn(
        errors.message(
            type(self).__name__,
            f"{type(self)} should not be instantiated. Methods on autograd "
            "functions are all static",
            f"call {type(self).__name__}.apply on the class itself",
            "01",
        ),
        DeprecationWarning,
        stacklevel=3,
    )
    self._edges = ()
    self._saved = ()
    self._output_metadata = ()
    self._attached = None


def called_object(self: Any) -> errors.FunctionUseError:
    """The error for a call of such an object."""
    return errors.FunctionUseError.at(
        type(self).__name__,
        "Legacy autograd function with non-static forward method is deprecated. Please "
        "use new-style autograd function with static forward method",
        f"call {type(self).__name__}.apply on the class itself",
        "01",
    )
