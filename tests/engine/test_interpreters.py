"""The seam of interpreters: who asks them, and what they are asked."""

import ast
import threading
from typing import Any

import pytest

import minigrad
from minigrad.engine import interpreters
from minigrad.engine.interpreters import Interpreter, dispatched, opened, undispatched
from tests.engine.test_seams import Named, package, read

SEAM = ("engine/interpreters.py", "transforms/", "func/", "autograd/forward_ad.py")
"""Who interprets, and who opens interpreters."""

OPEN = {"active", "handler_of", "everywhere", "kinds", "opened_here", "top"}
SWITCHES = {"forward_limit", "interpreters"}
"""What says whether an interpreter is open: of the module, and of a thread's mode."""

ASKS = {
    "engine/core/function.py: Function.apply",
    "engine/fast_path.py: of_any_number",
    "engine/fast_path.py: of_one.apply",
    "engine/fast_path.py: of_two.apply",
    "engine/gradients.py: backward",
    "engine/gradients.py: traverse",
}
"""The top of apply, of its fast path and of a backward; others are `dispatched`."""

KEEPS = {
    "engine/core/backward.py: GraphTask.leave_open_modes",
    "engine/core/backward.py: modes_of",
    "engine/grad_mode.py: _Mode.__init__",
    "engine/grad_mode.py: forward_limit",
    "engine/grad_mode.py: unrecorded",
    "engine/grad_mode.py: with_forward_limit.__enter__",
    "engine/grad_mode.py: with_forward_limit.__exit__",
    "engine/inference.py: inference_mode.__enter__",
    "engine/inference.py: inference_mode.__exit__",
}
"""The switches of a thread, of which forward mode has one."""


def readers(named: list[Named]) -> set[str]:
    """The functions that read or set what is open."""
    found = set()
    for name, node in named:
        if isinstance(node, ast.ImportFrom):
            is_asking = node.module == interpreters.__name__ and not OPEN.isdisjoint(
                {alias.name for alias in node.names}
            )
        else:
            of_module = ast.unparse(node.value).endswith("interpreters")
            is_asking = node.attr in SWITCHES or (of_module and node.attr in OPEN)
        if is_asking:
            found.add(name)
    return found


def test_only_apply_and_backward_ask_what_is_open_at_their_top() -> None:
    found = {
        f"{path}: {name}"
        for path, named in package().items()
        if not path.startswith(SEAM)
        for name in readers(named)
    }
    assert found == ASKS | KEEPS


@pytest.mark.parametrize(
    "guard",
    [
        "return 1 if interpreters.active else 0",
        "return this_mode().interpreters",
        "from minigrad.engine.interpreters import opened_here",
        "return engine.interpreters.kinds()",
        "return _this_thread.mode.forward_limit > 0",
    ],
)
def test_guard_is_found_wherever_it_stands(guard: str) -> None:
    source = f"class Op:\n    def rule(ctx):\n        {guard}\n"
    assert readers(read(source)) == {"Op.rule"}
    assert readers(read("def rule(ctx):\n    return ctx.active\n")) == set()


class Noting(Interpreter):
    """Notes which operations come by, and hands them on."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def apply(self, function: Any, inputs: tuple[Any, ...]) -> Any:
        self.seen.append(function.__name__)
        return self.below(function.apply, *inputs)

    def apply_in_place(self, call: Any, args: Any, kwargs: Any) -> Any:
        self.seen.append(f"{args[0].__name__}_")
        return self.below(call, *args)

    def greet(self, call: Any, args: Any, kwargs: Any) -> Any:
        return "noted " + undispatched(call)(*args)

    def below(self, call: Any, *args: Any, **kwargs: Any) -> Any:
        stack = interpreters.opened_here()
        lower = stack[: stack.index(self)]
        return interpreters.with_stack(lower, call, *args, **kwargs)


class Double(minigrad.autograd.Function):
    """2 * x, with an operation inside of forward."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


def test_interpreter_is_asked_once_for_each_call() -> None:
    noting, x = Noting(), minigrad.ones(2)
    with opened(noting):
        y = Double.apply(x)
        y.add_(x)
        _ = y.exp().sum()
    assert noting.seen == ["Double", "Add_", "Exp", "Sum"]
    assert not interpreters.active


def test_interpreters_are_asked_from_the_top_down() -> None:
    outer, inner_one = Noting(), Noting()
    with opened(outer), opened(inner_one):
        minigrad.ones(1).exp()
        inner_one.below(minigrad.ones(1).sin)
    assert (outer.seen, inner_one.seen) == (["Exp", "Sin"], ["Exp"])


def test_rules_of_a_backward_come_to_the_interpreter() -> None:
    noting = Noting()
    x = minigrad.ones(2, requires_grad=True)
    y = x.exp().sum()
    with opened(noting):
        y.backward()
    assert {"Expand", "Mul"} <= set(noting.seen)
    assert x.grad is not None


def test_other_threads_are_not_interpreted() -> None:
    noting = Noting()
    with opened(noting):
        thread = threading.Thread(target=minigrad.ones(1).exp)
        thread.start()
        thread.join()
    assert noting.seen == []


def test_door_is_answered_by_who_has_a_word_for_it() -> None:
    @dispatched("greet")
    def greet(name: str) -> str:
        return f"hello {name}"

    with opened(Noting()), opened(Interpreter()):
        assert greet("x") == "noted hello x"
    assert greet("x") == "hello x"
