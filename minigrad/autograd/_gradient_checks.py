"""What gradcheck looks at, one question a function; each raises GradcheckError."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from minigrad import errors
from minigrad.autograd._gradients import grad
from minigrad.autograd._slopes import Point
from minigrad.engine.core.function import Function
from minigrad.engine.core.tensor import Array, Tensor

Jacobians = list[list[Array]]
"""Of each output by each input, in this order."""

SEED: Final = 20
"""Of the random directions: every run draws the same, and nobody else's numbers."""


@dataclass(frozen=True)
class Options:
    """What counts as equal, and which parts are checked; see ``gradcheck``."""

    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    check_random_grad: bool
    fast_mode: bool

    def close(self, a: Any, b: Any, scale: float = 1.0) -> bool:
        """Whether two results differ by no more than the tolerances."""
        return np.allclose(a, b, self.rtol, self.atol * scale)


def check_all(point: Point, options: Options) -> None:
    """Every check that the options ask for, in torch's order; raises at the first."""
    check_inputs(point)
    outputs = point.outputs()
    if not outputs:
        check_nothing_depends(point, options)
        return
    numerical = None
    if not options.fast_mode:
        by_input = [point.numerical(tensor) for tensor in point.watched]
        numerical = [list(jacobians) for jacobians in zip(*by_input, strict=True)]
    if options.check_backward_ad:
        if numerical is None:
            check_projected(point, outputs, options)
        else:
            check_jacobians(point, outputs, numerical, options)
    if options.check_forward_ad:
        check_forward_mode(point, numerical, options)
    if options.check_batched_forward_grad:
        check_batched_tangents(point)
    if options.check_backward_ad:
        if options.check_batched_grad:
            check_batched_gradients(point, outputs)
        check_zero_upstream(point, outputs)
        if numerical is not None and options.check_random_grad:
            check_random_upstream(point, outputs, numerical, options)
        if options.check_undefined_grad:
            check_undefined_upstream(point)


def check_inputs(point: Point) -> None:
    """Refuse inputs that the check cannot work with; warn where it is likely to fail.

    Raises: LayoutError; ArgumentValueError if no input requires grad.
    """
    for index, tensor in enumerate(point.inputs):
        if not (isinstance(tensor, Tensor) and tensor.requires_grad):
            continue
        if tensor.dtype.name not in ("float64", "complex128"):
            warnings.warn(
                errors.message(
                    "gradcheck",
                    f"Input #{index} requires gradient and is not a double precision "
                    f"floating point or complex. It is {tensor.dtype}: the small "
                    "differences will likely drown in rounding",
                    "make the inputs with dtype=minigrad.float64",
                    "13",
                ),
                UserWarning,
                stacklevel=4,
            )
        steps = zip(tensor.shape, tensor.array.strides, strict=True)
        if any([length > 1 and step == 0 for length, step in steps]):
            raise errors.LayoutError.at(
                "gradcheck",
                f"The {index}th input has a dimension with stride 0. gradcheck "
                "only supports inputs that are non-overlapping to be able to "
                "compute the numerical gradients correctly",
                "give a copy: x.detach().clone().requires_grad_()",
                "13",
            )
    if not point.watched:
        raise errors.ArgumentValueError.at(
            "gradcheck",
            "gradcheck expects at least one input tensor to require gradient, but "
            "none of them have requires_grad=True",
            "make an input with requires_grad=True",
            "13",
        )


def check_nothing_depends(point: Point, options: Options) -> None:
    """Where no output requires grad, no output may move with an input."""
    slopes: list[Array] = []
    for tensor in point.watched:
        if options.fast_mode:
            slopes += point.slope_along(tensor, random_unit(tensor))
        else:
            slopes += point.numerical(tensor)
    if any([np.any(np.abs(slope) > options.nondet_tol) for slope in slopes]):
        raise failed(
            "Numerical gradient for function expected to be zero: no output requires "
            "grad, and still one moves with an input",
            "keep the graph: no detach, NumPy or no_grad between input and output",
        )


