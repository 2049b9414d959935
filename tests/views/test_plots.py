"""Pictures of numbers: their words, their colours, and what is refused."""

from __future__ import annotations

import re

import pytest

from minigrad import errors
from minigrad.views.plots import INK, plot_lines


def test_picture_has_its_sentence_its_names_and_the_colour_of_the_page() -> None:
    drawn = plot_lines(
        [1, 2, 3],
        {"a < b": [1000, 2000, 4000], "none": [0, 0, 0]},
        x="calls",
        y="bytes",
        says="It doubles & doubles.",
    )
    bundle = drawn._repr_mimebundle_()
    page = bundle["text/html"]
    assert page.count("It doubles &amp; doubles.") == 2
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    assert {"a &lt; b", "none", "calls", "bytes", "4k"} <= {t.strip() for t in texts}
    assert INK not in page
    assert page.count("currentColor") > 5
    assert "background" not in page
    assert "3     4k     0" in bundle["text/plain"]


def test_numbers_below_zero_have_their_place() -> None:
    drawn = plot_lines([1, 2], {"a": [-1, -3]}, x="x", y="y", says="It sinks.").svg()
    found = re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>\s*(-[13])\s*<', drawn)
    height = {number: float(place) for place, number in found}
    assert height["-1"] < height["-3"]


def test_same_numbers_give_the_same_picture() -> None:
    first, second = (
        plot_lines([1, 2], {"a": [1, 2]}, x="x", y="y", says="s").svg()
        for _ in range(2)
    )
    assert first == second


def test_lines_that_do_not_fit_are_refused() -> None:
    with pytest.raises(errors.ArgumentValueError, match="'a' has 1 points, and there"):
        plot_lines([1, 2], {"a": [1]}, x="x", y="y", says="s")
    with pytest.raises(errors.ArgumentValueError, match="no line to draw"):
        plot_lines([1, 2], {}, x="x", y="y", says="s")


def test_ring_is_drawn_where_it_was_put_and_named_in_the_sentence() -> None:
    curve = plot_lines([0, 4], {"a": [0, 4]}, x="x", y="y", says="It grows.")
    first, second = curve.marked(1, 3), curve.marked(3, 1)
    assert curve.mark is None
    assert first.sentence == "It grows. The ring is at 1: 3."
    assert 'aria-label="It grows. The ring is at 1: 3."' in first.figure()
    (left, high), (right, low) = [
        places_added(curve.svg(), one.svg()) for one in (first, second)
    ]
    assert left < right
    assert high < low


def places_added(without: str, with_ring: str) -> tuple[float, float]:
    """Where the ring is: the one drawn thing more that has a place."""
    used = r'<use [^>]*x="([\d.]+)" y="([\d.]+)"'
    before, after = [re.findall(used, svg) for svg in (without, with_ring)]
    (found,) = [place for place in after if place not in before]
    return float(found[0]), float(found[1])


def test_ring_without_a_place_is_refused() -> None:
    curve = plot_lines([0, 4], {"a": [0, 4]}, x="x", y="y", says="It grows.")
    with pytest.raises(errors.ArgumentValueError, match="1, -inf can't be drawn"):
        curve.marked(1, float("-inf"))
