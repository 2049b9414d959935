"""``python -m minigrad grade``: a class from its files to its points."""

from __future__ import annotations

import argparse
import atexit
import concurrent.futures as futures
import contextlib
import hashlib
import importlib
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from minigrad import errors
from minigrad.course.grading import box, choosing, pages, results, submissions
from minigrad.course.grading.bounds import Limits
from minigrad.course.grading.confine import UNSAFE
from minigrad.course.grading.examiner import Result, Work, grade
from minigrad.course.grading.pages import Left
from minigrad.course.grading.progress import Progress
from minigrad.course.grading.results import Ledger
from minigrad.errors import count_of

_boxes: dict[tuple[str, Limits], box.Box] = {}
_boxes_lock = threading.Lock()

FEWEST_BYTES = 16
"""A shorter secret is none."""

TIMES = 3
"""How often a grading is begun whose own process has died."""


def main(arguments: Sequence[str]) -> int:
    """Grade, and say where the results are."""
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except (box.BoxError, submissions.SubmissionsError, results.BusyError) as error:
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
        help="for one exercise of one submission (%(default)g); a right answer"
        " takes a hundredth of it",
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
    files = files_in(options.submissions)
    make_folder(out)
    mode = box.best_mode(options.unsafe)
    if mode == UNSAFE:
        words = "UNSAFE: submissions run as you, and can do whatever you can"
        print(words, file=sys.stderr)
    else:
        see_that_nothing_is_in_sight([options.submissions, out])
    limits = Limits(seconds=options.seconds)
    see_that_right_answers_pass(mode)
    secret = secret_of(options.seed_file, out)
    with Ledger(out / results.ledger_name(options.shard)) as ledger:
        done = results.keys(out)
        before = len(done)
        progress = Progress(files)
        missing = to_do(options.submissions, options.shard, done, progress)
        how = mode, limits, secret
        with executor_of(options.executor, int(options.jobs)) as (executor, jobs):
            count = work_off(missing, executor, jobs, ledger, how, progress)
    print(f"{count} graded, {before} were graded before", file=sys.stderr)
    if options.shard is None:
        left = [*progress.left, *with_nothing(options.submissions, out)]
        if left:
            words = f"{count_of(len(left), 'thing')} could not be graded at all"
            print(f"{words}: class.html says which", file=sys.stderr)
        write_pages(out, left)
        print(f"results: {out / 'class.html'}, {out / 'results.csv'}")
    return 0


def files_in(source: Path) -> int:
    """How many notebooks and programs there are. Raises: SubmissionsError for none."""
    files = sum(1 for _ in submissions.find(source))
    if not files:
        what = f"there is no notebook (.ipynb) and no program (.py) in {source}"
        fix = "put what each student handed in into a folder of its own in there"
        raise submissions.SubmissionsError(errors.message("grade", what, fix))
    return files


def make_folder(out: Path) -> None:
    """Make the folder for the results. Raises: SubmissionsError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{out} cannot be a folder for results ({error.strerror})"
        fix = "choose another --out"
        raise submissions.SubmissionsError(errors.message("grade", what, fix)) from None


def with_nothing(source: Path, out: Path) -> list[Left]:
    """The students in whose folder there is nothing that could be graded."""
    names = submissions.without_files(source)
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


def see_that_right_answers_pass(mode: str) -> None:
    """Grade a right answer first: no class fails because of the machine.

    Raises: BoxError.
    """
    work = Work("", "gym.Square", "", "", (CONTROL,))
    result = grade_here(work, mode, Limits(), b"")
    if result.state != "solved":
        what = f"a right answer is not solved here: {result.note or result.rows}"
        fix = "nothing was graded; look at this machine's Python, NumPy and sandbox"
        raise box.BoxError(errors.message("grade", what, fix))


def see_that_nothing_is_in_sight(paths: Sequence[Path]) -> None:
    """Refuse to grade what lies in a folder that every box can read.

    Raises: BoxError.
    """
    for path in paths:
        for folder in box.visible():
            if path.resolve().is_relative_to(folder):
                what = f"{path} lies in {folder}, which every submission can read"
                fix = "move it to a folder of its own"
                raise box.BoxError(errors.message("grade", what, fix))


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
            raise submissions.SubmissionsError(errors.message("grade", what, fix))
        return secret
    kept = out / "secret.key"
    if not kept.exists():
        fresh = out / f".secret.{os.getpid()}"
        number = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w") as file:
            file.write(secrets.token_hex(32))
        try:
            # Of several graders that begin at once, one has made it.
            os.link(fresh, kept)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return kept.read_bytes()


def to_do(
    source: Path,
    shard: tuple[int, int] | None,
    done: Set[results.Key],
    progress: Progress,
) -> Iterator[Work]:
    """What is to be graded by this grader, and is not."""
    for work in choosing.missing(submissions.find(source), done, progress):
        if is_of(shard, work):
            yield work


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
        raise box.BoxError(errors.message("grade", what, fix))


def cluster_at(address: str) -> Any:
    """A client of the Dask cluster there. Raises: BoxError."""
    try:
        distributed: Any = importlib.import_module("dask.distributed")
        return distributed.Client(address)
    except ImportError:
        what, fix = "there is no Dask here", "pip install distributed"
    except OSError:
        what, fix = f"no cluster answers at {address}", "is its scheduler running?"
    raise box.BoxError(errors.message("grade", what, fix))


def work_off(
    works: Iterator[Work],
    executor: futures.Executor,
    jobs: int,
    ledger: Ledger,
    how: tuple[str, Limits, bytes],
    progress: Progress,
) -> int:
    """Grade them all, a few at a time; each result is kept as soon as it is there."""
    waiting: dict[futures.Future[Result], tuple[Work, int]] = {}
    count = 0
    more = True
    while more or waiting:
        while more and len(waiting) < 2 * jobs:
            work = next(works, None)
            if work is None:
                more = False
                break
            waiting[executor.submit(grade_here, work, *how)] = work, 1
        ended, _ = futures.wait(waiting, return_when=futures.FIRST_COMPLETED)
        for future in ended:
            work, times = waiting.pop(future)
            try:
                result = future.result()
            except Exception as error:
                if times >= TIMES or isinstance(error, box.BoxError):
                    raise
                # Its own process has died, and not the submission's in the box.
                again = executor.submit(grade_here, work, *how)
                waiting[again] = work, times + 1
                continue
            ledger.add(result)
            count += 1
            progress.show(count, result)
    progress.end()
    return count


def grade_here(work: Work, mode: str, limits: Limits, secret: bytes) -> Result:
    """Grade in this process, in the box that it has or makes."""
    with _boxes_lock:
        own = _boxes.get((mode, limits))
        if own is None:
            own = _boxes[mode, limits] = box.Box(mode, limits)
    return grade(work, own, secret)


@atexit.register
def close_boxes() -> None:
    """End every box of this process."""
    with _boxes_lock:
        for each in _boxes.values():
            each.close()
        _boxes.clear()


def write_pages(out: Path, left: Sequence[Left] = ()) -> None:
    """The table and the pages, anew from the lines; ``left`` was not graded at all."""
    found = results.best(results.read(out))
    results.write(out / "results.csv", results.table(found))
    results.write(out / "class.html", pages.of_class(found, left))
    folder = out / "students"
    folder.mkdir(exist_ok=True)
    by_student: dict[str, list[Result]] = {}
    for result in found:
        by_student.setdefault(result.student, []).append(result)
    for student, own in by_student.items():
        path = folder / pages.file_of(student)
        results.write(path, pages.of_student(student, own))
