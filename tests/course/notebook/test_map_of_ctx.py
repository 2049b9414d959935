"""The map of ctx: whole, on one page, with nothing on top of anything else."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import minigrad
from minigrad import course, errors
from minigrad.course.notebook import map_of_ctx
from minigrad.views import one_page

OWN = {"operation_name"}
"""What minigrad's nodes have besides, for the course's own pictures."""
TORCHS = {"apply_boxed", "maybe_clear_saved_tensors"}
"""What torch 2.13 calls itself, in C++."""


def names_of(engine: Any) -> set[str]:
    """Every public name of a ctx."""
    found: list[Any] = []

    class Looked(engine.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            found.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            return grad_output * 2

    Looked.apply(engine.tensor(1.0, requires_grad=True))
    return {name for name in dir(found[0]) if not name.startswith("_")}


def on_the_map() -> set[str]:
    names = " ".join(row.name.replace(",", " ") for row in map_of_ctx.rows())
    words = {word.partition("(")[0] for word in names.split()}
    return {word for word in words if word.isidentifier()} - {"value"}


def test_map_has_every_name_of_ctx() -> None:
    assert on_the_map() == names_of(minigrad) - OWN


def test_map_has_every_name_of_torchs_ctx() -> None:
    torch = pytest.importorskip("torch")
    assert on_the_map() == names_of(torch) - TORCHS


def test_each_row_of_the_map_says_when_what_and_which_lesson() -> None:
    for row in map_of_ctx.rows():
        assert all([row.group, row.name, row.when, row.backward])
        assert row.lesson == "-" or row.lesson in errors.LESSONS


def sources(lesson: str) -> str:
    """What a lesson and its exercises say."""
    root = Path(course.__file__).parents[2]
    found = [*root.glob(f"notebooks/src/{lesson}_*.py")]
    found += root.glob(f"solutions/src/{lesson}_*.py")
    return "\n".join([path.read_text("utf8") for path in found])


@pytest.mark.parametrize("row", map_of_ctx.rows(), ids=lambda row: row.name)
def test_lesson_that_a_row_names_shows_the_first_of_its_names(
    row: map_of_ctx.Row,
) -> None:
    first = row.name.replace("ctx.anything = value", "ctx.factor").partition("(")[0]
    words = first.partition(",")[0].removeprefix("ctx.")
    if row.lesson != "-":
        assert f".{words}" in sources(row.lesson)


def boxes(page: one_page.OnePage) -> list[tuple[float, float, float, float]]:
    """Left, bottom, right and top of each line of text, in points."""
    figure = page.figure("black")
    figure.set_dpi(72)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    return [text.get_window_extent(renderer).extents for text in axes.texts]


def overlapping(found: list[tuple[float, float, float, float]]) -> list[Any]:
    return [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def test_no_line_of_the_map_lies_on_another_or_beyond_the_page() -> None:
    found = boxes(course.ctx_map())
    assert len(found) > 60
    assert overlapping(found) == []
    for left, bottom, right, top in found:
        assert 0 < left < right <= one_page.WIDTH - one_page.MARGIN / 2
        assert 0 < bottom < top < one_page.HEIGHT
    assert overlapping([found[0], found[0]]) != []


def test_map_is_written_as_svg_and_pdf_and_as_nothing_else(tmp_path: Path) -> None:
    page = course.ctx_map()
    svg = page.save(tmp_path / "map.svg").read_text("utf8")
    assert svg.count("<text") == len(boxes(page))
    assert "needs_input_grad" in svg
    assert page.save(tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(errors.ArgumentValueError, match=r"has the ending '\.png'"):
        page.save(tmp_path / "map.png")
    assert {file.name for file in tmp_path.iterdir()} == {"map.svg", "map.pdf"}


def test_map_takes_the_colour_of_the_page_and_is_told_as_text() -> None:
    bundle = course.ctx_map()._repr_mimebundle_()
    assert "currentColor" in bundle["text/html"]
    lines = bundle["text/plain"].splitlines()
    at = lines.index("  needs_input_grad")
    assert lines[at + 1].startswith("    when: ")


def test_table_that_is_too_long_for_a_page_is_refused() -> None:
    columns = [one_page.Column("name", 1.0)]
    long = one_page.OnePage("long", columns, {"group": [["row"]] * 60}, "end")
    with pytest.raises(errors.ArgumentValueError, match="points high"):
        long.svg()


def test_lines_are_broken_where_the_column_ends() -> None:
    lines = one_page.wrapped("one two three four five six", 40, mono=False)
    assert " ".join(lines) == "one two three four five six"
    assert max(one_page.measured(line, mono=False) for line in lines) <= 40
    assert all(a and b for a, b in pairwise(lines))
