"""The pages say in words what their plots show, whoever was in the class."""

import html
import re
from pathlib import Path

import pytest

from minigrad.course.grade import pages, submissions
from minigrad.course.grade.examiner import Result
from tests.course.grade import made_up_class


def result(student: str, exercise: str, state: str, **more: object) -> Result:
    points = 4.0 if state == "solved" else 0.0
    made = Result(student, exercise, "0" * 64, "a.ipynb", f"{exercise} Title",
                  state, points, 4)  # fmt: skip
    return Result(**(vars(made) | more))


CLASS = [
    result("ada", "01.4", "solved"),
    result("ada", "01.5", "solved"),
    result("bob", "01.4", "wrong", mistakes=("A03", "L04")),
    result("bob", "01.5", "not tried"),
    result("eve", "01.4", "crashed", mistakes=("A03",)),
    result("zoe", "01.5", "by hand", note="This one is looked at by hand."),
]


def plain(page: str) -> str:
    words = re.sub("<style>.*?</style>|<[^>]*>", " ", page, flags=re.S)
    return " ".join(html.unescape(words).split())


def test_each_plot_has_a_sentence_with_its_figures() -> None:
    words = plain(pages.of_class(CLASS))
    assert "4 students, 2 exercises." in words
    assert "Solved: 2 of 6 answers (33 %). Fewest in 01.4 Title: 1 of 4." in words
    assert "2 answers with a mistake that the course knows." in words
    assert "Most often, in 2: A03 gradients in each other's" in words
    half = "Half of those who handed something in have 0 points or more"
    assert f"{half}; the fewest are 0, the most 8." in words
    assert "A full bar is 8 points" in words
    # Eve handed in one exercise of two; a class has one scale.
    assert "ada 8 of 8 points bob 0 of 8 points eve 0 of 8 points" in words


def test_mistake_that_its_exercise_alone_knows_is_told_with_its_question() -> None:
    own = result("bob", "05.3", "wrong", mistakes=("05.3/several_times",))
    words = plain(pages.of_class([own]))
    assert "come to it. By which question do you find out" in words
    assert "05.3/" not in words


def test_a_bar_is_as_long_as_the_class_and_says_what_it_shows() -> None:
    page = pages.of_class(CLASS)
    (row,) = re.findall(r'<tr><th scope="row">01.4 Title.*', page)
    assert re.findall(r'class="(\w+)" style="width: ([\d.]+)%', row) == [
        ("solved", "25.00"),
        ("wrong", "25.00"),
        ("crashed", "25.00"),
    ]
    assert 'aria-label="1 solved, 1 wrong, 1 crashed"' in row
    assert re.findall(r'number"><span class="narrow">(.) </span>(\d)', row) == [
        ("✓", "1"), ("✗", "1"), ("!", "1"), ("…", "0"), ("○", "0"),
    ]  # fmt: skip


def test_each_outcome_has_a_sign_and_a_pattern_besides_its_colour() -> None:
    style = Path(pages.__file__).with_name("pages.css").read_text()
    looks = {
        name: re.search(rf"\.bar \.{name}, \.key \.{name} {{\s*(.*?)\s*}}", style, re.S)
        for name in ("solved", "wrong", "crashed", "hand", "failed", "not")
    }
    found = [re.sub(r"var\(--\w+\)", "", look[1]) for look in looks.values() if look]
    assert len(set(found)) == 6
    assert len(set(pages.SIGNS.values())) == 6


def test_what_no_program_can_say_stands_first() -> None:
    broken = result("ada", "02.1", "not tried", trouble="The file cannot be read.")
    words = plain(pages.of_class([*CLASS, broken]))
    first = words.index("To be looked at by a person")
    assert first < words.index("Outcomes")
    assert "ada a.ipynb 02.1 The file cannot be read." in words
    assert "zoe a.ipynb 01.5 This one is looked at by hand." in words
    assert "To be looked at" not in plain(pages.of_class(CLASS[:5]))


def test_one_student_cannot_fill_the_page_of_the_class() -> None:
    noisy = [
        result("eve", f"0{n}.{m}", "crashed", flags=(f"__closure__{n}{m}",))
        for n in range(1, 9)
        for m in range(1, 6)
    ]
    words = plain(pages.of_class([*CLASS, *noisy], [("bob", "b.ipynb", "Broken.")]))
    assert len(re.findall(r"eve a\.ipynb", words)) == pages.MOST_OF_ONE
    assert "eve And 35 more; their own page has all." in words
    assert "bob b.ipynb Broken." in words


def test_a_class_of_nobody_and_one_without_mistakes_have_pages() -> None:
    assert "Nothing is graded yet." in pages.of_class([])
    words = plain(pages.of_class(CLASS[:1]))
    assert "1 student, 1 exercise." in words
    assert "No answer shows a mistake that the course knows." in words
    student = plain(pages.of_student("ada", CLASS[:2]))
    assert "8 of 8 points." in student
    assert "Graded: a.ipynb." in student


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_up_class.make(tmp_path_factory.mktemp("class"))


def test_the_made_up_class_is_read_as_it_was_made(handed_in: Path) -> None:
    found = [(s.student, submissions.works(s)) for s in submissions.find(handed_in)]
    assert {student for student, _ in found} == set(made_up_class.STUDENTS)
    assert len(found) == 59
    troubled = {
        (student, work.exercise[:2])
        for student, works in found
        for work in works
        if work.trouble
    }
    assert troubled == {(made_up_class.BROKEN_SECOND, "02")}


def test_each_change_of_the_made_up_class_changes_something() -> None:
    sources = [
        source
        for lesson in made_up_class.LESSONS
        for source in submissions.cells_of(
            made_up_class.built("solutions", lesson).encode(), "a.ipynb"
        )
    ]
    for student, changes in made_up_class.STUDENTS.items():
        for change in changes:
            assert any([change(each) != each for each in sources]), student
