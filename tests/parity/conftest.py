"""The only place that asks for torch: where it is missing, one test says so."""

import gc
import importlib
import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Hundreds of skips would hide the others; test_version.py stands for them all.
collect_ignore = [
    path.name
    for path in Path(__file__).parent.glob("test_*.py")
    if path.name != "test_version.py" and importlib.util.find_spec("torch") is None
]


@pytest.fixture(scope="session")
def torch() -> Any:
    """torch itself, on one thread."""
    module = pytest.importorskip("torch")
    module.set_num_threads(1)
    with warnings.catch_warnings():
        # What the first make_dual loads uses a part of torch that is deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        importlib.import_module("torch._decomp.decompositions_for_jvp")
    return module


@pytest.fixture(autouse=True)
def sealed_torch(torch: Any) -> Iterator[None]:
    """As tests/sealing.py does for minigrad; and nothing is freed by the collector."""
    gc.disable()
    yield
    gc.enable()
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.autograd.set_detect_anomaly(False)
