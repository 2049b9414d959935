"""Which texts answer a question best: BM25 over words without their endings.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

SATURATION, LENGTH = 1.2, 0.4
"""How soon a repeated word stops counting; how much a long text loses."""

NAME, IMPLIED, COVERED = 2.0, 0.7, 1.0
"""What a name from code counts, a word of ALSO, and the share that a text has."""

MENDED, KNOWN_SHARE, KNOWN_WEIGHT, LOOKED_AT = 0.45, 0.56, 16.0, 3
"""What a misspelt word counts when it's asked how much of a question the best of so
many texts has in it; how much that has to be, of the whole or at all."""


def _table(text: str) -> dict[str, str]:
    """``word: others; word: others``, as a mapping."""
    return dict(re.findall(r"(\w+): ([^;]+)", " ".join(text.split())))


COMMON = set(
    re.findall(
        r"\w+",
        """
    a about after all also an and any are as at be been but by ca can cannot could did
    do does doing for from had has have how i if in into is it its just me
    mean means my no not of on one only or out over own same should so some still
    such tell than that the their them then there these they thing things this
    those to too up
    use used using vs want was way we were what whats when where which who why will with
    without work would you your
        """,
    )
)
ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ed", "es", "ly")
SAME = _table(
    """
        ram: memory; dimension: axis; dim: axis; store: keep; oom: memory;
        grad: gradient; derivative: gradient; twice: second; inplace: place;
        np: numpy; constant: number; scalar: number; float: number; int: number;
        parameter: argument; arg: argument; kwarg: keyword
    """
)
ALSO = _table(
    """
        activation: saved; benchmark: measure spread turns median;
        checkpoint: memory time; compile: warm first; crash: interrupt;
        custom: own function; double: second derivative create_graph;
        epsilon: step small; eps: step small; fresh: new; freed: alive gone;
        frozen: needs_input_grad; hessian: second derivative;
        incoming: grad_output; index: mask gradient none;
        indices: mask gradient none; integer: number gradient none;
        jit: warm compile; list: none; migrate: pytorch port;
        mismatch: disagree wrong; mode: direction; move: pytorch port;
        op: own function; port: pytorch; resume: interrupt;
        schedule: learning rate; slow: faster time; switch: pytorch port;
        tolerance: step gradcheck; times: second;
        topological: order node toposort; version: place
    """
)
"""What people who ask with a word may find under others."""


def words(text: str) -> Iterator[str]:
    """The words of a text without their endings."""
    for word in spelled(text):
        yield word if "_" in word else stem(word)


def spelled(text: str) -> Iterator[str]:
    """Its words as they are; ``save_for_backward`` counts whole and in parts."""
    for name in re.findall(r"[^\W\d]\w*", re.sub(r"n't\b|'\w+", "", text)):
        if "_" in name.strip("_"):
            yield name.lower()
        for part in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])", name):
            if part.lower() not in COMMON and len(part) > 1:
                yield part.lower()


def stem(word: str) -> str:
    """A word without its ending, and one word for those that mean the same.

    >>> stem("hooks"), stem("hooked"), stem("hooking")
    ('hook', 'hook', 'hook')
    """
    word = SAME.get(word.removesuffix("s"), word)
    if word == "none":
        return word  # not the non- of non-leaf
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            word = word[:-1] if word[-1] == word[-2] not in "ls" else word
            break
    else:
        word = word.removesuffix("s") if len(word) > 3 else word
    return word.removesuffix("e") if len(word) > 3 else word


def pairs(text: str) -> Iterator[str]:
    """Each word with the next one: what a sentence or a message has of an order."""
    found = list(words(text))
    return map(" ".join, pairwise(found))


def shorter(word: str) -> set[str]:
    """A word and what is left of it without one letter.

    Words that share one are a slip apart: a letter more, less, wrong or misplaced.
    """
    return {word} | {word[:n] + word[n + 1 :] for n in range(len(word))}


class Ranking:
    """Texts that can be asked; a text is parts with a weight each.

    The order of the words counts in parts that weigh 1 and more.
    """

    def __init__(self, texts: Sequence[Sequence[tuple[str, float]]]) -> None:
        self.counts: list[dict[str, float]] = []
        sizes = []
        for parts in texts:
            count: dict[str, float] = {}
            for part, weight in parts:
                for word in words(part):
                    count[word] = count.get(word, 0) + weight
            sizes.append(sum(count.values()))
            ordered = " | ".join([part for part, weight in parts if weight >= 1])
            self.counts.append(dict.fromkeys(pairs(ordered), 1.0) | count)
        mean = sum(sizes) / len(sizes)
        self.norms = [1 - LENGTH + LENGTH * size / mean for size in sizes]
        self.spread = Counter([word for count in self.counts for word in count])
        self.slips: dict[str, list[str]] = {}
        for word in self.spread:
            for short in shorter(word) if " " not in word else ():
                self.slips.setdefault(short, []).append(word)

    def asked(self, question: str) -> dict[str, float]:
        """The words of a question, known or not, with what each counts.

        An unknown one is taken for the known one that is a slip away; one that ALSO
        has is known under its other names.
        """
        found: dict[str, float] = {}
        for word in words(question):
            known = word if word in self.spread else self.mended(word)
            implied = known not in self.spread and known in ALSO_STEMS
            for one in words(ALSO_STEMS[known]) if implied else [known]:
                found[one] = self._rarity(one) * (NAME if "_" in one else 1)
        return found

    def mended(self, word: str) -> str:
        """The known word that an unknown one is a slip away from, or itself."""
        near = {known for short in shorter(word) for known in self.slips.get(short, ())}
        near = {known for known in near if known[0] == word[0] and len(known) > 2}
        if len(word) < 5 or word in ALSO_STEMS or not near:
            return word

        def likeness(known: str) -> tuple[float, int]:
            return SequenceMatcher(None, word, known).ratio(), self.spread[known]

        return max(sorted(near), key=likeness)

    def best(self, question: str) -> list[tuple[float, int]]:
        """Score and number of every text that shares a word with it, best first."""
        asked = self.asked(question)
        own = {word: it for word, it in asked.items() if word in self.spread}
        others = [
            other
            for word in words(question)
            for other in words(ALSO_STEMS.get(word, ""))
        ]
        implied = {
            word: IMPLIED * self._rarity(word)
            for word in ({*others, *pairs(question)} & self.spread.keys()) - own.keys()
        }
        whole = sum(own.values()) or 1.0
        found = []
        for number, count in enumerate(self.counts):
            score = sum(
                [
                    weight
                    * count[word]
                    / (count[word] + SATURATION * self.norms[number])
                    for word, weight in [*own.items(), *implied.items()]
                    if word in count
                ]
            )
            share = sum([own[word] for word in own.keys() & count.keys()]) / whole
            if score:
                found.append((score * (1 + COVERED * share), number))
        return sorted(found, key=lambda one: -one[0])

    def knows(self, question: str, best: Sequence[int]) -> bool:
        """Whether one of the best texts has what the question asks for.

        Half of its words, the rare ones counting more, or so many that the others may
        be names and numbers of somebody's own, as in an error message. A word taken
        for a misspelt one counts half: it may be another one.
        """
        asked = self.asked(question)
        sure = set(words(question))
        typed = sure | {self.mended(word) for word in sure - self.spread.keys()}
        asked = {
            word: it if word in sure else it * MENDED
            for word, it in asked.items()
            if word in typed
        } or asked
        shared = [
            sum([asked[word] for word in asked.keys() & self.counts[number].keys()])
            for number in best[:LOOKED_AT]
        ]
        most, whole = max(shared, default=0.0), sum(asked.values())
        return 0 < KNOWN_SHARE * whole <= most or most >= KNOWN_WEIGHT

    def _rarity(self, word: str) -> float:
        seen = self.spread[word]
        return math.log(1 + (len(self.counts) - seen + 0.5) / (seen + 0.5))


ALSO_STEMS = {stem(word): others for word, others in ALSO.items()}
