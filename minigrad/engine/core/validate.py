"""What the engine refuses, and in which words.

A function either refuses what it is given, or returns the error for its caller to
raise, so that the ``raise`` stands where the rule is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from minigrad import errors
from minigrad.engine.core.tensor import Tensor

if TYPE_CHECKING:
    from inspect import Signature

    from minigrad.engine.core.ctx import BackwardCFunction
    from minigrad.engine.core.function import Function
    from minigrad.engine.core.node import _FunctionBase
    from minigrad.engine.core.saved import Record

Hook: TypeAlias = "Callable[..., object]"


def contains(tensors: tuple[object, ...], tensor: object) -> bool:
    """Whether this very object is among ``tensors``; ``in`` would compare values."""
    for candidate in tensors:  # noqa: SIM110  apply asks often; any() takes three times as long
        if candidate is tensor:
            return True
    return False


def sums_to(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether ``wanted`` broadcasts to ``shape``, so that copies can be summed."""
    new = len(shape) - len(wanted)
    if new < 0:
        return False
    for length, other in zip(wanted, shape[new:], strict=True):
        if length not in (1, other):
            return False
    return True


# hooks


def hook_name(hook: Hook) -> str:
    """The hook's name in messages."""
    name = getattr(hook, "__name__", None)
    return name if isinstance(name, str) else "<unknown>"


def check_tuple(hook: Hook, old: tuple[Tensor | None, ...], result: object) -> None:
    """Refuse what cannot take the place of the gradients a node hook was given.

    Raises: HookTypeError, HookError.
    """
    if not isinstance(result, tuple):
        raise errors.HookTypeError.at(
            hook_name(hook),
            f"expected tuple, but hook returned '{type(result).__name__}'",
            "return a tuple with one gradient for each given, or None",
        )
    if len(result) != len(old):
        raise errors.HookError.at(
            hook_name(hook),
            f"hook '{hook_name(hook)}' has returned an incorrect number of values "
            f"(got {len(result)}, but expected {len(old)})",
            "return one gradient for each given, or None to keep them all",
        )
    for value, new in zip(old, result, strict=True):
        if new is not None:
            check_value(hook, value, new)


def check_value(hook: Hook, old: Tensor | None, new: object) -> None:
    """Refuse a value that cannot take the place of the gradient ``old``.

    Raises: HookTypeError, HookError.
    """
    if old is None:
        raise hook_refused(
            hook,
            "can't replace a None gradient with a non-None value",
            "return None where no gradient arrived",
        )
    if not isinstance(new, Tensor):
        raise errors.HookTypeError.at(
            hook_name(hook),
            f"expected Variable, but hook returned '{type(new).__name__}'",
            "return a Tensor, or None to keep the gradient",
        )
    if new.dtype != old.dtype:
        raise hook_refused(
            hook,
            f"hook '{hook_name(hook)}' has changed the type of value (was "
            f"{old.type()} got {new.type()})",
            f"return a Tensor of dtype {old.dtype}",
        )
    if new.shape != old.shape:
        raise hook_refused(
            hook,
            f"hook '{hook_name(hook)}' has changed the size of value, from "
            f"{list(old.shape)} to {list(new.shape)}",
            f"return a Tensor of shape {old.shape}",
        )


def hook_refused(hook: Hook, what: str, fix: str) -> errors.HookError:
    """The error for a result of a hook that cannot be used."""
    return errors.HookError.at(hook_name(hook), what, fix)


# leaves


def no_leaf_any_more(node: _FunctionBase) -> errors.GraphError:
    """The error for a leaf that was changed in place after a graph had used it."""
    return errors.GraphError.at(
        "backward",
        "leaf variable has been moved into the graph interior: it was changed in "
        f"place by {node.name()} after it had been used as a leaf",
        "change a copy, x.clone()",
        "08",
    )


# what forward leaves behind


