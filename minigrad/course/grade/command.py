"""``python -m minigrad grade``: a class from its files to its points."""

from __future__ import annotations

import argparse
import atexit
import concurrent.futures as futures
import contextlib
import dataclasses
import datetime
import hashlib
import importlib
import os
import secrets
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from minigrad.course.check import SOLVED
from minigrad.course.grade import (
    attempts,
    class_table,
    concepts,
    csv_files,
    overrides,
    pages,
    results,
    roster,
    sandbox,
    stamps,
    submissions,
)
from minigrad.course.grade.confine import UNSAFE
from minigrad.course.grade.examiner import NOT_GRADED, Result, Work, grade, not_graded
from minigrad.course.grade.progress import Progress
from minigrad.course.grade.quotas import BUDGET, Limits, said_of
from minigrad.course.grade.results import Ledger
from minigrad.course.grade.submissions import Left, Submitted
from minigrad.errors import count_of

_boxes: dict[tuple[str, Limits], sandbox.Box] = {}
_boxes_lock = threading.Lock()

FEWEST_BYTES = 16
"""A shorter secret is none."""

TIMES = 3
"""How often a grading is begun whose own process has died."""


def main(arguments: Sequence[str]) -> int:
    """Grade, and say where the results are; or compare two concept tests."""
    if any([each.split("=")[0] == "--concepts" for each in arguments]):
        return concepts.main(arguments)
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except (
        sandbox.BoxError,
        submissions.SubmissionsError,
        csv_files.TableError,
        results.BusyError,
        results.StorageError,
    ) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    made = argparse.ArgumentParser(
        prog="minigrad grade",
        description="Grade the submissions of a class, each in a box of its own.",
        epilog="grade --concepts BEFORE AFTER compares results of the concept test.",
    )
    made.add_argument(
        "submissions",
        type=Path,
        help="a folder with one folder a student, a zip of it, or an LMS's export",
    )
    made.add_argument("--out", type=Path, required=True, help="where results go")
    made.add_argument(
        "--jobs",
        type=at_least_one,
        default=os.cpu_count() or 1,
        help="how many are graded at once (%(default)s)",
    )
    made.add_argument(
        "--seed-file",
        type=Path,
        help="a secret of yours; the same one draws the same numbers",
    )
    made.add_argument(
        "--shard", type=shard_of, help="only one part of several: 2/4 is the second"
    )
    made.add_argument(
        "--executor",
        default="threads",
        help="who hands out the work: threads (the default) or dask://host:port",
    )
    made.add_argument(
        "--unsafe",
        action="store_true",
        help="run without a box, if there is none: for code you trust like your own",
    )
    made.add_argument(
        "--seconds",
        type=at_least_one,
        default=Limits.seconds,
        help="for one exercise of one submission (%(default)g), and as many to load it;"
        " a right answer takes about 0.1",
    )
    made.add_argument(
        "--student-seconds",
        type=at_least_one,
        help="for everything that a student has handed in"
        f" ({BUDGET} times --seconds: {BUDGET * Limits.seconds:g})",
    )
    made.add_argument(
        "--retry",
        action="store_true",
        help="try again what could not be graded in an earlier run",
    )
    made.add_argument(
        "--regrade",
        action="store_true",
        help="grade again what an earlier version of judge or exercise has graded",
    )
    made.add_argument(
        "--roster",
        type=Path,
        help="a CSV file with the class: a column for names, and one for ids",
    )
    made.add_argument(
        "--due",
        type=moment_of,
        help="files written after it are marked as late: '2026-11-30 23:59'",
    )
    return made


def shard_of(text: str) -> tuple[int, int]:
    """Which part of how many.

    >>> shard_of("2/4")
    (2, 4)
    """
    try:
        number, count = (int(part) for part in text.split("/"))
    except ValueError:
        raise argparse.ArgumentTypeError("write it like this: 2/4") from None
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError(f"there is no part {number} of {count}")
    return number, count


