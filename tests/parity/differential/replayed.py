"""Random programs replayed: ``python -m tests.parity.differential.replayed``.

Each is recorded on minigrad with its values kept; then every node runs again, and must
find each bit that was recorded.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import minigrad
from minigrad.tracing import Recorder, Trace
from minigrad.tracing.replay import ReplayError
from tests.parity.differential.run import difference, run
from tests.parity.differential.statements import write_program


def replayed(seed: int) -> tuple[Counter[str], Counter[str], str]:
    """What was run again of a program, what was left out, and what differs."""
    trace = Trace()
    source = write_program(seed).source
    alone = run(source, minigrad)
    with Recorder(trace, lines=False, keep_values=True):
        heard = run(source, minigrad)
    changed = difference(heard, alone)
    if changed:
        return Counter(), Counter(), f"seed {seed}: the recording changes it: {changed}"
    try:
        found = trace.replay()
    except ReplayError as error:
        return Counter(), Counter(), f"seed {seed}: {error}"
    return Counter(found.counts), Counter(found.left_out), ""


def main() -> int:
    """Replay, report, and fail if a program does not come out as recorded."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.differential.replayed"
    )
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    differ = []
    for seed in range(options.seed, options.seed + options.programs):
        done, without, difference = replayed(seed)
        counts += done
        left_out += without
        if difference:
            differ.append(difference)
            print(difference)
    same = options.programs - len(differ)
    print(f"{same} of {options.programs} programs replayed bit for bit")
    print(f"run again: {dict(counts)}; left out: {dict(left_out)}")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
