"""torch.autograd.gradcheck's names: is backward right? Small differences decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.errors import GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
    check_random_grad: bool = True,
) -> bool:
    """Compare the gradients of ``func`` at ``inputs`` with small differences.

    Every input that requires grad is moved by ``eps``, one element at a time; with
    ``fast_mode``, along one random direction. Beyond torch, ``check_random_grad``
    sends back a random upstream gradient too: with one-hot ones alone, a backward that
    uses ``grad_output`` twice looks right.

    Dtype: the inputs should be float64; the differences drown in rounding otherwise.
    Raises: GradcheckError for a wrong gradient, unless ``raise_exception`` is False:
    then the answer is False.
    See: torch ``autograd.gradcheck``.

    >>> x = minigrad.tensor([0.5, 2.0], dtype=minigrad.float64, requires_grad=True)
    >>> minigrad.autograd.gradcheck(lambda x: x.exp(), x)
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise no_direction("gradcheck", "check_forward_ad", "check_backward_ad")
    check_goes_with("check_batched_grad", check_batched_grad, check_backward_ad)
    check_goes_with(
        "check_batched_forward_grad", check_batched_forward_grad, check_forward_ad
    )
    # Imported here because few programs check their gradients.
    from minigrad.autograd import _gradient_checks as checks
    from minigrad.autograd._slopes import Point, as_tuple

    point = Point(func, as_tuple(inputs), eps)
    options = checks.Options(
        atol=atol,
        rtol=rtol,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad,
        check_random_grad=check_random_grad,
        fast_mode=fast_mode,
    )
    try:
        checks.check_all(point, options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
    check_random_grad: bool = True,
) -> bool:
    """Compare the second derivatives of ``func`` with small differences of the first.

    It is ``gradcheck`` of the gradient, as a function of the inputs and of
    ``grad_outputs`` (random ones by default). So it finds what a first derivative does
    not show: a saved intermediate, ``detach`` or NumPy inside backward.

    Raises: GradcheckError.
    See: torch ``autograd.gradgradcheck``.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise no_direction("gradgradcheck", "check_fwd_over_rev", "check_rev_over_rev")
    for name, asked in (
        ("check_undefined_grad", check_undefined_grad),
        ("check_batched_grad", check_batched_grad),
    ):
        check_goes_with(name, asked, check_rev_over_rev, "check_rev_over_rev")
    from minigrad.autograd._gradient_checks import random_upstream
    from minigrad.autograd._gradients import grad
    from minigrad.autograd._slopes import Point, as_tuple

    given = as_tuple(inputs)
    watched = [isinstance(x, Tensor) and x.requires_grad for x in given]
    if grad_outputs is None:
        outputs = Point(func, given, eps).outputs()
        upstream = random_upstream(outputs, gen_non_contig_grad_outputs)
    else:
        upstream = as_tuple(grad_outputs)
    wanted = [x.requires_grad for x in upstream]

    def first_derivative(*arguments: Any) -> tuple[Tensor, ...]:
        values, gradients = arguments[: len(given)], arguments[len(given) :]
        # Forward mode hands in tensors that do not require grad.
        marked = [
            x.requires_grad_() if needs else x
            for x, needs in zip(values, watched, strict=True)
        ]
        first = [
            x.requires_grad_() if needs else x
            for x, needs in zip(gradients, wanted, strict=True)
        ]
        results = grad(
            Point(func, tuple(marked), eps).outputs(),
            [x for x, needs in zip(marked, watched, strict=True) if needs],
            first,
            create_graph=True,
            allow_unused=True,
        )
        return tuple([result for result in results if result is not None])

    return gradcheck(
        first_derivative,
        given + upstream,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
        check_random_grad=check_random_grad,
    )


def no_direction(where: str, one: str, other: str) -> errors.ArgumentAssertionError:
    """The error for a check that would check nothing."""
    return errors.ArgumentAssertionError.at(
        where,
        f"Expected at least one of {one} or {other} to be True",
        f"leave {other} out: it is True by default",
    )


def check_goes_with(name: str, asked: bool, other: bool, other_name: str = "") -> None:
    """Refuse an option that is about a direction which is not checked.

    Raises: ArgumentAssertionError.
    """
    if asked and not other:
        needed = other_name or (
            "check_forward_ad" if "forward" in name else "check_backward_ad"
        )
        raise errors.ArgumentAssertionError.at(
            "gradcheck",
            f"Setting {name}=True requires {needed} to be True",
            f"set {needed}=True, or {name}=False",
        )
