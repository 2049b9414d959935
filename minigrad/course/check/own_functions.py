"""A block in which every gradient has to come from a Function of the learner's own."""

from __future__ import annotations

import builtins
from typing import Any, Self

from minigrad import errors
from minigrad.engine import observe

ENGINES = ("autograd", "jax", "mygrad", "tensorflow", "tinygrad", "torch")
OF_OURS = ("minigrad.nn.functional", "minigrad.func")


class OwnFunctionsError(errors.MinigradError, RuntimeError):
    """Something else than a Function of one's own is to compute a gradient."""


class NodesOfOthers:
    """The observer that is told when a built-in operation joins a graph.

    Another shape of the same numbers (reshape, T, a slice) is no rule worth writing.
    """

    observes = observe.RECORDED
    keeps = False
    comes_last = True
    says = "only_my_functions() is in force"

    def edges_wired(self, ctx: Any, outputs: tuple[Any, ...]) -> None:
        made = [one for one in outputs if getattr(one, "grad_fn", None) is ctx]
        if not ctx._is_learners and any([one._base is None for one in made]):
            self.found(ctx.name())

    def found(self, node: str) -> None:
        """Stop at the line that made it."""
        raise OwnFunctionsError.at(
            "only_my_functions",
            f"{node} joins the graph, and its backward is the engine's",
            "apply a Function of your own here; inside its forward, use what you like",
            "16",
        )


class only_my_functions:
    """Refuse, in a block, every backward that the learner has not written.

    Refused are built-in operations that are recorded, where they are called, and the
    import of what brings its own gradients: torch, say, or minigrad.nn.functional.
    What only reshapes, what is not recorded (data, an optimizer's step), and what runs
    inside a Function's forward or backward is free.
    Raises: OwnFunctionsError.

    >>> x = minigrad.ones(2, requires_grad=True)
    >>> with minigrad.course.only_my_functions():
    ...     y = x.reshape(2, 1)
    ...     x * 2
    Traceback (most recent call last):
    minigrad...OwnFunctionsError: only_my_functions: MulBackward0 joins the graph, ...
    """

    def __enter__(self) -> Self:
        self._observer, self._import = NodesOfOthers(), builtins.__import__
        observe.add(self._observer)
        builtins.__import__ = self._imported
        return self

    def __exit__(self, *error: object) -> None:
        observe.remove(self._observer)
        builtins.__import__ = self._import

    def __repr__(self) -> str:
        return (
            "only_my_functions() refuses every recorded operation that is built in, "
            f"and the import of {', '.join([*OF_OURS, *ENGINES])}"
        )

    def _imported(
        self,
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        """``import`` while the block runs; what the engine itself imports is free."""
        by = (globals or {}).get("__name__", "")
        names = [name, *[f"{name}.{one}" for one in fromlist or ()]]
        refused = [
            one
            for one in names
            if one.partition(".")[0] in ENGINES or one.startswith(OF_OURS)
        ]
        if refused and not level and not by.startswith("minigrad."):
            raise OwnFunctionsError.at(
                "only_my_functions",
                f"the import of {refused[0]}: it brings backwards of its own",
                "write the Functions that you need",
                "16",
            )
        return self._import(name, globals, locals, fromlist, level)