def check_jacobians(
    point: Point, outputs: list[Tensor], numerical: Jacobians, options: Options
) -> None:
    """Compare what backward says with what was measured, element by element."""
    for o, output in enumerate(outputs):
        analytical = checked_twice(point, output, options)
        for i, (a, n) in enumerate(zip(analytical, numerical[o], strict=True)):
            if not options.close(a, n):
                raise mismatch(o, i, n, a)


def checked_twice(point: Point, output: Tensor, options: Options) -> list[Array]:
    """The Jacobians that backward gives, if it gives the same ones again."""
    first, second = point.analytical(output), point.analytical(output)
    if options.check_grad_dtypes:
        for tensor, jacobian in zip(point.watched, first, strict=True):
            if jacobian.dtype != tensor.dtype:
                raise failed(
                    f"Gradient has dtype mismatch: {jacobian.dtype} for an input of "
                    f"{tensor.dtype}",
                    "return the gradient in its input's dtype",
                )
    for a, b in zip(first, second, strict=True):
        check_reentrant(a, b, options)
    return first


def check_reentrant(first: Array, second: Array, options: Options) -> None:
    """Refuse two answers of backward to the same question."""
    difference = float(np.max(np.abs(first - second), initial=0.0))
    if difference > options.nondet_tol:
        raise failed(
            "Backward is not reentrant, i.e., running backward with same input and "
            "grad_output multiple times gives different values: they differ by "
            f"{difference:.3g}. The tolerance for nondeterminism was "
            f"{options.nondet_tol}.",
            "let backward change nothing on ctx and draw no random numbers",
        )


def check_projected(point: Point, outputs: list[Tensor], options: Options) -> None:
    """Compare along random directions only: one number per pair of output and input."""
    directions = [random_unit(tensor) for tensor in point.watched]
    upstreams = [random_unit(output) for output in outputs]
    for i, (tensor, u) in enumerate(zip(point.watched, directions, strict=True)):
        moved = point.slope_along(tensor, u)
        for o, (output, v) in enumerate(zip(outputs, upstreams, strict=True)):
            pulled = point.pull_back(output, v)[i]
            check_reentrant(pulled, point.pull_back(output, v)[i], options)
            a, n = np.sum(pulled * u), np.sum(v.ravel() * moved[o])
            if not options.close(a, n, float(u.sum() * v.sum())):
                raise mismatch(o, i, n, a, slowly(point, output, o, i))


def slowly(point: Point, output: Tensor, o: int, i: int) -> str:
    """What the slow check would have compared, for the message of the fast one."""
    numerical = point.numerical(point.watched[i])[o]
    analytical = point.analytical(output)[i]
    return (
        "\nThe above quantities relating the numerical and analytical jacobians are "
        "computed in fast mode, along one random direction. Element by element:\n"
        f"Numerical:\n{Tensor(numerical)}\nAnalytical:\n{Tensor(analytical)}\n"
    )


def check_forward_mode(
    point: Point, numerical: Jacobians | None, options: Options
) -> None:
    """Compare the tangents of the outputs with what was measured.

    Without ``numerical``, along one random direction of each input.
    """
    zeros: list[Array | None] = [np.zeros(x.shape, x.dtype) for x in point.watched]
    for i, tensor in enumerate(point.watched):
        if numerical is not None:
            measured = [by_input[i] for by_input in numerical]
            analytical, scale = point.forward_mode(i), 1.0
        else:
            u = random_unit(tensor).astype(tensor.dtype)
            measured = point.slope_along(tensor, u)
            pushed = point.pushed([*zeros[:i], u, *zeros[i + 1 :]])
            analytical, scale = [x.ravel() for x in pushed], float(u.sum())
        for o, (a, n) in enumerate(zip(analytical, measured, strict=True)):
            if not options.close(a, n, scale):
                raise mismatch(o, i, n, a, mode="computed with forward mode ")
    if options.check_undefined_grad:
        check_missing_tangents(point, options)