def check_kept(
    ctx: BackwardCFunction,
    kept: tuple[object, ...],
    dirty: tuple[Tensor, ...],
    inputs: tuple[object, ...],
    result: object,
) -> None:
    """Refuse to save an input that is also an output: is it before or after the node?

    Only in setup_context style; a forward that takes ctx means the input.
    """
    values = result if isinstance(result, tuple) else (result,)
    for value in values:
        if not isinstance(value, Tensor) or contains(dirty, value):
            continue
        is_detached = value._requires_grad and not ctx._edges
        if contains(inputs, value) and contains(kept, value) and not is_detached:
            raise errors.CtxUseError.at(
                f"{ctx._forward_cls.__name__}.setup_context",
                "An input that has been returned as-is as output is being saved "
                "for backward. This is not supported if you override setup_context",
                "return a copy of it, x.clone(), or write a forward that takes ctx",
                "09",
            )


def check_marked(ctx_class: type, method: str, marked: tuple[object, ...]) -> None:
    """Refuse anything but Tensors in ``ctx.mark_dirty`` and its sibling."""
    says = {
        "mark_dirty": "mark_dirty can only accept variables, but argument {} is of "
        "type {}",
        "mark_non_differentiable": "mark_non_differentiable only accepts variable "
        "arguments, but got argument {} of type {}",
    }[method]
    for position, value in enumerate(marked):
        if not isinstance(value, Tensor):
            raise errors.CtxUseError.at(
                f"{ctx_class.__name__.removesuffix('Backward')}.forward",
                says.format(position, type(value).__name__),
                f"give ctx.{method} Tensors only, one by one: ctx.{method}(a, b)",
                "08" if method == "mark_dirty" else "07",
            )


def not_returned(ctx: BackwardCFunction) -> errors.InplaceError:
    """The error for a dirty tensor that forward did not return."""
    return errors.InplaceError.at(
        f"{type(ctx).__name__.removesuffix('Backward')}.forward",
        "Some elements marked as dirty during the forward method were not returned "
        "as output. The inputs that are modified inplace must all be outputs of "
        "the Function.",
        "return the very tensor that was given to ctx.mark_dirty",
        "08",
    )


# what backward returns


def rule_name(node: BackwardCFunction) -> str:
    """The learner's method, for the first line of a message."""
    return f"{node._forward_cls.__name__}.backward"


def not_wanted(node: BackwardCFunction, position: int) -> errors.GradientKindError:
    """The error for a gradient of, say, a Python number."""
    return errors.GradientKindError.at(
        rule_name(node),
        f"function {node.name()} returned a gradient different than None at "
        f"position {position + 1}, but the corresponding forward input was not a "
        "Variable (a Tensor)",
        f"return None in place {position + 1}",
        "04",
    )


def not_a_tensor(
    node: BackwardCFunction, position: int, value: object
) -> errors.GradientKindError:
    """The error for a float, an array or a list where a Tensor belongs."""
    kind = type(value).__name__
    fix = {
        "list": "return a tuple of gradients, not a list: `return grad_a, grad_b`",
        "ndarray": "wrap the array: minigrad.tensor(array)",
    }.get(kind, "return a Tensor, or None for no gradient")
    return errors.GradientKindError.at(
        rule_name(node),
        f"expected Variable or None (got {kind}) as the gradient of argument "
        f"{position + 1}",
        fix,
        "04",
    )


def wrong_shape(
    node: _FunctionBase,
    slot: int,
    place: int,
    got: tuple[int, ...],
    wanted: tuple[int, ...],
) -> errors.GradientShapeError:
    """The error for a gradient that is not its input's shape.

    It is that of argument ``slot``, and of tensor ``place`` among the arguments.
    """
    return errors.GradientShapeError.at(
        f"{node.operation_name()}.backward",
        f"Function {node.name()} returned an invalid gradient at index {place} - got "
        f"{list(got)} but expected shape compatible with {list(wanted)}",
        f"return a gradient of shape {wanted} for argument {slot + 1}",
        "06",
    )


# how a Function is written and called


