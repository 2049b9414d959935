"""The concept test: what it says is printed is printed, here and in torch."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import traceback
from collections import Counter
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any
from unittest import mock

import pytest

from minigrad import _workspace, course
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import concepts, journal
from minigrad.errors import ArgumentValueError
from minigrad.mistakes import TABLE

ROOT = Path(__file__).resolve().parents[3]
# torch's own forward mode does it.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
EVERY = [
    pytest.param(item, form, choice, id=f"{item.id}-{form}-{choice.mistake or 'right'}")
    for item in concepts.items()
    for form in concepts.FORMS
    for choice in item.choices
]


@pytest.fixture(params=["minigrad", "torch"])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    found = pytest.importorskip(request.param)
    importlib.import_module(f"{request.param}.autograd.forward_ad")
    return found


def printed(program: str, engine: ModuleType) -> tuple[str, str]:
    """What a program prints, or the line that stops it and the error's message."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(program, "item", "exec"), {"mg": engine, "Recorded": Recorded})
    except (RuntimeError, TypeError, ValueError) as error:
        assert not out.getvalue()
        tops = [n for f, n in traceback.walk_tb(error.__traceback__) if in_item(f)]
        *before, line = program.splitlines()[: tops[0]]
        which = "the second " if line in before else ""
        return f"{concepts.ERROR} in {which}{line}", str(error)
    return out.getvalue().strip(), ""


def in_item(frame: FrameType) -> bool:
    return frame.f_code.co_filename == "item"


def among(item: concepts.Item, form: str, said: str) -> concepts.Choice | None:
    """The choice that a program's end is; an error's place may be left out."""
    shown = item.shown(form)
    plain = concepts.ERROR if said.startswith(concepts.ERROR) else said
    return shown.get(said, shown.get(plain))


@pytest.mark.parametrize(("item", "form", "choice"), EVERY)
def test_program_of_each_choice_prints_it(
    item: concepts.Item, form: str, choice: concepts.Choice, engine: ModuleType
) -> None:
    said, message = printed(item.program(form, choice), engine)
    assert among(item, form, said) is choice
    assert choice.error in message
    assert bool(message) == bool(choice.error)


class Recorded:
    """A Function without backward: the engine differentiates what forward computes."""

    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        ctx = () if hasattr(cls, "setup_context") else (mock.Mock(),)
        return cls.forward(*ctx, *inputs)  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", concepts.FORMS)
def test_derivative_answers_no_item_and_is_seldom_on_offer(
    form: str, engine: ModuleType
) -> None:
    offered: dict[str, bool] = {}
    for item in concepts.items():
        program = item.program(form).replace("mg.autograd.Function", "Recorded")
        assert program != item.program(form)
        # What was multiplied is watched, and that's the engine's rule, not calculus.
        said, _ = printed(re.sub(r"(?m)^w\..*_\(.*\n", "", program), engine)
        if (found := among(item, form, said)) and item.id != "lifetime":
            offered[item.id] = not found.mistake
    assert list(offered) == ["number", "mark_dirty", "second_derivative"]
    assert not any(offered.values()), offered


def test_belief_that_changes_nothing_is_refused() -> None:
    item, *_ = concepts.items()
    belief = concepts.Choice(["1", "1"], "C01", "nothing", [["not there", ""]])
    with pytest.raises(ValueError, match="no 'not there' to be changed"):
        item.program("A", belief)


def test_items_are_twelve_with_one_right_choice_and_known_mistakes() -> None:
    found = concepts.items()
    assert len(found) == len({item.id for item in found}) == 12
    assert len({item.feature for item in found}) == 12
    for item in found:
        right = [choice for choice in item.choices if not choice.mistake]
        wrong = [choice for choice in item.choices if choice.mistake]
        assert len(right) == 1
        assert 2 <= len(wrong) == len({choice.mistake for choice in wrong})
        assert all(c.mistake in TABLE and c.thinks and c.becomes for c in wrong)
        assert not right[0].becomes
        assert any(name.startswith(item.lesson) for name in catalogue.names())
        for form in concepts.FORMS:
            assert len(item.shown(form)) == len(item.choices)
        assert item.program("A") != item.program("B")


