"""Run a program's source on one engine, and compare what two engines say."""

from __future__ import annotations

import functools
import re
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FILE = "<program>"

SHARED = "one memory for the .grad of two leaves"
"""What torch makes of two leaves that get one gradient through views: what is added to
the one is added to the other. Such a .grad is not compared: minigrad's is right."""


@dataclass
class Outcome:
    """What a program did: how it ended, what it noted, what it left behind.

    ``error`` is None, or the exception with the line of the program it left from.
    """

    error: tuple[type[BaseException], int, str] | None = None
    notes: list[Any] = field(default_factory=list)
    left: dict[str, Any] = field(default_factory=dict)
    rounding: float = 1e-9


class Boom(Exception):
    """Raised by programs on purpose, to see where it comes out."""


def plus(*terms: Any) -> Any:
    """The sum of the terms that are there; None if there is none."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


def run(source: str, torch: Any) -> Outcome:
    """The outcome of ``source`` with ``torch`` (or minigrad) under that name."""
    # What float32 has rounded stays so: sums in another order differ by that much.
    outcome = Outcome(rounding=1e-4 if "float32" in source else 1e-9)

    def note(label: str, *values: Any) -> None:
        facts = [brief(torch, value) for value in values]
        if label == "tangent":
            # torch adds terms that are 0 and require grad; their sum is the same.
            facts = [fact[0] if isinstance(fact, list) else fact for fact in facts]
        outcome.notes.append((label, facts))

    names = {"torch": torch, "note": note, "plus": plus, "Boom": Boom}
    given = set(names)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(compiled(source), names)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            line = next((f.lineno for f in frames if f.filename == FILE), 0)
            outcome.error = type(error), line or 0, str(error)
        enabled = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        made = {n: names[n] for n in names if n not in given and n[0] != "_"}
        tensors = {n: v for n, v in made.items() if isinstance(v, torch.Tensor)}
        recorded = [tensors[n] for n in recorded_gradients(source) if n in tensors]
        outcome.left = {
            n: full(torch, v, tensors, recorded) for n, v in tensors.items()
        }
        outcome.left["grad mode"] = enabled
    return outcome


@functools.lru_cache(2)
def compiled(source: str) -> Any:
    """The code of a program, which runs twice."""
    return compile(source, FILE, "exec")


def brief(torch: Any, value: Any) -> Any:
    """A value as it is at this moment; of a tensor the numbers and the flag."""
    if isinstance(value, torch.Tensor):
        return [array_of(value), value.requires_grad]
    if isinstance(value, (list, tuple)):
        return [brief(torch, item) for item in value]
    return value


def array_of(tensor: Any) -> Any:
    """A copy of the numbers; adding 0 gives torch's zeros without memory some."""
    plain = tensor.detach()
    return (plain + 0.0 if plain.is_floating_point() else plain).numpy().copy()


def recorded_gradients(source: str) -> list[str]:
    """The names of the gradients that a program has recorded."""
    targets = re.findall(r"(?m)^ *((?:t\d+, )+)= torch.autograd.grad\(", source)
    return [name for names in targets for name in names.strip(", ").split(", ")]


def full(
    torch: Any, tensor: Any, tensors: dict[str, Any], recorded: list[Any]
) -> dict[str, Any]:
    """Everything a program could ask of a tensor that it made.

    Of ``recorded`` gradients not by which operations: another backward may compute the
    same slope. So their memory, and what is above them in the graph, is left out.
    """
    base = tensor._base
    is_recorded = any(tensor is one for one in recorded)
    facts = {
        "value": array_of(tensor),
        "requires_grad": tensor.requires_grad,
        "is the object": next(n for n, t in tensors.items() if t is tensor),
    }
    if not is_recorded and not any(share_memory(tensor, one) for one in recorded):
        facts["version"] = tensor._version
        names = [name for name, other in tensors.items() if other is base]
        facts["base"] = names[0] if names else base is not None
    if not is_recorded:
        facts["is a view"] = tensor._is_view()
    try:
        # Of some views that were changed in place, none of this may be asked.
        node = tensor.grad_fn
        facts["is_leaf"] = tensor.is_leaf
        facts["output_nr"] = tensor.output_nr
        facts["grad"] = brief(torch, tensor.grad)
        if torch.__name__ == "torch" and shares_grad(tensor, tensors):
            facts["grad"] = SHARED
    except RuntimeError:
        return facts | {"grad_fn": "raises"}
    if node is not None and not is_recorded:
        facts["grad_fn"] = node.name()
        facts["next"] = [receiver(recorded, *pair) for pair in node.next_functions]
    return facts


