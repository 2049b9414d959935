"""The code a recording shows."""

from __future__ import annotations

import pytest

from minigrad.tracing.sources import phases_of, tokens_of


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
    lines = ["def f():", "# create ctx", "a", "", "# other", "b", "# wire edges", "c"]
    phases = phases_of(lines, ("create ctx", "wire edges"))
    assert (phases[2], phases[5], phases[7]) == (
        "create ctx",
        "create ctx",
        "wire edges",
    )
    assert 0 not in phases
