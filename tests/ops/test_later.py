"""Families of operations are imported when one of their names is first used."""

import subprocess
import sys

import pytest

import minigrad
from minigrad import ops
from minigrad.engine._tensor_methods import TensorMethods
from minigrad.ops import _registry, functions
from minigrad.ops._later import ADDED, METHODS, Later, add, loaded

FIRST_USES = """
import sys
import minigrad
from minigrad.engine._tensor_methods import TensorMethods

def imported():
    families = set(minigrad.ops.families()) - {"functions"}
    return {name for name in families if f"minigrad.ops.{name}" in sys.modules}

unneeded = {"engine.randomness", "kernels", "nn", "transforms", "lint"}
assert not imported(), imported()
assert not unneeded & {name.removeprefix("minigrad.") for name in sys.modules}
assert {"nn", "relu", "Tensor"} <= set(dir(minigrad))
assert {"relu", "__add__", "add_", "grad_fn"} <= set(dir(minigrad.Tensor))
assert "forward_ad" in dir(minigrad.autograd)
x = minigrad.tensor([2.0, 3.0])
assert hasattr(x, "cumprod") and "cumprod" in imported()
assert minigrad.einsum is minigrad.einsum and "einsum" in vars(minigrad)
assert "comparison" not in imported()

class Loud(minigrad.Tensor):
    def __mul__(self, other):
        return super().__mul__(other), "loud"

product, word = Loud([2.0]) * x
assert product.tolist() == [4.0, 6.0] and word == "loud"
assert (1 - x).tolist() == [-1.0, -2.0]
x += 1
x[0] = 7.0
assert x.tolist() == [7.0, 4.0] and [float(part) for part in x] == [7.0, 4.0]
assert type(vars(TensorMethods)["__mul__"]).__name__ == "function"
assert "einsum" in imported() and "pooling" not in imported()
assert "pooling" in str(minigrad.ops.pooling)
"""


def test_first_use_of_a_name_imports_its_family_and_no_other() -> None:
    run = [sys.executable, "-W", "error", "-c", FIRST_USES]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_asking_for_the_table_imports_every_family() -> None:
    assert ops.OPS["max_pool2d"].public_name == "max_pool2d"
    left = [name for name, method in vars(TensorMethods).items() if is_later(method)]
    assert left == []
    tables = _registry.METHODS, _registry.IN_PLACE, _registry.OPERATORS
    assert set().union(*tables) == set(_registry.HOMES[1])
    assert set(functions.__all__) == set(_registry.CALLS)


def is_later(method: object) -> bool:
    return isinstance(method, Later)


def test_method_is_there_only_when_its_whole_family_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METHODS, "halved", "arithmetic")
    monkeypatch.setattr(TensorMethods, "halved", Later("halved"), raising=False)
    monkeypatch.setitem(ADDED, "halved", None)
    add("halved", lambda tensor: tensor / 2)
    # Here the family is still being imported, and another thread may ask.
    assert is_later(vars(TensorMethods)["halved"])
    assert minigrad.tensor([4.0]).halved().tolist() == [2.0]
    assert not is_later(vars(TensorMethods)["halved"])


def test_a_name_that_the_family_has_not_is_refused_with_what_to_do() -> None:
    stale = {"gone": "arithmetic"}
    with pytest.raises(
        AttributeError, match=r"ops\.arithmetic has no operation 'gone'; run"
    ):
        loaded("gone", stale, {})
    with pytest.raises(AttributeError, match="'minigrad' has no attribute 'gone'"):
        minigrad.gone  # noqa: B018
    with pytest.raises(AttributeError, match="functions' has no attribute 'gone'"):
        functions.gone  # noqa: B018
