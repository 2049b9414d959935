"""A class of 100 with 15 strangers: ``python -m tests.course.grade.with_strangers``.

The strangers want to stop the run, hide what they take, or use up everybody's time.
The class is graded with them and without them; by a grader that is killed ten times;
and, as root, on a disk that is too small at first. The others get the same results.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from minigrad.course.grade import pages, results
from tests.course.grade import made_up_class
from tests.course.grade.attacks import ATTACKS, RIGHT
from tests.course.grade.test_limits_hold import TWO_PARTS, named
from tests.course.grade.test_run_goes_on import ENDLESS, STRANGE, packed
from tests.course.grade.with_a_thousand import MOST_SECONDS, killed_midway

KILLS = 10
SQUARE = RIGHT + '# "gym.Square"'
HOLD = "kept = bytearray(b'x') * 2_000_000_000; time.sleep(3)"
LATER = """
import threading, time
def take():
    time.sleep(0.3)
    globals()["kept"] = bytearray(b'x') * 2_000_000_000
threading.Thread(target=take).start()
"""
BIG_PROGRESS = json.dumps({"at": "", "kind": "answered", "exercise": "01.2"}) + "\n"

STRANGERS: dict[str, dict[str, str | bytes]] = {
    "x a name in proc": {"a.py": named(b"VmRSS: x") + SQUARE},
    "x a name of bytes": {"a.py": named(b"\xff\xfe) R 1 (") + SQUARE},
    "x a name that hides": {"a.py": named(b"VmRSS: 1 VmSwap", HOLD) + SQUARE},
    "x all exercises": {"a.py": ENDLESS},
    "x hundreds of files": {
        f"gym_{n}.py": f"# {n}\nwhile True: pass" for n in range(300)
    },
    "x slow parts": {"a.py": TWO_PARTS.replace("PAUSE", "3") + "\n'02.5'"},
    "x takes it later": {"a.py": LATER + SQUARE},
    "x forks": {"a.py": ATTACKS["a fork bomb"] + SQUARE},
    "x long to judge": {
        "a.py": ATTACKS["a report that takes long to judge"] + '# "gym.Square"'
    },
    "x strange version": {"hw.zip": STRANGE["of a strange version"]},
    "x broken member": {"hw.zip": STRANGE["with a broken member"]},
    "x encrypted": {"hw.zip": STRANGE["encrypted"]},
    "x somebody else": {"hw.zip": packed(Ada_0__01_a_py="while True: pass")},
    '=1+1\r\u200b"x': {"a.py": SQUARE},
    "x much progress": {
        "progress.jsonl": BIG_PROGRESS * 60_000,
        **{f"01_a{n}.py": f"n = {n}" for n in range(100)},
    },
}

Line = list[str]


def main() -> None:
    """Grade in all these ways, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--honest", type=int, default=100 - len(STRANGERS))
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        honest = hand_in(folder / "honest", options.honest)
        everybody = hand_in(folder / "everybody", options.honest)
        hand_in_strangers(everybody)
        (folder / "seed").write_text("the same numbers for all of them")
        seed = ["--seed-file", str(folder / "seed"), "--jobs", options.jobs]
        seed += ["--seconds", "5", "--student-seconds", "20"]
        alone, whole = folder / "alone", folder / "whole"
        for source, out in ((honest, alone), (everybody, whole)):
            began = time.monotonic()
            run(source, out, seed)
            print(f"{source.name}: {time.monotonic() - began:.0f} s")
        compare_honest(alone, whole)
        say_of_strangers(whole)
        line = command(everybody, seed)
        lines = (whole / "results.jsonl").read_bytes().count(b"\n")
        killed_midway(line, folder / "killed", lines, KILLS)
        compare(folder / "killed", whole, f"killed {KILLS} times")
        if os.geteuid() == 0:
            with small_disk(folder / "disk") as disk:
                completed_on(disk, line)
                compare(disk / "out", whole, "on a full disk, then with room")
        else:
            print("a full disk is only made by root")


def hand_in(folder: Path, count: int, lessons_each: int = 1) -> Path:
    """So many honest students, each with the notebooks of one lesson or two."""
    names = list(made_up_class.STUDENTS)
    for number in range(count):
        name = names[number % len(names)]
        own = folder / f"{name} {number}"
        own.mkdir(parents=True)
        first = number // len(names)
        for lesson in (*made_up_class.LESSONS, *made_up_class.LESSONS)[first % 2 :][
            :lessons_each
        ]:
            text = made_up_class.notebook(name, lesson)
            (own / f"{lesson}.ipynb").write_text(text, encoding="utf-8")
    return folder


def hand_in_strangers(folder: Path) -> None:
    """What the strangers hand in, between the others."""
    for name, files in STRANGERS.items():
        for file, content in files.items():
            path = folder / name / file
            path.parent.mkdir(exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            path.write_bytes(data)


def command(source: Path, seed: Line) -> Line:
    """The line that grades a class."""
    return [sys.executable, "-m", "minigrad", "grade", str(source), *seed]


def run(source: Path, out: Path, seed: Line) -> None:
    """Grade it without being stopped."""
    line = [*command(source, seed), "--out", str(out)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=MOST_SECONDS)
    assert done.returncode == 0, done.stderr


def compare_honest(alone: Path, whole: Path) -> None:
    """See that the honest got what they would have got by themselves."""
    table = (alone / "results.csv").read_text().splitlines()
    assert set(table) <= set((whole / "results.csv").read_text().splitlines())
    for page in (alone / "students").iterdir():
        other = whole / "students" / page.name
        assert page.read_bytes() == other.read_bytes(), page.name
    print(f"{len(table) - 1} rows of the honest, and their pages: equal to the byte")


def compare(out: Path, whole: Path, how: str) -> None:
    """See that the table and all pages are the same."""
    files = sorted(p.relative_to(whole) for p in whole.rglob("*.[ch]*") if p.is_file())
    differ = [f for f in files if (out / f).read_bytes() != (whole / f).read_bytes()]
    assert not differ, f"{how}: {', '.join(map(str, differ))}"
    print(f"{how}: {len(files)} files, all equal to those of one run")


def say_of_strangers(out: Path) -> None:
    """What each of them has got, and what it has taken."""
    found = list(results.read(out))
    for name in STRANGERS:
        own = [r for r in found if r.student == name]
        states = sorted({r.state for r in own})
        seconds, points = sum(r.seconds for r in own), sum(r.points for r in own)
        page = (out / "students" / pages.file_of(name)).is_file()
        print(
            f"  {name!r}: {len(own)} results, {', '.join(states) or 'none'},"
            f" {points:g} points, {seconds:.1f} s, {'a' if page else 'no'} page"
        )


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 100 kB."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(folder)]
    subprocess.run(words, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def completed_on(disk: Path, line: Line) -> None:
    """Grade until the disk is full; make room; grade the rest."""
    line = [*line, "--out", str(disk / "out")]
    full = subprocess.run(line, capture_output=True, text=True, timeout=MOST_SECONDS)
    assert full.returncode == 2, full.stderr
    print("  " + "\n  ".join(full.stderr.splitlines()[-2:]))
    kept = (disk / "out" / "results.jsonl").read_bytes()
    assert kept.endswith(b"\n")
    room = ["mount", "-o", "remount,size=100m", str(disk)]
    subprocess.run(room, check=True)
    subprocess.run(line, check=True, capture_output=True, timeout=MOST_SECONDS)
    assert (disk / "out" / "results.jsonl").read_bytes().startswith(kept)


if __name__ == "__main__":
    main()
