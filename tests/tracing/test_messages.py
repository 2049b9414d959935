"""The one table of texts: whole, used, filled in, and ready for another language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import minigrad as mg
from minigrad.tracing import messages, translation
from minigrad.tracing.codes import APPLY_PHASES, BACKWARD_PHASES
from minigrad.views import page, script
from minigrad.views.recording import Recording, record
from tests.tracing import happenings
from tests.tracing.programs import record_failure, record_scale
from tests.tracing.pseudo import translated, untranslated

PACKAGE = Path(messages.__file__).parents[1]
ENGLISH = messages.read(messages.ENGLISH)
TEXTS = {**ENGLISH["steps"], **ENGLISH["page"]}

OF_THE_PLAYER = (
    *("comparing", "graph", "inputs", "live_player", "magics", "numbers"),
    *(
        "page",
        "picture",
        "picture_facts",
        "picture_values",
        "recording",
        "values",
        "whatif",
    ),
)
"""The views that make words for the player; others make them for exercises."""
NOT_OF_A_STEP = (
    "messages",
    "program",
    "replay",
    "trace",
    "translation",
)
"""The modules of tracing that have only errors to tell."""
OF_ERRORS = {
    *(" is given one", "backward has come to one"),
    "changes a tensor of yours that has no copy (",
    "write %%step --as trace or --level phases or --memory, and a title",
    "there is no level ",
    "; use one of ",
    "there is no option ",
    " isn't a name for a variable",
    " is the name of ",
    "the attribute ",
    "the gradient",
    "async def ",
    "not there",
}
"""Parts of the messages of errors, which are made in several lines; and code."""
MARKUP = re.compile(r"<[^>]*>?|^[^<]*>")
WORDS = re.compile(r"[A-Za-z]{2}[,;:]? [a-z]{2}")


def sources() -> Iterator[tuple[str, ast.Module]]:
    """The modules that make words for the player."""
    paths = [PACKAGE / "views" / f"{name}.py" for name in OF_THE_PLAYER]
    paths += sorted((PACKAGE / "tracing").rglob("*.py"))
    for path in paths:
        if path.stem not in NOT_OF_A_STEP:
            yield path.name, ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def is_of_errors(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def calls_in_python() -> Iterator[tuple[str, set[str] | None]]:
    """The pattern of each key that is asked for, and the fields it is given.

    None for fields that are handed on from elsewhere.
    """
    own = ast.parse(Path(messages.__file__).read_text(encoding="utf-8"))
    for tree in [own, *(tree for _, tree in sources())]:
        for node in ast.walk(tree):
            if called(node) != "message" or not isinstance(node, ast.Call):
                continue
            if not isinstance(node.func, ast.Name):
                continue  # errors.message
            named = {key.arg for key in node.keywords}
            given = None if None in named else {str(name) for name in named}
            for key in keys_of(node.args[0]):
                yield key, given


def keys_of(node: ast.AST) -> Iterator[str]:
    """The patterns of the keys that an expression may be."""
    if isinstance(node, ast.Constant):
        yield re.escape(str(node.value))
    elif isinstance(node, ast.IfExp):
        yield from keys_of(node.body)
        yield from keys_of(node.orelse)
    elif isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else None for p in node.values]
        yield "".join(["[a-z-]+" if p is None else re.escape(str(p)) for p in parts])


def literals() -> set[str]:
    """All texts in the modules: a key may stand in a variable."""
    return {
        str(node.value)
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
    }


def loose_words(tree: ast.Module) -> list[str]:
    """Texts that somebody might read and that are no errors, keys or docstrings."""
    passed: set[ast.AST] = set()
    found = []
    for node in ast.walk(tree):
        name = called(node)
        is_error = "Error" in name or (name == "message" and is_of_errors(node))
        if (
            is_error
            or name in ("refused", "the_one", "Final")
            or isinstance(node, ast.Raise)
        ):
            passed.update(ast.walk(node))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(node.value)
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and WORDS.search(MARKUP.sub("", text)):
            found += [] if node in passed else [text]
    return found


def test_no_text_that_is_read_stands_outside_the_table() -> None:
    known = {*APPLY_PHASES, *BACKWARD_PHASES, *ENGLISH["words"]}
    known |= set(OF_ERRORS)
    found = {
        name: [text for text in loose_words(tree) if text not in known]
        for name, tree in sources()
    }
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_text_outside_the_table_would_be_found() -> None:
    planted = 'def f(n):\n    """About it."""\n    return f"{n} joins the graph"'
    assert loose_words(ast.parse(planted)) == [" joins the graph"]
    assert loose_words(ast.parse('raise ValueError("not a number")')) == []


def test_every_text_of_the_steps_is_asked_for_and_given_its_fields() -> None:
    asked = list(calls_in_python())
    spoken = literals()
    for key, text in ENGLISH["steps"].items():
        plain = key.removesuffix(".one")
        matching = [given for pattern, given in asked if re.fullmatch(pattern, plain)]
        spelled = plain in spoken or plain.removesuffix(".array") in spoken
        assert matching or spelled, key
        for given in matching:
            needed = {"count"} if plain != key else set()
            assert given is None or messages.fields_of(text) | needed <= given, key
    for pattern, _ in asked:
        assert any(re.fullmatch(pattern, key) for key in TEXTS), pattern


def test_fields_that_nobody_fills_in_would_be_found() -> None:
    assert messages.fields_of("{node} of {tensor}") == {"node", "tensor"}
    assert messages.fields_of("a lone { brace") == {"{"}
    with pytest.raises(KeyError, match="node"):
        messages.message("node.left", nodes="MulBackward0")


@pytest.fixture
def pseudo(tmp_path: Path) -> Iterator[Path]:
    """All is said in a language that nobody speaks."""
    yield translated(tmp_path / "messages.pseudo.toml")
    messages.use("en")


def test_recording_in_another_language_has_no_english_word(pseudo: Path) -> None:
    messages.use(str(pseudo))
    traces = [happenings.recorded(program) for program in happenings.PROGRAMS]
    traces += [record_scale(), record_failure("forward"), record_failure("backward")]
    for trace in traces:
        for event in trace.data["events"]:
            assert untranslated(event["say"], trace.data) == [], event["say"]
    fallback = re.sub(r"<[^>]*>", " ", page.fallback_of(traces[0].data))
    assert untranslated(fallback, traces[0].data) == []


def test_what_is_compared_and_asked_is_translated_too(pseudo: Path) -> None:
    def one(factor: float) -> Recording:
        with record(keep_values=True) as trace:
            x = mg.tensor([3.0, 1.0], requires_grad=True)
            (x * x + x * factor).sum().backward()
        return trace

    english = one(2.0)
    assert english.sentences()  # told now, and in English for good
    messages.use(str(pseudo))
    first, second = one(2.0), one(3.0)
    turn = next(e for e in first.data["events"] if e["k"] == "backward.begin")
    place = first.data["events"].index(turn) + 1
    what_if = first.what_if(place, gradient=2.0)
    for said in (
        mg.compare(first, second).sentence,
        mg.compare(first, one(2.0)).sentence,
        what_if.sentence,
        str(first.explain("x.grad")),
        str(first.explain("x.grad", (1,))),
    ):
        assert untranslated(said, first.data) == [], said
    assert untranslated(str(english.explain("x.grad")), english.data) == []
    assert untranslated(english.sentences()[0], english.data)


def test_missing_and_unfit_texts_are_english_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "messages.de.toml"
    table.write_text(
        '[language]\ncode = "de"\n[steps]\n'
        '"node.older" = "{node} war schon im Graphen."\n'
        '"node.left" = "{knoten} wird verlassen."\n"no.such" = "nichts"\n',
        encoding="utf-8",
    )
    try:
        messages.use(str(table))
        older = messages.message("node.older", node="A")
        assert older == "A war schon im Graphen."
        assert messages.message("node.left", node="A") == "The traversal leaves A."
        assert '<html lang="de"' in page.live_page("x")
    finally:
        messages.use("en")
    assert translation.main([str(table)]) == 1
    told = capsys.readouterr().out
    assert "missing: [steps] why.joins = '{label} is added to the graph'" in told
    assert "not usable: [steps] node.left = '{knoten} wird verlassen.'" in told
    assert "not usable: [steps] no.such = 'nichts'" in told
    assert translation.main(["en"]) == 0


def test_language_without_a_table_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no table of messages '.*xx"):
        messages.use("xx")
    assert translation.main(["xx"]) == 2
    assert "there is no table of messages" in capsys.readouterr().err
    assert translation.main([]) == translation.main(["--help"]) == 2
    assert capsys.readouterr().out == 2 * f"{translation.USAGE}\n"


def test_page_carries_the_table_of_its_language(pseudo: Path) -> None:
    before = script.code()
    messages.use(str(pseudo))
    table = messages.in_use.table
    assert table["page"]["button.step"] in script.code() != before
    assert table["words"]["freed"] in script.code()
    assert "const WORDS={};" in before
