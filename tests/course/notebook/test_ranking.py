"""Words without their endings, and the text that fits a question best."""

from __future__ import annotations

import string

import pytest

from minigrad.course.notebook.ranking import Ranking, is_sure, stem, words


def numbers(texts: list[str], question: str) -> list[int]:
    ranking = Ranking([[(text, 1)] for text in texts])
    return [one.number for one in ranking.best(question)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("saved tensors", "saving a tensor"),
        ("stopped", "stops"),
        ("broadcasting", "Broadcast"),
        ("modified by an operation", "modify operations"),
    ],
)
def test_forms_of_a_word_are_one_word(one: str, other: str) -> None:
    assert set(words(one)) & set(words(other))


def test_name_from_code_counts_whole_and_in_parts() -> None:
    names = {"ctx", "save_for_backward", stem("save"), "backward"}
    assert set(words("ctx.save_for_backward")) == names
    assert set(words("BroadcastAdd")) == {"broadcast", stem("add")}


def test_text_with_the_rarer_word_comes_first_and_one_without_not_at_all() -> None:
    texts = ["gradient hook", "gradient graph", "gradient of memory", "numbers"]
    assert numbers(texts, "hooks see the gradient")[0] == 0
    assert set(numbers(texts, "a gradient")) == {0, 1, 2}
    assert numbers(texts, "zebra") == []
    assert numbers(texts, "") == []


def test_heavier_part_of_a_text_decides_and_parts_add_up() -> None:
    ranking = Ranking([[("hook", 1), ("graph", 3)], [("hook", 1), ("hook", 1)]])
    assert ranking.best("hook")[0].number == 1
    assert ranking.best("graph hook")[0].number == 0


@pytest.mark.parametrize("typed", ["broadcst", "broadcasst", "braodcast", "broadcost"])
def test_misspelt_word_counts_as_the_one_most_like_it(typed: str) -> None:
    assert numbers(["broadcast", "hook"], typed) == [0]


def test_word_that_is_like_none_is_left_out_and_does_not_count_against() -> None:
    texts = ["broadcast", "hook"]
    assert numbers(texts, "zebra hook") == numbers(texts, "hook") == [1]


def test_word_of_pytorch_leads_to_the_one_that_the_course_has() -> None:
    texts = ["step small", "hook", "node order"]
    assert numbers(texts, "epsilon")[0] == 0
    assert numbers(texts, "topological")[0] == 2


def test_text_with_more_of_the_question_comes_first() -> None:
    texts = ["hook hook hook edge", "hook graph node", "node", "graph", "edge"]
    assert numbers(texts, "hook graph node")[0] == 1


def test_question_is_sure_by_most_of_its_words_or_by_many() -> None:
    common = [f"gradient text{n}" for n in range(20)]
    many = " ".join([f"word{letter}" for letter in string.ascii_lowercase])
    texts = ["hook graph", "number edge", many, *common]
    ranking = Ranking([[(text, 1)] for text in texts])
    assert is_sure(ranking.best("hooks in a graph"))
    assert not is_sure(ranking.best("a hook on paper"))
    assert not is_sure(ranking.best("a gradient on paper"))
    assert not is_sure(ranking.best("paper"))
    own = " ".join([f"own{letter * 3}" for letter in string.ascii_lowercase])
    assert is_sure(ranking.best(f"{many} {own}"))
