"""Engines with one mistake each: for every one, a test that turns red."""

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.engine import gradients
from minigrad.engine.core import (
    backward,
    ctx,
    function,
    hook_calls,
    node,
    saved,
    tensor,
    validate,
)
from minigrad.engine.core.backward import GraphTask
from minigrad.engine.core.ctx import BackwardCFunction
from minigrad.engine.core.function import Function
from minigrad.engine.core.node import AccumulateGrad, split_edge
from minigrad.engine.core.tensor import Tensor
from tests.engine.support import rewritten

Patch = pytest.MonkeyPatch


ADD = "gradient if total is None else total + gradient"


def overwrite_instead_of_add(patch: Patch) -> None:
    patch.setattr(GraphTask, "run", rewritten(GraphTask.run, ADD, "gradient"))


def overwrite_in_grad(patch: Patch) -> None:
    def put(self: Any, gradients: list[Any], create_graph: bool) -> tuple[()]:
        self.variable._grad = Tensor(np.array(gradients[0]))
        return ()

    patch.setattr(AccumulateGrad, "_run_backward", put)


def add_in_place(patch: Patch) -> None:
    in_place = "gradient if total is None else total.__iadd__(gradient)"
    patch.setattr(GraphTask, "run", rewritten(GraphTask.run, ADD, in_place))


def run_at_the_first_gradient(patch: Patch) -> None:
    right = backward.count_dependencies

    def one_each(roots: Any) -> Any:
        return {node: min(count, 1) for node, count in right(roots).items()}

    patch.setattr(backward, "count_dependencies", one_each)


def oldest_first(patch: Patch) -> None:
    right = backward.heappush

    def push(heap: Any, item: Any) -> None:
        right(heap, (-item[0], *item[1:]))

    patch.setattr(backward, "heappush", push)


def leaves_last(patch: Patch) -> None:
    patch.setattr(node, "FIRST_OF_ALL", -1)


def no_version_check(patch: Patch) -> None:
    for kind in (saved.Record, saved.OwnOutput):
        patch.setattr(kind, "check", lambda record, node: None)


def version_taken_when_saving_is_asked_for(patch: Patch) -> None:
    right = BackwardCFunction._take_what_was_saved

    def take(self: Any, *more: Any) -> Any:
        given = self.to_save or ()
        self.to_save = tuple(x.detach() if isinstance(x, Tensor) else x for x in given)
        right(self, *more)

    patch.setattr(BackwardCFunction, "_take_what_was_saved", take)


def one_ctx_for_a_class(patch: Patch) -> None:
    right = Function._create_ctx.__func__
    made: dict[Any, Any] = {}

    def create(cls: Any, *more: Any) -> Any:
        return made.setdefault(cls, right(cls, *more))

    patch.setattr(Function, "_create_ctx", classmethod(create))


def no_zeros_for_missing_gradients(patch: Patch) -> None:
    patch.setattr(ctx, "missing_gradient", lambda node, output_nr: None)


def zeros_always(patch: Patch) -> None:
    def zeros(node: Any, output_nr: int) -> Any:
        metadata = node._output_metadata[output_nr]
        return None if metadata is None else Tensor(np.zeros(*metadata))

    patch.setattr(ctx, "missing_gradient", zeros)


def needs_input_grad_follows_grad_mode(patch: Patch) -> None:
    right = function.collect_edges

    def collect_edges(inputs: Any) -> Any:
        needs, edges = right(inputs)
        return tuple(n and minigrad.is_grad_enabled() for n in needs), edges

    patch.setattr(Function, "_collect_edges", staticmethod(collect_edges))


def any_number_of_gradients(patch: Patch) -> None:
    def pad(node: Any, gradients: Any) -> Any:
        return (*gradients, *[None] * len(node._edges))[: len(node._edges)]

    patch.setattr(ctx, "cut_surplus", pad)


def no_surplus_none(patch: Patch) -> None:
    def refuse(node: Any, gradients: Any) -> Any:
        raise ctx.not_wanted(node, len(node._edges))

    patch.setattr(ctx, "cut_surplus", refuse)


def no_reduction_to_the_inputs_shape(patch: Patch) -> None:
    patch.setattr(backward, "fit", lambda node, slot, gradient: gradient)


def small_gradients_are_broadcast(patch: Patch) -> None:
    right = backward.fit

    def fit(node: Any, slot: int, gradient: Any) -> Any:
        receiver, number = split_edge(node._edges[slot])
        if receiver is not None and receiver is not backward.NOT_A_TENSOR:
            shape, _ = receiver._output_metadata[number]
            with contextlib.suppress(ValueError):
                gradient = np.broadcast_to(gradient, shape)
        return right(node, slot, gradient)

    patch.setattr(backward, "fit", fit)


