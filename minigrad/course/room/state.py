"""What happened in a room, folded into its board: no clock, no files, no network."""

from __future__ import annotations

import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minigrad.course.check import CRASHED, SOLVED, WRONG

Entry = Mapping[str, Any]

JOINED, LEFT, TOLD, SAID = "joined", "left", "told", "said"
"""What learners do: come, go, send what a check found, and press a button."""
ASKED, CLOSED, AGAIN, OFF = "asked", "closed", "again", "off"
"""What becomes of a vote: on the wall, its bars, the second round, off the wall."""
HELPED, HEARD, LESSON = "helped", "heard", "lesson"

LETTERS = "abcdefgh"
STUCK = 6 * 60
"""Seconds on one exercise after which somebody counts as stuck."""
AWAY = 30 * 60
"""Seconds without a check after which nobody is: there may be a break."""
NOW = 15 * 60
"""How old a mistake may be to be one that the room makes now."""
SIGNAL = 5 * 60
"""How long "too fast" counts."""
LONGEST_NAME = 24
NAMES = ("amber", "azure", "birch", "coral", "fern", "indigo", "ivory", "jade", "maple")
BEASTS = ("badger", "crane", "falcon", "gecko", "heron", "lynx", "marten", "otter")
MOST = 3
"""How many mistakes the board shows."""


@dataclass
class Cell:
    """One exercise of one learner."""

    state: str = ""
    mistake: str = ""
    attempts: int = 0
    begun: float = 0.0
    at: float = 0.0
    line: int = -1


@dataclass
class Learner:
    """What is known of one learner: the pseudonym, and what was sent or pressed."""

    name: str
    cells: dict[str, Cell] = field(default_factory=dict)
    told: set[tuple[int, str]] = field(default_factory=set)
    current: str = ""
    hand: float = 0.0
    pace: str = ""
    pace_at: float = 0.0

    def stuck(self, now: float) -> Cell | None:
        """The unsolved exercise on which this learner has been for too long."""
        cell = self.cells.get(self.current)
        if cell is None or cell.state == SOLVED or now - cell.at > AWAY:
            return None
        return cell if now - cell.begun > STUCK else None

    def pace_now(self, now: float) -> str:
        """The last signal, if it isn't too old."""
        return self.pace if now - self.pace_at <= SIGNAL else ""


@dataclass
class Poll:
    """A question to the room; ``rounds`` are before and after the discussion.

    How many ``choices`` it has is 0 until it's asked, if the course doesn't know it.
    """

    choices: int
    rounds: list[dict[str, str]] = field(default_factory=lambda: [{}])
    open: bool = True

    def bars(self) -> list[list[int]]:
        """How many said a, b, c, ... in each round; empty as long as it is open."""
        if self.open:
            return []
        said = [Counter(each.values()) for each in self.rounds]
        return [[each[letter] for letter in LETTERS[: self.choices]] for each in said]


