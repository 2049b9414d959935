"""The website: real outputs, answers that wait, links that lead somewhere; in Chromium.

It's built once, with one lesson and without the API. The browser edition is elsewhere.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from nbformat.v4 import new_code_cell
from playwright.sync_api import Browser, Page

from minigrad.course import site
from minigrad.course.author import slides
from minigrad.course.check import with_code
from minigrad.course.exercises import catalogue, flat
from minigrad.course.site import pages, pyodide
from minigrad.course.site.pages import lessons, playground, reference
from minigrad.course.site.pages.shared import Shared
from minigrad.views import graph
from minigrad.views import page as view
from tests.browser import conftest
from tests.browser.browser_edition import refuse_others, served
from tests.browser.seen import on_screen
from tests.browser.test_accessible import AXE, RUN_AXE

browser = conftest.browser

EDITION = "https://example.org/edition/"
RUN_SERIOUS = RUN_AXE.replace(
    "found.violations",
    "found.violations.filter(({ impact }) => /serious|critical/.test(impact))",
)
LESSON = "lessons/01_where_ctx_comes_from.html"
EXERCISES = "exercises/01_exercises.html"
TAKEN = """
() => ["navigation", "resource"]
  .flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
"""
FIRST_PICTURE = 300_000
"""Bytes that may travel until the first player is seen."""


@pytest.fixture(scope="module")
def website(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("website") / "out"
    pages.write_pages(out, EDITION, ["01"])
    return out


def test_pages_come_with_the_edition_or_lead_to_one_that_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[Any] = []
    monkeypatch.setattr(pages, "write_pages", lambda *named: written.append(named))
    monkeypatch.setattr(site, "write_site", lambda *named: written.append(named))
    monkeypatch.setattr(pages, "write_python", lambda *named: written.append(named))
    out = tmp_path / "out"
    assert site.main([str(out), "--pages", "--edition", EDITION]) == 0
    assert written == [(out, EDITION)]
    wheels = ["--pyodide", str(tmp_path)]
    assert site.main([str(out), "--pages", *wheels]) == 0
    edition = out / "edition"
    brought = out, edition / "static" / "pyodide"
    assert written[1:] == [(out, "edition"), (edition, tmp_path), brought]
    (tmp_path / "mine.txt").write_text("mine")
    assert site.main([str(tmp_path), "--pages"]) == 2
    assert "isn't empty" in capsys.readouterr().err
    assert len(written) == 4


def test_missing_sphinx_is_said_and_its_own_words_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf.py").write_text("extensions = ['nowhere']")
    with pytest.raises(
        pyodide.SiteError, match=r"Sphinx couldn't build it:[^$]*nowhere"
    ):
        pages.run_sphinx(tmp_path, tmp_path / "out")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(pyodide.SiteError, match="sphinx isn't installed"):
        pages.write_pages(tmp_path / "out", EDITION)


# What is on a page


def predictions() -> list[list[Any]]:
    """The questions of the lesson with their choices, in order."""
    book = json.loads(slides.lesson_file("01").read_text("utf8"))
    sources = ["".join(cell["source"]) for cell in book["cells"]]
    asked = [one for one in sources if "course.predict(" in one]
    return [slides.prediction_in(one)[2][1:] for one in asked]


def answer_of(website: Path, name: str) -> dict[str, Any]:
    """What waits in a shared script for a Commit."""
    text = (website / f"_static/shared/{name}.js").read_text("utf8")
    packed = json.loads(text.partition("] = ")[2].rstrip(";\n"))
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found


def test_answers_are_not_on_the_page_and_come_true_in_the_file(website: Path) -> None:
    page = (website / LESSON).read_text("utf8")
    names = re.findall(r'data-answer="(\w+)"', page)
    assert len(names) == len(predictions()) > 3
    readable = [*website.rglob("*.html"), *website.rglob("*.js")]
    texts = [path.read_text("utf8") for path in readable]
    for name, (question, choices) in zip(names, predictions(), strict=True):
        outcomes = answer_of(website, name)["outcomes"]
        assert list(outcomes) == choices, question
        right = [choice for choice in choices if "✓ Right" in outcomes[choice]]
        assert len(right) == 1, question
        why = re.findall(
            r"<div style='margin-top: 0.3em'>(.*?)</div>", outcomes[right[0]]
        )
        assert why
        assert not [text for text in texts if "The run says" in text or why[0] in text]


def test_what_a_cell_shows_after_a_question_is_folded(website: Path) -> None:
    page = (website / LESSON).read_text("utf8")
    section = page[page.index('id="same-or-new"') :].partition("<section")[0]
    question, _, after = section.partition('class="minigrad-prediction"')
    after = re.sub(r"<(?!/?details)[^>]*>", "", after)
    shown = "MulConstantBackward at 0x"
    assert shown not in question
    before = after[: after.index(shown)]
    assert before.count("<details") == before.count("</details>") + 1


def test_outputs_are_those_of_a_run_and_players_have_their_recording(
    website: Path,
) -> None:
    page = (website / LESSON).read_text("utf8")
    assert re.search(r"MulConstantBackward object at 0x", page)
    frames = re.findall(r'<iframe data-page="(\w+)" data-code="(\w+)"', page)
    assert frames
    assert len({code for _, code in frames}) == 1
    for name in {name for pair in frames for name in pair}:
        assert (website / f"_static/shared/{name}.js").is_file()
    assert "srcdoc=" not in page
    assert "trust the notebook" not in page


def test_graph_of_a_player_is_a_file_that_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = playground.play("x * w").recording
    assert recording is not None
    data = recording._pictured()
    monkeypatch.setattr(graph, "svg_of", lambda dot: ("<svg>drawn</svg>", "dot"))
    shared = Shared(tmp_path / "shared")
    shown = shared.taken_out(view.output_of(data), up="up/")
    name = re.search(
        r'<img alt="[^"]+" loading="lazy" src="up/_static/(\S+svg)"', shown
    )
    assert name
    assert (tmp_path / name[1]).read_text("utf8") == "<svg>drawn</svg>"
    assert "base64" not in shown


# Links


class Found(HTMLParser):
    """The addresses in a page, and its places to go to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.loaded: list[str] = []
        self.places = {""}
        self.feed(page.read_text("utf8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.places |= {has[name] for name in ("id", "name") if name in has}
        self.addresses += [has["href"]] if tag == "a" and "href" in has else []
        if tag in ("script", "img", "iframe", "link"):
            self.loaded += [has[name] for name in ("src", "href") if name in has]


def broken(website: Path) -> list[str]:
    """Addresses that lead nowhere, or that hold only at the root of a server."""
    read = {path: Found(path) for path in website.rglob("*.html")}
    wrong = []
    for path, found in read.items():
        inside = [one for one in found.addresses if "://" not in one]
        for address in [*inside, *found.loaded]:
            parts = urlsplit(address)
            file, place = unquote(parts.path), parts.fragment
            target = (path.parent / file).resolve() if file else path
            known = read[target].places if target in read else {place}
            # The end of the playground's address is a program.
            is_there = target.is_file() and "://" not in address
            at = place in known or target.name == "playground.html"
            if not is_there or not at or address.startswith("/"):
                wrong.append(f"{path.relative_to(website)}: {address}")
    return wrong


def test_links_lead_somewhere_and_pages_load_nothing_from_elsewhere(
    website: Path, tmp_path: Path
) -> None:
    assert broken(website) == []
    (tmp_path / "page.html").write_text(
        '<a href="nowhere.html">1</a><a href="#nowhere">2</a><a href="/page.html">3</a>'
        '<script src="https://example.org/x.js"></script><a href="page.html">right</a>'
    )
    ends = [one.rpartition(" ")[2] for one in broken(tmp_path)]
    assert ends == [
        "nowhere.html",
        "#nowhere",
        "/page.html",
        "https://example.org/x.js",
    ]


def test_each_notebook_leads_to_the_edition_and_is_there_to_download(
    website: Path,
) -> None:
    for place, notebook, beside in (
        (LESSON, slides.lesson_file("01"), EXERCISES),
        (EXERCISES, pages.exercises_of(slides.lesson_file("01")), LESSON),
    ):
        _, _, page = (website / place).read_text("utf8").partition("minigrad-actions")
        inside = notebook.relative_to(pages.ROOT).as_posix()
        assert re.findall('href="([^"]*)"', page.partition("</p>")[0]) == [
            f"{EDITION}lab/index.html?path={inside}",
            f"../download/{notebook.name}",
            f"../{beside}",
        ]
        downloaded = website / "download" / notebook.name
        assert downloaded.read_bytes() == notebook.read_bytes()


# Exercises


def lines_of(notebook: Path) -> set[str]:
    """The lines in what a learner writes, without those that only take up room."""
    cells = json.loads(notebook.read_text("utf8"))["cells"]
    written = [c for c in cells if "exercise" in c["metadata"].get("tags", [])]
    lines = [line.strip() for cell in written for line in cell["source"]]
    return {line for line in lines if line}


def test_exercises_show_what_they_ask_and_fold_hints_but_tell_no_answer(
    website: Path,
) -> None:
    page = (website / EXERCISES).read_text("utf8")
    text = html.unescape(re.sub("<[^>]*>", "", page))
    shipped = pages.exercises_of(slides.lesson_file("01"))
    solved = pages.ROOT / f"solutions/{shipped.parent.name}/{shipped.parent.name}.ipynb"
    lines = lines_of(shipped)
    stubs = [line for line in lines if not line.startswith("exercise(")]
    assert not [line for line in stubs if line not in text]
    shipped_text = shipped.read_text("utf8")
    answers = [line for line in lines_of(solved) if line not in shipped_text]
    assert len(answers) > 3
    assert not [line for line in answers if line in text]
    asked = [catalogue.load(name) for name in catalogue.names() if name[:2] == "01"]
    for exercise in asked:
        for question in exercise.questions:
            assert lessons.paragraphs(question.why) not in page
            assert with_code(question.text) in page
        for hint in exercise.hints:
            assert f"</summary>{lessons.paragraphs(hint)}</details>" in page
    assert page.count("What the check asks") == 3
    assert "NotImplementedError  " not in text
    assert "ipykernel" not in text


def test_call_of_a_check_stays_where_the_text_says_what_it_asks() -> None:
    said = flat(catalogue.load("17.2").statement)
    for more, shows in (("", "Hint 1"), ('hint("17.2")', "[]")):
        cell = new_code_cell('check("17.2", [Softplus, Hypot])')
        lessons.as_exercise(cell, "check", "17.2", said + more)
        assert cell.cell_type == "code"
        assert shows in str(cell.outputs)
        assert "What the check asks" not in str(cell.outputs)


# What has no lesson


def test_each_name_of_ctx_has_a_page_with_a_program_that_uses_it(
    website: Path,
) -> None:
    names = [name for name, _ in reference.names_on_the_map()]
    assert sorted(reference.PROGRAMS) == sorted(names)
    for name in names:
        page = (website / f"ctx/{name}.html").read_text("utf8")
        word = "ctx.exponent" if name == "anything" else f".{name}"
        assert word in reference.PROGRAMS[name]
        assert "<iframe data-page=" in page
        assert "docs.pytorch.org" in page
    page = (website / "ctx/save_for_backward.html").read_text("utf8")
    assert "save_for_backward called twice:" in page
    assert "(*tensors)" in re.sub("<[^>]*>", "", page)


def test_glossary_and_questions_are_all_there_and_lead_to_lessons(
    website: Path,
) -> None:
    assert 'id="term-leaf"' in (website / "glossary.html").read_text("utf8")
    asked = Found(website / "questions.html").addresses
    assert f"{LESSON}#which-line-makes-ctx" in asked
    assert len([one for one in asked if one.startswith(EDITION)]) > 60


# The playground's program, without a browser


def test_expression_becomes_a_program_and_a_program_stays() -> None:
    played = playground.play("sin(x) * y + x")
    assert played.program.splitlines()[2:] == [
        "x = mg.tensor(2.0, requires_grad=True)",
        "y = mg.tensor(3.0, requires_grad=True)",
        "result = mg.sin(x) * y + x",
        "result.sum().backward()",
    ]
    assert played.error == ""
    assert played.recording is not None
    assert "backward is finished" in played.recording.to_markdown()
    program = reference.PROGRAMS["mark_dirty"]
    assert playground.play(program).program == program


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("x = (", "SyntaxError: '(' was never closed"),
        ("a = 1\nb = a / 0", "line 2: ZeroDivisionError: division by zero"),
        ("print('hello')\n1 + 1", ""),
    ],
)
def test_error_is_told_with_its_line(program: str, said: str) -> None:
    played = playground.play(program)
    assert said in played.error
    assert bool(said) == bool(played.error)
    assert played.printed == ("hello\n" if "hello" in program else "")


