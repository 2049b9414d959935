"""Which texts answer a question best: BM25 over words without their endings.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

SATURATION, LENGTH = 1.2, 0.4
"""How soon a repeated word stops counting; how much a long text loses."""

KNOWN_SHARE, KNOWN_WEIGHT, LOOKED_AT = 0.5, 10.0, 3
"""How much of a question the best of so many texts has to have in it."""

COMMON = set(
    re.findall(
        r"\w+",
        """
    a about after all also an and any are as at be been but by ca can cannot could did
    do does doing for from had has have how i if in into is it its just me
    mean means my no not of on one only or out over own same should so some still
    such tell than that the their them then there these they this those to too up
    use used using want was way we were what when where which who why will with
    without work would you your
        """,
    )
)
ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ed", "es", "ly")
SAME = {
    "ram": "memory",
    "oom": "memory",
    "grad": "gradient",
    "derivative": "gradient",
    "hessian": "second",
    "twice": "second",
    "inplace": "place",
    "np": "numpy",
    "constant": "number",
    "scalar": "number",
    "float": "number",
    "int": "number",
    "parameter": "argument",
    "arg": "argument",
    "kwarg": "keyword",
    "double": "second",
}


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
        self.norms = [1 - LENGTH + LENGTH * size / mean for size in sizes]
        self.spread = Counter([word for count in self.counts for word in count])

    def best(self, question: str) -> list[tuple[float, int]]:
        """Score and number of every text that shares a word with it, best first."""
        asked = set(words(question)) & self.spread.keys()
        found = [
            (sum([self._score(word, number) for word in asked]), number)
            for number in range(len(self.counts))
        ]
        return sorted([one for one in found if one[0] > 0], key=lambda one: -one[0])

    def knows(self, question: str, best: Sequence[int]) -> bool:
        """Whether one of the best texts has what the question asks for.

        Half of its words, the rare ones counting more, or so many that the others may
        be names and numbers of somebody's own, as in an error message.
        """
        asked = {word: self._rarity(word) for word in words(question)}
        shared = [
            sum([asked[word] for word in asked.keys() & self.counts[number].keys()])
            for number in best[:LOOKED_AT]
        ]
        most, whole = max(shared, default=0.0), sum(asked.values())
        return 0 < KNOWN_SHARE * whole <= most or most >= KNOWN_WEIGHT

    def _rarity(self, word: str) -> float:
        seen = self.spread[word]
        return math.log(1 + (len(self.counts) - seen + 0.5) / (seen + 0.5))

    def _score(self, word: str, number: int) -> float:
        count = self.counts[number].get(word, 0)
        return self._rarity(word) * count / (count + SATURATION * self.norms[number])

    def nearest_words(self, question: str) -> str:
        """Known words that are spelled much like the ones asked for."""
        close = [
            match
            for word in words(question)
            for match in get_close_matches(word, self.spread, n=2, cutoff=0.7)
        ]
        return " ".join(close)
