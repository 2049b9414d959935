"""The build: deterministic, strict about its sources, tidy about its results."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import nbformat
import pytest

from minigrad.course.author import build
from minigrad.course.exercises import catalogue, flat

LESSON = """\
# %% [markdown]
# # A title
#
# Words.

# %% tags=["step"]
# %%step
x = 1
"""

EXERCISE = """\
# %%
def f(x):
    # region solution: return the double, "2 x"
    return 2 * x
    # endregion

# %% tags=["solution"]
f(2)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build, "GENERATORS", (lambda: {"stubs.pyi": "x: int\n"},))
    for folder, text in (("notebooks", LESSON), ("solutions", EXERCISE)):
        source = tmp_path / folder / "src" / "01_first.py"
        source.parent.mkdir(parents=True)
        source.write_text(text, "utf8")
    return tmp_path


def cells(path: Path) -> list[nbformat.NotebookNode]:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    return list(book.cells)


def snapshot(root: Path) -> dict[str, bytes]:
    files = (p for p in root.rglob("*") if p.is_file() and "src" not in p.parts)
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


def test_build_writes_lesson_solution_exercise_and_stub(root: Path) -> None:
    assert build.main([], root) == 0
    assert set(snapshot(root)) == {
        "notebooks/01_first.ipynb",
        "solutions/01_first/01_first.ipynb",
        "exercises/01_first/01_exercises.ipynb",
        "stubs.pyi",
    }


def test_build_again_gives_the_same_bytes(root: Path) -> None:
    build.main([], root)
    first = snapshot(root)
    for path in first:
        (root / path).unlink()
    build.main([], root)
    assert snapshot(root) == first


def test_magic_comment_becomes_a_magic(root: Path) -> None:
    build.main([], root)
    _, step = cells(root / "notebooks/01_first.ipynb")
    assert step.source == "%%step\nx = 1"
    assert step.metadata.tags == ["step"]


def test_region_becomes_a_todo_in_the_exercise(root: Path) -> None:
    build.main([], root)
    (only,) = cells(root / "exercises/01_first/01_exercises.ipynb")
    todo = r'raise NotImplementedError("TODO: return the double, \"2 x\"")'
    assert only.source == f"def f(x):\n    {todo}"


def test_solution_keeps_the_region_without_its_fences(root: Path) -> None:
    build.main([], root)
    first, second = cells(root / "solutions/01_first/01_first.ipynb")
    assert first.source == "def f(x):\n    return 2 * x"
    assert second.source == "f(2)"


def test_inserting_a_cell_moves_no_other_id(root: Path) -> None:
    build.main([], root)
    before = [c.id for c in cells(root / "notebooks/01_first.ipynb")]
    source = root / "notebooks/src/01_first.py"
    source.write_text("# %%\nnew = 1\n\n" + LESSON, "utf8")
    build.main([], root)
    assert [c.id for c in cells(root / "notebooks/01_first.ipynb")][1:] == before


def test_equal_cells_get_different_ids(root: Path) -> None:
    (root / "notebooks/src/01_first.py").write_text("# %%\nx\n\n# %%\nx\n", "utf8")
    build.main([], root)
    first, second = cells(root / "notebooks/01_first.ipynb")
    assert first.id != second.id


def test_no_outputs_are_stored(root: Path) -> None:
    build.main([], root)
    book = json.loads((root / "notebooks/01_first.ipynb").read_text("utf8"))
    code = [c for c in book["cells"] if c["cell_type"] == "code"]
    assert [(c["outputs"], c["execution_count"]) for c in code] == [([], None)]


def test_check_passes_on_a_fresh_build(root: Path) -> None:
    build.main([], root)
    before = snapshot(root)
    assert build.main(["--check"], root) == 0
    assert snapshot(root) == before


