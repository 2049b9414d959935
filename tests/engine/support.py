"""What the programs share that run with minigrad and with torch alike.

Every test that takes the fixture ``torch`` is such a program: tests/engine gives it
minigrad, and tests/parity runs it again with torch itself.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from minigrad import errors

FORM = re.compile(r".+: .+\n  fix: .+(\n  see: lesson \d\d)?", re.DOTALL)


class Boom(Exception):
    """Raised by the Function under test, to see where it comes out."""


@contextmanager
def raises(
    torch: Any, kind: type[errors.MinigradError], says: str
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Our own error in our form; with torch, exactly the built-in it derives from."""
    builtin = kind.__bases__[1]
    assert issubclass(builtin, Exception)
    is_ours = torch.__name__ == "minigrad"
    with pytest.raises(kind if is_ours else builtin, match=re.escape(says)) as caught:
        yield caught
    assert type(caught.value) is (kind if is_ours else builtin)
    if is_ours:
        assert FORM.fullmatch(str(caught.value))


def rewritten(function: Any, old: str, new: str) -> Any:
    """A function with one piece of its source replaced by another."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} stands there {source.count(old)} times"
    found: dict[str, Any] = {}
    exec(source.replace(old, new), function.__globals__, found)
    return found[function.__name__]


def same_memory(a: Any, b: Any) -> bool:
    """Whether two tensors lie in the same memory."""
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


def leaf(torch: Any, *values: float) -> Any:
    """A vector that requires grad, or for a single value a number that does."""
    data = values[0] if len(values) == 1 else list(values)
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


def logged(torch: Any, name: str, log: list[Any]) -> Any:
    """The apply of a Function ``name`` that doubles, and notes when its rule runs."""

    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    def backward(ctx: Any, grad: Any) -> Any:
        log.append(name)
        return grad * 2

    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(torch.autograd.Function)(name, (torch.autograd.Function,), body).apply


def rule(torch: Any, forward: Any, backward: Any = None, name: str = "F") -> Any:
    """A Function in combined style, from its two halves."""
    body = {"forward": staticmethod(forward)}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type(torch.autograd.Function)(name, (torch.autograd.Function,), body)


def square(torch: Any, name: str = "Square") -> Any:
    """A Function: x * x, from a saved input."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 2 * x

    return rule(torch, forward, backward, name)


def triple(torch: Any, seen: list[Any]) -> Any:
    """A Function ``Triple`` that puts every ctx it is given into ``seen``."""

    class Triple(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(ctx)
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(ctx)
            return grad * 3

    return Triple


def dual(torch: Any, value: Any, tangent: Any) -> Any:
    """Numbers with their tangents; a level has to be open."""
    tensors = [torch.tensor(one, dtype=torch.float64) for one in (value, tangent)]
    return torch.autograd.forward_ad.make_dual(*tensors)


def tangent_of(torch: Any, tensor: Any) -> Any:
    """The tangent, as Python numbers; None if there is none."""
    tangent = torch.autograd.forward_ad.unpack_dual(tensor).tangent
    return None if tangent is None else tangent.tolist()


@contextmanager
def tangent_refused(torch: Any, says: str) -> Iterator[None]:
    """A level of forward mode that ends in a TangentError with these words."""
    with (
        torch.autograd.forward_ad.dual_level(),
        raises(torch, errors.TangentError, says),
    ):
        yield


def with_jvp(torch: Any, forward: Any, jvp: Any, **methods: Any) -> Any:
    """The apply of a Function ``F`` of these methods."""
    body = {"forward": forward, "jvp": jvp, **methods}
    static = {name: staticmethod(method) for name, method in body.items()}
    base = torch.autograd.Function
    return type(base)("F", (base,), static).apply