def forward_missing() -> errors.ForwardMissingError:
    """The error for a Function without a forward."""
    return errors.ForwardMissingError.at(
        "Function.apply",
        "You must implement the forward function for custom autograd.Function",
        "define `forward(ctx, ...)` as a static method of your class",
        "01",
    )


def jvp_missing(function: type[Function]) -> errors.JvpMissingError:
    """The error for a Function without a jvp."""
    return errors.JvpMissingError.at(
        function.__name__,
        "You must implement the jvp function for custom autograd.Function to "
        "use it with forward mode AD.",
        f"define `jvp(ctx, *tangents)` in {function.__name__} as a static method",
        "11",
    )


def two_rules(function: type[Function]) -> errors.BackwardAmbiguousError:
    """The error for a Function with both ``backward`` and ``vjp``."""
    return errors.BackwardAmbiguousError.at(
        function.__name__,
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed",
        "keep one of the two: they are names of the same rule",
    )


def no_rule(function: type[Function]) -> errors.BackwardMissingError:
    """The error for a Function with neither of the two."""
    return errors.BackwardMissingError.at(
        function.__name__,
        "You must implement either the backward or vjp method for your custom "
        "autograd.Function to use it with backward mode AD",
        f"define `backward(ctx, grad_output)` in {function.__name__} as a static "
        "method",
        "01",
    )


def do_not_fit(
    function: type[Function], error: TypeError, signature: Signature
) -> errors.ArgumentTypeError:
    """The error for arguments of apply that forward does not take."""
    return errors.ArgumentTypeError.at(
        f"{function.__name__}.apply",
        f"{error}; the positional arguments of forward are {signature}",
        "call apply with what forward takes (ctx is not among it)",
        "01",
    )


def misplaced(function: type[Function], what: str) -> errors.ArgumentTypeError:
    """The error for keywords of apply that do not fit forward."""
    return errors.ArgumentTypeError.at(
        f"{function.__name__}.apply",
        f"forward() {what}",
        "use the names that forward gives its parameters, and leave no gap",
    )


def check_dirty(
    ctx: BackwardCFunction,
    tensor: Tensor,
    inputs: tuple[object, ...],
    can: bool,
    count: int,
) -> None:
    """Refuse a change in place that no graph can describe.

    Of what no gradient can reach, anything goes: there is no graph to describe it.
    """
    where = f"{type(ctx).__name__.removesuffix('Backward')}.forward"
    if not can:
        return
    if tensor._requires_grad and tensor._grad_node is None:
        raise errors.InplaceError.at(
            where,
            "a leaf Variable that requires grad has been used in an in-place "
            "operation. Its values are changed already",
            "apply it to a copy: x.clone()",
            "08",
        )
    if contains(inputs, tensor):
        if tensor._base is not None:
            check_dirty_view(tensor, where, count)
        return
    says = errors.message(
        where,
        "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors "
        "that have been mutated should be passed to ctx.mark_dirty().",
        "mark the input that forward changed, and return that input",
        "08",
    )
    if tensor._base is not None:
        raise errors.InplaceError(says)
    warnings.warn(says, UserWarning, stacklevel=4)


def check_dirty_view(view: Tensor, where: str, count: int) -> None:
    """Refuse a changed view beside other outputs, or whose history cannot follow."""
    if count > 1:
        raise errors.InplaceError.at(
            where,
            "If your Function modifies inplace an input that is a view of another "
            "Tensor, your Function cannot return more than one Tensor. This one "
            f"returned {count}",
            "give it a copy (x.clone()), or make two Functions, one of which "
            "changes the view and returns it alone",
            "08",
        )
    view._check_in_place(where)


def not_one_view(
    ctx: BackwardCFunction, inputs: int, outputs: int
) -> errors.CtxUseError:
    """The error for ``ctx._is_pure_view`` with more than one tensor to follow."""
    return errors.CtxUseError.at(
        f"{type(ctx).__name__.removesuffix('Backward')}.forward",
        "Pure view custom Function can only have one input Tensor and one "
        f"output Tensor. This one has {inputs} and {outputs}",
        "return one view of one tensor, or leave _is_pure_view out",
        "08",
    )


