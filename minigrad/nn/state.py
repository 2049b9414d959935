"""The values of a model by name: taken out, and put back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.grad_mode import no_grad
from minigrad.engine.tensor_properties import Size
from minigrad.nn.parameter import Parameter

if TYPE_CHECKING:
    from minigrad.nn.module import Module


class IncompatibleKeys(NamedTuple):
    """What ``load_state_dict`` did not find, and what it had no place for."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        missing, unexpected = self
        return (
            f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"
        )


def kept_by(module: Module) -> dict[str, Any]:
    """The tensors of one module that belong to its state, without those inside it."""
    kept: dict[str, Any] = {**module._parameters}
    for name, buffer in module._buffers.items():
        if name not in module._not_in_state:
            kept[name] = buffer
    return {name: tensor for name, tensor in kept.items() if tensor is not None}


def places_in(module: Module, prefix: str = "") -> dict[str, tuple[Module, str]]:
    """For each key of the state, the module that has it and its name there."""
    return {
        f"{path}.{name}" if path else name: (inner, name)
        for path, inner in module.named_modules(None, prefix, remove_duplicate=False)
        for name in kept_by(inner)
    }


def state_of(
    module: Module, destination: dict[str, Any] | None, prefix: str, keep_vars: bool
) -> dict[str, Any]:
    """What ``module.state_dict()`` returns."""
    values = OrderedDict() if destination is None else destination
    for key, (inner, name) in places_in(module).items():
        tensor = kept_by(inner)[name]
        values[prefix + key] = tensor if keep_vars else tensor.detach()
    return values


def load(
    module: Module, state_dict: Mapping[str, Any], strict: bool, assign: bool
) -> IncompatibleKeys:
    """What ``module.load_state_dict()`` does: all that fits is copied, even if it then
    raises.

    Raises: ArgumentTypeError; StateDictError.
    """
    kind = type(module).__name__
    if not isinstance(state_dict, Mapping):
        raise errors.ArgumentTypeError.at(
            f"{kind}.load_state_dict",
            f"Expected state_dict to be dict-like, got {type(state_dict)}.",
            "give what state_dict() returned",
        )
    places = places_in(module)
    missing = [key for key in places if key not in state_dict]
    unexpected = [key for key in state_dict if key not in places]
    problems = []
    if strict and missing:
        problems.append(f"Missing key(s) in state_dict: {quoted(missing)}.")
    if strict and unexpected:
        problems.append(f"Unexpected key(s) in state_dict: {quoted(unexpected)}.")
    for key, (inner, name) in places.items():
        if key in state_dict:
            problem = put(inner, name, state_dict[key], assign)
            problems += [problem.format(key)] if problem else []
    if problems:
        raise errors.StateDictError.at(
            f"{kind}.load_state_dict",
            f"Error(s) in loading state_dict for {kind}: {' '.join(problems)}",
            "load it into a model that was built like the one that was saved",
        )
    return IncompatibleKeys(missing, unexpected)


def put(module: Module, name: str, value: Any, assign: bool) -> str:
    """Give one tensor of a module another value; what was wrong, or nothing."""
    present = kept_by(module)[name]
    if not isinstance(value, Tensor):
        return (
            'While copying the parameter named "{}", expected Tensor or '
            f"Tensor-like object from checkpoint but received {type(value)}."
        )
    if value.shape != present.shape:
        return (
            f"size mismatch for {{}}: copying a param with shape {Size(value.shape)} "
            f"from checkpoint, the shape in current model is {present.shape}."
        )
    if not assign:
        with no_grad():
            present.copy_(value)
    elif isinstance(present, Parameter) and not isinstance(value, Parameter):
        setattr(module, name, Parameter(value, present.requires_grad))
    else:
        setattr(module, name, value)
    return ""


def quoted(keys: list[str]) -> str:
    """The keys as a message lists them."""
    return ", ".join([f'"{key}"' for key in keys])
