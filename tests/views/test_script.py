"""The player's modules: what they take from each other, and what is made of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from minigrad.tracing import messages
from minigrad.tracing.messages import ENGLISH, fields_of, read
from minigrad.views import script

ALL = tuple(
    dict.fromkeys(name for first in script.SHEETS for name in script.modules(first))
)
PAGE = read(ENGLISH)["page"]
FILLED = re.compile(r'message\("([\w.-]+)", \{([^{}]*)\}\)')
EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.M)
DEFINED = re.compile(r"^(?:export )?(?:async )?(?:function|class|const) (\w+)", re.M)
NOT_CODE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//.*$|/\*[\s\S]*?\*/', re.M)
READ = re.compile(
    r'lement\("\w+", (?:"[^"]*"|\{[^{}]*\}), ["`](?!\$)[^"`]*[A-Za-z]{2}'
    r'|textButton\("[A-Za-z]{2}'
)
LABEL = re.compile(
    r'\b(?:ariaLabel|textContent|title|placeholder)(?: =|:) ["`](?![^A-Za-z]*["`])'
)


def code_of(name: str) -> str:
    return NOT_CODE.sub("", script.IMPORT.sub("", script.source(name)))


def imports_of(text: str) -> dict[str, str]:
    found = script.IMPORT.findall(text)
    return {n.strip(): m for names, m in found for n in names.split(",") if n.strip()}


def missing_imports(name: str, code: str, imported: set[str]) -> set[str]:
    """Names of other modules that ``code`` uses without importing them."""
    others = {
        exported
        for other in ALL
        if other != name
        for exported in EXPORTED.findall(script.source(other))
    }
    used = set(re.findall(r"(?<![.\w$])[A-Za-z_]\w*(?!\w*:)", code))
    own = set(re.findall(r"(?:const|let|function|class) (\w+)", code))
    return (others & used) - imported - own


def test_every_file_of_the_folder_is_needed() -> None:
    files = {path.stem for path in script.FOLDER.glob("*.js")}
    assert files == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_module_imports_what_earlier_ones_export_and_uses_it(name: str) -> None:
    earlier = ALL[: ALL.index(name)]
    imported = imports_of(script.source(name))
    code = code_of(name)
    for what, where in imported.items():
        assert where in earlier, f"{name} imports {where}, which comes later"
        assert what in EXPORTED.findall(script.source(where))
        assert re.search(rf"\b{what}\b", code), f"{name} does not use {what}"
    assert not missing_imports(name, code, set(imported))


def test_import_that_is_missing_is_named() -> None:
    assert missing_imports("page", code_of("page"), set()) == {
        "Player",
        "goOnByKey",
        "onKey",
    }


def test_names_are_one_namespace_when_joined() -> None:
    names = [n for m in ALL for n in DEFINED.findall(script.source(m))]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_joined_module_imports_and_exports_nothing() -> None:
    for joined in map(script.joined, script.STARTS):
        assert not re.search(r"^(?:import|export)\b", joined, re.M)
    assert "class Player" in script.joined("page")


@pytest.mark.parametrize("file", script.FILES)
def test_bundle_was_made_of_what_is_written_now(file: str) -> None:
    made = (script.BUNDLES / file).read_text(encoding="utf-8")
    written = script.written(file)
    assert made.partition("\n")[0] == script.stamp(written), (
        "run python -m minigrad.views.script"
    )
    assert len(made) < (0.7 if file.endswith(".js") else 0.9) * len(written)
    for left in ("/*", "\n  "):
        assert left not in made


def test_module_that_has_changed_is_shown_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = script.joined("unpack")
    stale = f"{script.stamp(code + ' ')}\nold"
    (tmp_path / "unpack.js").write_text(stale, encoding="utf-8")
    monkeypatch.setattr(script, "BUNDLES", tmp_path)
    assert script.bundle.__wrapped__("unpack.js") == code
    (tmp_path / "unpack.js").write_text(f"{script.stamp(code)}\nnew", encoding="utf-8")
    assert script.bundle.__wrapped__("unpack.js") == "new"
    (tmp_path / "unpack.js").unlink()
    assert script.bundle.__wrapped__("unpack.js") == code


def test_page_was_packed_small_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, code = script.BUNDLES / "page.packed", script.code()
    head, _, small = file.read_text(encoding="utf-8").partition("\n")
    assert head == script.stamp(code), "run python -m minigrad.views.script"
    assert len(small) < 0.97 * len(script.packed(code))
    pack = script.packed_code.__wrapped__
    assert pack(messages.in_use, "page") == small
    (tmp_path / "page.packed").write_text(f"{script.stamp(code + ' ')}\n{small}")
    monkeypatch.setattr(script, "BUNDLES", tmp_path)
    assert pack(messages.in_use, "page") == script.packed(code)


def test_only_a_live_page_carries_what_a_live_player_needs() -> None:
    assert "class Live " in script.joined("live")
    assert "class Live " not in script.joined("page")
    assert len(script.code("live")) > len(script.code())
    assert len(script.bundle("live.css")) > len(script.bundle("page.css"))


@pytest.mark.parametrize(
    ("part", "does", "says"),
    [("edits", "class Edits ", "editing.end"), ("asks", "class Asks ", "ask.commit")],
)
def test_part_is_not_in_the_pages_that_do_without(
    part: str, does: str, says: str
) -> None:
    assert does in script.joined(part)
    assert PAGE[says] in script.code(part)
    assert PAGE[says] in script.code("page", part)
    for first in ("page", "compare"):
        assert does not in script.joined(first)
        assert PAGE[says] not in script.code(first)
    assert "class Edits " in script.joined("live")


def keys_asked() -> tuple[set[str], list[str]]:
    """Keys of messages that the code names, and the beginnings of those it makes."""
    code = "".join(script.source(m) for m in ALL)
    named = {key for key in re.findall(r'"([\w.-]+)"', code) if key in PAGE}
    asked = set(re.findall(r'message\(\s*"([\w.-]+)"', code))
    patterns = [
        re.sub(r"\\\$\\\{[^}]*\\\}", r"[\\w.-]+", re.escape(made))
        for made in re.findall(r"message\(\s*`([^`]+)`", code)
    ]
    return named | asked, patterns


def test_every_message_is_used_and_every_one_that_is_asked_for_is_there() -> None:
    asked, patterns = keys_asked()
    made = {key for key in PAGE if any(re.fullmatch(p, key) for p in patterns)}
    one = {key for key in PAGE if key.removesuffix(".one") in asked}
    assert asked <= set(PAGE)
    assert set(PAGE) - asked - made - one == set()


def test_texts_stand_in_the_place_of_their_keys_but_for_those_that_are_made() -> None:
    code = script.code()
    assert PAGE["ctx.none"] in code
    assert '"ctx.none"' not in code
    for key in ("button.step", "bytes.few", "bytes.few.one"):
        assert f'"{key}":{json.dumps(PAGE[key])}' in code
    # What else the code calls something by, such as the kinds of events, is no key.
    kinds = set(re.findall(r'\bk === "([\w.]+)"', "".join(map(script.source, ALL))))
    assert "grad.accumulate" in kinds
    assert not kinds & {*PAGE}
    assert all("." in key for key in PAGE)


def test_messages_are_given_the_fields_that_they_have() -> None:
    """Where the fields are written beside the key; others are made before."""
    code = "".join(script.source(m) for m in ALL)
    found = FILLED.findall(code)
    assert len(found) > 70
    for key, fields in found:
        given = {field.partition(":")[0].strip() for field in fields.split(",")}
        assert "...fields" in given or fields_of(PAGE[key]) <= given, key
    assert FILLED.findall('message("node.name", { label, tensor: x })') == [
        ("node.name", " label, tensor: x ")
    ]


def test_no_text_that_is_read_stands_outside_the_table() -> None:
    for name in ALL:
        text = script.source(name)
        assert READ.findall(text) + LABEL.findall(text) == [], name
    assert not re.search(r'content: "[^"]*[A-Za-z]', script.bundle("page.css"))
    assert READ.findall('element("b", "", "Keys")')
    assert READ.findall('element("b", { hidden: true }, "Keys")')
    assert LABEL.findall('button.ariaLabel = "Step"')
    assert LABEL.findall('{ ariaLabel: "Step" }')
