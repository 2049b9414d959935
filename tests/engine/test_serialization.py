"""torch.save and torch.load, and torch.Tensor of a list."""

import io
import pickle
from pathlib import Path
from typing import Any

import pytest

import minigrad
from minigrad import errors
from tests.engine.support import leaf


class Stranger:
    """A class of the user's own."""


def saved(torch: Any, value: Any) -> io.BytesIO:
    """The open file with ``value``, at its beginning."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_saved_tensors_come_back_as_leaves_without_their_graph(torch: Any) -> None:
    x = leaf(torch, 1.0, 2.0)
    state = {"x": x, "y": [x * 2, torch.tensor([1, 2])], "n": 3, "s": x.shape}
    again = torch.load(saved(torch, state))
    assert (again["x"].tolist(), again["n"], again["s"]) == ([1.0, 2.0], 3, (2,))
    assert type(again["s"]) is torch.Size
    y, counts = again["y"]
    assert (y.tolist(), y.requires_grad, y.is_leaf) == ([2.0, 4.0], True, True)
    assert (counts.dtype, counts.requires_grad) == (torch.int64, False)


def test_saved_tensors_wait_in_files_for_backward(torch: Any, tmp_path: Path) -> None:
    def pack(x: Any) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        torch.save(x, path)
        return path

    x = leaf(torch, 1.0, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, torch.load):
        y = (x * x).sum()
    assert len(list(tmp_path.iterdir())) == 2
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_load_reads_other_classes_only_when_asked(torch: Any) -> None:
    file = saved(torch, {"a": Stranger()})
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(file)
    file.seek(0)
    again = torch.load(file, map_location="cpu", weights_only=False)
    assert type(again["a"]) is Stranger


def test_tensor_class_makes_floating_point_of_a_list(torch: Any) -> None:
    assert torch.Tensor([1, 2]).dtype == torch.float32
    assert torch.Tensor((True, False)).tolist() == [1.0, 0.0]
    assert torch.Tensor([[1, 2], [3, 4]]).shape == (2, 2)


def test_tensor_class_refuses_a_length() -> None:
    for lengths in ((5,), (2, 3)):
        with pytest.raises(errors.ArgumentTypeError, match="in torch it is a length"):
            minigrad.Tensor(*lengths)


def test_file_of_an_older_version_names_modules_that_are_still_there() -> None:
    old = pickle.dumps({"s": minigrad.ones(2, 3).shape, "x": leaf(minigrad, 1.0, 2.0)})
    names = (b"minigrad.engine.tensor_properties", b"minigrad.engine.facts")
    lengths = [bytes([0x8C, len(name)]) + name for name in names]
    assert lengths[0] in old
    for load in (pickle.loads, lambda data: minigrad.load(io.BytesIO(data))):
        again = load(unframed(old.replace(*lengths)))
        assert type(again["s"]) is minigrad.Size
        assert again["s"] == (2, 3)
        assert (again["x"].tolist(), again["x"].requires_grad) == ([1.0, 2.0], True)


def unframed(data: bytes) -> bytes:
    """A pickle without the mark that says how long it is."""
    return data[:2] + data[11:]


class Fails:
    """What can't be written: its pickling stops in the middle of a file."""

    def __reduce__(self) -> tuple[Any, ...]:
        raise KeyboardInterrupt


def test_interrupted_save_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "run.pt"
    minigrad.save({"step": 1}, file)
    with pytest.raises(KeyboardInterrupt):
        minigrad.save({"big": minigrad.ones(100_000), "step": Fails()}, file)
    assert minigrad.load(file) == {"step": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["run.pt"]
