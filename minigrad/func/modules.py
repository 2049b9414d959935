"""A model as a function of its parameters, so that transforms can be applied to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.ops.joining import Stack


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args)`` with other parameters and buffers, given by their paths.

    Those that are not given are the module's own. A parameter that stands in two
    places is replaced in both, unless ``tie_weights`` is False. ``strict`` refuses
    paths that are missing or that the module does not have.
    Raises: ArgumentValueError; StateDictError.
    See: torch ``func.functional_call``.

    >>> model = minigrad.nn.Linear(2, 1, bias=False)
    >>> weight = {"weight": minigrad.tensor([[1.0, 2.0]])}
    >>> minigrad.func.functional_call(model, weight, minigrad.tensor([3.0, 4.0]))
    tensor([11.])
    """
    values = one_dict(parameter_and_buffer_dicts)
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with replaced(module, values, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def one_dict(given: Any) -> dict[str, Any]:
    """The values by path, from one dict or from several.

    Raises: ArgumentValueError.
    """
    if isinstance(given, dict):
        return given
    what, fix = "", "give dict(model.named_parameters()), or several such dicts"
    if not isinstance(given, Sequence):
        what = (
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of "
            f"dicts, but got {type(given)}"
        )
    elif not all([isinstance(one, dict) for one in given]):
        what = "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
    else:
        keys = [key for one in given for key in one]
        repeated = [key for key, times in Counter(keys).items() if times > 1]
        if repeated:
            what = (
                f"{repeated} appeared in multiple dictionaries; behavior of functional "
                "call is ambiguous"
            )
            fix = "give each path once"
        else:
            return {key: one[key] for one in given for key in one}
    raise errors.ArgumentValueError.at("functional_call", what, fix)


@contextmanager
def replaced(
    module: Any, values: dict[str, Any], tie_weights: bool, strict: bool
) -> Iterator[None]:
    """For the ``with`` block, ``values`` are the module's parameters and buffers.

    What the module itself puts in their place goes into ``values``.
    Raises: StateDictError if ``strict``; ArgumentValueError.
    """
    places = places_of(module)
    if strict:
        check_paths(module, values, places)
    wanted = with_tied(places, values) if tie_weights else values
    own = {}
    try:
        for path, value in wanted.items():
            if path in places:
                table, name = places[path]
                own[path] = table[name]
                table[name] = value
        yield
    finally:
        for path, value in own.items():
            table, name = places[path]
            if path in values:
                values[path] = table[name]
            table[name] = value


def places_of(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """For each path the table in which a parameter or buffer stands, and its name."""
    return {
        f"{path}.{name}" if path else name: (table, name)
        for path, inner in module.named_modules(remove_duplicate=False)
        for table in (inner._parameters, inner._buffers)
        for name, value in table.items()
        if value is not None
    }


def with_tied(
    places: Mapping[str, tuple[dict[str, Any], str]], values: dict[str, Any]
) -> dict[str, Any]:
    """``values``, also under the other paths of the same parameters.

    Raises: ArgumentValueError for two values of one parameter.
    """
    same = defaultdict(list)
    for path, (table, name) in places.items():
        same[id(table[name])].append(path)
    wanted = dict(values)
    for paths in same.values():
        given = [path for path in paths if path in values]
        if len({id(values[path]) for path in given}) > 1:
            raise errors.ArgumentValueError.at(
                "functional_call",
                f"functional_call got multiple values for keys {sorted(paths)}, "
                "which are tied. Consider using tie_weights=False",
                f"give one value, for {paths[0]} alone",
            )
        if given:
            wanted |= dict.fromkeys(paths, values[given[0]])
    return wanted


def check_paths(module: Any, values: dict[str, Any], places: dict[str, Any]) -> None:
    """Refuse paths that are missing, and those that the module does not have.

    Raises: StateDictError.
    """
    problems = []
    for says, some, others in (
        ("Unexpected", values, places),
        ("Missing", places, values),
    ):
        names = [repr(path) for path in some if path not in others]
        if names:
            problems.append(f"{says} key(s): {', '.join(names)}.")
    if problems:
        name = type(module).__name__
        raise errors.StateDictError.at(
            "functional_call",
            f"Error(s) in reparametrizing for {name}: {' '.join(problems)}",
            "give the paths of model.named_parameters() and of named_buffers()",
        )


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of several models of one class, and the buffers, each stacked.

    For ``vmap`` over the models. The stacked parameters are new leaves.
    Raises: StateDictError for models that differ.
    See: torch ``func.stack_module_state``.
    """
    what = ""
    if not models:
        what = "Expected at least one model, got 0."
    elif len({model.training for model in models}) > 1:
        what = "Expected all models to have the same training/eval mode."
    elif len({type(model) for model in models}) > 1:
        what = "Expected all models to be of the same class."
    if what:
        raise not_alike(what)
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return stacked(parameters), stacked(buffers)


def stacked(tables: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """One tensor for each path.

    Raises: StateDictError if only some of those under a path require grad.
    """
    result = {}
    for path in tables[0]:
        tensors = [table[path] for table in tables]
        required = {tensor.requires_grad for tensor in tensors}
        if len(required) > 1:
            raise not_alike(
                f"Expected {path} from each model to have the same .requires_grad"
            )
        joined = Stack.apply(*tensors, 0)
        result[path] = joined.detach().requires_grad_() if True in required else joined
    return result


def not_alike(what: str) -> errors.StateDictError:
    """The error for models that cannot be stacked."""
    return errors.StateDictError.at(
        "stack_module_state",
        f"stack_module_state: {what}",
        "build all models in the same way",
    )
