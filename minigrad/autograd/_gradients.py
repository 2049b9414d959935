"""``grad``: for one gradient of the outputs, or for a batch of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.engine import gradients
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.gradients import Ends


def grad(
    outputs: Ends,
    inputs: Ends,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``; no ``.grad`` changes.

    Shape: as the inputs, one each: a tuple, or for a dict of inputs a dict. An input
    that was not used gives an error, None with ``allow_unused``, zeros with
    ``materialize_grads``. With ``is_grads_batched``, the first dimension of
    ``grad_outputs`` and of the results counts gradients.

    Raises: GraphError; GradientArgumentError.
    See: torch ``autograd.grad``.

    >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    >>> minigrad.autograd.grad((x * x).sum(), x)
    (tensor([2., 4.]),)
    """
    compute: Any = gradients.grad
    if is_grads_batched:
        # Few programs ask for it, and all would wait for what it is made of.
        from minigrad.transforms.vmap import grad_for_each as compute
    return compute(
        outputs,
        inputs,
        grad_outputs,
        retain_graph,
        create_graph,
        allow_unused,
        materialize_grads,
    )
