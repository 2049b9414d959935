"""A class of 200 with 20 attackers: ``python -m tests.course.grade.with_attackers``.

The attackers hand in what borrows a rule from somebody else. The class is graded with
them and without them: the honest get the same, and of the attackers each gets nothing
and is listed for a person. Some minutes; what a submission takes is printed.
"""

import argparse
import collections
import statistics
import tempfile
import time
from pathlib import Path

from minigrad.course.grade import results
from tests.course.grade.test_borrowers import IN_VAIN, KINDS
from tests.course.grade.with_strangers import compare_honest, hand_in, run

ATTACKERS = [name for name in KINDS if name not in IN_VAIN][-20:]


def main() -> None:
    """Grade both, compare, and say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--honest", type=int, default=200 - len(ATTACKERS))
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        honest = hand_in(folder / "honest", options.honest, lessons_each=2)
        everybody = hand_in(folder / "everybody", options.honest, lessons_each=2)
        for number, name in enumerate(ATTACKERS):
            path = everybody / f"x {number}" / "a.py"
            path.parent.mkdir()
            kind = KINDS[name]
            path.write_text(f'{kind.attack}\n# "{kind.exercise}"\n')
        (folder / "seed").write_text("the same numbers for both")
        seed = ["--seed-file", str(folder / "seed"), "--jobs", options.jobs]
        for source in (honest, everybody):
            began = time.monotonic()
            run(source, folder / f"{source.name} out", seed)
            print(f"{source.name}: {time.monotonic() - began:.0f} s")
        compare_honest(folder / "honest out", folder / "everybody out")
        say_of_all(folder / "everybody out")


def say_of_all(out: Path) -> None:
    """See that no attacker has a point, or is missed; and how long each took."""
    found = list(results.read(out))
    seconds = collections.Counter[str]()
    for each in found:
        seconds[each.student] += each.seconds
    for number, name in enumerate(ATTACKERS):
        own = [each for each in found if each.student == f"x {number}"]
        points, flags = sum(each.points for each in own), {*own[0].flags}
        assert (points, bool(flags)) == (0, True), (name, own)
    print(f"{len(ATTACKERS)} attackers: 0 points each, and all are listed")
    *_, p99 = statistics.quantiles(seconds.values(), n=100)
    middle, states = statistics.median(seconds.values()), [r.state for r in found]
    print(f"{len(seconds)} submissions: {dict(collections.Counter(states))}")
    print(f"seconds a submission: median {middle:.2f}, p99 {p99:.2f}")


if __name__ == "__main__":
    main()