def check_missing_tangents(point: Point, options: Options) -> None:
    """An input without a tangent is one with a tangent of zeros."""
    units: list[Array | None] = [
        random_unit(tensor).astype(tensor.dtype) for tensor in point.watched
    ]
    for i, tensor in enumerate(point.watched):
        zeros = np.zeros(tensor.shape, tensor.dtype)
        with_zeros = point.pushed([*units[:i], zeros, *units[i + 1 :]])
        without = point.pushed([*units[:i], None, *units[i + 1 :]])
        for o, (a, b) in enumerate(zip(with_zeros, without, strict=True)):
            if not options.close(a, b):
                raise failed(
                    f"Mismatch in tangent values for output with index: {o} when "
                    f"input {i} has an undefined tangent value. Got: {Tensor(b)} but "
                    f"expected: {Tensor(a)}",
                    "treat None as zero in jvp",
                )


def check_batched_gradients(point: Point, outputs: list[Tensor]) -> None:
    """Two gradients sent back together give what each gives alone."""
    for o, output in enumerate(outputs):
        batch = Tensor(random_gradient((2, *output.shape), o).astype(output.dtype))
        alone = [point.pull_back(output, one) for one in batch.array]
        try:
            together = grad(
                output,
                point.watched,
                batch,
                retain_graph=True,
                allow_unused=True,
                is_grads_batched=True,
            )
        except RuntimeError as error:
            raise not_batched(error) from error
        for i, got in enumerate(together):
            wanted = np.stack([gradients[i] for gradients in alone])
            values = np.zeros_like(wanted) if got is None else got.array
            if not np.allclose(values, wanted):
                raise failed(
                    f"For output {o} and input {i}, batched gradients are not those "
                    f"computed one by one:\ngot {Tensor(values)}\n"
                    f"expected {Tensor(wanted)}",
                    "let backward work on each example by itself",
                )


def check_batched_tangents(point: Point) -> None:
    """Two tangents pushed forward together give what each gives alone."""
    for i, tensor in enumerate(point.watched):
        batch = random_gradient((2, *tensor.shape), i).astype(tensor.dtype)
        nones: list[Array | None] = [None] * len(point.watched)
        alone = [point.pushed([*nones[:i], one, *nones[i + 1 :]]) for one in batch]
        try:
            together = point.pushed_together(i, Tensor(batch))
        except RuntimeError as error:
            raise not_batched(error) from error
        for o, (got, *wanted) in enumerate(zip(together, *alone, strict=True)):
            if not np.allclose(got, np.stack(wanted)):
                raise failed(
                    f"For output {o} and input {i}, batched forward gradients are not "
                    f"those computed one by one:\ngot {Tensor(got)}\n"
                    f"expected {Tensor(np.stack(wanted))}",
                    "let jvp work on each example by itself",
                )


def not_batched(error: RuntimeError) -> errors.GradcheckError:
    """The error for a rule that cannot take a batch."""
    return failed(
        f"While computing batched gradients, got: {error}",
        "write the rule with operations on tensors: no item(), no NumPy",
    )


def check_zero_upstream(point: Point, outputs: list[Tensor]) -> None:
    """Where nothing comes from above, nothing may go down."""
    zeros = [Tensor(np.zeros(output.shape, output.dtype)) for output in outputs]
    gradients = grad(
        outputs, point.watched, zeros, retain_graph=True, allow_unused=True
    )
    for index, gradient in enumerate(gradients):
        if gradient is not None and np.any(gradient.array != 0):
            raise failed(
                "backward not multiplied by grad_output: an upstream gradient of "
                f"zeros gives input {index} the gradient {gradient}",
                "multiply by grad_output: backward hands on what comes from above",
            )


