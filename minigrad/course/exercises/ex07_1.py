"""07.1: what backward is given for an output that was not used, or hardly."""

from __future__ import annotations

from typing import Any

import minigrad


def truth() -> dict[str, str]:
    """The gradients that six backwards are given."""
    given: list[tuple[Any, Any]] = []

    class Pair(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g1: Any, g2: Any) -> Any:
            given.append((g1, g2))
            return None

    class Bare(Pair):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

    class Counted(Pair):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, (x * 3).long()

    x = minigrad.tensor(1.0, requires_grad=True)
    first, second = Pair.apply(x)
    first.backward()
    first, second = Pair.apply(x)
    (first + second * 5).backward()
    first, second = Bare.apply(x)
    first.backward()
    first, second = Bare.apply(x)
    second.backward()
    first, second = Bare.apply(x)
    (first + second * 0).backward()
    first, second = Counted.apply(x)
    first.backward()
    in_words = [*(str(g2) for _, g2 in given[:3]), str(given[3])]
    in_words += [str(g2) for _, g2 in given[4:]]
    return dict(zip("abcdef", in_words, strict=True))
