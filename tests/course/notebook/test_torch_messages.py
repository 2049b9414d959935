"""Error messages of torch, pasted into the search, lead to cells that explain."""

from __future__ import annotations

import importlib
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import answers
from minigrad.course.notebook import faq

TABLE = Path(__file__).with_name("torch_messages.toml")
MESSAGES = tomllib.loads(TABLE.read_text("utf8"))["message"]
SECTIONS = {one.section for one in faq.explaining(faq.by_section())}
# The rest of a long one is advice, or numbers of this very run.
HEAD = 250


@cache
def first_three(message: str) -> list[str]:
    """The sections that a search shows first."""
    return list(dict.fromkeys([row.section for row in answers(message)]))[:3]


def leads_to_an_explanation(row: dict[str, Any]) -> bool:
    return bool(set(first_three(row["says"])) & set(row["sections"]))


def test_table_has_thirty_different_messages_and_sections_that_exist() -> None:
    assert len({row["says"] for row in MESSAGES}) == 30
    named = {section for row in MESSAGES for section in row["sections"]}
    assert named <= SECTIONS


@pytest.mark.parametrize(
    "row",
    [row for row in MESSAGES if row["sections"]],
    ids=lambda row: row["says"].strip()[:60],
)
def test_message_leads_to_a_section_that_explains_it(row: dict[str, Any]) -> None:
    assert leads_to_an_explanation(row), first_three(row["says"])


def test_at_least_27_of_the_30_are_explained() -> None:
    assert sum([leads_to_an_explanation(row) for row in MESSAGES]) >= 27


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in")
@pytest.mark.filterwarnings("ignore:.*should not be instantiated")
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # by its own jvp
@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row["says"].strip()[:60])
def test_program_provokes_the_message_in_torch(row: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    names = {
        "torch": torch,
        "Function": torch.autograd.Function,
        "once_differentiable": torch.autograd.function.once_differentiable,
        "checkpoint": importlib.import_module("torch.utils.checkpoint").checkpoint,
        "forward_ad": importlib.import_module("torch.autograd.forward_ad"),
        "x": torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
    }
    with pytest.raises(Exception) as error:  # noqa: PT011  the message is compared
        exec(row["program"], names)
    said = f"{type(error.value).__name__}: {error.value}"
    assert said[:HEAD].strip() == row["says"][:HEAD].strip()