def check_random_upstream(
    point: Point,
    outputs: list[Tensor],
    numerical: Jacobians,
    options: Options,
) -> None:
    """Compare what backward makes of a random gradient with what the Jacobian does."""
    for o, output in enumerate(outputs):
        upstream = random_gradient(output.shape, o).astype(output.dtype)
        pulled = point.pull_back(output, upstream)
        for i, (a, n) in enumerate(zip(pulled, numerical[o], strict=True)):
            wanted = (n @ upstream.ravel()).reshape(a.shape)
            if not options.close(a, wanted, max(1, upstream.size)):
                raise failed(
                    f"Gradient mismatch for output {o} with respect to input {i} "
                    "under a random upstream gradient, though one-hot ones agree,\n"
                    f"upstream:{Tensor(upstream)}\nnumerical:{Tensor(wanted)}\n"
                    f"analytical:{Tensor(a)}\n",
                    "use grad_output once in every term: backward is linear in it",
                )


class UndefinedGrad(Function):
    """Hands its input on, and sends no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> None:
        return None


def check_undefined_upstream(point: Point) -> None:
    """No gradient at all, or none for one of several outputs: it counts as zero."""
    count = len(point.outputs())
    cases = [set(range(count))]
    if count > 1:
        cases += [{missing} for missing in range(count)]
    for missing in cases:
        outputs = [
            UndefinedGrad.apply(output) if o in missing else output
            for o, output in enumerate(point.outputs())
        ]
        zeros = [Tensor(np.zeros(output.shape, output.dtype)) for output in outputs]
        try:
            gradients = grad(outputs, point.watched, zeros, allow_unused=True)
        except RuntimeError as error:
            raise failed(
                "Expected backward function to handle undefined output grads: it "
                f"raised {type(error).__name__}",
                "treat None as zero in backward, or leave "
                "ctx.set_materialize_grads(False) out",
            ) from error
        for index, gradient in enumerate(gradients):
            if gradient is not None and np.any(gradient.array != 0):
                raise failed(
                    "Expected all input grads to be undefined or zero when all output "
                    "grads are undefined or zero. With None from above, input "
                    f"{index} got {gradient}",
                    "treat None as zero in backward",
                )


def random_unit(tensor: Tensor) -> Array:
    """A random direction of length 1, the same in each run; no negative parts."""
    vector = np.random.default_rng(SEED).random(tensor.shape)
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-300))


def random_gradient(shape: tuple[int, ...], number: int) -> Array:
    """A random gradient of either sign, with no element near 0, 1 or -1."""
    random = np.random.default_rng(SEED + number)
    return random.choice([-1.0, 1.0], shape) * random.uniform(1.2, 2.0, shape)


def random_upstream(outputs: list[Tensor], scattered: bool) -> tuple[Tensor, ...]:
    """Random gradients for ``outputs``; scattered ones have gaps in memory."""
    upstream = []
    for number, output in enumerate(outputs):
        random = np.random.default_rng(SEED + number)
        values = random.uniform(-1.0, 1.0, (*output.shape, 2)).astype(output.dtype)
        chosen = values[..., 0] if scattered else values[..., 0].copy()
        upstream.append(Tensor(chosen, requires_grad=True))
    return tuple(upstream)


def mismatch(
    output: int,
    input: int,
    numerical: Any,
    analytical: Any,
    more: str = "",
    mode: str = "",
) -> errors.GradcheckError:
    """The error for two Jacobians that are not the same."""
    n, a = np.asarray(numerical), np.asarray(analytical)
    where = ""
    if n.ndim == 2:
        row, column = np.unravel_index(np.argmax(np.abs(n - a)), n.shape)
        where = (
            f"The largest difference: element {column} of the output by element {row} "
            f"of the input is {n[row, column]:.6g} measured, and "
            f"{a[row, column]:.6g} from {'jvp' if mode else 'backward'}"
        )
    return failed(
        f"Jacobian {mode}mismatch for output {output} with respect to input {input},\n"
        f"numerical:{Tensor(n)}\nanalytical:{Tensor(a)}\n{where}{more}",
        "compare the rule with the slope written down by hand; at a kink, or where "
        "the gradient differs on purpose, small differences do not apply",
    )


def failed(what: str, fix: str) -> errors.GradcheckError:
    """The error for a check that did not pass."""
    return errors.GradcheckError.at("gradcheck", what, fix, "13")