def wrong_count(
    node: BackwardCFunction, wanted: int, got: int
) -> errors.GradientCountError:
    """The error for too many gradients, or too few."""
    return errors.GradientCountError.at(
        rule_name(node),
        f"function {node.name()} returned an incorrect number of gradients "
        f"(expected {wanted}, got {got}); forward was given "
        f"{errors.count_of(wanted, 'argument')}",
        "return one value per argument of forward, in that order, and None for "
        "the ones that need no gradient",
        "04",
    )


def check_materialize(value: object) -> None:
    """Refuse anything but a bool in ``ctx.set_materialize_grads``."""
    if not isinstance(value, bool):
        raise errors.ArgumentTypeError.at(
            "ctx.set_materialize_grads",
            "set_materialize_grads expects True or False, but got "
            f"{type(value).__name__}",
            "write ctx.set_materialize_grads(False)",
            "07",
        )


def check_materialize_non_diff(value: object) -> None:
    """Refuse anything but a bool for outputs that have no gradient."""
    if not isinstance(value, bool):
        raise errors.ArgumentTypeError.at(
            "ctx._materialize_non_diff_grads",
            "set_materialize_non_diff_grads received an invalid combination of "
            f"arguments - got {type(value).__name__}, but expected (bool)",
            "set it to True or False",
            "07",
        )


# what is saved


def modified_error(
    saved: Record, node: _FunctionBase | None
) -> errors.SavedModifiedError:
    """The error for a saved tensor that was changed in place."""
    tensor = saved.tensor
    maker, number = tensor.grad_fn, tensor.output_nr
    if saved.output_nr is not None:
        maker, number = node and node._history_of_output(), saved.output_nr
    origin = ""
    if maker is not None:
        origin = f", which is output {number} of {maker.operation_name()},"
    kind = tensor._type_name()
    return errors.SavedModifiedError.at(
        "saved tensor" if node is None else node.name(),
        "one of the variables needed for gradient computation has been modified by an "
        f"inplace operation: [{kind} {list(tensor.shape)}]{origin} is at version "
        f"{tensor._version}; expected version {saved.version} instead. Hint: {HINT}",
        "change a copy (x.clone()) instead, or make the change after backward",
        "08",
    )


HINT: Final = (
    "enable anomaly detection to find the operation that failed to compute its "
    "gradient, with torch.autograd.set_detect_anomaly(True)."
)
"""The end of the message; anomaly mode puts its own in this place."""


def freed_error(node: _FunctionBase) -> errors.SavedFreedError:
    """The error for reading saved values that backward has released."""
    return errors.SavedFreedError.at(
        node.name(),
        "Trying to backward through the graph a second time (or directly access saved "
        "tensors after they have already been freed). Saved intermediate values of the "
        "graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or "
        "if you need to access saved tensors after calling backward",
        "pass retain_graph=True to the first backward, or run forward again",
        "03",
    )


def not_savable(
    node: _FunctionBase, position: int, value: object
) -> errors.SavedTypeError:
    """The error for anything but a Tensor in ``ctx.save_for_backward``."""
    return errors.SavedTypeError.at(
        f"{node.operation_name()}.forward",
        f"save_for_backward can only save variables, but argument {position} is "
        f"of type {type(value).__name__}",
        "give it Tensors one by one; put other values on ctx, for example "
        "ctx.scale = scale",
        "02",
    )


def check_not_inference(tensor: Tensor, node: _FunctionBase | None) -> None:
    """Refuse to save a tensor whose changes would not be noticed.

    Raises: InferenceError for one made in inference mode.
    """
    if tensor.is_inference():
        raise errors.InferenceError.at(
            "saved tensor" if node is None else node.name(),
            "Inference tensors cannot be saved for backward. The one of shape "
            f"{tensor.shape} was made inside inference_mode()",
            "make a normal tensor of it, x.clone(), outside of inference_mode, or "
            "use no_grad() in its place",
            "12",
        )


