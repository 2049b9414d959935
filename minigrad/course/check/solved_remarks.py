"""What is said of a right answer, so that nobody is surprised later.

Where answers are graded, the operation that an exercise asks for is not there, and the
engine differentiates for nobody. In a notebook both work, and are mentioned.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import minigrad
from minigrad import ops
from minigrad.course.check import heard
from minigrad.course.check.calls import Call
from minigrad.course.check.facts import Case, Contract
from minigrad.course.check.findings import Finding
from minigrad.course.check.limits import Deadline
from minigrad.course.check.spy import Watch
from minigrad.course.check.trials import needed_in
from minigrad.engine.core.backward import GraphTask
from minigrad.nn import functional

METHODS = ("forward", "setup_context", "backward", "vjp", "jvp")
DERIVATIVE = "a derivative"

GRADED = (
    "Here that counts. Where answers are graded the engine's own is taken away, and "
    "this one would stop there, without points."
)


def remarks_on(
    answer: type[Any], contract: Contract, case: Case, asked_for: Sequence[str]
) -> tuple[Finding, ...]:
    """Remarks on a Function of this engine; ``asked_for`` are names of operations."""
    if not issubclass(answer, minigrad.autograd.Function):
        return ()
    found = [*on_what_is_used(answer, contract, case, asked_for)]
    if contract.in_place and not counts_its_change(answer, case):
        found.append(
            Finding(
                (),
                "The numbers of x change behind the engine's back (`.data`, or an "
                "array), and only the mark makes it count the change",
                answer.__name__,
                hint="Print x._version in forward, before and after. Which way of "
                "changing x is counted by itself?",
            )
        )
    return tuple(found)


def on_what_is_used(
    answer: type[Any], contract: Contract, case: Case, asked_for: Sequence[str]
) -> Iterator[Finding]:
    """A remark on each thing that is taken away where answers are graded."""
    for name in used_by(answer, contract, case, asked_for):
        what = f"The engine's own `{name}` does the work that this exercise asks for"
        hint = "Which operations is it made of? Write it with those."
        if name == DERIVATIVE:
            what = "A method of the answer has the engine differentiate"
            hint = "Which formula does it find? Write that."
        yield Finding((), what, answer.__name__, looks_like=GRADED, hint=hint)


def used_by(
    answer: type[Any], contract: Contract, case: Case, asked_for: Sequence[str]
) -> list[str]:
    """What of this one call of the answer, and its backward, uses."""
    codes = dict(doors_of(asked_for))
    own = {code_of(getattr(answer, name, None)) for name in METHODS} - {None}
    used: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call":
            return
        if frame.f_code in codes:
            used[codes[frame.f_code]] = None
        elif frame.f_code is code_of(GraphTask.run) and comes_from(frame, own):
            used[DERIVATIVE] = None

    call = Call(Watch(answer, Deadline(3600.0)), contract, case.inputs, needed_in(case))
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with heard.operations() as ran:
            call.forward().backward(case.upstreams)
    finally:
        heard.put_back(before)
    ours = {row.function: row.public_name for row in ops.OPS.values()}
    used |= {ours[each]: None for each, _ in ran if each in ours}
    return [name for name in used if name in (*asked_for, DERIVATIVE)]


def doors_of(asked_for: Sequence[str]) -> Iterator[tuple[CodeType | None, str]]:
    """The code that these operations can be called by, without ``apply``."""
    for name in asked_for:
        yield code_of(vars(functional).get(name)), name
    for row in ops.OPS.values():
        if row.public_name in asked_for and row.function:
            yield code_of(row.function.forward), row.public_name
    # Kernels are launched by one code; a check runs their twins, each with its own.
    kernels = [m for n, m in sys.modules.items() if n.startswith("minigrad.kernels.")]
    for code in [code_of(each) for module in kernels for each in vars(module).values()]:
        for name in asked_for:
            if code and (code.co_name == name or code.co_name.startswith(f"{name}_")):
                yield code, name


def code_of(function: Any) -> CodeType | None:
    """The code behind decorators; None for what has none."""
    code = getattr(inspect.unwrap(function), "__code__", None) if function else None
    return code if isinstance(code, CodeType) else None


def comes_from(frame: FrameType, codes: set[CodeType | None]) -> bool:
    """Whether one of these functions is on the stack."""
    above: FrameType | None = frame
    while above is not None:
        if above.f_code in codes:
            return True
        above = above.f_back
    return False


def counts_its_change(answer: type[Any], case: Case) -> bool:
    """Whether forward's own change of its first input is counted, besides its mark."""
    x, *rest = case.inputs
    changed = minigrad.tensor(x, requires_grad=True).clone()
    before = changed._version
    answer.apply(changed, *rest)
    return changed._version - before > 1