def moment_of(text: str) -> float:
    """A date and time, here or with its own zone, in seconds since 1970.

    >>> moment_of("1970-01-01 00:01+00:00")
    60.0
    """
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        words = f"{text} is no time; write it like this: 2026-11-30 23:59"
        raise argparse.ArgumentTypeError(words) from None


def at_least_one(text: str) -> float:
    """A number of things, or of seconds; less would grade nobody."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 1 <= number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return number


def run(options: argparse.Namespace) -> int:
    """Grade what is not graded yet, then write the pages from all there is."""
    out: Path = options.out
    found = found_in(options.submissions)
    members = roster.read(options.roster) if options.roster else None
    overrides.read(out / overrides.FILE)  # what is wrong there is said at once
    make_folder(out)
    mode = sandbox.best_mode(options.unsafe)
    if mode == UNSAFE:
        words = "UNSAFE: submissions run as you, and can do whatever you can"
        print(words, file=sys.stderr)
    else:
        see_that_nothing_is_in_sight([options.submissions, out])
    limits = Limits(seconds=options.seconds)
    see_that_right_answers_pass(mode)
    print(f"memory: {counted_by(mode)}", file=sys.stderr)
    secret = secret_of(options.seed_file, out)
    with Ledger(out / results.ledger_name(options.shard)) as ledger:
        before = list(results.read(out))
        again = {results.key_of(r) for r in before if results.is_old(r)}
        if not options.regrade:
            again = set()
        tried = [r for r in before if results.key_of(r) not in again]
        tried = [r for r in tried if not (options.retry and r.state == NOT_GRADED)]
        progress = Progress(len(found))
        budget = Budget(options.student_seconds or BUDGET * options.seconds, tried)
        done = set(map(results.key_of, tried))
        missing = attempts.missing(found, done, progress, again)
        students = ([w for w in own if is_of(options.shard, w)] for own in missing)
        how = mode, limits, secret
        with executor_of(options.executor, int(options.jobs)) as (executor, jobs):
            count = work_off(students, executor, jobs, ledger, how, progress, budget)
    print(f"{count} graded, {len(tried)} were graded before", file=sys.stderr)
    if options.shard is None:
        left = [*progress.left, *with_nothing(options.submissions, out, found)]
        if left:
            words = f"{count_of(len(left), 'thing')} could not be graded at all"
            print(f"{words}: class.html says which", file=sys.stderr)
        is_late = late_by(found, options.due)
        write_pages(out, left, progress.not_counted, members, is_late)
        for note in notes_on_old(results.read(out)):
            print(note, file=sys.stderr)
        files = [out / name for name in ("class.html", "gradebook.csv", "results.csv")]
        print("results:", ", ".join(map(str, files)))
    return 0


def counted_by(mode: str) -> str:
    """Who counts the memory of submissions, in words."""
    groups = box_of(mode, Limits()).groups
    if groups is None:
        return "counted from outside, ten times a second"
    return f"counted and bounded by the kernel ({groups.kind.name})"


class Budget:
    """The seconds that everything of one student may take together.

    What was graded in earlier runs counts, too: a run that is stopped and goes on
    comes to the same end.
    """

    def __init__(self, seconds: float, before: Iterable[Result] = ()) -> None:
        self.seconds = seconds
        self.taken: defaultdict[str, float] = defaultdict(float)
        for result in before:
            self.add(result)

    def add(self, result: Result) -> None:
        """Count what one result has taken."""
        self.taken[result.student] += result.seconds

    def why_not(self, work: Work) -> str:
        """Why this isn't graded any more; empty if it is."""
        if self.taken[work.student] < self.seconds:
            return ""
        return (
            f"The {self.seconds:g} seconds for everything that a student hands in"
            " were over before it was its turn."
        )