def not_savable_for_forward(
    position: int, value: object
) -> errors.SavedForForwardError:
    """The error for anything but a Tensor in ``ctx.save_for_forward``."""
    return errors.SavedForForwardError.at(
        "ctx.save_for_forward",
        "save_for_forward expects all arguments to be tensors; you should save "
        f"non-tensors as attributes on ctx. Argument {position} is of type "
        f"{type(value).__name__}",
        "give it Tensors one by one; put other values on ctx",
        "11",
    )


def read_twice(node: _FunctionBase) -> errors.SavedFreedError:
    """The error for reading again what a node gives away when it is read."""
    return errors.SavedFreedError.at(
        node.name(),
        "saved_tensors can only be accessed once when "
        "clear_saved_tensors_on_access=True is set on the autograd.Function. Either "
        "access saved_tensors only once, or set clear_saved_tensors_on_access=False",
        "read them into variables: x, y = ctx.saved_tensors",
        "03",
    )


def cannot_hook(why: str, fix: str) -> errors.SavedHookError:
    """The error for ``register_hooks`` on a saved value that cannot have hooks."""
    return errors.SavedHookError.at(
        "SavedTensor.register_hooks",
        f"Calling register_hooks on a saved tensor {why}",
        fix,
        "12",
    )


def check_hooks(where: str, pack_hook: object, unpack_hook: object) -> None:
    """Refuse hooks that cannot be called.

    Raises: ArgumentTypeError.
    """
    for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
        if not callable(hook):
            raise errors.ArgumentTypeError.at(
                where,
                "incompatible function arguments: "
                f"{name} is {type(hook).__name__}, which cannot be called",
                f"give a function as {name}",
                "12",
            )


def not_unpacked(value: object) -> errors.SavedTypeError:
    """The error for an unpack hook that returns no Tensor."""
    return errors.SavedTypeError.at(
        "saved_tensors_hooks",
        "Output of saved tensor unpack_hook expected to be a Tensor but "
        f"got result of type {type(value).__name__}",
        "return a Tensor with the values that pack_hook was given",
        "12",
    )


def changed_by_pack_hook(tensor: Tensor, version: int) -> errors.SavedHookError:
    """The error for a pack hook that changes the tensor it is given."""
    return errors.SavedHookError.at(
        "saved_tensors_hooks",
        "A saved tensor pack hook is modifying its input in place. The "
        f"tensor of shape {tensor.shape} was at version {version} and is now "
        f"at version {tensor._version}",
        "let pack_hook work on a copy: tensor.clone()",
        "12",
    )


# graph and leaves


def check_gradients_of(node: _FunctionBase, gradients: tuple[object, ...]) -> None:
    """Refuse what a node cannot be called with.

    Raises: ArgumentTypeError.
    """
    wanted = len(node._output_metadata)
    wrong = [i for i, g in enumerate(gradients) if not isinstance(g, Tensor | None)]
    what = ""
    if len(gradients) != wanted:
        what = f"expected {wanted} arguments, got {len(gradients)} instead"
    elif wrong:
        what = f"argument {wrong[0]} is not a Variable"
    if what:
        raise errors.ArgumentTypeError.at(
            node.name(), what, "give a Tensor or None for each output of the node"
        )


def cannot_add_to(grad: Tensor) -> errors.InplaceError:
    """The error for a ``.grad`` that was assigned and cannot be written."""
    return errors.InplaceError.at(
        "backward",
        "unsupported operation: more than one element of the written-to tensor "
        "refers to a single memory location. Please clone() the tensor before "
        f"performing the operation. It is the .grad of shape {grad.array.shape}",
        "assign a copy, x.grad = value.clone(), or set x.grad to None",
    )


def no_backward_runs() -> errors.GraphError:
    """The error for a final callback outside of a backward."""
    return errors.GraphError.at(
        "queue_callback",
        "Final callbacks can only be installed during backward pass.",
        "call it from a hook, or from the backward of a Function",
    )
