"""Random programs on both engines: ``python -m tests.parity.differential``.

Prints how often each feature occurs, and every difference, grouped by its cause, with
the shortest program that shows it.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.parity.differential.deliberate import reason_for
from tests.parity.differential.run import cause, difference, run
from tests.parity.differential.shrink import shrink
from tests.parity.differential.statements import write_program

CHUNK = 100
"""Programs that one process runs before it makes room for the next one."""


@dataclass
class Tally:
    """What is known of a number of programs."""

    programs: int = 0
    without_exception: int = 0
    features: Counter[str] = field(default_factory=Counter)
    mistakes: Counter[str] = field(default_factory=Counter)
    accidents: Counter[str] = field(default_factory=Counter)
    deliberate: Counter[str] = field(default_factory=Counter)
    differences: dict[str, list[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    crashed: list[int] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        self.without_exception += other.without_exception
        self.features += other.features
        self.mistakes += other.mistakes
        self.accidents += other.accidents
        self.deliberate += other.deliberate
        self.crashed += other.crashed
        for key, found in other.differences.items():
            self.differences[key] += found


def torch_module() -> Any:
    """torch on one thread."""
    import torch

    torch.set_num_threads(1)
    return torch


def look_at(seeds: range) -> Tally:
    """Run the programs of these seeds and compare."""
    import minigrad

    torch = torch_module()
    tally = Tally()
    for seed in seeds:
        program = write_program(seed)
        theirs = run(program.source, torch)
        ours = run(program.source, minigrad)
        tally.programs += 1
        tally.without_exception += theirs.error is None
        tally.features.update(program.features)
        if theirs.error is not None:
            name = theirs.error[0].__name__
            text = cause(f"{name}: {theirs.error[2]}")[:90]
            if program.mistake:
                tally.mistakes[program.mistake] += 1
            else:
                tally.accidents[text] += 1
        found = difference(ours, theirs)
        if found is not None:
            reason = reason_for(found, program.source)
            if reason is None:
                tally.differences[cause(found)].append((seed, found))
            else:
                tally.deliberate[reason] += 1
        gc.collect(1)
    return tally


def send(seeds: range, pipe: Any) -> None:
    pipe.send(look_at(seeds))


def in_a_process(seeds: range) -> Tally:
    """``look_at`` in a process of its own; if it dies, seed by seed."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=send, args=(seeds, sender))
    process.start()
    sender.close()
    try:
        tally: Tally = receiver.recv() if receiver.poll(300) else Tally()
    except EOFError:
        tally = Tally()
    if process.is_alive():
        process.join(5)
        process.kill()
    process.join()
    if tally.programs:
        return tally
    if len(seeds) == 1:
        return Tally(programs=1, crashed=[seeds[0]])
    for seed in seeds:
        tally.add(in_a_process(range(seed, seed + 1)))
    return tally


def shortest(seed: int) -> str:
    """The shortest program that shows the difference of ``seed``."""
    import minigrad

    torch = torch_module()
    program = write_program(seed)

    def found_in(source: str) -> str | None:
        try:
            compile(source, "", "exec")
        except SyntaxError:
            return None
        return difference(run(source, minigrad), run(source, torch))

    wanted = cause(found_in(program.source) or "")
    lines = shrink(
        program.statements, lambda text: cause(found_in(text) or "") == wanted
    )
    source = "\n".join(lines)
    return f"{source}\n# {found_in(source + chr(10))}"


def report(tally: Tally, shown: int) -> None:
    """Print the distribution, then the differences."""
    count = tally.programs
    print(
        f"{count} programs, {tally.without_exception / count:.1%} end without an",
        end="",
    )
    print(" exception. Of all programs, this many show")
    for feature, number in tally.features.most_common():
        print(f"  {number / count:6.1%}  {feature}")
    print("mistakes, by kind:")
    kinds = (f"{name} {number}" for name, number in tally.mistakes.most_common())
    print("  " + ", ".join(kinds))
    print("exceptions without a deliberate mistake:")
    for text, number in tally.accidents.most_common():
        print(f"  {number:5}  {text}")
    if tally.crashed:
        print(f"seeds whose program ended the process: {tally.crashed}")
    print("deliberate differences:")
    for text, number in tally.deliberate.most_common():
        print(f"  {number:5}  {text}")
    total = sum(map(len, tally.differences.values()))
    print(f"{total} programs differ, for {len(tally.differences)} causes")
    groups = sorted(tally.differences.items(), key=lambda item: -len(item[1]))
    for key, found in groups[:shown]:
        seeds = [seed for seed, _ in found]
        print(f"\n{len(found)} x {key}\n  seeds {seeds[:8]}\n  {found[0][1][:500]}")
        print("    " + shortest(seeds[0]).replace("\n", "\n    "))


def main() -> int:
    """Run, report, and fail if there is a difference that nobody listed."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity.differential")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shown", type=int, default=20, help="causes to shrink")
    parser.add_argument("--print", action="store_true", help="print one program")
    options = parser.parse_args()
    if options.print:
        print(write_program(options.seed).source)
        return 0

    from tqdm import tqdm

    # Loaded once, before the processes are forked.
    torch_module()
    import minigrad  # noqa: F401

    last = options.seed + options.programs
    chunks = [
        range(start, min(start + CHUNK, last))
        for start in range(options.seed, last, CHUNK)
    ]
    tally = Tally()
    with ThreadPoolExecutor(options.jobs) as pool:
        for part in tqdm(pool.map(in_a_process, chunks), total=len(chunks)):
            tally.add(part)
    report(tally, options.shown)
    return bool(tally.differences)


if __name__ == "__main__":
    sys.exit(main())