def test_place_and_look_of_a_choice_do_not_tell_the_right_one() -> None:
    for form in concepts.FORMS:
        shown = [list(item.shown(form).values()) for item in concepts.items()]
        places = Counter(
            [i for each in shown for i, c in enumerate(each) if not c.mistake]
        )
        assert max(places.values()) <= 5, places
    for item in concepts.items():
        first, second = [
            [not choice.mistake for choice in item.shown(form).values()].index(True)
            for form in concepts.FORMS
        ]
        assert first != second, item.id
    errors = [
        choice.mistake == ""
        for item in concepts.items()
        for choice in item.choices
        if choice.says[0].startswith(concepts.ERROR)
    ]
    assert 2 <= sum(errors) < len(errors) / 2


def answers_of(form: str, mistake: str = "") -> dict[str, str]:
    """Right answers; where an item has the mistake, that one."""
    found = {}
    for item in concepts.items():
        shown = item.shown(form).items()
        wanted = [words for words, choice in shown if choice.mistake == mistake]
        right = [words for words, choice in shown if not choice.mistake]
        found[item.id] = (wanted or right)[0]
    return found


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / _workspace.SHIPPED).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_results_file_says_what_is_in_it_and_holds_no_more(workspace: Path) -> None:
    kept = course.concept_test("A", answers_of("A"))
    code = concepts.own_code()
    found = json.loads((workspace / f"concepts-A-{code}.json").read_text("utf8"))
    assert list(found) == ["about", "test", "form", "code", "answers"]
    assert found["answers"] == answers_of("A")
    assert "Not in it: your name, the time, your computer" in found["about"]
    assert re.fullmatch("[a-z0-9]{6}", code)
    assert found["about"] in repr(kept)
    assert str(found["answers"]["node"]) in kept._repr_html_()


def test_two_forms_of_a_workspace_have_one_code_and_the_first_answers_stay(
    workspace: Path,
) -> None:
    course.concept_test("A", answers_of("A"))
    first = {path: path.read_bytes() for path in workspace.glob("concepts-*.json")}
    course.concept_test("A", answers_of("A", "C01"))
    course.concept_test("B", answers_of("B"))
    assert all(path.read_bytes() == content for path, content in first.items())
    codes = {path.stem.split("-")[2] for path in workspace.glob("concepts-*.json")}
    assert len(codes) == 1
    assert len(journal.entries(kind=journal.CONCEPTS)) == 2


def test_commit_in_the_form_locks_it_and_comes_back(workspace: Path) -> None:
    form = concepts.form_of("B")
    assert [q["choices"] for q in form.spec["questions"]] == [
        item.words("B") for item in concepts.items()
    ]
    chosen = {
        str(n): answers_of("B")[item.id] for n, item in enumerate(concepts.items(), 1)
    }
    form._handle_custom_msg({"answer": chosen}, [])
    assert form.locked
    assert "concepts-B-" in form.outcome
    again = concepts.form_of("B")
    assert again.locked
    assert dict(again.spec["kept"]) == chosen


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"node": "3.5"}, "node: '3.5' is none of '1.0', '25.0', '50.0'"),
        ({"nodes": "1.0"}, "there is no item 'nodes'"),
    ],
)
def test_answers_that_are_none_are_refused(
    workspace: Path, change: dict[str, str], says: str
) -> None:
    with pytest.raises(ArgumentValueError, match=says):
        course.concept_test("A", answers_of("A") | change)
    with pytest.raises(ArgumentValueError, match="the answer to node is missing"):
        course.concept_test(
            "A", {k: v for k, v in answers_of("A").items() if k != "node"}
        )
    assert not list(workspace.glob("concepts-*.json"))


def test_form_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="no such form"):
        course.concept_test("C")


def test_page_and_learners_notebook_do_not_give_the_answers_away() -> None:
    page = (ROOT / concepts.BUILT_PAGE).read_text("utf8")
    told = [page, (ROOT / concepts.NOTEBOOK).read_text("utf8")]
    told.append(repr(course.concept_test("A")))
    for item in concepts.items():
        for choice in item.choices:
            for text in told:
                assert not choice.thinks or choice.thinks not in text
                assert not choice.mistake or f'"{choice.mistake}"' not in text
    assert not re.search(r"https?://", page)
    assert "default-src 'none'" in page


def test_key_for_instructors_names_every_choice() -> None:
    key = concepts.key()
    for item in concepts.items():
        for choice in item.choices:
            assert " | ".join(choice.says) in key
            assert choice.thinks in key
    assert len(re.findall(" right$", key, re.MULTILINE)) == 12
