"""Which texts answer a question best: BM25 over stems, with aliases.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import NamedTuple

SATURATION, LENGTH = 1.2, 0.4
"""How soon a repeated word stops counting; how much a long text loses."""

ALIKE = 0.8
"""How alike a misspelt word has to be to the one that's meant."""

SURE_SHARE, SURE_SCORE = 0.6, 15.0
"""How much of a question a text has to have, or how high it has to score."""

COMMON = set(
    re.findall(
        r"\w+",
        """
    a about after all also an and any are as at be been but by ca can cannot could did
    do does doing for from had has have how i if in into is it its just me
    mean means my no not of on one only or out over own same should so some still
    such tell than that the their them then there these they thing things this
    those to too up use used using vs want was way we were what whats when where which
    who why will with without work would you your
        """,
    )
)
ENDING = re.compile(r"(?<=\w{3})(ations?|ings?|ions?|ies|ed|es|ly|s)$")
ALIASES = """
    activation: saved; arg: argument; benchmark: measure spread turns median;
    checkpoint: memory time; compile: warm first; constant: number;
    crash: interrupt; custom: own function; derivative: gradient; dim: axis;
    dimension: axis; double: second derivative create_graph; eps: step small;
    epsilon: step small; float: number; freed: alive gone; fresh: new;
    frozen: needs_input_grad; grad: gradient; hessian: second derivative;
    incoming: grad_output; index: mask gradient none; indices: mask gradient none;
    inplace: place; int: number; integer: number gradient none; jit: warm compile;
    kwarg: keyword; list: none; migrate: pytorch port; mismatch: disagree wrong;
    mode: direction; move: pytorch port; np: numpy; oom: memory; op: own function;
    parameter: argument; port: pytorch; ram: memory; resume: interrupt;
    scalar: number; schedule: learning rate; slow: faster time; store: keep;
    switch: pytorch port; times: second; tolerance: step gradcheck;
    topological: order node toposort; twice: second; version: place
"""
"""What people say, and the words under which the course has it."""


def spelled(text: str) -> Iterator[str]:
    """Its words as they are; ``save_for_backward`` counts whole and in parts."""
    for name in re.findall(r"[^\W\d]\w*", re.sub(r"n't\b|'\w+", "", text)):
        if "_" in name.strip("_"):
            yield name.lower()
        for part in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])", name):
            if part.lower() not in COMMON and len(part) > 1:
                yield part.lower()


def stem(word: str) -> str:
    """A word without its ending; a name from code stays whole.

    >>> stem("hooks"), stem("stopped"), stem("derivatives"), stem("saved_tensors")
    ('hook', 'stop', 'derivativ', 'saved_tensors')
    """
    if "_" in word:
        return word
    short = ENDING.sub("", word)
    if short != word:
        short = re.sub(r"([^aeiouls])\1$", r"\1", short)
    return short.removesuffix("e") if len(short) > 3 else short


def words(text: str) -> list[str]:
    """The stems of a text's words."""
    return [stem(word) for word in spelled(text)]


OTHERS = {
    stem(word): words(others) for word, others in re.findall(r"(\w+): ([^;]+)", ALIASES)
}


class Found(NamedTuple):
    """A text by its number: its score, and the share of the question that it has."""

    score: float
    share: float
    number: int


class Ranking:
    """Texts that can be asked; a text is parts with a weight each."""

    def __init__(self, texts: Sequence[Sequence[tuple[str, float]]]) -> None:
        self.counts: list[dict[str, float]] = []
        for parts in texts:
            count: dict[str, float] = {}
            for part, weight in parts:
                for word in words(part):
                    count[word] = count.get(word, 0) + weight
            self.counts.append(count)
        sizes = [sum(count.values()) for count in self.counts]
        mean = sum(sizes) / len(sizes)
        self.norms = [SATURATION * (1 + LENGTH * (size / mean - 1)) for size in sizes]
        self.seen = Counter([word for count in self.counts for word in count])

    def rarity(self, word: str) -> float:
        """What a word counts: the fewer texts have it, the more."""
        seen = self.seen[word]
        return math.log(1 + (len(self.counts) - seen + 0.5) / (seen + 0.5))

    def asked(self, question: str) -> dict[str, list[str]]:
        """Each word of a question, with it and its aliases.

        One that no text has is taken for the known one that's most like it.
        """
        found = {}
        for word in words(question):
            if word not in self.seen and word not in OTHERS and len(word) > 2:
                word = next(iter(get_close_matches(word, self.seen, 1, ALIKE)), word)
            found[word] = [word, *OTHERS.get(word, ())]
        return found

    def best(self, question: str) -> list[Found]:
        """Every text that has a word of the question, the best first."""
        asked = self.asked(question)
        alike = [word for it in asked.values() for word in it]
        weights = {word: self.rarity(word) for word in alike}
        whole = sum([weights[word] for word in asked])
        found = []
        for number, (count, norm) in enumerate(
            zip(self.counts, self.norms, strict=True)
        ):
            known = {word: count[word] for word in weights if word in count}
            had = [
                word for word, it in asked.items() if not known.keys().isdisjoint(it)
            ]
            share = sum([weights[word] for word in had]) / (whole or 1)
            score = sum([weights[word] * n / (n + norm) for word, n in known.items()])
            found.append(Found(score * (1 + share), share, number))
        return sorted([one for one in found if one.score], key=lambda one: -one.score)


def is_sure(best: Sequence[Found]) -> bool:
    """Whether one of the best texts has what the question asks for.

    A long error message has many words of its own, so a high score will do, too.
    """
    return any([one.share >= SURE_SHARE or one.score >= SURE_SCORE for one in best])