def share_memory(a: Any, b: Any) -> bool:
    """Whether two tensors lie in one piece of memory; a ZeroTensor lies in none."""
    for tensor in (a, b):
        if hasattr(tensor, "_is_zerotensor") and tensor._is_zerotensor():
            return False
    return np.may_share_memory(a.detach().numpy(), b.detach().numpy())


def shares_grad(tensor: Any, tensors: dict[str, Any]) -> bool:
    """Whether the ``.grad`` of a leaf lies in the memory of another leaf's."""
    if tensor._is_view() or not tensor.is_leaf or tensor.grad is None:
        return False
    leaves = [one for one in tensors.values() if not one._is_view() and one.is_leaf]
    grads = [leaf.grad for leaf in leaves if leaf.grad is not None]
    return any(
        grad is not tensor.grad and share_memory(tensor.grad, grad) for grad in grads
    )


def receiver(recorded: list[Any], node: Any, output_nr: int) -> Any:
    """Where a gradient goes: the name of the node, and to which of its outputs."""
    if node is None:
        return None, output_nr
    if any(node is one.grad_fn for one in recorded):
        return "a recorded gradient"
    return node.name(), output_nr


def difference(ours: Outcome, theirs: Outcome) -> str | None:
    """The first fact in which two outcomes differ; None if they agree.

    Our exception may be a subclass of theirs. What was noted comes first: it happened
    before the rest.
    """
    for index, (one, other) in enumerate(zip(ours.notes, theirs.notes, strict=False)):
        place = f"note {index} {other[0]!r}"
        found = unlike(place, list(one), list(other), theirs.rounding)
        if found:
            return found
    if ours.error is None or theirs.error is None:
        if ours.error is not theirs.error:
            return f"ends: ours {ending(ours)}, torch {ending(theirs)}"
    else:
        kinds = issubclass(ours.error[0], theirs.error[0])
        if not kinds or ours.error[1] != theirs.error[1]:
            return f"ends: ours {ending(ours)}, torch {ending(theirs)}"
    if len(ours.notes) != len(theirs.notes):
        longer = max(ours.notes, theirs.notes, key=len)
        extra = longer[min(len(ours.notes), len(theirs.notes))]
        who = "ours" if longer is ours.notes else "torch"
        return f"notes: only {who} has {extra}"
    return unlike("left", ours.left, theirs.left, theirs.rounding)


def ending(outcome: Outcome) -> str:
    """How a program ended, in a line."""
    if outcome.error is None:
        return "no exception"
    kind, line, text = outcome.error
    return f"{kind.__name__} in line {line}: {' '.join(text.split())[:300]}"


def unlike(where: str, ours: Any, theirs: Any, rounding: float) -> str | None:
    """The first place in which two nested facts differ."""
    if theirs is SHARED:
        return None
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs | ours:
            if key not in ours or key not in theirs:
                return f"{where}: only one has {key}"
            found = unlike(f"{where}: {key}", ours[key], theirs[key], rounding)
            if found:
                return found
        return None
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)):
        if len(ours) == len(theirs):
            pairs = zip(ours, theirs, strict=True)
            return next(
                filter(None, [unlike(where, a, b, rounding) for a, b in pairs]), None
            )
        return f"{where}: ours {ours}, torch {theirs}"
    if isinstance(theirs, np.ndarray) and isinstance(ours, np.ndarray):
        return (
            None
            if alike(ours, theirs, rounding)
            else f"{where}: ours {ours!r}, {theirs!r}"
        )
    if isinstance(theirs, float) and isinstance(ours, float):
        ours, theirs = np.array(ours), np.array(theirs)
        return (
            None if alike(ours, theirs, rounding) else f"{where}: ours {ours}, {theirs}"
        )
    same = type(ours) is type(theirs) and ours == theirs
    return None if same else f"{where}: ours {ours!r}, torch {theirs!r}"


def alike(ours: Any, theirs: Any, rounding: float) -> bool:
    """Whether two arrays have one shape, one dtype and, but for rounding, one value."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    if ours.dtype.kind != "f":
        return bool(np.array_equal(ours, theirs))
    if np.array_equal(ours, theirs):
        return True
    limits = {"rtol": rounding, "atol": rounding}
    return bool(np.allclose(ours, theirs, **limits, equal_nan=True))


def cause(found: str) -> str:
    """A difference without its names and numbers: equal for what has one cause."""
    text = re.sub(r"array\(.*|\[.*", "...", found, flags=re.DOTALL)
    text = re.sub(r"\b[tgFhn]\d+\b", "_", text)
    return re.sub(r"\d+(\.\d+)?", "#", text)[:200]
