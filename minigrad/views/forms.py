"""Questions, lines to be ordered and boxes to write in, as widgets.

Everything works by mouse and by keyboard alone: Tab moves between the parts, the arrow
keys choose inside one, Space or Enter presses a button, Escape leads back to the cell,
and Shift+Enter on to the next one.
Plain data goes in; what the learner commits comes back through a function, whose HTML
answer is shown below the form.
"""

from __future__ import annotations

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

    body: Bundle = {"__module__": __name__, "_esm": HERE / f"{name}.js"}
    for key, kind in traits.items():
        body[key] = getattr(traitlets, kind)().tag(sync=True)
    if (sheet := HERE / f"{name}.css").is_file():
        body["_css"] = sheet
    return type(name, (anywidget.AnyWidget,), body)


def form(
    commit: Callable[[Any], str], outcome: str = "", locks: bool = False, **spec: Any
) -> Any:
    """A form of one kind; ``commit`` answers what was committed, with HTML.

    With ``kept``, an earlier answer, and ``outcome``, what was said to it, it is as it
    was left. One that ``locks`` takes no second answer.
    """
    spec = {"key": str(next(_keys)), "press": "Commit", **spec}
    locked = locks and bool(spec.get("kept"))
    kind = widget_class("forms", spec="Dict", outcome="Unicode", locked="Bool")
    made = kind(spec=spec, outcome=outcome, locked=locked)

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
    questions: Sequence[Mapping[str, Any]],
    commit: Callable[[dict[str, str]], Any],
    **more: Any,
) -> Any:
    """One part for each question, and a button; ``more`` is as for any form.

    A question has ``id``, ``text`` and ``choices``, and may have a ``program``.
    """
    return form(
        lambda said: commit({key: value.strip() for key, value in said.items()}),
        **asked(questions, **more),
    )


def asked(questions: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """What such a form is told, as plain data."""
    return {
        "kind": "questions",
        "questions": [{**q, "choices": list(q["choices"])} for q in questions],
        "press": "Commit",
        "about": "Keep these answers and see what happens",
        **more,
    }


def answering(
    then: Callable[[Any], tuple[str, Any]], make: Callable[..., Any], kept: Any = None
) -> Any:
    """A form that ``make`` makes, with room below it.

    For an answer, or the one that was ``kept``, ``then`` gives what is said, as HTML,
    and what is shown below, or None; what it prints stands there, too.
    """
    import ipywidgets

    below = ipywidgets.Output()

    def show(answer: Any) -> str:
        said, shown = "", None
        below.clear_output()
        with below:
            said, shown = then(answer)
            if shown is not None:
                display(shown)
        return said

    made = make(show)
    if kept:
        made.outcome = show(kept)
    return ipywidgets.VBox([made, below])


def button(press: str, about: str, then: Callable[[], Any]) -> Any:
    """A button; what ``then`` gives is shown below it."""
    make = partial(form, kind="button", press=press, about=about)
    return answering(lambda _: ("", then()), make)


def page(text: str) -> Any:
    """HTML that a notebook shows as it is, with links that open notebooks."""
    return importlib.import_module("IPython.display").HTML(text)


def filled(text: str, place: Any = None) -> Any:
    """Such HTML in a column; instead of what stands in ``place``, if there is one."""
    import ipywidgets

    place = place or ipywidgets.Output()
    place.outputs = ()
    place.append_display_data(page(text))
    return place


def column(*parts: Any) -> Any:
    """HTML and forms, one below the other."""
    import ipywidgets

    return ipywidgets.VBox(parts)


def shell() -> Any:
    """The IPython that runs this, or None; it is never imported for that."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def has_kernel() -> bool:
    """Whether this runs in a notebook."""
    return getattr(shell(), "kernel", None) is not None


def display(value: Any) -> None:
    """Show a value as the last line of a cell would."""
    importlib.import_module("IPython.display").display(value)
