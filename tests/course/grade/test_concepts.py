"""Two concept tests compared: gains, their interval, what stays, and bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.course.grade import command
from minigrad.course.grade import concepts as compared
from minigrad.course.notebook import concepts

ITEMS = concepts.items()


def answers(form: str, right: int, wrong_for: str = "") -> dict[str, str]:
    """The first items right, the others unknown; one item wrong by this mistake."""
    found = {}
    for number, item in enumerate(ITEMS):
        shown = item.shown(form).items()
        words = next(text for text, choice in shown if not choice.mistake)
        found[item.id] = words if number < right else concepts.UNKNOWN
        for text, choice in shown:
            if wrong_for and choice.mistake == wrong_for:
                found[item.id] = text
    return found


def hand_in(folder: Path, form: str, code: str, said: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / concepts.name_of(form, code)
    path.write_text(concepts.text_of(concepts.result_of(form, code, said)))
    return path


@pytest.fixture
def class_of(tmp_path: Path) -> Any:
    def made(scores: list[tuple[int, int]]) -> list[str]:
        for number, (before, after) in enumerate(scores):
            code = f"code-{number}"
            hand_in(tmp_path / "before", "A", code, answers("A", before))
            hand_in(tmp_path / "after", "B", code, answers("B", after))
        return ["--concepts", str(tmp_path / "before"), str(tmp_path / "after")]

    return made


def test_gains_are_those_of_the_scores(
    class_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(class_of([(2, 8), (4, 8)])) == 0
    said = capsys.readouterr().out
    assert "2 learners; right of 12: 3.00 before, 8.00 after" in said
    assert "gain: +5.00, from +4.00 to +6.00 (95 % bootstrap" in said
    assert "normalised gain: +0.56" in said  # 5 of the 9 that were wrong
    assert "2 learners: that's few." in said
    assert "They don't say why answers changed" in said


def test_interval_is_that_of_the_bootstrap_and_the_same_each_time(
    class_of: Any,
) -> None:
    scores = [(n % 5, 4 + n % 7) for n in range(20)]
    before, after = [Path(p) for p in class_of(scores)[1:]]
    made = [
        compared.Comparison(compared.read_all(before), compared.read_all(after))
        for _ in range(2)
    ]
    assert made[0].interval() == made[1].interval()
    gains = np.array([a - b for b, a in scores])
    low, high = made[0].interval() or (0, 0)
    error = gains.std() / np.sqrt(20)
    assert low == pytest.approx(gains.mean() - 1.96 * error, abs=0.25)
    assert high == pytest.approx(gains.mean() + 1.96 * error, abs=0.25)
    assert not any("few" in each for each in made[0].remarks())
    low, high = made[0].interval(normalised=True) or (0, 0)
    assert low < (made[0].normalised or 0) < high


def test_one_learner_has_no_interval(
    class_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(class_of([(3, 9)])) == 0
    said = capsys.readouterr().out
    assert "gain: +6.00\n" in said
    assert "normalised gain: +0.67\n" in said
    assert "One learner: there is no interval." in said


def test_normalised_gain_needs_something_wrong_before(
    class_of: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(class_of([(12, 12), (12, 11)])) == 0
    said = capsys.readouterr().out
    assert "normalised gain" not in said.split("note:")[0]
    assert "Everything was right before" in said
    assert command.main(class_of([(12, 12), (2, 11)])) == 0
    said = capsys.readouterr().out
    assert "The normalised gain has no interval" in said


def test_mistakes_that_stay_are_told_apart_from_those_that_come_and_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for code, before, after in (("ann", "S04", "S04"), ("bob", "S04", "S05")):
        hand_in(tmp_path / "before", "A", code, answers("A", 12, before))
        hand_in(tmp_path / "after", "B", code, answers("B", 12, after))
    paths = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert command.main(["--concepts", *paths, "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "    2   1   1  S04 state kept on the class" in lines
    assert "    0   1   0  S05 state kept in a shared variable or buffer" in lines
    page = (tmp_path / "out/concepts.html").read_text("utf8")
    assert "all calls share one ctx" in page
    assert "script" not in page.replace("description", "")


def test_files_are_compared_like_folders(tmp_path: Path) -> None:
    before = hand_in(tmp_path / "x", "A", "ann", answers("A", 1))
    after = hand_in(tmp_path / "x", "B", "ann", answers("B", 2))
    assert command.main(["--concepts", str(before), str(after)]) == 0


def test_who_is_on_one_side_only_is_named_and_not_counted(
    class_of: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = class_of([(1, 2), (1, 2)])
    hand_in(tmp_path / "before", "A", "zoe", answers("A", 12))
    assert command.main(paths) == 0
    said = capsys.readouterr().out
    assert "1.00 before, 2.00 after" in said
    assert "1 code only on one side: zoe." in said


def test_same_form_twice_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("before", "after"):
        hand_in(tmp_path / folder, "A", "ann", answers("A", 3))
    assert command.main(["--concepts", *map(str, sorted(tmp_path.iterdir()))]) == 0
    assert "The same form twice (ann)" in capsys.readouterr().out


GOOD = concepts.result_of("A", "ann", answers("A", 3))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "it can't be read as JSON"),
        ("[" * 100_000, "it can't be read as JSON"),
        ("[]", "it isn't a file of the minigrad concept test"),
        (json.dumps(GOOD | {"form": "C"}), "form 'C' is neither A nor B"),
        (json.dumps(GOOD | {"code": None}), "its code is None"),
        (json.dumps(GOOD | {"code": "<b>"}), "its code is '<b>'"),
        (json.dumps(GOOD | {"answers": 3}), "it has no answers"),
        (json.dumps(GOOD | {"answers": {}}), "the answer to number is missing"),
        (
            json.dumps(GOOD | {"answers": GOOD["answers"] | {"node": [1]}}),
            r"node: \[1\] is none of '1.0', '25.0'",
        ),
        (
            json.dumps(GOOD | {"form": "B"}),
            "one_ctx_per_call: '100.0' is none of '4.0', '9.0'",
        ),
    ],
)
def test_bad_file_is_named_with_what_is_wrong(
    content: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(compared.ConceptsError, match=says) as error:
        compared.read_all(path)
    assert str(path) in str(error.value)
    assert "fix: mend these files" in str(error.value)


def test_every_bad_file_is_named_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path / "before", "A", "ann", answers("A", 3))
    hand_in(tmp_path / "before", "B", "ann", answers("B", 3))
    (tmp_path / "before" / "notes.json").write_text("{}")
    folder = str(tmp_path / "before")
    assert command.main(["--concepts", folder, folder]) == 2
    said = capsys.readouterr().err
    assert "concepts-B-ann.json: the code ann is in" in said
    assert "notes.json: it isn't a file of the" in said


def test_nothing_to_compare_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    before = hand_in(tmp_path / "x", "A", "ann", answers("A", 3))
    after = hand_in(tmp_path / "x", "B", "bob", answers("B", 3))
    assert command.main(["--concepts", str(tmp_path / "empty"), str(after)]) == 2
    assert "there is no results file (.json) in it" in capsys.readouterr().err
    assert command.main(["--concepts", str(tmp_path / "gone.json"), str(after)]) == 2
    assert "No such file" in capsys.readouterr().err
    assert command.main(["--concepts", str(before), str(after)]) == 2
    said = capsys.readouterr().err
    assert "no code is in both" in said
    assert "before there are ann; after, bob" in said