def nothing_is_released(patch: Patch) -> None:
    keeps = rewritten(GraphTask.run, "node._saved = FREED", "pass")
    patch.setattr(GraphTask, "run", keeps)


def released_although_retained(patch: Patch) -> None:
    patch.setattr(gradients, "keep", lambda retain_graph, create_graph: False)


def forward_is_recorded(patch: Patch) -> None:
    patch.setattr(function, "unrecorded", lambda run, *args: run(*args))


def recorded_under_no_grad(patch: Patch) -> None:
    recorded = minigrad.enable_grad()(function.collect_edges)
    patch.setattr(Function, "_collect_edges", staticmethod(recorded))


def saved_output_as_it_is(patch: Patch) -> None:
    def pack(tensor: Any, node: Any) -> Any:
        return saved.Record(tensor, tensor._version, None)

    patch.setattr(node, "pack", pack)


def version_stays_after_a_change_in_place(patch: Patch) -> None:
    patch.setattr(tensor.Tensor, "_bump_version", lambda self: None)


def returned_input_as_itself(patch: Patch) -> None:
    patch.setattr(function, "view_of", lambda tensor: tensor)


def list_of_outputs_unpacked(patch: Patch) -> None:
    right = function.wrap_outputs

    def wrap(ctx: Any, inputs: Any, result: Any, *more: Any) -> Any:
        if isinstance(result, list):
            right(ctx, inputs, tuple(result), *more)
            for number, output in enumerate(result):
                output._set_history(ctx, number)
        return right(ctx, inputs, result, *more)

    patch.setattr(Function, "_wrap_outputs", staticmethod(wrap))


def list_of_gradients_unpacked(patch: Patch) -> None:
    right = BackwardCFunction._gradients_by_edge

    def check(node: Any, returned: Any, *more: Any) -> Any:
        returned = tuple(returned) if isinstance(returned, list) else returned
        return right(node, returned, *more)

    patch.setattr(BackwardCFunction, "_gradients_by_edge", check)


def second_save_appends(patch: Patch) -> None:
    def save(ctx: Any, *tensors: Any) -> None:
        ctx.to_save = (ctx.to_save or ()) + tensors

    patch.setattr(BackwardCFunction, "save_for_backward", save, raising=False)


def refused_when_saving_is_asked_for(patch: Patch) -> None:
    def save(ctx: Any, *tensors: Any) -> None:
        for position, value in enumerate(tensors):
            if value is not None and not isinstance(value, Tensor):
                raise validate.not_savable(ctx, position, value)
        ctx.to_save = tensors

    patch.setattr(BackwardCFunction, "save_for_backward", save, raising=False)


def versions_checked_when_the_node_runs(patch: Patch) -> None:
    right = BackwardCFunction._run_backward

    def run(node: Any, *more: Any) -> Any:
        assert node.saved_tensors is not None
        return right(node, *more)

    patch.setattr(BackwardCFunction, "_run_backward", run)


def dirty_marks_are_ignored(patch: Patch) -> None:
    patch.setattr(BackwardCFunction, "mark_dirty", lambda ctx, *args: None)


def dirty_inputs_keep_their_version(patch: Patch) -> None:
    right = function.wrap_outputs

    def wrap(ctx: Any, *more: Any) -> Any:
        versions = [(x, x._version) for x in ctx.dirty_tensors or ()]
        wrapped = right(ctx, *more)
        for one, version in versions:
            one._version_counter.value = version
        return wrapped

    patch.setattr(Function, "_wrap_outputs", staticmethod(wrap))


def backward_is_always_recorded(patch: Patch) -> None:
    right = BackwardCFunction._run_backward

    def run(node: Any, *more: Any) -> Any:
        with minigrad.enable_grad():
            return right(node, *more)

    patch.setattr(BackwardCFunction, "_run_backward", run)


def save_for_forward_takes_anything(patch: Patch) -> None:
    def save(ctx: Any, *tensors: Any) -> None:
        ctx.saved_for_forward = tensors

    patch.setattr(BackwardCFunction, "save_for_forward", save, raising=False)


def retained_before_the_hooks(patch: Patch) -> None:
    right = hook_calls.run_tensor_hooks

    def run(node: Any, gradients: Any) -> Any:
        attached = hook_calls.attached_to(node)
        for number, reference in list(attached.retained.items()):
            value = hook_calls.as_tensor(gradients[number])
            hook_calls.keep_grad(reference(), value)
        kept = attached.retained
        attached.retained = {}
        values = right(node, gradients)
        attached.retained = kept
        return values

    patch.setattr(hook_calls, "run_tensor_hooks", run)


