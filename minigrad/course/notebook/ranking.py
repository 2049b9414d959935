"""Which texts answer a question best: BM25 over stems, with the aliases of words.toml.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

# How late a repeated word stops counting; how much a long text loses.
SATURATION, LENGTH = 1.2, 0.4
# How alike a misspelt word has to be to the one that's meant.
ALIKE = 0.8
# What share of a question a text must have; a long message may score instead.
SURE_SHARE, SURE_SCORE = 0.6, 15.0
ENDING = re.compile(r"(?<=\w{3})(ations?|ings?|ions?|ies|ed|es|ly|s)$")
DOUBLE = re.compile(r"([^aeiouls])\1$")
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf8"))
COMMON = set(WORDS["common"].split())


def spelled(text: str) -> Iterator[str]:
    """Its words as they are; ``save_for_backward`` counts whole and in parts."""
    for name in re.findall(r"[^\W\d]\w*", re.sub(r"n't\b|'\w+", "", text)):
        whole = [name.lower()] if "_" in name.strip("_") else []
        parts = re.findall("[A-Z][a-z]+|[a-z]{2,}|[A-Z]{2,}(?![a-z])", name)
        yield from [*whole, *[p.lower() for p in parts if p.lower() not in COMMON]]


def stem(word: str) -> str:
    """A word without its ending; a name from code stays whole.

    >>> stem("hooks"), stem("stopped"), stem("derivatives"), stem("saved_tensors")
    ('hook', 'stop', 'derivativ', 'saved_tensors')
    """
    short = word if "_" in word else DOUBLE.sub(r"\1", ENDING.sub("", word))
    return short.removesuffix("e") if len(short) > 3 else short


def words(text: str) -> list[str]:
    """The stems of a text's words."""
    return [stem(word) for word in spelled(text)]


ALIASES = {stem(word): words(others) for word, others in WORDS["aliases"].items()}


class Found(NamedTuple):
    """A text by its number: its score, and the share of the question that it has."""

    score: float
    share: float
    number: int


class Ranking:
    """Texts that can be asked; a text is parts with a weight each."""

    def __init__(self, texts: Sequence[Sequence[tuple[str, float]]]) -> None:
        self.counts: list[dict[str, float]] = [{} for _ in texts]
        for count, parts in zip(self.counts, texts, strict=True):
            for word, weight in [(w, n) for text, n in parts for w in words(text)]:
                count[word] = count.get(word, 0) + weight
        self.seen = Counter([word for count in self.counts for word in count])
        self.mean = sum([sum(count.values()) for count in self.counts]) / max(
            len(texts), 1
        )

    def known(self, word: str) -> str:
        """A word as it is, or the one that's most like it if no text has it."""
        if word in self.seen or word in ALIASES or len(word) < 3:
            return word
        return next(iter(get_close_matches(word, self.seen, 1, ALIKE)), word)

    def rarity(self, word: str) -> float:
        """What a word counts: the fewer texts have it, the more."""
        seen = self.seen[word] + 0.5
        return math.log(1 + (len(self.counts) + 1 - seen) / seen)

    def best(self, question: str) -> list[Found]:
        """Every text that has a word of the question or its alias, the best first."""
        asked = {w: [w, *ALIASES.get(w, ())] for w in map(self.known, words(question))}
        rarity = {w: self.rarity(w) for alike in asked.values() for w in alike}
        whole = sum([rarity[word] for word in asked]) or 1
        found = []
        for number, count in enumerate(self.counts):
            norm = SATURATION * (1 + LENGTH * (sum(count.values()) / self.mean - 1))
            n = {word: count[word] for word in rarity if word in count}
            had = [rarity[w] for w in asked if not n.keys().isdisjoint(asked[w])]
            share = sum(had) / whole
            score = sum([rarity[w] * n[w] / (n[w] + norm) for w in n]) * (1 + share)
            found.append(Found(score, share, number))
        return sorted([one for one in found if one.score], key=lambda one: -one.score)


def is_sure(best: Sequence[Found]) -> bool:
    """Whether one of the best texts has what the question asks for."""
    return any([one.share >= SURE_SHARE or one.score >= SURE_SCORE for one in best])
