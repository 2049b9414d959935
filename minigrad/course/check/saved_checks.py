"""Where forward kept what backward needs: on ctx, and in which of its ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.course.check.casefile import CaseFile
from minigrad.course.check.facts import Array, Attribute, Trial
from minigrad.course.check.findings import Finding


def without_staticmethod(case: CaseFile) -> Iterator[Finding]:
    """Methods that lack their decorator."""
    if case.declared.not_static:
        names = " and ".join(case.declared.not_static)
        isn_t = "isn't a static method" if len(names.split()) == 1 else "aren't static"
        yield Finding(("A08",), f"{names} {isn_t}", case.name)


def on_ctx(case: CaseFile) -> Iterator[Finding]:
    """Tensors, outputs and arrays that share memory, kept as attributes of ctx."""
    kept: dict[str, dict[str, None]] = {}
    for _, trial in case.plain:
        for attribute in trial.attributes:
            id = _named(attribute)
            if id:
                kept.setdefault(id, {})[f"ctx.{attribute.name}"] = None
    nouns = {"S07": "output", "S06": "tensor", "S08": "array"}
    for id, noun in nouns.items():
        if id in kept:
            plural = noun if len(kept[id]) == 1 else f"{noun}s"
            what = f"{plural} kept as {', '.join(kept[id])}"
            yield Finding((id,), what, f"{case.name}, what forward leaves on ctx")


def _named(attribute: Attribute) -> str:
    if attribute.is_output:
        return "S07"
    if attribute.kind != "ndarray":
        return "S06"
    return "S08" if attribute.shares_memory else ""


def numbers_saved(case: CaseFile) -> Iterator[Finding]:
    """Plain numbers that were made tensors, so that they could be saved."""
    found = [
        {
            case.argument(i)
            for i, value in enumerate(trial.inputs)
            if isinstance(value, (int, float))
            if any([is_number(saved.packed, value) for saved in trial.saved])
        }
        for _, trial in case.plain
    ]
    in_all = set.intersection(*found)
    if in_all:
        names = " and ".join([n for n in case.contract.arguments if n in in_all])
        several = len(in_all) > 1
        number, tensor = ("numbers", "tensors") if several else ("a number", "a tensor")
        yield Finding(
            ("A14",),
            f"{names} came in as {number} and went to save_for_backward as {tensor}",
            f"{case.name}, what forward leaves on ctx",
            looks_like="A number can't change in place, and takes almost no memory: it "
            "needs nothing of what saving does for a tensor.",
        )


def is_number(array: Array, number: float) -> bool:
    """Whether this one element is the number, as nearly as its dtype can say."""
    if array.size != 1 or array.dtype.kind not in "iuf":
        return False
    return bool(np.isclose(array.item(), float(number), rtol=1e-6))


def more_than_needed(case: CaseFile) -> Iterator[Finding]:
    """Tensors on ctx beside those that backward is to get by with."""
    if case.contract.keeps is None:
        return
    wanted = case.contract.second_derivative == "wanted"
    _, trial = next(case.plain)
    known = dict(zip(case.contract.arguments, trial.inputs, strict=True))
    outputs = [output.value for output in trial.outputs]
    known |= dict(zip(case.contract.outputs, outputs, strict=True))
    names: dict[str, int] = {}
    more = [(each.packed, not each.in_graph) for each in trial.for_forward]
    for array, is_copy in [*held(trial), *more]:
        name = next((n for n, value in known.items() if same(array, value)), "")
        if is_copy and name in case.contract.keeps and wanted:
            continue  # its missing history is worse
        if is_copy or name not in case.contract.keeps:
            shown = f"a copy of {name}" if name and is_copy else name
            names[shown or f"an array of shape {array.shape}"] = array.nbytes
    if names:
        what = " and ".join([f"{name} ({size} bytes)" for name, size in names.items()])
        enough = " and ".join(case.contract.keeps)
        can = f"can do with {enough} alone" if enough else "can do without any array"
        yield Finding(
            ("K01",),
            f"ctx keeps {what}; backward {can}",
            f"{case.name}, what forward leaves on ctx",
        )


def more_bytes_than_allowed(case: CaseFile) -> Iterator[Finding]:
    """More bytes on ctx than the exercise allows for each number of its input."""
    allowed = case.contract.bytes_a_number
    if allowed is None:
        return
    for fact, trial in case.plain:
        count = trial.inputs[0].size
        arrays = [array for array, _ in held(trial)]
        size = sum([array.nbytes for array in arrays])
        if size > allowed * count:
            dtypes = " and ".join(dict.fromkeys([str(a.dtype) for a in arrays]))
            yield Finding(
                ("K01",),
                f"for {fact.case.name}, ctx keeps {size} bytes ({dtypes}) for {count} "
                f"numbers; {allowed * count:g} are enough",
                f"{case.name}, what forward leaves on ctx",
            )
            return


def held(trial: Trial) -> Iterator[tuple[Array, bool]]:
    """Every array that ctx holds on to, and whether it is memory of its own."""
    for saved in trial.saved:
        yield saved.packed, not saved.shares_memory
    for attribute in trial.attributes:
        yield attribute.value, not attribute.shares_memory


def same(array: Array, value: Any) -> bool:
    """Whether two arrays have the same shape, dtype and content."""
    return (
        isinstance(value, np.ndarray)
        and (array.shape, array.dtype) == (value.shape, value.dtype)
        and np.array_equal(array, value, equal_nan=True)
    )


def saved_twice(case: CaseFile) -> Iterator[Finding]:
    """More than one call of save_for_backward, though the numbers are right."""
    _, trial = next(case.plain)
    if trial.save_calls > 1:
        what = f"save_for_backward was called {trial.save_calls} times"
        yield Finding(("A15",), what, case.name)


def elsewhere(case: CaseFile) -> Iterator[Finding]:
    """Tensors of a call that were put somewhere else than on its ctx."""
    declared = case.declared
    names = declared.tensors_on_class or declared.tensors_shared
    if names:
        yield Finding(
            ("S04",) if declared.tensors_on_class else ("S05",),
            f"after the calls were over, {', '.join(names)} still held their tensors",
            case.name,
            looks_like="What one call keeps there outlives the call, and nothing frees"
            " it.",
        )


def nothing_on_ctx(case: CaseFile) -> Iterator[Finding]:
    """Values that reach backward, though not through ctx."""
    if not any(trial.kept for _, trial in case.plain):
        yield from elsewhere(case)


def other_dtypes(case: CaseFile) -> Iterator[Finding]:
    """Gradients of another dtype than their input, which the engine casts."""
    for _, trial, run in case.passes("plain"):
        for i, value in enumerate(run.returned[: len(trial.inputs)]):
            if value.value is None or not trial.needed[i]:
                continue
            wanted = trial.inputs[i].dtype
            if value.value.dtype != wanted:
                what = f"the gradient is {value.value.dtype} for {wanted} inputs"
                yield Finding(("T03",), what, case.slot(i))
                return
