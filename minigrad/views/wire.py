"""The wire between the players of a notebook and Python: a widget without a view.

A recording is shown as plain HTML, which outlives its kernel. While that runs, the
widget passes on what the player's page asks: the program again, with other values.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from minigrad import errors
from minigrad.tracing.again import why_not
from minigrad.tracing.messages import message
from minigrad.views import script
from minigrad.views.whatif import Edits

if TYPE_CHECKING:
    from minigrad.views.recording import Recording

MOST_SHOWN: Final = 30  # recordings that are kept for their pages
Json = dict[str, Any]
Answers = Mapping[str, Callable[[Json], Json]]

_shown: dict[str, Answers] = {}


def connect(key: str, recording: Recording) -> None:
    """Let the page of ``key`` ask about ``recording``, if this is a notebook."""
    if not is_notebook():
        return
    wire()
    _shown[key] = answers_about(recording)
    if len(_shown) > MOST_SHOWN:
        del _shown[next(iter(_shown))]


def answers_about(recording: Recording) -> Answers:
    """What a page asks of its recording: first the code that edits, or why it can't."""

    def hello(_: Json) -> Json:
        refusal = why_not(recording)
        if refusal is None:
            return {"code": script.code("edits")}
        why, fix = refusal
        return {"why": message("what-if.why-not", why=why, fix=fix)}

    return {"hello": hello, **Edits(recording).answers()}


def is_notebook() -> bool:
    """Whether a notebook runs here that can show widgets."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    has_kernel = getattr(shell, "kernel", None) is not None
    return has_kernel and importlib.util.find_spec("anywidget") is not None


@cache
def wire() -> Any:
    """The one widget, made when the first recording is shown."""
    import anywidget

    class Wire(anywidget.AnyWidget):
        """Passes on what pages ask, and what they are answered."""

        _esm = Path(__file__).with_name("wire.js")

    made = Wire()
    made.on_msg(lambda _, asked, buffers: heard(made, asked))
    return made


def heard(made: Any, asked: Json) -> None:
    """Answer a page of ours; those of other notebooks are heard, too."""
    if asked["of"] in _shown:
        made.send({**reply_to(asked, _shown[asked["of"]]), "of": asked["of"]})


def reply_to(asked: Json, answers: Answers) -> Json:
    """The answer to a question of a page: always one, so that it doesn't wait."""
    reply = {"kind": "answer", "id": asked["id"]}
    try:
        reply["content"] = answers[asked["kind"]](asked["content"])
    except Exception as error:
        told = isinstance(error, errors.MinigradError | ValueError)
        reply["refused"] = str(error) if told else f"{type(error).__name__}: {error}"
    return reply
