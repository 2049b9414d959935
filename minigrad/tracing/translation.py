"""What is still to be translated: ``python -m minigrad.tracing.translation de``."""

from __future__ import annotations

import sys
from typing import Final

from minigrad.tracing.messages import ENGLISH, faults, file_of, read

USAGE: Final = """\
usage: python -m minigrad.tracing.translation LANGUAGE ...
  LANGUAGE like de, for messages.de.toml beside messages.toml; or the path of a table"""


def told_of(language: str) -> list[str]:
    """What is missing in a language, and what is there and cannot be used."""
    english, other = read(ENGLISH), read(file_of(language))
    unfit = sorted(faults(english, other))
    missing = [
        (name, key)
        for name, texts in english.items()
        for key in texts
        if key not in other.get(name, {})
    ]
    return [
        *[f"missing: [{name}] {key} = {english[name][key]!r}" for name, key in missing],
        *[f"not usable: [{name}] {key} = {other[name][key]!r}" for name, key in unfit],
    ]


def main(languages: list[str]) -> int:
    """List what is to be done in some languages."""
    if not languages or languages[0].startswith("-"):
        print(USAGE)
        return 2
    try:
        lines = [line for language in languages for line in told_of(language)]
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines) or "nothing is missing")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
