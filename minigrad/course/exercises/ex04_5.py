"""04.5: which nodes run when one layer of two is frozen."""

from __future__ import annotations

import minigrad
from minigrad.tracing import Recorder, Trace


def model(frozen: str) -> tuple[minigrad.Tensor, minigrad.Tensor, minigrad.Tensor]:
    """h, the node's product h * w2, and the result."""
    x = minigrad.tensor([1.0, 2.0])
    w1 = minigrad.tensor([0.5, -1.0], requires_grad=frozen != "w1")
    w2 = minigrad.tensor([2.0, 3.0], requires_grad=frozen != "w2")
    h = (x * w1).tanh()
    product = h * w2
    return h, product, product.sum()


def truth() -> dict[str, str]:
    """Nodes are counted where they run."""
    h, _, y = model("w1")
    _, product, z = model("w2")
    assert product.grad_fn is not None
    kept = [node is not None for node, _ in product.grad_fn.next_functions]
    computed = {
        (True, False): "only the one for h",
        (False, True): "only the one for w2",
    }
    return {
        "a": str(nodes_run(y)),
        "b": str(h.grad_fn),
        "c": str(nodes_run(z)),
        "d": computed.get((kept[0], kept[1]), "both"),
    }


def nodes_run(y: minigrad.Tensor) -> int:
    """How many nodes a backward from ``y`` runs."""
    trace = Trace()
    with Recorder(trace, lines=False):
        y.backward()
    return len({e["n"] for e in trace.data["events"] if e["k"] == "node.enter"})