# In a browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    page, wrong = context.new_page(), list[str]()
    page.on("pageerror", lambda error: wrong.append(error.message))
    yield page
    context.close()
    assert wrong == []


@pytest.fixture(params=["file", "below a prefix"])
def base(request: pytest.FixtureRequest, website: Path, page: Page) -> Iterator[str]:
    """The website from a file, and from a server that has it in a folder."""
    if request.param == "file":
        yield website.as_uri()
        return
    with served(website.parent) as address:
        asked = refuse_others(page, f"{address}/out")
        yield f"{address}/out"
        assert asked == []


def frame_in(page: Page, selector: str) -> Any:
    frame = page.wait_for_selector(f"{selector} iframe").content_frame()
    assert frame is not None
    frame.wait_for_function("() => document.getElementById('player')?.player")
    return frame


def test_players_play_and_predictions_lock_and_are_kept(page: Page, base: str) -> None:
    page.goto(f"{base}/{LESSON}")
    form = page.locator(".minigrad-prediction").first
    below = "css=.minigrad-prediction + div"
    assert page.locator(below).count() == 0
    form.get_by_role("button", name="Commit").click()
    assert "Choose an answer first" in form.inner_text()
    form.get_by_label("after forward").check()
    form.get_by_role("button", name="Commit").click()
    form.get_by_text("You said: after forward. The run says: before").wait_for()
    assert not form.get_by_role("button", name="Commit").is_visible()
    assert form.get_by_label("before forward").is_disabled()
    assert (
        page.locator(".minigrad-prediction ~ details").first.get_attribute("open") == ""
    )
    frame = frame_in(page, below)
    assert "apply creates ctx" in on_screen(frame)["say"]
    frame.evaluate("() => document.getElementById('player').player.go(1000)")
    assert "apply creates ctx" not in on_screen(frame)["say"]
    height = page.locator(f"{below} >> iframe").bounding_box()
    assert height is not None
    assert height["height"] > 400
    page.reload()
    page.locator(".minigrad-prediction").first.get_by_text("You said").wait_for()


