"""Questions, lines to be ordered and boxes to write in, as widgets.

Everything works by mouse and by keyboard alone: Tab moves between the parts, the arrow
keys choose inside one, Space or Enter presses a button, Escape leads back to the cell,
and Shift+Enter on to the next one.
Plain data goes in; what the learner commits comes back through a function, whose HTML
answer is shown below the form.
"""

from __future__ import annotations

import html
import importlib
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

Bundle = dict[str, Any]

_keys = itertools.count()
"""Keeps the radio buttons of two forms apart."""


@cache
def widget_class(name: str, /, **traits: str) -> Any:
    """The widget whose page's side is the module ``name``, and what both sides share.

    anywidget is loaded when the first one is asked for.
    """
    import anywidget
    import traitlets

    shared = {key: getattr(traitlets, kind)() for key, kind in traits.items()}
    body: Bundle = {key: trait.tag(sync=True) for key, trait in shared.items()}
    body |= {"__module__": __name__, "_esm": HERE / f"{name}.js"}
    if (sheet := HERE / f"{name}.css").is_file():
        body["_css"] = sheet
    return type(name, (anywidget.AnyWidget,), body)


def form(commit: Callable[[Any], str], locks: bool = False, **spec: Any) -> Any:
    """A form of one kind; ``commit`` answers what was committed, with HTML.

    One that ``locks`` takes no second answer.
    """
    kind = widget_class("forms", spec="Dict", outcome="Unicode", locked="Bool")
    made = kind(spec={"key": str(next(_keys)), **spec})

    def received(_: Any, content: Any, buffers: Any) -> None:
        if content.get("ping"):
            made.send({"pong": True})
        elif not made.locked:
            made.outcome = commit(content["answer"])
            made.locked = locks

    made.on_msg(received)
    return made


def bundle_of(widget: Any, plain: str) -> Bundle:
    """What a notebook shows for a widget; where none can be shown, ``plain``."""
    bundle = widget._repr_mimebundle_()
    # anywidget gives the metadata of the output as well.
    data: Bundle = dict(bundle[0] if isinstance(bundle, tuple) else bundle)
    data["text/plain"] = plain
    return data


def question_form(
    title: str,
    text: str,
    questions: Sequence[Mapping[str, Any]],
    kept: Mapping[str, str],
    commit: Callable[[dict[str, str]], str],
    outcome: str = "",
    locks: bool = False,
    **words: Any,
) -> Any:
    """One part for each question, and a button, whose ``words`` may be others.

    A question has ``id``, ``text`` and ``choices``, and may have a ``program``.
    With ``kept``, earlier answers, and ``outcome``, what was said to them, the form
    comes back as it was left.
    """
    made = form(
        lambda said: commit({key: value.strip() for key, value in said.items()}),
        locks,
        **asked(title, text, questions, kept) | words,
    )
    made.outcome = outcome
    made.locked = locks and bool(kept)
    return made


def asked(
    title: str,
    text: str,
    questions: Sequence[Mapping[str, Any]],
    kept: Mapping[str, str],
) -> dict[str, Any]:
    """What such a form is told, as plain data."""
    return {
        "kind": "questions",
        "title": title,
        "text": text,
        "questions": [{**q, "choices": list(q["choices"])} for q in questions],
        "kept": dict(kept),
        "press": "Commit",
        "about": "Keep these answers and see what happens",
    }


def locking_form(
    title: str,
    questions: Sequence[Mapping[str, Any]],
    kept: Mapping[str, str],
    commit: Callable[[Mapping[str, str]], tuple[str, Any]],
) -> Any:
    """Questions that are answered once: Commit locks the form, or ``kept`` does.

    ``commit`` gives the outcome as HTML, and what is shown below it, or None.
    """
    import ipywidgets

    below = ipywidgets.Output()

    def committed(answers: Mapping[str, str]) -> str:
        said, shown = "", None
        with below:  # what the program prints belongs there, too
            said, shown = commit(answers)
            if shown is not None:
                display(shown)
        return said

    made = question_form(title, "", questions, kept, committed, locks=True)
    if kept:
        made.outcome = committed(kept)
    return ipywidgets.VBox([made, below])


def order_form(
    title: str,
    text: str,
    lines: Mapping[str, str],
    kept: Sequence[str],
    commit: Callable[[list[str]], str],
    outcome: str = "",
) -> Any:
    """Two lists: the lines left over, and the program; buttons and keys move lines."""
    made = form(
        commit,
        kind="order",
        title=title,
        text=text,
        lines=[{"id": name, "text": line} for name, line in lines.items()],
        kept=list(kept),
        press="Commit",
        about="Run your program and see",
    )
    made.outcome = outcome
    return made


def because_form(prompt: str, kept: str, keep: Callable[[str], str]) -> Any:
    """A box for one's own words, and a button that keeps them."""
    return form(
        keep,
        kind="because",
        title="",
        text=prompt,
        kept=kept,
        press="Keep",
        about="Keep these words; they come back in the review",
    )


def answering(then: Callable[[Any], Any], make: Callable[..., Any]) -> Any:
    """A form that ``make`` makes; what ``then`` gives for an answer is shown below."""
    import ipywidgets

    below = ipywidgets.Output()

    def show(answer: Any) -> str:
        below.clear_output()
        with below:
            display(then(answer))
        return ""

    return ipywidgets.VBox([make(show), below])


def button(press: str, about: str, then: Callable[[], Any]) -> Any:
    """A button; what ``then`` gives is shown below it."""
    make = partial(form, kind="button", press=press, about=about)
    return answering(lambda _: then(), make)


class Page:
    """HTML that a notebook shows as it is, with links that open notebooks."""

    def __init__(self, page: str) -> None:
        self._page = page

    def _repr_html_(self) -> str:
        return self._page


class Refillable:
    """A page in a column whose HTML can be exchanged."""

    def __init__(self, page: str) -> None:
        import ipywidgets

        self.output = ipywidgets.Output()
        self.fill(page)

    def fill(self, page: str) -> None:
        """Show this instead of what is shown."""
        self.output.outputs = ()
        self.output.append_display_data(Page(page))


def column(*parts: Any) -> Any:
    """Pages that can be exchanged, and forms, one below the other."""
    import ipywidgets

    made = [part.output if isinstance(part, Refillable) else part for part in parts]
    return ipywidgets.VBox(made)


def choice_form(
    title: str, choices: Sequence[str], kept: str, choose: Callable[[str], Any]
) -> Any:
    """One of some choices, which can be made again; ``choose`` is told of each."""

    def chosen(answers: dict[str, str]) -> str:
        choose(answers[""])
        return ""

    question = {"id": "", "text": title, "choices": choices}
    words: Any = {"press": "Choose", "about": "Go on along this path"}
    return question_form("", "", [question], {"": kept}, chosen, **words)


def search_form(text: str, find: Callable[[str], Any]) -> Any:
    """A line to ask in, as often as wanted; what ``find`` gives is shown below it."""
    question = {"id": "", "text": text, "choices": []}
    words: Any = {"press": "Search", "about": "Find the cell that answers"}
    make = partial(question_form, "", "", [question], {}, **words)
    return answering(lambda answers: find(answers[""]), make)


def note(text: str) -> str:
    """A short remark."""
    return f"<div>{html.escape(text)}</div>"


def has_kernel() -> bool:
    """Whether this runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def display(value: Any) -> None:
    """Show a value as the last line of a cell would."""
    importlib.import_module("IPython.display").display(value)
