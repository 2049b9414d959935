"""The code a recording shows."""

from __future__ import annotations

import json

import pytest

import minigrad as mg
from minigrad.tracing.codes import phases_of, tokens_of, without_secrets


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x + 1  # one more",
        'text = """two\nlines"""\nname = f"{text!r:>5}"',
        "broken = (1,\n",
        "",
    ],
)
def test_tokens_join_to_the_text(text: str) -> None:
    lines = ["".join(run for _, run in line) for line in tokens_of(text)]
    assert "\n".join(lines) == text


def test_tokens_know_keyword_name_number_string_and_comment() -> None:
    (line,) = tokens_of("def f(): return 1, 'a'  # why")
    kinds = {text: kind for kind, text in line if kind}
    assert kinds == {
        "def": "k",
        "f": "f",
        "return": "k",
        "1": "n",
        "'a'": "s",
        "# why": "c",
    }


def test_phase_lasts_until_the_next_one() -> None:
    lines = ["def f():", "# create ctx", "a", "", "# other", "b", "# link outputs", "c"]
    phases = phases_of(lines, ("create ctx", "link outputs"))
    assert (phases[2], phases[5], phases[7]) == (
        "create ctx",
        "create ctx",
        "link outputs",
    )
    assert 0 not in phases


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("api_key = 'sk-1\\'2'; y = 'b'", "api_key = \"(hidden)\"; y = 'b'"),
        ('connect("host", Password="x")', 'connect("host", Password="(hidden)")'),
        ('{"token": f"x{1}", "at": "y"}', '{"token": "(hidden)", "at": "y"}'),
        ("os.environ['SECRET'] = b'x'", "os.environ['SECRET'] = \"(hidden)\""),
        ("ACCESS_KEY: str = 'x'", 'ACCESS_KEY: str = "(hidden)"'),
        ("name = 'a secret = b'", "name = 'a secret = b'"),
        ("tokens = text.split(' ')", "tokens = text.split(' ')"),
        ("key = 'x'", "key = 'x'"),
    ],
)
def test_text_that_is_named_like_a_secret_is_not_shown(line: str, shown: str) -> None:
    assert without_secrets(line) == shown


def lend() -> None:
    password = "swordfish"
    fish = "herring"
    mg.ones(len(password + fish))


def test_secret_in_the_source_is_nowhere_in_a_recording() -> None:
    text = json.dumps(mg.step(lend).data)
    assert "swordfish" not in text
    assert "herring" in text
