"""What people ask, and the cells that answer: the table is whole, search finds rows."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from minigrad import _workspace
from minigrad.course import answers
from minigrad.course.author import build
from minigrad.course.exercises import catalogue
from minigrad.course.notebook import faq

SECTIONS = [*faq.explaining(faq.by_section())]
OPEN = """
    Q01 Q03 Q04 Q06 Q07 Q10 Q11 Q12 Q14 Q16 Q17 Q18 Q19 Q20
    Q22 Q23 Q24 Q25 Q26 Q28 Q29 Q31 Q32 Q35 Q36 Q37 Q38 Q41
    Q42 Q43 Q44 Q47 Q48 Q49 Q50 Q51 Q52 Q54 Q56 Q57 Q58 Q62
    Q63 Q64 Q65 Q66 Q68 Q69 Q70 Q71 Q72 Q73 Q74 Q76 Q77 Q78
    Q86
"""
"""Questions that were found open in forums and issues: each is to be answered."""


def test_every_question_has_a_cell_and_no_cell_answers_what_nobody_asks() -> None:
    cells = [cell for _, _, below in faq.by_section() for cell in below]
    tags = {tag for cell in cells for tag in faq.tags_of(cell)}
    asked = faq.read_questions()
    assert set(filter(build.ASKED.fullmatch, tags)) == set(asked)
    ids = [row.id for row in faq.read_table()]
    assert ids == sorted(ids)


def test_every_open_question_has_a_cell() -> None:
    """That each of these cells shows something is seen where notebooks run."""
    ids = OPEN.split()
    assert len(set(ids)) == 57
    answered = {row.id for row in faq.read_table()}
    assert [id for id in ids if id not in answered] == []


def test_package_without_notebooks_searches_those_of_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a browser, whose wheel has none."""
    kinds = {"#": "markdown", "a": "code"}
    cells = ["a = 0", "# A", "a = 1", "## B", "a = 2"]
    book = [
        {"cell_type": kinds[cell[0]], "metadata": {}, "source": cell} for cell in cells
    ]
    laid = tmp_path / _workspace.SHIPPED / "notebooks"
    laid.mkdir(parents=True)
    (laid / "01_a.ipynb").write_text(json.dumps({"cells": book}), "utf8")
    monkeypatch.setattr(faq, "ROOT", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)
    (section,) = faq.explaining(faq.by_section())
    assert (section.notebook, section.cell) == ("notebooks/01_a.ipynb", "a = 2")


def test_every_row_leads_to_a_line_of_code() -> None:
    for row in [*faq.read_table(), *SECTIONS]:
        assert row.cell, row
    hidden = [row for row in SECTIONS if "course.predict(" in row.cell]
    assert hidden


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who creates the ctx?", "Q42"),
        ("memory leak", "Q12"),
        ("why do gradients accumulate", "Q68"),
        ("RuntimeError: Trying to backward through the graph a second time", "Q25"),
        ("returned an incorrect number of gradients (expected 3, got 2)", "Q04"),
        ("mark_dirty", "Q24"),
    ],
)
def test_search_finds_by_words_by_a_pasted_error_and_by_a_name(
    question: str, first: str
) -> None:
    assert answers(question)[0].id == first


def test_search_finds_a_section_that_no_question_names() -> None:
    found = answers("next_functions")
    assert (found[0].id, found[0].section) == ("", "Where are the edges?")
    assert "Where are the edges?: def diamond" in repr(found)
    assert found.note == ""


def test_search_finds_what_is_misspelt() -> None:
    found = answers("broadcst")
    assert found.note == ""
    assert any("roadcast" in row.section + row.question for row in found)


def test_exception_is_asked_by_its_message_and_nothing_odd_raises() -> None:
    error = RuntimeError("Trying to backward through the graph a second time")
    assert answers(error)[0].id == "Q25"
    for odd in (5, "???", "[](){}.*+?^$|\\", "\u65e5\u672c\u8a9e", "a of the"):
        assert list(answers(odd)) == []
        assert answers(odd).note.startswith("Nothing found for")


def test_search_says_where_nothing_is_found() -> None:
    nothing = answers("zebra")
    assert list(nothing) == []
    assert repr(nothing).startswith("Nothing found for 'zebra'. Ask in other words")
    assert "Nothing found for &#x27;zebra&#x27;" in nothing._repr_html_()


def test_section_has_one_row_and_a_question_leaves_room_for_others() -> None:
    for asked in (
        "wrap a CUDA kernel",
        "indices or a mask without a gradient",
        "grad_output contiguous",
        "what does vmap need from my Function",
    ):
        found = answers(asked)
        assert len(found) == faq.SHOWN
        assert len({(row.notebook, row.section) for row in found}) == faq.SHOWN
        ids = [row.id for row in found if row.id]
        assert all(ids.count(one) <= faq.ROWS_OF_ONE for one in ids)


