"""A class of a thousand: ``python -m tests.course.grade.with_a_thousand [COUNT]``.

Everybody hands in one exercise, every tenth a wrong one. It is graded in one run; by a
grader that is killed again and again; and in four parts. All have to say the same.
Some minutes each; what it takes is printed.
"""

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from minigrad.course.grade import results
from tests.course.grade.attacks import RIGHT, WRONG
from tests.course.grade.with_dask import told

KILLS = 8
MOST_SECONDS = 1800
"""For any one run."""

Line = list[str]


def main() -> None:
    """Grade three times, compare, and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    count: int = options.count
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        hand_in(folder / "in", count)
        (folder / "seed").write_text("the same numbers for all of them")
        line = [sys.executable, "-m", "minigrad", "grade", str(folder / "in")]
        line += ["--seed-file", str(folder / "seed"), "--jobs", options.jobs]
        in_one_run(line, folder / "whole", count)
        whole = told(folder / "whole")
        assert len(whole) == count
        killed_midway(line, folder / "killed", count)
        in_parts(line, folder / "parts")
        for other in ("killed", "parts"):
            out = folder / other
            lines = sum(map(lines_in, out.glob("results*.jsonl")))
            assert lines == count, f"{lines} lines for {count} answers"
            assert told(out) == whole
            table = (out / "results.csv").read_text()
            assert table == (folder / "whole" / "results.csv").read_text()
        states = collections.Counter(r.state for r in results.read(folder / "whole"))
        print(f"all the same: {dict(states)}; nothing was lost, nothing doubled")


def hand_in(folder: Path, count: int) -> None:
    """So many answers to one exercise, none like another."""
    for number in range(count):
        path = folder / f"s{number:04}" / "answer.py"
        path.parent.mkdir(parents=True)
        answer = WRONG if number % 10 == 0 else RIGHT
        path.write_text(f'{answer}# {number}, "gym.Square"\n')


def in_one_run(line: Line, out: Path, count: int) -> None:
    """Grade them all, and say how long it took and what the grader held."""
    began = time.monotonic()
    run = subprocess.Popen([*line, "--out", str(out)], stderr=subprocess.DEVNULL)
    held: dict[int, float] = {}
    while run.poll() is None and time.monotonic() < began + MOST_SECONDS:
        found = lines_in(out / "results.jsonl")
        for share in (0.1, 0.5, 0.9):
            if found >= share * count and int(100 * share) not in held:
                held[int(100 * share)] = megabytes_of(run.pid)
        time.sleep(0.2)
    assert run.wait(1) == 0
    seconds = time.monotonic() - began
    each = seconds / count
    print(f"{count} graded in {seconds:.0f} s: {each:.3f} s each")
    worst = max(r.seconds for r in results.read(out))
    print(f"the slowest took {worst:.2f} s")
    said = ", ".join(f"{size:.1f} MB after {share} %" for share, size in held.items())
    print(f"memory of the grader: {said}")


def killed_midway(line: Line, out: Path, count: int, kills: int = KILLS) -> None:
    """Kill the grader after random times, and let the last one come to its end."""
    ledger = out / "results.jsonl"
    draw = random.Random(0)
    kept = b""
    for number in range(kills):
        run = subprocess.Popen([*line, "--out", str(out)], stderr=subprocess.DEVNULL)
        enough = kept.count(b"\n") + draw.randrange(1, max(2, count // (kills + 2)))
        until = time.monotonic() + MOST_SECONDS
        while lines_in(ledger) < enough and run.poll() is None:
            assert time.monotonic() < until
            time.sleep(draw.uniform(0.0, 0.02))
        os.kill(run.pid, signal.SIGKILL)
        run.wait(10)
        found = ledger.read_bytes()
        assert found.startswith(kept)
        kept = found[: found.rfind(b"\n") + 1]
        print(f"kill {number + 1}: {lines_in(ledger)} lines are kept")
        if number % 2:
            # As if it had been stopped in the middle of a line.
            with ledger.open("ab") as file:
                file.write(b'{"student": "s0')
    subprocess.run(
        [*line, "--out", str(out)],
        check=True,
        timeout=MOST_SECONDS,
        stderr=subprocess.DEVNULL,
    )
    assert ledger.read_bytes().startswith(kept)


def in_parts(line: Line, out: Path) -> None:
    """Four parts, two at a time, into one folder; then the pages."""
    for pair in ((1, 2), (3, 4)):
        runs = [
            subprocess.Popen(
                [*line, "--out", str(out), "--shard", f"{number}/4", "--jobs", "1"],
                stderr=subprocess.DEVNULL,
            )
            for number in pair
        ]
        for run in runs:
            assert run.wait(MOST_SECONDS) == 0
    sizes = [lines_in(path) for path in sorted(out.glob("results-*.jsonl"))]
    print(f"four parts: {sizes}")
    subprocess.run(
        [*line, "--out", str(out)],
        check=True,
        timeout=MOST_SECONDS,
        stderr=subprocess.DEVNULL,
    )


def lines_in(path: Path) -> int:
    """How many whole lines there are."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def megabytes_of(process: int) -> float:
    """What this process holds of memory now."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


if __name__ == "__main__":
    main()