def test_what_does_not_load_is_said_and_commit_can_be_pressed_again(
    page: Page, website: Path
) -> None:
    with served(website) as address:
        page.route("**/_static/shared/*.js", lambda route: route.abort())
        page.goto(f"{address}/{LESSON}")
        page.locator("[data-minigrad-player]").first.scroll_into_view_if_needed()
        page.locator("[data-minigrad-player] >> text=didn't load").wait_for()
        form = page.locator(".minigrad-prediction").first
        form.get_by_label("after forward").check()
        commit = form.get_by_role("button", name="Commit")
        commit.click()
        form.get_by_text("didn't load").wait_for()
        page.unroute("**/_static/shared/*.js")
        commit.click()
        form.get_by_text("You said: after forward.").wait_for()


def test_first_picture_takes_few_bytes(page: Page, website: Path) -> None:
    with served(website.parent) as address:
        page.goto(f"{address}/out/{LESSON}")
        page.locator("[data-minigrad-player]").first.scroll_into_view_if_needed()
        frame_in(page, "[data-minigrad-player]")
        taken = page.evaluate(TAKEN)
    assert 100_000 < taken < FIRST_PICTURE


def test_axe_finds_nothing_and_players_are_as_dark_as_the_page(
    page: Page, website: Path
) -> None:
    places = [LESSON, EXERCISES, "playground.html", "questions.html", "glossary.html"]
    for place in [*places, "index.html", "ctx/mark_dirty.html"]:
        page.goto((website / place).as_uri())
        page.evaluate(AXE.read_text("utf8"))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(RUN_SERIOUS) == [], (place, scheme)
    frame = frame_in(page, "[data-minigrad-player]")
    is_dark = "() => document.documentElement.classList.contains('dark')"
    is_light = f"() => !({is_dark})()"
    frame.wait_for_function(is_dark)
    page.emulate_media(color_scheme="light")
    frame.wait_for_function(is_light)
    page.evaluate("document.body.dataset.theme = 'dark'")
    frame.wait_for_function(is_dark)
    page.evaluate("document.body.dataset.theme = 'light'")
    frame.wait_for_function(is_light)


