"""Recordings that show themselves: what ``minigrad.record`` and ``step`` give back."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from minigrad import errors
from minigrad.engine.core.function import Function
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.codes import codes_of
from minigrad.tracing.edits import Edit, edited
from minigrad.tracing.foreign import torch_module
from minigrad.tracing.messages import message
from minigrad.tracing.picture_words import stop
from minigrad.tracing.places import asked_for, fitting, leaf_called, places_at, refused
from minigrad.tracing.program import MOST_BYTES
from minigrad.tracing.terms import add_terms
from minigrad.tracing.trace import step_that_says, steps_that_say, write_whole
from minigrad.views import page, picture
from minigrad.views.numbers import Asking, Explanation, node_named
from minigrad.views.plots import Lines
from minigrad.views.whatif import WhatIf, connect, is_notebook

FEW_BYTES: Final = 5_000_000
_PLACE: Final = ("d", "s", "l", "ph", "cid")  # where an event stands


class Recording(Trace):
    """A trace that a notebook shows as a player, and a terminal as sentences."""

    drawn: Lines | None = None
    """The picture of numbers that the function returned, if it returned one."""

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Write the player as one HTML file that needs no network and no Python."""
        return write_whole("save_html", path, page.page_of(self._pictured()))

    def to_markdown(self, level: int = 2) -> str:
        """The sentences of a level as Markdown; levels are those of ``sentences``.

        The player saves the same text.
        """

        def plain(text: str) -> str:  # on one line, in which Markdown sees no marks
            return re.sub(r"[\\`*_<>]", r"\\\g<0>", " ".join(text.split()))

        lines = [f"# {plain(page.title_of(self.data))}", ""]
        says = enumerate(self.sentences(level), 1)
        lines += [f"{number}. {plain(say)}" for number, say in says]
        if error := self.data["meta"].get("error"):
            lines += ["", f"{message('text.error')} {plain(error)}"]
        return "\n".join(lines) + "\n"

    def ask(
        self, question: str, choices: Sequence[str], answer: str, *, before: str
    ) -> Self:
        """Ask a question before the step whose sentence has the words ``before``.

        The player does not go past it until an answer is committed, and shows it
        beside what happens: ``trace.ask("x.grad?", ["2", "3"], "3", before="x.grad")``.
        """
        choices = [str(choice) for choice in choices]
        if len(choices) < 2 or str(answer) not in choices:
            raise errors.ArgumentValueError.at(
                "ask",
                f"the answer {str(answer)!r} is not one of at least two choices: "
                f"{', '.join(map(repr, choices)) or 'none'}",
                "give the choices as a list, and the answer as one of them",
            )
        place = step_that_says(self, before, "ask", most=2) - 1
        event: dict[str, Any] = {"k": "ask", "say": question, "d": 0}
        stop(event, question)
        if place:
            former = self.data["events"][place - 1]
            event |= {key: former[key] for key in _PLACE if key in former}
        event |= {"question": question, "choices": choices, "answer": str(answer)}
        self.data["events"].insert(place, event)
        return self

    def open_at(self, *words: str) -> Self:
        """Let the player open at the first step whose sentence has these words.

        Of several, each is looked for behind the one before; without them all, the
        player opens at its beginning. A step that *Picture* leaves out is opened at
        *Phases*.
        """
        start = 0
        for text in words:
            steps = steps_that_say(self, text, most=2)
            start = next((n for n in steps if n > start), 0)
            if not start:
                break
        if start and self.data["events"][start - 1]["lvl"]:
            self.at_level("phases")
        self.data["meta"]["start"] = start
        return self

    def at_level(self, name: str) -> Self:
        """Let the player open at *picture*, *phases* or *everything*.

        Raises: ArgumentValueError for another name.
        """
        if name not in page.LEVELS:
            raise errors.ArgumentValueError.at(
                "at_level",
                f"there is no level {name!r}",
                f"use one of {', '.join(page.LEVELS)}",
            )
        self.data["meta"]["level"] = page.LEVELS[name]
        return self

    def with_memory(self) -> Self:
        """Let the player open with the strip of the memory that is kept alive."""
        self.data["meta"]["memory"] = True
        return self

    def playing(self) -> Self:
        """Let the player play at once, unless the reader asks for less motion."""
        self.data["meta"]["play"] = True
        return self

    def what_if(
        self,
        step: int | str = "",
        *,
        leaf: Mapping[str, Any] | None = None,
        saved: Mapping[int, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
        gradient: Any = None,
        node: str = "",
    ) -> WhatIf:
        """Run the program again with another value from a step on, and compare.

        For a recording made with ``keep_values=True``. ``leaf`` is a tensor that no
        call has made, by its name: with {"x": 5.0} it starts with this value. Else
        ``step`` is the number of a step, or words of its sentence; ``saved`` and
        ``attributes`` are of the ctx at work there, or of ``node``; ``gradient`` is the
        one that the step tells of, or one for each output, {0: ...}. New numbers have
        the shape of the old; a function makes them of those, and {(0, 1): 5.0} is one
        element: saved={0: {(0, 1): 5.0}}.
        What a hook has packed, or a checkpoint computes again, is another each time it
        is unpacked.

        The program runs on copies of all that it started from, and prints nothing: your
        tensors, lists and models stay as they are. Twice: first as it was, which must
        tell the same. Raises: ArgumentValueError for what can't be edited at the step;
        WhatIfError if the program doesn't do the same twice, writes files, starts other
        programs, or asks for ``input()``.

        >>> import minigrad
        >>> with minigrad.record(keep_values=True) as trace:
        ...     x = minigrad.tensor(3.0, requires_grad=True)
        ...     (x * x).backward()
        >>> trace.what_if("MulBackward0 is ready", saved={0: 5.0})
        <WhatIf: What if saved[0] of MulBackward0 were 5 instead of 3? Then x.grad ...>
        >>> x.grad
        tensor(6.)
        """
        data, at = self.data, 0
        if isinstance(step, str):
            at = step_that_says(self, step, "what_if") if step or not leaf else 0
        elif 1 <= step <= len(self):
            at = step
        else:
            raise refused(
                f"there is no step {step}: the recording has {len(self)} steps",
                f"give a number from 1 to {len(self)}, or words of a sentence",
            )
        there = places_at(data, at, node) if at else []
        wanted: list[tuple[str, Any, Any]] = []
        wanted += [("entry", f"saved.{key}", new) for key, new in (saved or {}).items()]
        wanted += [("entry", f"attr.{k}", new) for k, new in (attributes or {}).items()]
        if gradient is not None:
            by_output = gradient if isinstance(gradient, Mapping) else {None: gradient}
            wanted += [("gradient", key, new) for key, new in by_output.items()]
        asked = [(asked_for(there, kind, key, at), new) for kind, key, new in wanted]
        asked += [(leaf_called(data, name), new) for name, new in (leaf or {}).items()]
        if not asked:
            raise refused(
                f"nothing is to be another at step {at}",
                "give saved=, attributes= or gradient=. There is "
                f"{', '.join(map(str, there)) or 'nothing'}",
            )
        edits = [Edit(one, fitting(data, one, new)) for one, new in asked]
        return WhatIf(self, edited(self, edits))

    def explain(
        self, what: str, element: Sequence[int] | None = None, *, output: int = 0
    ) -> Explanation:
        """Which sum the gradient at a node is, and of which terms each part is made.

        ``what`` is a leaf (``"x.grad"``), a node's label or its id; ``element`` one
        element of the gradient: with it, or of a single number, the terms are told.
        It's told of the last backward; the player tells it of each step.
        Terms are there after ``step``, ``%%step`` or ``record(keep_values=True)``.
        Raises: ArgumentValueError for a node or an element that is not there.

        >>> import minigrad
        >>> with minigrad.record(keep_values=True) as trace:
        ...     x = minigrad.tensor(3.0, requires_grad=True)
        ...     (x * x + x * 2).backward()
        >>> trace.explain("x.grad").sentence
        'Arrived at AccumulateGrad of x: 8 = ...'
        """
        self.add_terms()
        node = node_named(self.data, what)
        return Asking(self.data, node, output, element).explanation()

    def add_terms(self) -> None:
        """Write into the data of which terms each small gradient is made, once.

        For a recording made by ``step``, ``%%step`` or with ``keep_values=True``.
        Rules of learners run again if they can change nothing but their own ctx.
        """
        rules, self.rules = self.rules, None
        if rules:
            add_terms(rules, self.data["events"])

    def __repr__(self) -> str:
        title = self.data["meta"].get("title") or "untitled"
        return f"<Recording {title!r}: {errors.count_of(len(self), 'step')}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        key = secrets.token_hex(8)
        connect(key, self)
        return page.bundle_of(self._pictured(), key)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the recording to a JSON file, whole or not at all."""
        self.add_terms()
        return super().save(path)

    def _pictured(self) -> dict[str, Any]:
        """The data, with its pictures: what a page plays."""
        self.add_terms()
        pictures = picture.pictures_of(self.data)
        return {**self.data, "graph": {**self.data["graph"], "pictures": pictures}}


def record(
    title: str = "",
    *,
    watch: Any = (),
    lines: bool = True,
    keep_values: bool | None = None,
    most_bytes: int = MOST_BYTES,
) -> Recorder[Recording]:
    """Record what the engine does inside a ``with`` block.

    torch is heard too, if the program has imported it before: its own Functions, graph
    and gradients, told as minigrad's are. What torch lets nobody see is said.
    ``watch`` names a further function whose lines are to be shown, or several; with
    ``lines=False`` only the story is kept. With ``keep_values=True`` a copy of all that
    the program starts from is kept, at most ``most_bytes``, so that
    ``trace.what_if(...)`` can run it with another value; in a notebook it is kept
    unless you say False, if it is small: its player edits values. An error inside is
    kept in the recording, and raised. Of more than 20,000 steps the first and the last
    half are kept; a step between them says what is left out.

    >>> import minigrad
    >>> with minigrad.record("double") as trace:
    ...     y = minigrad.tensor(3.0, requires_grad=True) * 2
    >>> trace
    <Recording 'double': ... steps>
    """
    return Recorder(
        Recording(),
        title=title,
        watch=watch,
        lines=lines,
        **keeping(keep_values, most_bytes),
    )


def keeping(keep_values: bool | None, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """How a Recorder is told what to keep; in a notebook by itself what is small."""
    if keep_values is None and is_notebook():
        return {"keep_values": True, "most_bytes": FEW_BYTES, "keep_rules": False}
    return {"keep_values": bool(keep_values), "most_bytes": most_bytes}


def step(
    function: Callable[..., Any],
    *args: Any,
    keep_values: bool | None = None,
    **kwargs: Any,
) -> Recording:
    """Record a call of ``function``; an exception inside is shown, not raised.

    So is Ctrl-C: what was recorded until then is there. A Function class stands for its
    ``apply``. ``keep_values`` is as in ``record``; the rest is what is called with.
    """
    if function_base(function) is not None:
        function = function.apply  # type: ignore[attr-defined]  # either engine's
    if not callable(function):
        raise errors.ArgumentTypeError.at(
            "step",
            f"{type(function).__name__} can't be called",
            "give the function and its arguments: step(function, x, y)",
        )
    title = name_of_callable(function)
    recording = Recording()
    try:
        with Recorder(
            recording,
            title=title,
            watch=codes_of(function),
            call=(function, args, kwargs),
            **keeping(keep_values) | {"keep_rules": True},
        ):
            returned = function(*args, **kwargs)
            if isinstance(returned, Lines):  # nothing that could hold a graph
                recording.drawn = returned
    except (Exception, KeyboardInterrupt):
        if not recording.data["events"]:
            raise  # nothing was recorded that could show it
    return recording


def function_base(item: Any) -> Any:
    """The Function, minigrad's or torch's, of which ``item`` is a subclass; or None."""
    torch = torch_module()
    bases = (Function,) if torch is None else (Function, torch.autograd.Function)
    is_class = isinstance(item, type)
    return next((base for base in bases if is_class and issubclass(item, base)), None)


def name_of_callable(function: Callable[..., Any]) -> str:
    """How a call of ``function`` is headed; an ``apply`` by the class it belongs to."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type):
        return f"{owner.__qualname__}.{function.__name__}"
    return str(getattr(function, "__qualname__", type(function).__name__))


def load_trace(path: str | os.PathLike[str]) -> Recording:
    """The recording that ``save`` wrote to ``path``.

    Raises: FileNotFoundError without a file; a ValueError for one that is no recording.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            errors.message(
                "load_trace",
                f"there is no file {os.fspath(path)!r}",
                "give the path that trace.save(path) wrote",
            )
        )
    return Recording.load(path)