CAUGHT_BY: list[tuple[Callable[[Patch], None], str]] = [
    (
        overwrite_instead_of_add,
        "test_inputs.test_tensor_given_twice_gets_both_gradients",
    ),
    (overwrite_in_grad, "test_backward.test_later_gradient_is_added_in_place"),
    (add_in_place, "test_backward.test_summing_changes_no_gradient_that_someone_holds"),
    (
        run_at_the_first_gradient,
        "test_backward.test_leaf_used_by_two_nodes_gets_the_sum",
    ),
    (oldest_first, "test_backward.test_newest_ready_node_runs_first"),
    (leaves_last, "test_backward.test_leaf_accumulates_before_any_other_ready_node"),
    (
        no_version_check,
        "test_saved.test_modified_message_names_the_operation_that_made_the_tensor",
    ),
    (
        version_taken_when_saving_is_asked_for,
        "test_saved.test_saved_input_and_intermediate_come_back_as_themselves",
    ),
    (
        one_ctx_for_a_class,
        "test_function.test_apply_makes_one_ctx_a_call_recorded_or_not",
    ),
    (
        no_zeros_for_missing_gradients,
        "test_returned.test_missing_gradient_becomes_zeros_like_the_output",
    ),
    (zeros_always, "test_returned.test_set_materialize_grads_false_gives_none"),
    (
        needs_input_grad_follows_grad_mode,
        "test_inputs.test_needs_input_grad_ignores_grad_mode",
    ),
    (any_number_of_gradients, "test_returned.test_too_few_gradients_name_both_counts"),
    (no_surplus_none, "test_returned.test_surplus_none_is_dropped"),
    (
        no_reduction_to_the_inputs_shape,
        "test_returned.test_gradient_larger_by_broadcasting_is_summed_down",
    ),
    (
        small_gradients_are_broadcast,
        "test_returned.test_gradient_of_another_shape_is_an_error",
    ),
    (
        nothing_is_released,
        "test_saved.test_second_backward_says_that_saved_values_are_freed",
    ),
    (released_although_retained, "test_saved.test_retain_graph_keeps_everything"),
    (
        forward_is_recorded,
        "test_function.test_forward_and_setup_context_run_with_grad_mode_off",
    ),
    (
        recorded_under_no_grad,
        "test_function.test_recorded_needs_grad_mode_and_an_input_that_requires_grad",
    ),
    (
        saved_output_as_it_is,
        "test_memory.test_output_saved_by_its_own_ctx_makes_no_cycle",
    ),
    (
        version_stays_after_a_change_in_place,
        "test_tensor.test_version_counts_changes_in_place",
    ),
    (
        returned_input_as_itself,
        "test_outputs.test_input_returned_as_it_is_comes_back_as_a_view",
    ),
    (
        list_of_outputs_unpacked,
        "test_outputs.test_list_or_dict_is_one_output_without_a_graph",
    ),
    (
        list_of_gradients_unpacked,
        "test_returned.test_list_of_gradients_is_one_invalid_gradient",
    ),
    (second_save_appends, "test_saved.test_second_call_replaces_the_first"),
    (
        refused_when_saving_is_asked_for,
        "test_saved.test_saving_a_number_is_refused_only_if_recorded",
    ),
    (
        versions_checked_when_the_node_runs,
        "test_saved.test_backward_that_reads_nothing_notices_nothing",
    ),
    (
        dirty_marks_are_ignored,
        "test_outputs.test_dirty_input_comes_back_as_itself_with_new_history",
    ),
    (
        dirty_inputs_keep_their_version,
        "test_outputs.test_mark_dirty_counts_one_version_more",
    ),
    (
        backward_is_always_recorded,
        "test_function.test_grad_mode_inside_backward_is_create_graph",
    ),
    (
        save_for_forward_takes_anything,
        "test_jvp.test_save_for_forward_refuses_at_the_call",
    ),
    (
        retained_before_the_hooks,
        "test_hooks.test_retain_grad_sees_the_value_after_all_hooks",
    ),
]

MORE_ARGUMENTS = {
    "test_newest_ready_node_runs_first": (False,),
    "test_gradient_of_another_shape_is_an_error": ((),),
    "test_list_or_dict_is_one_output_without_a_graph": (lambda y: [y],),
    "test_grad_mode_inside_backward_is_create_graph": (False,),
    "test_save_for_forward_refuses_at_the_call": (True,),
}


@pytest.mark.parametrize(
    ("mutate", "name"), CAUGHT_BY, ids=[mutate.__name__ for mutate, _ in CAUGHT_BY]
)
def test_mistake_turns_its_test_red(
    mutate: Callable[[Patch], None], name: str, monkeypatch: Patch
) -> None:
    module, test = name.split(".")
    program = getattr(importlib.import_module(f"tests.engine.{module}"), test)
    arguments = (minigrad, *MORE_ARGUMENTS.get(test, ()))
    program(*arguments)

    mutate(monkeypatch)
    with pytest.raises((Exception, pytest.fail.Exception)):
        program(*arguments)