class Room:
    """Everything that the board can show, kept up to date by ``hear``."""

    def __init__(self, exercises: Sequence[str], choices: Mapping[str, int]) -> None:
        self.exercises = exercises
        self.choices = choices
        self.learners: dict[str, Learner] = {}
        self.polls: dict[str, Poll] = {}
        self.on_wall = ""
        self.lesson = ""

    def knows(self, entry: Entry) -> bool:
        """Whether it came before."""
        learner = self.learners.get(entry.get("member", ""))
        if entry["kind"] != TOLD or learner is None:
            return False
        return (entry["line"], entry["id"]) in learner.told

    def hear(self, entry: Entry) -> None:
        """Take one entry in; one that came before changes nothing."""
        if not self.knows(entry):
            getattr(self, f"_{entry['kind']}")(entry)

    def _joined(self, entry: Entry) -> None:
        self.learners[entry["member"]] = Learner(entry["name"])

    def _left(self, entry: Entry) -> None:
        self.learners.pop(entry["member"], None)
        for poll in self.polls.values():
            for each in poll.rounds:
                each.pop(entry["member"], None)

    def _told(self, entry: Entry) -> None:
        learner = self.learners.get(entry["member"])
        if learner is None:
            return
        learner.told.add((entry["line"], entry["id"]))
        if entry["state"] in LETTERS:
            self._predicted(entry)
            return
        cell = learner.cells.setdefault(entry["id"], Cell())
        cell.attempts += 1
        if entry["line"] < cell.line:
            return
        if learner.current != entry["id"] or cell.state == SOLVED:
            cell.begun = entry["at"]
        learner.current = entry["id"]
        cell.state, cell.mistake = entry["state"], entry["mistake"]
        cell.at, cell.line = entry["at"], entry["line"]

    def _predicted(self, entry: Entry) -> None:
        poll = self._poll(entry["id"])
        if poll.open:
            poll.rounds[-1][entry["member"]] = entry["state"]
        else:
            poll.rounds[0].setdefault(entry["member"], entry["state"])

    def _poll(self, name: str) -> Poll:
        return self.polls.setdefault(name, Poll(self.choices.get(name, 0)))

    def _said(self, entry: Entry) -> None:
        learner = self.learners.get(entry["member"])
        if learner is None:
            return
        if entry["what"] == "hand":
            learner.hand = (learner.hand or entry["at"]) if entry["value"] else 0.0
        elif entry["what"] == "pace":
            learner.pace, learner.pace_at = entry["value"], entry["at"]
        elif self.is_asked(entry["value"]):
            self.polls[self.on_wall].rounds[-1][entry["member"]] = entry["value"]

    def asks(self) -> list[Any]:
        """The question that is on the wall, and its round."""
        poll = self.polls.get(self.on_wall)
        return [self.on_wall, len(poll.rounds) if poll else 0]

    def is_asked(self, letter: str) -> bool:
        """Whether the vote that is open now has this choice."""
        poll = self.polls.get(self.on_wall)
        if poll is None or not poll.open or len(letter) != 1:
            return False
        return letter in LETTERS[: poll.choices]

    def _asked(self, entry: Entry) -> None:
        self.on_wall = name = entry["id"]
        poll = self._poll(name)
        said = [LETTERS.index(one) + 1 for each in poll.rounds for one in each.values()]
        # What the course knows comes first: its words are shown beside the letters.
        poll.choices = self.choices.get(name) or entry["choices"] or max([2, *said])

    def _closed(self, entry: Entry) -> None:
        if self.on_wall:
            self.polls[self.on_wall].open = False

    def _again(self, entry: Entry) -> None:
        poll = self.polls.get(self.on_wall)
        if poll and not poll.open and len(poll.rounds) == 1:
            poll.rounds.append({})
            poll.open = True

    def _off(self, entry: Entry) -> None:
        self.on_wall = ""

    def _helped(self, entry: Entry) -> None:
        learner = self.learners.get(entry["member"])
        if learner:
            learner.hand = 0.0

    def _heard(self, entry: Entry) -> None:
        for learner in self.learners.values():
            learner.pace = ""

    def _lesson(self, entry: Entry) -> None:
        self.lesson = entry["lesson"]

    def current_lesson(self) -> str:
        """The chosen lesson, else the one in which most learners are."""
        if self.lesson:
            return self.lesson
        where = Counter(
            [lesson_of(one.current) for one in self.learners.values() if one.current]
        )
        return max(where, key=lambda name: (where[name], name), default="")

    def counts(self, now: float) -> dict[str, Any]:
        """What may be on a wall: numbers, and nobody's name."""
        lesson = self.current_lesson()
        touched = {name for one in self.learners.values() for name in one.cells}
        columns = [name for name in self.exercises if lesson_of(name) == lesson]
        if lesson == "gym":
            columns = [name for name in columns if name in touched]
        learners = self.learners.values()
        return {
            "lesson": lesson,
            "chosen": self.lesson,
            "lessons": sorted({lesson_of(name) for name in touched} | {lesson} - {""}),
            "learners": len(self.learners),
            "exercises": [self._column(name) for name in columns],
            "mistakes": self.mistakes(now),
            "stuck": len([one for one in learners if one.stuck(now)]),
            "hands": len([one for one in learners if one.hand]),
            "vote": self._vote(),
        }

    def _column(self, name: str) -> dict[str, Any]:
        cells = [one.cells[name] for one in self.learners.values() if name in one.cells]
        states = Counter([cell.state for cell in cells])
        return {"id": name} | {each: states[each] for each in (SOLVED, WRONG, CRASHED)}

    def mistakes(self, now: float) -> list[dict[str, Any]]:
        """The mistakes that most learners have in an exercise now, most first."""
        who: dict[str, set[str]] = {}
        where: dict[str, set[str]] = {}
        for member, learner in self.learners.items():
            for name, cell in learner.cells.items():
                if cell.mistake and cell.state != SOLVED and now - cell.at <= NOW:
                    who.setdefault(cell.mistake, set()).add(member)
                    where.setdefault(cell.mistake, set()).add(name)
        most = sorted(who, key=lambda name: (-len(who[name]), name))[:MOST]
        return [
            {"id": each, "learners": len(who[each]), "in": sorted(where[each])}
            for each in most
        ]

    def _vote(self) -> dict[str, Any] | None:
        poll = self.polls.get(self.on_wall)
        if poll is None:
            return None
        return {
            "id": self.on_wall,
            "open": poll.open,
            "choices": poll.choices,
            "round": len(poll.rounds),
            "answered": len(poll.rounds[-1]),
            "bars": poll.bars(),
        }

    def board(self, now: float) -> dict[str, Any]:
        """What the instructor sees: the counts, and everybody's row."""
        pace = Counter([one.pace_now(now) for one in self.learners.values()])
        rows = [self._row(id, one, now) for id, one in self.learners.items()]
        return self.counts(now) | {
            "rows": sorted(rows, key=lambda row: row["name"].casefold()),
            "pace": {"fast": pace["fast"], "lost": pace["lost"]},
            "polls": [
                {"id": name, "answered": len(poll.rounds[0]), "open": poll.open}
                for name, poll in self.polls.items()
            ],
        }

    def _row(self, member: str, learner: Learner, now: float) -> dict[str, Any]:
        cell = learner.stuck(now)
        return {
            "id": member,
            "name": learner.name,
            "cells": {
                name: [each.state, each.attempts, each.mistake]
                for name, each in learner.cells.items()
            },
            "hand": learner.hand,
            "pace": learner.pace_now(now),
            "stuck": cell
            and [learner.current, int((now - cell.begun) / 60), cell.attempts],
        }

    def seen_by(self, member: str) -> dict[str, Any]:
        """What one learner sees: their own buttons, and the open vote."""
        learner, vote = self.learners[member], self._vote()
        before = [one for one in self.learners.values() if 0 < one.hand < learner.hand]
        if vote:
            mine = self.polls[vote["id"]].rounds[-1].get(member, "")
            vote = {key: vote[key] for key in ("id", "open", "choices", "round")}
            vote["mine"] = mine
        return {
            "name": learner.name,
            "hand": bool(learner.hand),
            "before": len(before),
            "pace": learner.pace,
            "vote": vote,
        }

    def summary(self) -> list[list[Any]]:
        """Rows of counts, which is all that may be kept once the room has closed."""
        rows: list[list[Any]] = [["what", "id", "detail", "learners"]]
        rows.append(["room", "", "joined", len(self.learners)])
        every = [it for one in self.learners.values() for it in one.cells.items()]
        states = Counter([(name, cell.state) for name, cell in every])
        rows += [["exercise", *key, states[key]] for key in sorted(states)]
        found = Counter([(name, c.mistake) for name, c in every if c.mistake])
        rows += [["last mistake", *key, found[key]] for key in sorted(found)]
        for name, poll in self.polls.items():
            for number, said in enumerate(poll.rounds, 1):
                for letter, count in sorted(Counter(said.values()).items()):
                    rows.append([f"vote, round {number}", name, letter, count])
        return rows


