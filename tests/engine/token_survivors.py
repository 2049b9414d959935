"""The mutants of token_mutants.py that no test can notice, each with the reason."""

from __future__ import annotations

EXPLAINED: dict[str, list[str]] = {
    "the other names are lists that are not empty: rewrite_history does for "
    "every output what _set_history does, only slower": [
        "BackwardCFunction._wire_edges | if dirty or output._base is not None: | "
        "dirty -> differentiable #0",
        "BackwardCFunction._wire_edges | if dirty or output._base is not None: | "
        "dirty -> metadata #0",
    ],
    "every output then takes the way of a view, which is right, only slower": [
        "BackwardCFunction._wire_edges | if dirty or output._base is not None: | "
        "None -> 0 #0",
    ],
    "the short way for one new Tensor is not taken; the long way gives the same": [
        "wrap_outputs | return [result], [True] | return [result], [True] -> pass #0",
    ],
    "asked to save a call only; an input is among the inputs": [
        "wrap_output | as_it_is = is_input and not (dirty and contains(dirty, "
        "value)) | dirty -> inputs #0",
    ],
    "Python does not compute the annotation of a local variable": [
        "wrap_gradients | wrapped: list[Tensor | None] = [] | None -> 0 #0",
    ],
    "it is called only where the two numbers differ": [
        "cut_surplus | if len(gradients) > wanted and all([value is None for "
        "value in surplus]): | > -> >= #0",
    ],
    "a Tensor is asked for its shape and dtype itself, which takes longer": [
        "fit | values = gradient.array if type(gradient) is Tensor else gradient "
        "| gradient -> slot #1",
        "fit | values = gradient.array if type(gradient) is Tensor else gradient "
        "| gradient -> edge #1",
    ],
    "Python does nothing for a declaration": [
        "fit | receiver: Any | receiver -> edge #0",
        "fit | receiver: Any | receiver -> values #0",
    ],
}
"""Why a change changes nothing that can be seen, and for which mutants that is so."""

REASONS = {name: reason for reason, names in EXPLAINED.items() for name in names}
"""The same by mutant."""
