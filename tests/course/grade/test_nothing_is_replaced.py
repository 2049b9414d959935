"""The engine that runs is the one that was imported: in a notebook, and for a judge.

An answer takes stock of the engine while it is judged. In every module and class each
name has to stand for the function that the source defines there.
"""

import json
import zlib
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import minigrad as mg
from minigrad import ops
from minigrad.course.check import Deadline, examination, forbidden_api, observation
from minigrad.course.check.probes.devices import on_second_device
from minigrad.course.check.probes.opinions import opinion_on
from minigrad.course.check.probes.traversals import Program, traverse
from minigrad.course.check.probes.work import work_of
from minigrad.course.exercises import catalogue
from minigrad.course.grade import messages as say
from minigrad.course.grade.sandbox import Box, Worker
from minigrad.course.grade.worker import import_all
from minigrad.engine.core.backward import GraphTask

STOCK = """
import functools, os, sys, types, zlib
rooms = "engine kernels ops transforms autograd func utils nn optim".split()

def function_of(value):
    for name in ("__func__", "fget", "func", "__wrapped__"):
        inner = getattr(value, name, None)
        if not isinstance(value, types.FunctionType) and callable(inner):
            return function_of(inner)
    return value

def kind_of(value):
    found = function_of(value)
    if isinstance(found, types.FunctionType):
        code = found.__code__
        file = os.path.basename(code.co_filename)
        place = f"{code.co_name} of {file}:{code.co_firstlineno}"
        names = repr(code.co_names).encode()
        return f"{found.__qualname__} is {place}|{zlib.crc32(code.co_code + names)}"
    return f"a {type(found).__name__}"

def stock():
    rows = set()
    for module in list(sys.modules.values()):
        above, _, name = getattr(module, "__name__", "").partition(".")
        if name.startswith("transforms.replay"): continue  # a box has none
        if above == "minigrad" and name.partition(".")[0] in rooms:
            for key, value in list(vars(module).items()):
                # What is defined elsewhere may be a name that is looked up later.
                if getattr(value, "__module__", "") != module.__name__: continue
                parts = vars(value) if isinstance(value, type) else {"": value}
                for inner, part in list(parts.items()):
                    rows.add(f"{name}.{key}.{inner}: {kind_of(part)}")
    return rows
"""

ANSWERS = """
import json, zlib
import minigrad as mg
import numpy as np
seen = []
def take():
    if len(seen) < 4: seen.append(stock())
class Square(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        take()
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        take()
        return g * 2 * ctx.saved_tensors[0]
def backward(root, g):
    take()
    root.apply(g)
    take()
def tell():
    rows = sorted(set.union(*seen)), sorted(set.intersection(*seen))
    return np.frombuffer(zlib.compress(json.dumps(rows).encode()), np.uint8)
"""

NAMES = ("Square", "backward", "tell")
PROGRAM = Program(
    2, np.ones((2, 3)), np.array([[1, 0, 1]]), np.ones(3), np.full((1, 3), np.nan), 99
)

Rows = set[str]
"""A row a function: which one it is, and after a bar what it does."""


@pytest.fixture(scope="module")
def taken() -> Callable[[], Rows]:
    """What takes stock in this process."""
    import_all()
    ops.load_all()
    names: dict[str, Any] = {}
    exec(STOCK, names)
    found: Callable[[], Rows] = names["stock"]
    return found


def square() -> tuple[Any, list[Any]]:
    exercise = catalogue.load("gym.Square")
    return exercise.contract, exercise.cases(np.random.default_rng(1))


def judged(worker: Worker, before: str = "") -> Rows:
    """What stands in a worker while it judges."""
    cells = STOCK, before, ANSWERS
    load = say.Load(cells, "gym.Square", NAMES, "", 1, 60.0)
    assert worker.ask(load, say.Loaded, 60.0).errors == ()
    contract, cases = square()
    for second in (False, True):
        asked = say.Observe(0, contract, tuple(cases[:1]), 1, 60.0, second)
        worker.ask(asked, say.Observed, 60.0)
    looked = worker.ask(say.Look("traverse", (1,), (PROGRAM,)), say.Looked, 60.0)
    assert looked.seen.crash is None
    return told(worker.ask(say.Call(2, ()), say.Called, 60.0).value)


def told(answer: Any) -> Rows:
    ever, always = json.loads(zlib.decompress(answer.tobytes()))
    assert len(always) > 4000
    assert ever == always
    return {*ever}


def places(rows: Rows) -> Rows:
    return {row.partition(":")[0].rstrip(".") for row in rows}


def functions(rows: Rows) -> Rows:
    return {row.partition("|")[0] for row in rows}


RUN = "engine.core.backward.GraphTask.run"


@pytest.mark.parametrize("without", [(), forbidden_api.of("gym.Sigmoid")])
@pytest.mark.parametrize("with_rules", [False, True])
def test_no_function_of_the_engine_is_replaced_for_a_judge(
    with_rules: bool, without: tuple[str, ...], box: Box, taken: Callable[[], Rows]
) -> None:
    there = functions(taken())
    with box.worker(with_rules=with_rules, without=without) as worker:
        assert places(functions(judged(worker)) ^ there) == set()
    replaced = "from minigrad.engine.core.backward import GraphTask as Task\n"
    replaced += "run = Task.run\ndef again(self): return run(self)\nTask.run = again"
    with box.worker(with_rules=with_rules, without=without) as worker:
        assert places(functions(judged(worker, replaced)) ^ there) == {RUN}


@pytest.mark.parametrize("with_rules", [False, True])
def test_engine_is_loaded_without_what_an_exercise_asks_for_and_no_more(
    with_rules: bool, box: Box
) -> None:
    (name,) = without = forbidden_api.of("gym.Sigmoid")
    with box.worker(with_rules=with_rules) as worker:
        whole = judged(worker)
    with box.worker(with_rules=with_rules, without=without) as worker:
        gone = places(judged(worker) ^ whole)
    assert {
        "ops.elementwise.Sigmoid.forward",
        "kernels.elementwise.sigmoid_in_numpy",
    } <= gone
    assert {each for each in gone if name not in each.lower()} == set()


def test_no_function_of_the_engine_is_replaced_in_a_notebook(
    taken: Callable[[], Rows],
) -> None:
    before = taken()
    names: dict[str, Any] = {}
    exec(STOCK + ANSWERS, names)
    contract, cases = square()
    with examination.answers_running(Deadline(60.0)):
        observation.observe(names["Square"], contract, cases[:1])
    traverse(names["backward"], PROGRAM)
    during = told(names["tell"]())
    assert places(during ^ before) == set()
    with mock.patch.object(GraphTask, "run", GraphTask.start):
        assert places(taken() ^ before) == {RUN}


COUNTS = {
    "work": lambda square: work_of(square, (np.ones(3),), (True,), -1, ("mul",)),
    "devices": lambda square: on_second_device(square, np.ones(3)),
    "opinions": lambda square: opinion_on(
        lambda each: each.apply(mg.ones(3, requires_grad=True)).sum().backward(), square
    ),
}


@pytest.mark.parametrize("look", COUNTS)
def test_calls_are_counted_with_nothing_replaced(
    look: str, taken: Callable[[], Rows]
) -> None:
    before = taken()
    names: dict[str, Any] = {}
    exec(STOCK + ANSWERS, names)
    COUNTS[look](names["Square"])
    COUNTS[look](names["Square"])
    assert places(told(names["tell"]()) ^ before) == set()