def lesson_of(name: str) -> str:
    """The lesson that an exercise or a prediction is in.

    >>> lesson_of("05.join")
    '05'
    """
    return name.partition(".")[0]


def made_up(taken: Iterable[str] = ()) -> str:
    """A pseudonym for those who give none, of words that are still free, if any."""
    used = {word for name in taken for word in name.split()}
    fresh = [[one for one in words if one not in used] for words in (NAMES, BEASTS)]
    return f"{secrets.choice(fresh[0] or NAMES)} {secrets.choice(fresh[1] or BEASTS)}"


def pseudonym(wanted: str, taken: Iterable[str]) -> str:
    """A name that fits on the board, reads one way, and that no one else has.

    >>> pseudonym("Ada", ["ada"])
    'Ada 2'
    """
    known = {name.casefold() for name in taken}
    plain = readable(wanted)[:LONGEST_NAME].strip() or "learner"
    found, number = plain, 1
    while found.casefold() in known:
        number += 1
        found = f"{plain} {number}"
    return found


def readable(text: str) -> str:
    """The text without what is invisible, turns the line round, or piles up."""
    found: list[str] = []
    for sign in unicodedata.normalize("NFKC", text[: 8 * LONGEST_NAME]):
        kind = unicodedata.category(sign)
        piled = kind[0] == "M" and [*map(unicodedata.category, found[-2:])]
        if kind.startswith("Z") or sign in "\t\n\r":
            found.append(" ")
        elif kind[0] != "C" and not (piled and all(k[0] == "M" for k in piled)):
            found.append(sign)
    return " ".join("".join(found).split())