def test_section_is_found_by_a_term_its_prose_and_its_code() -> None:
    text = "**Broadcasting** copies a row,\nas **a long\nname** does."
    parts = faq.words_by_place(text, "row = stretch(copies)")
    assert parts == ("broadcasting long name", "copies row", "stretch")


# Typed as a learner would, each time before the search was made or changed, with the
# sections that answer; the last twenty are people's questions in other words.
TYPED = Path(__file__).with_name("typed_questions.tsv")


def test_learner_finds_the_section_among_the_first_three() -> None:
    asked = [line.split("\t") for line in TYPED.read_text("utf8").splitlines()[1:]]
    assert len(asked) == 60
    found = [
        {row.section for row in answers(question)} & set(wanted.split("|"))
        for question, wanted in asked
    ]
    assert sum(map(bool, found)) >= 50
    told = [question for question, _ in asked if answers(question).note]
    assert len(told) <= 8, told


def test_every_title_finds_its_section_and_every_question_its_cell() -> None:
    for one in SECTIONS:
        found = answers(re.sub(r"^\d\d\.\d+ ", "", one.section).lower())
        assert (one.notebook, one.section) in [(f.notebook, f.section) for f in found]
        assert found.note == ""
    for asked in faq.read_questions().values():
        for words in (asked.asks, asked.original or asked.asks):
            found = answers(words)
            assert asked.id in [one.id for one in found]
            assert found.note == ""


def test_exercise_is_found_by_its_title() -> None:
    found = answers("unbroadcast")
    assert found[0].section == "06.2 unbroadcast"
    numbered = [one for one in SECTIONS if re.match(r"\d\d\.\d", one.section)]
    assert [one.section[:4] for one in numbered] == catalogue.names()


# Nothing of this is in the course; the last twenty were written when it was measured.
ELSEWHERE = """
how do I install CUDA on Windows
what is a transformer attention head
how to save a model to disk
DataLoader num_workers hangs
difference between k-means and DBSCAN
how do I use multiple GPUs
tokenize text with huggingface
how to plot a confusion matrix
export to ONNX
quantize a model to int8
ImportError: No module named torch
how many epochs
what is overfitting
convert image to tensor
git merge conflict
reinforcement learning policy gradient
how do I profile my GPU kernels
batch normalization running mean in eval mode
distributed data parallel allreduce
early stopping patience
who invented backpropagation
weather in Paris
capital of France
RuntimeError: CUDA error: device-side assert triggered
Expected all tensors to be on the same device, but found at least two devices
einsum notation
mixed precision autocast GradScaler
how do I deploy a model with flask
load pretrained resnet weights
jit.script deprecated TorchScript
how do I upload my notebook to Colab
best GPU for deep learning
what does model.eval do
image augmentation with torchvision
random forest vs gradient boosting
how do I resize a picture
which optimizer is best
download the MNIST dataset
softmax temperature sampling
LSTM hidden state
convolution stride and padding formula
how to shuffle a dataset
pandas dataframe to tensor
what is a GAN
train test split
pip install fails behind a proxy
AttributeError: 'DataFrame' object has no attribute 'ix'
IndexError: list index out of range
beam search decoding
learning rate too high
"""


def test_question_that_nothing_answers_is_told_so() -> None:
    asked = ELSEWHERE.strip().splitlines()
    told = [bool(answers(one).note) for one in asked]
    assert len(told) == 50
    assert sum(told) >= 40
    found = answers("load pretrained resnet weights")
    assert found.note == (
        "No sure answer to 'load pretrained resnet weights'. Perhaps one of these:"
    )
    assert found


def test_without_a_question_all_are_shown() -> None:
    assert list(answers()) == list(answers("  ")) == faq.read_table()


def test_answer_is_shown_with_a_link_that_opens_its_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = faq.Answer("Q01", "notebooks/00_a.ipynb", "Why & how?", "x < 1", "Who?", "W?")
    shown = faq.Answers([row, row])._repr_html_()
    assert shown.count("<b>Who?</b>") == 1
    assert html.escape("x < 1") in shown
    assert "title='W?'" in shown
    assert "href" not in shown
    (tmp_path / "exercises").mkdir()
    monkeypatch.chdir(tmp_path / "exercises")
    monkeypatch.setattr(_workspace, "around", lambda folder: tmp_path)
    assert "href='../notebooks/00_a.ipynb#Why-&amp;-how?'" in (
        faq.Answers([row])._repr_html_()
    )


def test_build_takes_a_question_as_a_tag_and_no_other_word() -> None:
    text = '# %% tags=["{}"]\nx = 1\n'
    (cell,) = build.read_cells(text.format("Q01"), "a.py")
    assert cell.tags == ("Q01",)
    with pytest.raises(build.SourceError, match="unknown tag 'Q1'"):
        build.read_cells(text.format("Q1"), "a.py")