def test_check_lists_every_stale_and_orphan_file(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build.main([], root)
    edited = root / "notebooks/01_first.ipynb"
    edited.write_text("{}", "utf8")
    (root / "exercises/01_first/01_exercises.ipynb").unlink()
    (root / "notebooks/02_gone.ipynb").write_text("{}", "utf8")
    assert build.main(["--check"], root) == 1
    said = capsys.readouterr().err
    assert "stale: notebooks/01_first.ipynb" in said
    assert "stale: exercises/01_first/01_exercises.ipynb" in said
    assert "orphan: notebooks/02_gone.ipynb" in said
    assert edited.read_text("utf8") == "{}"


def test_orphan_is_removed_and_checkpoints_are_left_alone(root: Path) -> None:
    orphan = root / "exercises/02_gone/02_gone.ipynb"
    checkpoint = root / "exercises/.ipynb_checkpoints/01_first-checkpoint.ipynb"
    for path in (orphan, checkpoint):
        path.parent.mkdir(parents=True)
        path.write_text("{}", "utf8")
    build.main([], root)
    assert not orphan.exists()
    assert checkpoint.exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", r"cell 0, line 1: text before the first"),
        ("# %% [raw]\nx\n", r"cell 1, line 1: not a cell marker"),
        ('# %% tags=["predcit"]\nx\n', r"cell 1, line 1: unknown tag 'predcit'"),
        ("# %% [markdown]\n# a\nb\n", r"cell 1, line 3: markdown line without"),
        ("# %%\nx = 1\n\n# %%\nx = (\n", r"cell 2, line 5: not Python"),
        (
            "# %%\nx\n\n# %%\n# region solution: a\nx\n",
            r"cell 2, line 5: this solution region is never closed",
        ),
        ("# %%\nx\n# endregion\n", r"cell 1, line 3: '# endregion' without"),
        (
            "# %%\n# region solution: a\n# region solution: b\n",
            r"cell 1, line 3: a solution region inside another",
        ),
        ("# %%\n# region solution\nx\n", r"line 2: write '# region solution: <what"),
        (
            "# %%\n# region solution: a\n\n# %%\n# endregion\n",
            r"cell 1, line 2: this solution region is never closed",
        ),
    ],
)
def test_bad_source_stops_the_build_with_file_cell_and_line(
    root: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    (root / "solutions/src/01_first.py").write_text(text, "utf8")
    with pytest.raises(build.SourceError, match=says):
        build.wanted(root)
    assert build.main([], root) == 1
    assert "solutions/src/01_first.py, cell" in capsys.readouterr().err
    assert snapshot(root) == {}


def test_committed_notebooks_are_current() -> None:
    assert build.main(["--check"]) == 0


def test_question_is_collapsed_and_explanations_up_to_the_next_try_are_folded() -> None:
    text = """\
# %% tags=["predict", "hide-input"]
ask()

# %% [markdown] tags=["explain"]
# The answer.

# %% [markdown]
# **Try.** More.

# %% tags=["try"]
more()

# %% [markdown] tags=["explain"]
# Open.
"""
    question, answer, _, _, after = json.loads(
        build.notebook(text, "x.py", solved=True)
    )["cells"]
    assert question["metadata"]["jupyter"] == {"source_hidden": True}
    assert question["source"] == [f"{build.FIRST_LINE}\n", "ask()"]
    assert "".join(answer["source"]) == build.folded("The answer.")
    assert after["source"] == ["Open."]


def test_no_notebook_holds_what_only_ruff_reads() -> None:
    root = Path(__file__).parents[2]
    books = [p for p in root.glob("*/**/*.ipynb") if p.parts[-2] != "src"]
    assert len(books) > 20
    assert [p.name for p in books if "noqa" in p.read_text("utf8")] == []


SPOKEN = """\
# %% [markdown]
# ## 13.4 Clinic 1 and 2

# %% tags=["exercise"]
# shipped {name}
"""


def test_statement_and_what_is_shipped_come_from_the_text_of_the_exercise() -> None:
    exercise = catalogue.load("13.4")
    heading, shipped, *_ = build.read_cells(SPOKEN.format(name="Gap"), "a.py")
    asked = f"## {exercise.heading} {exercise.statement} (About 8 minutes.)"
    assert flat(build.prose(heading)) == flat(asked)
    assert max(map(len, heading.lines)) <= 88
    assert shipped.lines[0] == "class Gap(mg.autograd.Function):"
    assert build.code(shipped, solved=False) in exercise.spec.SHIPPED
    with pytest.raises(build.SourceError, match=r"2, line 5: ex13_4.toml ships no Gop"):
        build.read_cells(SPOKEN.format(name="Gop"), "a.py")


def test_what_is_shipped_may_stand_among_other_lines() -> None:
    text = SPOKEN.format(name="passes") + "\n\n# shipped Gap\n\nx = 1\n"
    cell = build.read_cells(text, "a.py")[1]
    defined = ast.parse(build.code(cell, solved=False)).body
    assert [getattr(n, "name", "") for n in defined] == ["passes", "Gap", ""]


def test_what_is_shipped_is_repaired_as_its_line_says() -> None:
    text = SPOKEN.format(name="Gap with made - wanted for wanted - made")
    cell = build.read_cells(text, "a.py")[1]
    assert "wanted - made" in catalogue.load("13.4").spec.SHIPPED
    assert cell.lines[9].endswith(" = made - wanted")
    with pytest.raises(build.SourceError, match=r"line 5: 5 times in Gap: wanted$"):
        build.read_cells(SPOKEN.format(name="Gap with x for wanted"), "a.py")


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("13.1", ['exercise("13.1")', "solved", 'check("13.1")']),
        ("12.4", ['exercise("12.4")', "solved", 'check("12.4")', 'hint("12.4")']),
        ("13.2", ["solved", 'check("13.2", gradcheck)', 'hint("13.2")']),
        ("12.2", ["solved", 'check("12.2", [pack, unpack])', 'hint("12.2")']),
    ],
)
def test_section_of_an_exercise_gets_the_cells_that_all_have(
    name: str, calls: list[str]
) -> None:
    heading = f"# %% [markdown]\n# ## {catalogue.load(name).heading}\n"
    after = "\n# %% [markdown]\n# ## Where next\n"
    text = f'{heading}\n# %% tags=["solution"]\nsolved\n{after}'
    head, *made, last = build.read_cells(text, "a.py")
    assert [build.code(cell, solved=True) for cell in made] == calls
    assert [cell.tags for cell in made if "check(" in cell.lines[0]] == [("check",)]
    assert [cell.number for cell in (head, last)] == [1, len(calls) + 2]
    assert ("*Commit*" in build.prose(head)) == (name == "13.1")
    assert ("Drag the lines" in build.prose(head)) == (name == "12.4")


def test_check_that_is_written_out_stays_the_only_one() -> None:
    text = '# %% [markdown]\n# ## 13.1 A\n\n# %% tags=["check"]\nown\n'
    assert len(build.read_cells(text, "a.py")) == 2


def test_cell_of_the_gym_is_taken_over_with_its_solution() -> None:
    (cell,) = build.read_cells("# %%\n# gym ReLU\n", "a.py")
    assert cell.lines[0] == "class ReLU(mg.autograd.Function):"
    assert "clamp" in build.code(cell, solved=True)
    assert "TODO" in build.code(cell, solved=False)
    with pytest.raises(build.SourceError, match=r"line 2: gym\.py has no class Rel$"):
        build.read_cells("# %%\n# gym Rel\n", "a.py")
