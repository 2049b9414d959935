"""A player with inputs: each change records the function again and redraws.

The page in the frame is the player's own; a widget carries what page and Python say to
each other. Nothing is seen without a running kernel, so the newest recording is always
at hand as an ordinary one: ``player.recording``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import json
from collections.abc import Callable
from typing import Any, Final

from minigrad import errors
from minigrad.tracing.messages import message
from minigrad.views import page
from minigrad.views.forms import bundle_of, widget_class
from minigrad.views.inputs import Input, input_for, problem_of
from minigrad.views.recording import (
    Recording,
    function_base,
    name_of_callable,
    step,
)
from minigrad.views.whatif import Edits, reply_to

MOST_PRINTED: Final = 5_000  # characters; of more, the end is shown

Json = dict[str, Any]


class LivePlayer:
    """A function, its inputs, and the player of its newest recording.

    ``recording`` is that recording, for everything an ordinary one can do;
    ``arguments`` are those it was made with.
    """

    def __init__(
        self, function: Callable[..., Any], /, *args: Any, **given: Any
    ) -> None:
        if importlib.util.find_spec("anywidget") is None:
            raise ModuleNotFoundError(
                errors.message(
                    "live",
                    "it needs the package anywidget, which this Python doesn't have",
                    "pip install anywidget; or minigrad.step(function, ...), a player "
                    "without sliders, which needs no widgets",
                ),
                name="anywidget",
            )
        self.function = function
        self._call = bound(function, args, given)
        self._inputs = inputs_of(self._call, function)
        self._typed = {name: one.text for name, one in self._inputs.items()}
        self._good = dict(self._typed)
        self._problems: dict[str, str] = {}
        self._answers: dict[str, Callable[[Json], Json]] = {"inputs": self._changed}
        self.arguments: Json = {}
        self.recording = Recording()
        self._record()
        traits = {
            "page": page.live_page(name_of_callable(function)),
            "shown": self._shown(),
            "name": message("live.frame"),
        }
        kind = widget_class("live_player", **dict.fromkeys(traits, "Unicode"))
        self.widget = kind(**traits)
        self.widget.on_msg(self._heard)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}={text!r}" for name, text in self._typed.items())
        return f"<LivePlayer {name_of_callable(self.function)}({inputs})>"

    def _repr_mimebundle_(self, **_: Any) -> Json:
        told = page.text_of(self.recording.data)
        words = message("live.needs-python")
        return bundle_of(self.widget, f"{self!r}\n{words}\n{told}")

    def _heard(self, _: Any, asked: Json, buffers: Any) -> None:
        """Answer a question of the page: always, so that it does not wait for ever."""
        self.widget.send(reply_to(asked, self._answers))

    def _changed(self, content: Json) -> Json:
        """Record with what can be read; another input keeps the value it had."""
        self._typed |= content["values"]
        told = {n: problem_of(self._inputs[n], text) for n, text in self._typed.items()}
        self._problems = {name: problem for name, problem in told.items() if problem}
        before = self._good
        good = {n: text for n, text in self._typed.items() if n not in self._problems}
        self._good = before | good
        if self._good != before or not self._problems:
            self._record()
        self.widget.shown = self._shown(content["by"])
        return {}

    def _record(self) -> None:
        """Run the function; what it prints goes to the page."""
        # New leaves each time: those of the run before have collected gradients.
        self.arguments = {n: one.read(self._good[n]) for n, one in self._inputs.items()}
        self._call.arguments |= self.arguments
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.recording = step(
                self.function, *self._call.args, keep_values=True, **self._call.kwargs
            )
        self._answers |= Edits(self.recording).answers()
        self._printed = printed.getvalue()[-MOST_PRINTED:]

    def _shown(self, by: str = "") -> str:
        """What the page shows, as JSON; ``by`` names the change that led to it."""
        shown = {
            "trace": page.played(self.recording._pictured()),
            "inputs": {name: one.spec for name, one in self._inputs.items()},
            "values": self._typed,
            "problems": self._problems,
            "printed": self._printed,
            "drawn": drawn.figure() if (drawn := self.recording.drawn) else "",
            "by": by,
        }
        return json.dumps(shown, separators=(",", ":"))


def bound(function: Any, args: tuple[Any, ...], given: Json) -> inspect.BoundArguments:
    """The call that is recorded, with all defaults; of a Function, that of forward."""
    try:
        base = function_base(function)
        if base is None:
            signature = inspect.signature(function)
        else:
            signature = inspect.signature(function.forward)
            takes_ctx = function.setup_context is base.setup_context
            parameters = [*signature.parameters.values()][takes_ctx:]
            signature = signature.replace(parameters=parameters)
        call = signature.bind(*args, **given)
    except (TypeError, ValueError) as error:
        raise errors.ArgumentTypeError.at(
            "live",
            f"{name_of_callable(function)} can't be called like that: {error}",
            "give the function, and a value or a range for each argument",
        ) from None
    call.apply_defaults()
    return call


def inputs_of(
    call: inspect.BoundArguments, function: Callable[..., Any]
) -> dict[str, Input]:
    """The inputs, by the name of their argument; some arguments have none."""
    inputs = {}
    for name, value in call.arguments.items():
        parameter = call.signature.parameters[name]
        start = parameter.default
        many = parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD
        if parameter.kind in many and value:
            raise errors.ArgumentTypeError.at(
                "live",
                f"{name_of_callable(function)} takes any number of {name}",
                "give a function that names its arguments: def program(x, y): ...",
            )
        is_default = isinstance(value, tuple) and value is start
        if parameter.kind in many or is_default:
            continue
        if one := input_for(name, value, start):
            inputs[name] = one
    return inputs


def live(function: Callable[..., Any], /, *args: Any, **given: Any) -> LivePlayer:
    """A player with inputs for the arguments of ``function``: a change runs it again.

    A number or a scalar tensor becomes a slider, (low, high) or (low, high, step) a
    slider with these ends, True and False a checkbox, text a line of text, and a list,
    an array or a tensor numbers to type. Tensors are new leaves each time. Anything
    else is passed on as it is. What it prints is shown, and a picture of numbers
    (``plot_lines``) that it returns.

    It needs anywidget and a running Python: ``.recording`` is the ordinary recording of
    the newest run, for a page or a file. Raises: ModuleNotFoundError without anywidget.

        def program(x, n):
            for _ in range(n):
                x = x * x
            x.backward()

        minigrad.live(program, x=minigrad.tensor(1.5, requires_grad=True), n=(1, 4))
    """
    return LivePlayer(function, *args, **given)
