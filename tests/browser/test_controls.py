"""The instruments of the browser tests notice what they are there to notice."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.seen import contrast_on, unreadable

PAGE = """
<body style="background: #fff"><div id="root" style="opacity: 1">
<p style="color: #767676">just readable</p>
<p style="color: #999">too pale</p>
<p style="background: #222"><span style="color: #0072b2">blue on dark</span></p>
<p style="color: #000; opacity: 0.4">faded</p>
<p style="color: color-mix(in srgb, black 30%, white)">mixed</p>
<p hidden style="color: #fff">hidden</p>
<iframe srcdoc="<p>inner</p>"></iframe>
</div></body>
"""


@pytest.mark.parametrize(
    ("colour", "ground", "ratio"),
    [
        ("rgb(0, 0, 0)", "rgb(255, 255, 255)", 21.0),
        ("rgb(118, 118, 118)", "rgb(255, 255, 255)", 4.54),
        ("rgb(153, 153, 153)", "rgb(255, 255, 255)", 2.85),
        ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)", 1.0),
        ("color(srgb 0 0 0 / 0.5)", "rgb(255, 255, 255)", 3.98),
    ],
)
def test_contrast_is_the_ratio_that_wcag_defines(
    colour: str, ground: str, ratio: float
) -> None:
    assert contrast_on(colour, [(ground, 1.0)]) == pytest.approx(ratio, abs=0.01)


def test_texts_that_are_too_pale_are_found(page: Page) -> None:
    page.set_content(PAGE)
    found = unreadable(page, "#root")
    assert set(found) == {"too pale", "blue on dark", "faded", "mixed"}


def test_a_place_without_text_is_no_proof_of_readability(page: Page) -> None:
    page.set_content(PAGE)
    with pytest.raises(AssertionError, match="no text in #nowhere"):
        unreadable(page, "#nowhere")


@pytest.mark.parametrize("frame", [0, 1], ids=["page", "frame"])
def test_an_error_thrown_on_purpose_is_caught(
    page: Page, page_errors: list[str], frame: int
) -> None:
    page.set_content(PAGE)
    with page.expect_event("pageerror"):
        page.frames[frame].evaluate(
            "() => { setTimeout(() => { throw new Error('on purpose'); }); }"
        )
    (caught,) = page_errors
    assert caught.startswith("Error: on purpose")
    page_errors.clear()
