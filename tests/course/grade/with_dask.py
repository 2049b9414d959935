"""Grade on a Dask cluster here: ``python -m tests.course.grade.with_dask``.

Needs ``pip install distributed`` in this environment. While the class is graded, one of
the two workers of the cluster is killed; still every answer is graded once.
"""

import importlib
import json
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

from minigrad.course.grade import command, results
from tests.course.grade import made_up_class

STUDENTS = 12


def main() -> None:
    """Grade a part of the made-up class twice: by threads, and by a cluster."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = made_up_class.make(folder / "class")
        for student in sorted(source.iterdir())[STUDENTS:]:
            shutil.rmtree(student)
        (folder / "seed").write_text("the same numbers for both")
        whole, limping = folder / "whole", folder / "limping"
        seed = ["--seed-file", str(folder / "seed")]
        command.main([str(source), "--out", str(whole), *seed])
        # Pytest looks into this file for examples, where Dask need not be installed.
        distributed = importlib.import_module("dask.distributed")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1) as cluster:
            address = cluster.scheduler_address.removeprefix("tcp://")
            victim = next(iter(cluster.workers.values())).pid
            killer = threading.Thread(target=kill_midway, args=(victim, limping))
            killer.start()
            line = [str(source), "--out", str(limping), *seed]
            assert command.main([*line, "--executor", f"dask://{address}"]) == 0
            killer.join()
        lines = (limping / "results.jsonl").read_text().splitlines()
        keys = [(r["student"], r["exercise"]) for r in map(json.loads, lines)]
        assert len(keys) == len(set(keys)) > 0
        assert told(limping) == told(whole)
        print(f"{len(keys)} graded, a worker was killed, all as without a cluster")


def kill_midway(process: int, out: Path) -> None:
    """End this worker once there are some results."""
    ledger = out / "results.jsonl"
    while not ledger.exists() or ledger.read_bytes().count(b"\n") < 5:
        time.sleep(0.05)
    os.kill(process, signal.SIGKILL)
    print(f"killed the worker {process}")


def told(out: Path) -> list[tuple[object, ...]]:
    """What the results say, apart from how long it took."""
    found = [vars(r) | {"seconds": 0} for r in results.read(out)]
    return sorted(tuple(each.values()) for each in found)


if __name__ == "__main__":
    main()
