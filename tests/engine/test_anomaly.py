"""Anomaly mode: NaN is refused, and an error shows the forward line behind it."""

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import errors
from minigrad.engine import anomaly
from tests.engine.support import FORM, Boom, leaf, raises, rule

TRACEBACK = "Traceback of forward call that caused the error:"


def failing(torch: Any) -> Any:
    """A Function whose backward raises."""

    def backward(ctx: Any, grad: Any) -> Any:
        raise Boom("in backward")

    return rule(torch, lambda ctx, x: x * 2, backward)


def nan(torch: Any) -> Any:
    """A Function whose second argument gets NaN as its gradient."""

    def backward(ctx: Any, grad: Any) -> Any:
        return None, grad * float("nan")

    return rule(torch, lambda ctx, factor, x: x * factor, backward)


def said(run: Any) -> list[str]:
    """The warnings of a backward that raises Boom."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(Boom):
            run()
    assert all(one.category is UserWarning for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.rule("V01")
def test_detect_anomaly_warns_that_it_is_slow(torch: Any) -> None:
    says = (
        "Anomaly Detection has been enabled. This mode will increase the runtime and "
        "should only be enabled for debugging."
    )
    with pytest.warns(UserWarning, match=says):
        mode = torch.autograd.detect_anomaly()
    assert not torch.is_anomaly_enabled()
    with mode:
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


@pytest.mark.rule("V01", "R06")
def test_nodes_note_the_line_that_made_them(torch: Any) -> None:
    custom = failing(torch).apply
    with torch.autograd.set_detect_anomaly(True):
        y = custom(leaf(torch, 1.0)).exp()
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        lines = node.metadata["traceback_"]
        assert all(isinstance(line, str) for line in lines)
        (line,) = [line for line in lines if "custom(leaf(torch, 1.0)).exp()" in line]
        assert "in test_nodes_note_the_line_that_made_them" in line


@pytest.mark.rule("V01")
def test_rewritten_history_notes_its_line_too(torch: Any) -> None:
    with torch.autograd.set_detect_anomaly(True):
        y = leaf(torch, 1.0, 2.0) * 1
        y.view(2).mul_(3)  # written here
    lines = y.grad_fn.metadata["traceback_"]
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert any("# written here" in line for line in lines)


@pytest.mark.rule("R06")
def test_metadata_is_one_dict_of_each_node(torch: Any) -> None:
    y = failing(torch).apply(leaf(torch, 1.0)).exp()
    inner = y.grad_fn.next_functions[0][0]
    for node in (y.grad_fn, inner, inner.next_functions[0][0]):
        assert node.metadata == {}
        assert node.metadata is node.metadata
        node.metadata["note"] = 1
        assert node.metadata == {"note": 1}
    assert "_metadata" not in vars(inner)


@pytest.mark.rule("V02")
@pytest.mark.parametrize("name", ["FBackward", "SqrtBackward0"])
def test_nan_is_an_error_with_node_and_output(torch: Any, name: str) -> None:
    x = leaf(torch, 0.0)
    with torch.autograd.set_detect_anomaly(True):
        y = nan(torch).apply(2.0, x) if name == "FBackward" else x.sqrt() * 0
        says = f"Function '{name}' returned nan values in its 0th output."
        with (
            pytest.warns(UserWarning, match=f"Error detected in {name}"),
            raises(torch, errors.AnomalyError, says),
        ):
            y.backward()
    assert x.grad is None


@pytest.mark.rule("V02")
def test_nan_may_pass_without_check_nan(torch: Any) -> None:
    x = leaf(torch, 1.0)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        nan(torch).apply(2.0, x).backward()
    assert np.isnan(x.grad.item())


@pytest.mark.rule("V03")
def test_error_is_preceded_by_the_forward_lines(torch: Any) -> None:
    function = failing(torch)

    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            y = function.apply(leaf(torch, 1.0))  # the line of forward
            y.backward()

    (text,) = said(run)
    assert f"Error detected in FBackward. {TRACEBACK}" in text
    assert "# the line of forward" in text
    assert "in run" in text


def raising(gradient: Any) -> Any:
    """A hook that fails."""
    raise Boom


@pytest.mark.rule("V03")
@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("name", ["ExpBackward0", "torch::autograd::AccumulateGrad"])
def test_error_in_a_hook_is_that_of_its_node(
    torch: Any, name: str, captured: bool
) -> None:
    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            x = leaf(torch, 1.0)
            y = x.exp() if name == "ExpBackward0" else x
            y.register_hook(raising)
            root = y * 2
            torch.autograd.grad(root, y) if captured else root.backward()

    (text,) = said(run)
    assert f"Error detected in {name}. {TRACEBACK}" in text


@pytest.mark.rule("V04")
def test_node_made_outside_has_no_lines_to_show(torch: Any) -> None:
    y = failing(torch).apply(leaf(torch, 1.0))

    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            y.backward()

    (text,) = said(run)
    assert (
        "Error detected in FBackward. No forward pass information available. Enable "
        "detect anomaly during forward pass for more information."
    ) in text


def squared(torch: Any, inner: Any) -> Any:
    """A Function whose backward calls ``inner``."""

    def backward(ctx: Any, grad: Any) -> Any:
        return inner.apply(grad * 2)

    return rule(torch, lambda ctx, x: x * x, backward, "Outer")


@pytest.mark.rule("V05")
def test_node_made_in_backward_knows_its_parent(torch: Any) -> None:
    x = leaf(torch, 1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = squared(torch, failing(torch)).apply(x)
        upstream = leaf(torch, 1.0)
        (g,) = torch.autograd.grad(y, x, upstream, create_graph=True)
    assert g.grad_fn.name() == "FBackward"
    assert g.grad_fn.metadata["parent_"] is y.grad_fn
    assert "parent_" not in y.grad_fn.metadata


@pytest.mark.rule("V05")
def test_warning_goes_on_with_the_parent(torch: Any) -> None:
    def run() -> None:
        x, upstream = leaf(torch, 1.0), leaf(torch, 1.0)
        with torch.autograd.set_detect_anomaly(True):
            y = squared(torch, failing(torch)).apply(x)  # the outer line
            (g,) = torch.autograd.grad(y, x, upstream, create_graph=True)
            g.backward()

    first, second = said(run)
    assert f"Error detected in FBackward. {TRACEBACK}" in first
    assert (
        "Previous calculation was induced by OuterBackward. Traceback of forward call "
        "that induced the previous calculation:"
    ) in second
    assert "# the outer line" in second


@pytest.mark.rule("V05")
def test_parent_without_lines_says_so(torch: Any) -> None:
    x, upstream = leaf(torch, 1.0), leaf(torch, 1.0)
    y = squared(torch, failing(torch)).apply(x)

    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            (g,) = torch.autograd.grad(y, x, upstream, create_graph=True)
            g.backward()

    _, second = said(run)
    assert "Error detected in OuterBackward. No forward pass information" in second


@pytest.mark.rule("V06")
def test_version_error_points_at_the_lines_above(torch: Any) -> None:
    says = (
        "Hint: the backtrace further above shows the operation that failed to compute "
        "its gradient. The variable in question was changed in there or anywhere "
        "later. Good luck!"
    )
    with torch.autograd.set_detect_anomaly(True):
        y = (leaf(torch, 1.0, 2.0) * 1).exp()
        y.add_(1)
        with (
            pytest.warns(UserWarning, match="Error detected in ExpBackward0"),
            raises(torch, errors.SavedModifiedError, says),
        ):
            y.sum().backward()


@pytest.mark.rule("V07")
def test_anomaly_mode_holds_at_once_and_is_put_back(torch: Any) -> None:
    mode = torch.autograd.set_detect_anomaly(True, check_nan=False)
    assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_check_nan_enabled()
    with mode:
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    assert torch.is_anomaly_check_nan_enabled()


@pytest.mark.rule("V07")
def test_anomaly_mode_is_a_bool(torch: Any) -> None:
    with raises(torch, errors.ArgumentTypeError, "must be bool, not int"):
        torch.autograd.set_detect_anomaly(1)
    assert not torch.is_anomaly_enabled()


@pytest.mark.rule("V07")
def test_anomaly_mode_is_that_of_all_threads(torch: Any) -> None:
    seen: list[bool] = []
    with torch.autograd.set_detect_anomaly(True):
        thread = threading.Thread(
            target=lambda: seen.append(torch.is_anomaly_enabled())
        )
        thread.start()
        thread.join()
    assert seen == [True]


def test_keyboard_interrupt_is_explained_and_passes(torch: Any) -> None:
    def backward(ctx: Any, grad: Any) -> Any:
        raise KeyboardInterrupt

    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in FBackward"),
        pytest.raises(KeyboardInterrupt),
    ):
        rule(torch, lambda ctx, x: x * 2, backward).apply(leaf(torch, 1.0)).backward()
    y = leaf(torch, 2.0)
    (y * y).backward()
    assert y.grad.item() == 4.0


def test_modules_and_names_of_anomaly_mode(torch: Any) -> None:
    module = torch.autograd.anomaly_mode
    assert torch.autograd.detect_anomaly is module.detect_anomaly
    assert torch.autograd.set_detect_anomaly is module.set_detect_anomaly


def test_warnings_are_in_our_form_at_the_learners_line() -> None:
    function = failing(minigrad)
    with minigrad.autograd.set_detect_anomaly(True):
        y = function.apply(leaf(minigrad, 1.0))
        with (
            pytest.warns(UserWarning, match="Error detected in FBackward") as caught,
            pytest.raises(Boom),
        ):
            y.backward()
    assert FORM.fullmatch(str(caught[0].message))
    assert caught[0].filename == __file__


def test_nan_error_counts_the_elements() -> None:
    x = leaf(minigrad, 1.0, 2.0)
    with (
        minigrad.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected"),
        raises(minigrad, errors.AnomalyError, "argument 2: 2 of its 2 are NaN"),
    ):
        nan(minigrad).apply(2.0, x).sum().backward()


def test_lines_of_libraries_are_shown_if_there_are_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(anomaly, "LIBRARIES", ("",))
    with minigrad.autograd.set_detect_anomaly(True):
        y = failing(minigrad).apply(leaf(minigrad, 1.0))
    assert len(y.grad_fn.metadata["traceback_"]) > 5


def test_lines_of_libraries_are_left_out() -> None:
    with minigrad.autograd.set_detect_anomaly(True):
        y = failing(minigrad).apply(leaf(minigrad, 1.0))
    text = "".join(y.grad_fn.metadata["traceback_"])
    assert "_pytest" not in text
    assert "minigrad/engine/core/function.py" not in text


def test_nan_in_a_batch_of_gradients_is_found_where_torch_gives_up() -> None:
    x = leaf(minigrad, 0.0, 4.0)
    rows = minigrad.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=minigrad.float64)
    with minigrad.autograd.set_detect_anomaly(True):
        y = x.sqrt()
        with (
            pytest.warns(UserWarning, match="Error detected in SqrtBackward0"),
            raises(minigrad, errors.AnomalyError, "1 of its 4 are NaN"),
        ):
            minigrad.autograd.grad(y, x, rows, is_grads_batched=True)


def test_real_error_is_raised_where_warnings_are_errors(
    torch: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        y = failing(torch).apply(leaf(torch, 1.0))
        with pytest.raises(Boom, match="in backward"):
            y.backward()
    says = capfd.readouterr().err
    assert "UserWarning: " in says
    assert "Error detected in FBackward. Traceback of forward call" in says