def test_no_page_is_wider_than_the_window(page: Page, website: Path) -> None:
    wide = "document.documentElement.scrollWidth"
    for path in website.rglob("*.html"):
        page.goto(path.as_uri())
        for width in (390, 944, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(wide) == width, path.name
    page.evaluate("document.body.style.minWidth = '3000px'")
    assert page.evaluate(wide) > width


def test_search_finds_from_a_file(page: Page, website: Path) -> None:
    page.goto(f"{website.as_uri()}/search.html?q=mark_dirty")
    page.locator("#search-results a", has_text="ctx.mark_dirty").first.wait_for()
    page.locator("#search-results .context", has_text="in place").first.wait_for()


def test_program_comes_in_a_link_and_goes_in_one(page: Page, website: Path) -> None:
    program = reference.PROGRAMS["needs_input_grad"].strip()
    with served(website) as address:
        page.goto(f"{address}/playground.html#{reference.packed(program)}")
        typed = page.get_by_label("Program", exact=True)
        page.wait_for_function(
            "document.querySelector('#program').value.includes('needs')"
        )
        assert typed.input_value() == program
        typed.fill("exp(x) * π")
        page.get_by_role("button", name="Copy a link").click()
        page.wait_for_function(
            f"!location.hash.includes('{reference.packed(program)}')"
        )
        page.reload()
        page.wait_for_function("document.querySelector('#program').value.includes('π')")
        page.goto(f"{address}/index.html")
        page.goto(f"{address}/playground.html#nonsense")
        page.get_by_text("There's no program in this link").wait_for()
    page.goto(f"{website.as_uri()}/playground.html")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("Python isn't beside this file").wait_for()


FOLDER = os.environ.get(site.FOLDER)


@pytest.fixture(scope="module")
def with_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A website without lessons, with the Python of its playground."""
    assert FOLDER is not None
    out = tmp_path_factory.mktemp("playground") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "lesson_files", lambda only: [])
        pages.write_pages(out, "edition", ["00"])
    edition = out / "edition/static/pyodide"
    pyodide.write_pyodide(edition, Path(FOLDER))
    pages.write_python(out, edition)
    return out


@pytest.mark.skipif(not FOLDER, reason=f"{site.FOLDER} names no folder")
@pytest.mark.parametrize("scheme", ["http", "file"])
def test_playground_steps_stops_and_says_what_went_wrong(
    scheme: str, page: Page, with_python: Path
) -> None:
    file = contextlib.nullcontext(with_python.as_uri())
    with file if scheme == "file" else served(with_python) as address:
        asked = refuse_others(page, address)
        loaded: list[str] = []
        page.on("request", lambda request: loaded.append(request.url))
        page.goto(f"{address}/playground.html")
        page.wait_for_load_state("networkidle")
        assert not [url for url in loaded if "pyodide" in url]
        typed = page.get_by_label("Program", exact=True)
        run = page.get_by_role("button", name="Run")
        typed.fill("exp(x) * w")
        run.click()
        frame = frame_in(page, "#shown")
        assert "y = mg.exp(x) * w" in typed.input_value()
        frame.evaluate("() => document.getElementById('player').player.go(1000)")
        assert "x.grad is 22.17" in on_screen(frame)["say"]
        typed.fill("print('so far')\n1 / 0")
        run.click()
        page.get_by_text("line 2: ZeroDivisionError: division by zero").wait_for()
        assert page.locator("#printed").inner_text() == "so far\n"
        typed.fill("while True: pass")
        run.click()
        page.get_by_text("Running").wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped.").wait_for()
        assert run.is_enabled()
        assert asked == []
