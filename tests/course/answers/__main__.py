"""``python -m tests.course.answers``: what the checker says of all known answers."""

from __future__ import annotations

import argparse
from collections import Counter

from tqdm import tqdm

from tests.course.answers import kit


def main() -> int:
    """Print each answer that is not judged or not named as it should be, and rates."""
    parser = argparse.ArgumentParser(prog="python -m tests.course.answers")
    parser.add_argument("--only", default="", help="part of an exercise's name")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folder", default="answers", help="which set of answers")
    parser.add_argument("--messages", action="store_true", help="show the verdicts")
    parser.add_argument("--confusion", action="store_true", help="show the table")
    options = parser.parse_args()
    found: list[kit.Outcome] = []
    for name in tqdm(kit.exercises(options.only)):
        answers = kit.answers_to(name, options.folder)
        found += kit.outcomes(name, answers, range(options.seeds))
    for outcome in found:
        is_wrong = outcome.answer.mistake != kit.RIGHT
        if outcome.is_right_decision and (outcome.first or not is_wrong):
            continue
        named = ", ".join(outcome.mistakes) or "no name"
        print(
            f"{outcome.exercise} seed {outcome.seed} {outcome.answer.label}:"
            f" {outcome.state}, {named}"
        )
        if options.messages:
            print(f"{outcome.message}\n")
    _print_rates(found)
    if options.confusion:
        _print_confusion(found)
    return 0 if all(outcome.is_right_decision for outcome in found) else 1


def _print_rates(found: list[kit.Outcome]) -> None:
    rights = [o for o in found if o.answer.mistake == kit.RIGHT]
    wrongs = [o for o in found if o.answer.mistake != kit.RIGHT]
    print(f"{len(rights)} runs of right answers, {len(wrongs)} of wrong ones")
    print(f"right ones refused: {sum(not o.accepted for o in rights)}")
    print(f"wrong ones accepted: {sum(o.accepted for o in wrongs)}")
    named = [o for o in wrongs if o.mistakes]
    for label, count in (
        ("its mistake named first", sum(o.first for o in wrongs)),
        ("its mistake among those named", sum(o.present for o in wrongs)),
        ("other names only", sum(not o.present for o in named)),
        ("no name", len(wrongs) - len(named)),
    ):
        print(f"{label}: {count} ({count / max(len(wrongs), 1):.1%})")


def _print_confusion(found: list[kit.Outcome]) -> None:
    """How often each mistake was named as what, where the two differ."""
    pairs = Counter(
        (o.answer.mistake, (*o.mistakes, "no name")[0])
        for o in found
        if o.answer.mistake != kit.RIGHT and not o.first
    )
    for (made, named), count in sorted(pairs.items()):
        print(f"{made:>4} named {named:>7}: {count}")


if __name__ == "__main__":
    raise SystemExit(main())
