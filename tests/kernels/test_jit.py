"""When Numba runs, when NumPy runs instead, and what is said about it."""

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from minigrad.kernels import _jit
from minigrad.kernels._jit import elementwise_kernel, jit
from minigrad.kernels._math import bits, greater, number


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba is used here, whatever the environment of the tests says."""
    monkeypatch.delenv("MINIGRAD_JIT", raising=False)


def twice_in_numpy(array: Any) -> Any:
    return array * 2


def make(loop: Any) -> Any:
    return elementwise_kernel(twice_in_numpy)(loop)


def doubled(array: Any, output: Any) -> None:
    """Twice the input."""
    for i in range(array.size):
        output[i] = 2 * array[i]


def failing(array: Any, output: Any) -> None:
    """Cannot be compiled: Numba knows no such name."""
    output[0] = nobody_knows(array)  # noqa: F821


def test_kernel_keeps_the_name_and_the_words_of_its_loop() -> None:
    kernel = make(doubled)
    assert (kernel.__name__, kernel.__doc__) == ("doubled", "Twice the input.")
    assert kernel.twin is twice_in_numpy


@pytest.mark.parametrize("dtype", ["float16", "int64", "bool"])
def test_other_dtypes_go_to_the_twin(
    monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setattr(_jit, "compile_loop", lambda *_: pytest.fail("compiled"))
    assert make(doubled)(np.ones(2, dtype)).tolist() == [2, 2]


def test_loop_for_many_leaves_few_and_other_layouts_to_the_twin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_jit, "compile_loop", lambda loop, *_: loop)
    launch = elementwise_kernel(lambda array: array * 3, for_many=True)(doubled)
    ones = np.ones((2, _jit.MANY // 2))
    for array, factor in ((ones, 2), (ones[:, 1:], 3), (ones.T, 3), (ones[:0], 3)):
        assert (launch(array) == factor).all()


def next_number(array: Any, output: Any) -> None:
    """The number whose bits are one more, or 1 if that is greater."""
    for i in range(array.size):
        output[i] = greater(1.0, number(bits(array[i]) + 1))


def test_loop_has_instructions_in_place_of_functions() -> None:
    known = _jit.bare(next_number).__globals__
    assert {known[name] for name in ("bits", "greater", "number")} == set(
        _jit.instructions().values()
    )
    array = np.array([1.5, -2.0, 1e30])
    outcome = elementwise_kernel(twice_in_numpy)(next_number)(array)
    assert outcome.tolist() == [np.nextafter(1.5, 2), 1.0, np.nextafter(1e30, np.inf)]
    assert outcome.tolist() == [max(1.0, number(bits(x) + 1)) for x in array]


def test_loop_is_compiled_once_at_the_first_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[Any] = []
    monkeypatch.setattr(
        _jit, "compile_loop", lambda loop, regroups: compiled.append(loop) or loop
    )
    kernel = make(doubled)
    assert compiled == []
    for _ in range(2):
        assert kernel(np.ones((2, 2))).tolist() == [[2.0, 2.0]] * 2
    assert compiled == [doubled]


def test_jit_switched_off_runs_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINIGRAD_JIT", "0")
    monkeypatch.setattr(_jit, "compile_loop", lambda *_: pytest.fail("compiled"))
    assert make(doubled)(np.ones(2)).tolist() == [2.0, 2.0]


def test_jit_switched_off_loads_no_numba() -> None:
    program = (
        "import sys, minigrad as m;"
        "print(m.tensor([0.0]).sigmoid().item(), 'numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"MINIGRAD_JIT": "0", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0.5 False\n"


def test_failing_kernel_warns_once_and_gives_numpys_result() -> None:
    kernel = make(failing)
    with pytest.warns(RuntimeWarning, match="failing: Numba could not run it") as seen:
        first = kernel(np.ones(2))
    assert len(seen) == 1
    assert "plain NumPy is used from now on" in str(seen[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = kernel(np.ones(2))
    assert first.tolist() == second.tolist() == [2.0, 2.0]


def test_missing_numba_warns_once_and_gives_numpys_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    kernel = make(doubled)
    with pytest.warns(RuntimeWarning, match="ModuleNotFoundError|ImportError"):
        assert kernel(np.ones(2)).tolist() == [2.0, 2.0]


def test_kernels_are_loaded_when_they_are_used() -> None:
    program = (
        "import sys, minigrad as m;"
        "name = 'minigrad.kernels.softmax';"
        "before = name in sys.modules;"
        "m.zeros(2).softmax(0);"
        "print(before, name in sys.modules, hasattr(m.kernels, 'nothing'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"MINIGRAD_JIT": "0", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False True False\n"


def test_twin_runs_where_numpy_is_asked_for_and_the_loop_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_jit, "compile_loop", lambda loop, *_: loop)
    launch = elementwise_kernel(lambda array: array * 3)(doubled)
    with _jit.in_numpy():
        assert launch(np.ones(2)).tolist() == [3.0, 3.0]
    assert launch(np.ones(2)).tolist() == [2.0, 2.0]


def running_total(x: Any) -> Any:
    out = np.empty_like(x)
    total = 0.0
    for i in range(x.size):
        total += x[i]
        out[i] = total
    return out


def scaled_total(x: Any, factor: Any) -> Any:
    return factor * TOTAL(x)[x.size - 1]


TOTAL = jit(running_total)

ROWS = np.arange(6.0, dtype=np.float32)
LOCKED = np.broadcast_to(np.float32(2), (6,))
CALLS = (ROWS, ROWS[:2], ROWS[::2], ROWS.astype(np.float64), LOCKED)


def signatures_of_calls() -> list[str]:
    own = jit(running_total)
    for x in CALLS:
        assert own(x).tolist() == np.cumsum(x, dtype=x.dtype).tolist()
    return own.signatures


def test_jit_says_the_same_versions_with_numba_and_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_numba = signatures_of_calls()
    monkeypatch.setenv("MINIGRAD_JIT", "0")
    assert by_numba == signatures_of_calls()
    assert by_numba == [
        "(Array(float32, 1, 'C'))",
        "(Array(float32, 1, 'A'))",
        "(Array(float64, 1, 'C'))",
        "(Array(float32, 1, 'A', readonly))",
    ]


def test_jit_compiles_once_and_not_before_the_first_call() -> None:
    own = jit(running_total)
    assert own.signatures == []
    assert own.is_compiled
    assert own.dispatcher is own.dispatcher
    assert own.dispatcher is not own.py_func
    assert (own.__name__, own.py_func) == ("running_total", running_total)


def test_jit_compiles_a_kernel_that_calls_another_one() -> None:
    own = jit(scaled_total)
    assert own(np.ones(3), 2.0) == 6.0
    assert own.dispatcher.signatures  # it was Numba that ran it


def test_jit_runs_as_written_where_nothing_is_to_be_compiled() -> None:
    own = jit(running_total)
    with _jit.in_numpy():
        assert not own.is_compiled
        assert own(np.ones(2)).tolist() == [1.0, 2.0]
    assert own.signatures == []


def test_jit_says_once_that_there_is_no_numba(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    own = jit(running_total)
    with pytest.warns(RuntimeWarning, match="running_total runs as written"):
        assert own(np.ones(2)).tolist() == [1.0, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert own(np.ones(3)).tolist() == [1.0, 2.0, 3.0]
    assert not own.is_compiled


def beyond(x: Any) -> Any:
    x[x.size] = 1.0


def test_jit_refuses_an_index_outside_of_an_array() -> None:
    own = jit(beyond)
    assert own.is_compiled
    with pytest.raises(IndexError):
        own(np.zeros(3))
