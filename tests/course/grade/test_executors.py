"""Any executor of Python's does, here or elsewhere."""

import concurrent.futures
import pickle
import sys
import types

import pytest

from minigrad.course.grade import command
from minigrad.course.grade.examiner import Result, Work
from minigrad.course.grade.quotas import Limits
from minigrad.course.grade.sandbox import BoxError


class Client:
    """Dask's, as far as it is used; made anew for each cluster."""

    def __init__(self, address: str) -> None:
        if address.endswith(":1"):
            raise TimeoutError("Timed out trying to connect")
        self.events: list[str] = [address]
        clients.append(self)

    def nthreads(self) -> dict[str, int]:
        return {"one": 2, "another": 3}

    def get_executor(self) -> concurrent.futures.Executor:
        return concurrent.futures.ThreadPoolExecutor(1)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *error: object) -> None:
        self.events.append("closed")


clients: list[Client] = []


def dask(monkeypatch: pytest.MonkeyPatch, **names: object) -> None:
    module = types.ModuleType("dask.distributed")
    vars(module).update(names)
    monkeypatch.setitem(sys.modules, "dask", types.ModuleType("dask"))
    monkeypatch.setitem(sys.modules, "dask.distributed", module)


def test_a_cluster_gets_as_much_as_it_has_threads_and_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dask(monkeypatch, Client=Client)
    with command.executor_of("dask://host:8786", 1) as (executor, jobs):
        assert executor.submit(len, "abc").result() == 3
        assert jobs == 5
        assert clients[-1].events == ["tcp://host:8786"]
    assert clients[-1].events == ["tcp://host:8786", "closed"]


def test_threads_are_as_many_as_jobs() -> None:
    with command.executor_of("threads", 3) as (executor, jobs):
        assert isinstance(executor, concurrent.futures.ThreadPoolExecutor)
        assert jobs == 3


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("slurm", "no executor is called 'slurm'"),
        ("dask://host:1", "no cluster answers at tcp://host:1"),
    ],
)
def test_an_executor_that_is_not_there_is_said(
    monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    dask(monkeypatch, Client=Client)
    with pytest.raises(BoxError, match=says), command.executor_of(name, 1):
        pass


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with (
        pytest.raises(BoxError, match="pip install distributed"),
        command.executor_of("dask://host:8786", 1),
    ):
        pass


def test_what_is_sent_and_what_comes_back_can_travel() -> None:
    work = Work("ada", "gym.Square", "0", "a.py", ("pass",), "", ["true"])
    result = Result(
        *work.key, "a.py", "Square", "wrong", 1, 2, ("A03",), "n", (("a", "b"),)
    )
    sent = command.grade_here, work, "bubblewrap", Limits(seconds=3.0), b"secret"
    assert pickle.loads(pickle.dumps(sent)) == sent
    assert pickle.loads(pickle.dumps(result)) == result
