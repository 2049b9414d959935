"""Words without their endings, and the text that fits a question best."""

from __future__ import annotations

import pytest

from minigrad.course.notebook.ranking import Ranking, stem, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("saved tensors", "saving a tensor"),
        ("stopped", "stops"),
        ("derivatives", "gradient"),
        ("broadcasting", "Broadcast"),
        ("modified by an inplace operation", "modify in-place operations"),
    ],
)
def test_forms_of_a_word_are_one_word(one: str, other: str) -> None:
    assert set(words(one)) & set(words(other))


def test_name_from_code_counts_whole_and_in_parts() -> None:
    names = {"ctx", "save_for_backward", stem("save"), "backward"}
    assert set(words("ctx.save_for_backward")) == names
    assert set(words("BroadcastAdd")) == {"broadcast", "add"}


def test_text_with_the_rarer_word_comes_first_and_one_without_not_at_all() -> None:
    texts = ["gradient hook", "gradient graph", "gradient of memory", "numbers"]
    ranking = Ranking([[(text, 1)] for text in texts])
    assert ranking.best("hooks see the gradient")[0][1] == 0
    assert {number for _, number in ranking.best("a gradient")} == {0, 1, 2}
    assert ranking.best("zebra") == []


def test_heavier_part_of_a_text_decides() -> None:
    ranking = Ranking([[("hook", 1), ("graph", 3)], [("hook", 3), ("graph", 1)]])
    assert ranking.best("hook")[0][1] == 1
    assert ranking.best("graph")[0][1] == 0


@pytest.mark.parametrize("typed", ["broadcst", "broadcasst", "braodcast", "broadcost"])
def test_misspelt_word_counts_as_the_one_that_is_a_slip_away(typed: str) -> None:
    ranking = Ranking([[("broadcast", 1)], [("hook", 1)]])
    assert [number for _, number in ranking.best(typed)] == [0]


def test_word_that_is_like_none_is_left_out_and_does_not_count_against() -> None:
    ranking = Ranking([[("broadcast", 1)], [("hook", 1)]])
    assert ranking.best("zebra") == []
    assert ranking.best("zebra hook") == ranking.best("hook")
    assert ranking.mended("tensor") == "tensor"


def test_word_of_pytorch_leads_to_the_one_that_the_course_has() -> None:
    ranking = Ranking([[("step small", 1)], [("hook", 1)], [("node order", 1)]])
    assert ranking.best("epsilon")[0][1] == 0
    assert ranking.best("topological")[0][1] == 2


def test_words_side_by_side_count_more_than_the_same_apart() -> None:
    message = "expected version 0, got tensor"
    ranking = Ranking([[("tensor got, version expected", 1)], [(message, 1)]])
    assert ranking.best("expected version 3, got tensor")[0][1] == 1


def test_text_with_more_of_the_question_comes_first() -> None:
    texts = ["hook hook hook edge", "hook graph node", "node", "graph", "edge"]
    ranking = Ranking([[(text, 0.9)] for text in texts])
    assert ranking.best("hook graph node")[0][1] == 1


def test_same_words_twice_weigh_twice() -> None:
    ranking = Ranking([[("hook", 1), ("graph", 3)], [("hook", 1), ("hook", 1)]])
    assert ranking.best("hook")[0][1] == 1


def test_question_is_known_by_half_of_its_words_or_by_many() -> None:
    common = [f"gradient text{n}" for n in range(20)]
    texts = ["hook graph", "number edge", *common]
    ranking = Ranking([[(text, 1)] for text in texts])
    assert ranking.knows("hooks in a graph", [0])
    assert ranking.knows("a graph with a hook on paper", [0])
    assert not ranking.knows("a hook on paper", [1, 2])
    assert not ranking.knows("a gradient on paper", [2])
    assert not ranking.knows("paper", [])
    many = " ".join([f"word{letter}" for letter in "abcdefgh"])
    ranking = Ranking([[(many, 1)], *[[(text, 1)] for text in common]])
    pasted = f"{many} my own class names and lots of other words as always numbers"
    assert ranking.knows(pasted, [0])