def found_in(source: Path) -> list[Submitted]:
    """What was handed in. Raises: SubmissionsError for nothing."""
    found = list(submissions.find(source))
    if not found:
        what = f"there is no notebook (.ipynb) and no program (.py) in {source}"
        fix = "put what each student handed in into a folder of its own in there"
        raise submissions.SubmissionsError.at("grade", what, fix)
    return found


def make_folder(out: Path) -> None:
    """Make the folder for the results. Raises: SubmissionsError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{out} cannot be a folder for results ({error.strerror})"
        fix = "choose another --out"
        raise submissions.SubmissionsError.at("grade", what, fix) from None


def with_nothing(source: Path, out: Path, found: Sequence[Submitted]) -> list[Left]:
    """The students in whose folder there is nothing that could be graded."""
    names = submissions.without_files(source, found)
    own = out.resolve()
    return [
        (name, "", "There is no notebook and no program in the folder.")
        for name in names
        if own != (source / name).resolve()
    ]


CONTROL = """
import minigrad as mg

class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x
"""


CONTROL_WORK = Work("", "gym.Square", "", "", (CONTROL,))


def see_that_right_answers_pass(mode: str) -> None:
    """Grade a right answer first: no class fails because of the machine.

    Raises: BoxError.
    """
    result = grade_here(CONTROL_WORK, mode, Limits(), b"")
    if result.state != SOLVED:
        what = f"a right answer is not solved here: {result.note or result.rows}"
        fix = "nothing was graded; look at this machine's Python, NumPy and sandbox"
        raise sandbox.BoxError.at("grade", what, fix)


def see_that_nothing_is_in_sight(paths: Sequence[Path]) -> None:
    """Refuse to grade what lies in a folder that every box can read.

    Raises: BoxError.
    """
    for path in paths:
        for folder in sandbox.visible():
            if path.resolve().is_relative_to(folder):
                what = f"{path} lies in {folder}, which every submission can read"
                fix = "move it to a folder of its own"
                raise sandbox.BoxError.at("grade", what, fix)


def secret_of(path: Path | None, out: Path) -> bytes:
    """What the numbers are drawn from: a file of the user's, or one made once.

    Raises: SubmissionsError if it cannot be read, or could be guessed.
    """
    if path is not None:
        try:
            secret = path.read_bytes()
        except OSError as error:
            secret, what = b"", f"{path} cannot be read ({error.strerror})"
        else:
            what = f"{path} has {len(secret)} bytes: whoever tries them all has it"
        if len(secret) < FEWEST_BYTES:
            fix = f"write at least {FEWEST_BYTES} random bytes into it"
            raise submissions.SubmissionsError.at("grade", what, fix)
        return secret
    kept = out / "secret.key"
    if not kept.exists():
        fresh = out / f".secret.{os.getpid()}"
        try:
            with results.storing(kept):
                number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(number, "w") as file:
                    file.write(secrets.token_hex(32))
                # Of several graders that begin at once, one has made it.
                with contextlib.suppress(FileExistsError):
                    os.link(fresh, kept)
        finally:
            fresh.unlink(missing_ok=True)
    return kept.read_bytes()


def is_of(shard: tuple[int, int] | None, work: Work) -> bool:
    """Whether this belongs to the part; the parts are the same on every machine."""
    if shard is None:
        return True
    number, count = shard
    digest = hashlib.sha256("\n".join(work.key).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % count == number - 1


@contextlib.contextmanager
def executor_of(name: str, jobs: int) -> Iterator[tuple[futures.Executor, int]]:
    """Who runs the gradings, and how many at once: threads here, or a cluster.

    Raises: BoxError.
    """
    if name == "threads":
        with futures.ThreadPoolExecutor(max(1, jobs)) as threads:
            yield threads, max(1, jobs)
    elif name.startswith("dask://"):
        client = cluster_at(name.replace("dask://", "tcp://", 1))
        with client, client.get_executor() as executor:
            yield executor, max(1, sum(client.nthreads().values()))
    else:
        what, fix = f"no executor is called {name!r}", "use threads or dask://host:port"
        raise sandbox.BoxError.at("grade", what, fix)


def cluster_at(address: str) -> Any:
    """A client of the Dask cluster there. Raises: BoxError."""
    try:
        distributed: Any = importlib.import_module("dask.distributed")
        return distributed.Client(address)
    except ImportError:
        what, fix = "there is no Dask here", "pip install distributed"
    except OSError:
        what, fix = f"no cluster answers at {address}", "is its scheduler running?"
    raise sandbox.BoxError.at("grade", what, fix)


def work_off(
    students: Iterator[list[Work]],
    executor: futures.Executor,
    jobs: int,
    ledger: Ledger,
    how: tuple[str, Limits, bytes],
    progress: Progress,
    budget: Budget,
) -> int:
    """Grade them all, a few students at a time, each one's answers one by one.

    A result is kept as soon as it is there. Raises: BoxError, StorageError.
    """
    waiting: dict[futures.Future[Result], tuple[deque[Work], int]] = {}
    count = 0

    def keep(result: Result) -> None:
        nonlocal count
        stamp = stamps.of(result.exercise)
        ledger.add(dataclasses.replace(result, judged_by=stamp))
        budget.add(result)
        count += 1
        progress.show(count, result)

    def hand_out(own: deque[Work], times: int = 1) -> None:
        while own and (why := budget.why_not(own[0])):
            keep(not_graded(own.popleft(), why))
        if own:
            waiting[executor.submit(grade_here, own[0], *how)] = own, times

    try:
        more = True
        while more or waiting:
            while more and len(waiting) < 2 * jobs:
                works = next(students, None)
                more = works is not None
                hand_out(deque(works or ()))
            ended, _ = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
            for future in ended:
                own, times = waiting.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    if times < TIMES:
                        # A process has died here, and not in the submission's box.
                        hand_out(own, times + 1)
                        continue
                    see_that_it_is_not_the_machine(executor, how, error)
                    result = not_graded(own[0], f"{said_of(error)}, {TIMES} times.")
                own.popleft()
                keep(result)
                hand_out(own)
    except BaseException:
        # What still runs is not kept: nobody has to wait for it.
        for future in waiting:
            future.cancel()
        close_boxes()
        raise
    progress.end()
    return count


def see_that_it_is_not_the_machine(
    executor: futures.Executor, how: tuple[str, Limits, bytes], error: Exception
) -> None:
    """After an error, look whether right answers still pass.

    Raises: BoxError if they do not.
    """
    try:
        passes = executor.submit(grade_here, CONTROL_WORK, *how).result()
        words = f"{passes.state}, {passes.note or passes.rows}"
    except Exception as again:
        words = said_of(again)
    else:
        if passes.state == SOLVED:
            return
    what = f"nobody can be graded here any more ({said_of(error)}; then {words})"
    fix = "what was graded is kept; mend this machine, then run the same command again"
    raise sandbox.BoxError.at("grade", what, fix) from error


def grade_here(work: Work, mode: str, limits: Limits, secret: bytes) -> Result:
    """Grade in this process, in the box that it has or makes.

    Whatever one submission brings about, the others are graded. Raises: BoxError.
    """
    began = time.monotonic()
    try:
        return grade(work, box_of(mode, limits), secret)
    except sandbox.BoxError:
        raise
    except Exception as error:
        why = f"The judge failed at it ({said_of(error)})."
        return not_graded(work, why, time.monotonic() - began)


def box_of(mode: str, limits: Limits) -> sandbox.Box:
    """The box of this process, made when it is first asked for."""
    with _boxes_lock:
        own = _boxes.get((mode, limits))
        if own is None:
            own = _boxes[mode, limits] = sandbox.Box(mode, limits)
    return own


@atexit.register
def close_boxes() -> None:
    """End every box of this process."""
    with _boxes_lock:
        for each in _boxes.values():
            each.close()
        _boxes.clear()


MOST_LEFT = 5
"""Files of one student that are named where nothing could be graded of them."""


def late_by(found: Sequence[Submitted], due: float | None) -> Callable[[Result], bool]:
    """Tells whether a file came late: by its time, or as Canvas says."""
    late = [
        (each.student, each.file)
        for each in found
        if each.is_late or (due is not None and each.at > due)
    ]

    def is_late(result: Result) -> bool:
        # What is in a zip is called after it.
        path = f"{result.file}/"
        return any([s == result.student and path.startswith(f"{f}/") for s, f in late])

    return is_late


def notes_on_old(found: Iterable[Result]) -> list[str]:
    """How many results an earlier judge has made, and of which exercises."""
    old = [result for result in found if results.is_old(result)]
    if not old:
        return []
    by_judge = [r for r in old if not r.judged_by.startswith(stamps.judge())]
    exercises = pages.in_order({r.exercise for r in old})
    shown = ", ".join(exercises[:MOST_LEFT])
    if len(exercises) > MOST_LEFT:
        shown += f" and {len(exercises) - MOST_LEFT} more"
    what = "the judge has" if by_judge else f"{shown} has"
    return [
        f"{count_of(len(old), 'result')} ({shown}) are old: {what} changed since."
        " --regrade grades them again, if their files are there."
    ]


def write_pages(
    out: Path,
    left: Sequence[Left] = (),
    not_counted: Sequence[Left] = (),
    members: roster.Roster | None = None,
    is_late: Callable[[Result], bool] = lambda result: False,
) -> None:
    """The tables and the pages, anew from the lines; ``left`` was not graded at all.

    Raises: TableError, StorageError.
    """
    judged = list(results.read(out))
    left = few_of_each(left)
    place = out / overrides.FILE
    changed = overrides.read(place)
    best = results.best(judged)
    table_left = list(left)
    left += few_of_each(not_counted)
    class_ = class_table.rows_of(best, left, members, changed, is_late, place)
    found = [result for row in class_ for result in row.results]
    comments = {
        (row.owner, exercise): one.comment
        for row in class_
        for exercise, one in row.overrides.items()
        if one.comment
    }
    results.write(out / "results.csv", results.table(found, table_left, comments))
    results.write(out / "gradebook.csv", class_table.gradebook(class_))
    if members:
        for name, text in class_table.uploads(class_, members).items():
            results.write(out / name, text)
    there = [row for row in class_ if row.results or row.left]
    page = pages.of_class(
        found,
        left,
        [*notes_on_old(judged), *notes_on_roster(class_, members)],
        {row.owner: ", ".join(row.marks) for row in class_},
        [row.name for row in class_ if row not in there],
    )
    results.write(out / "class.html", page)
    folder = out / "students"
    with results.storing(folder):
        folder.mkdir(exist_ok=True)
    for row in there:
        text = pages.of_student(
            row.name, row.results, row.left, row.overrides, row.late
        )
        results.write(folder / pages.file_of(row.owner), text)


def notes_on_roster(
    class_: Sequence[class_table.Row], members: roster.Roster | None
) -> list[str]:
    """Who handed something in and stands on no roster."""
    strangers = [row.owner for row in class_ if row.member is None]
    if members is None or not strangers:
        return []
    shown = ", ".join(strangers[:MOST_LEFT])
    more = f" and {len(strangers) - MOST_LEFT} more" * (len(strangers) > MOST_LEFT)
    return [f"Not on the roster: {shown}{more}."]


def few_of_each(left: Iterable[Left]) -> list[Left]:
    """The first of each student, and how many more there are."""
    by_student: dict[str, list[Left]] = {}
    for each in left:
        by_student.setdefault(each[0], []).append(each)
    found: list[Left] = []
    for student, own in by_student.items():
        found += own[:MOST_LEFT]
        if len(own) > MOST_LEFT:
            found.append((student, "", f"And {len(own) - MOST_LEFT} more files."))
    return found
