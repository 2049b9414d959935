"""The core of the engine: what apply and backward do with tensors, file by file.

`Function.apply` (function.py) collects where each input's gradient will go (node.py:
`collect_edges`; arguments.py puts keywords in their places), makes a ctx, and runs
forward on it (ctx.py has its methods). What forward returns is wrapped (function.py:
`wrap_outputs`). ctx becomes the node of the outputs (ctx.py: `_wire_edges`) and keeps
what forward saved (node.py: `_keep_saved`; saved.py: its version; hooks that pack it
are in saved_hooks.py, beside the core).

`Tensor.backward` (gradients.py, beside the core) makes a GraphTask and hands it to
`run_task` (backward.py). `GraphTask.run` starts at the node of that tensor. It picks
the newest node that has all its gradients (AccumulateGrad before all others), calls its
rule (ctx.py: `_run_backward`; node.py: `saved_tensors`), checks what the rule returned
(ctx.py: `gradients_by_edge`; `fit`; the words of every refusal are in validate.py) and
adds each gradient to those waiting at the next node. hook_calls.py runs hooks around
that. At a leaf, AccumulateGrad (node.py) adds what arrived into `.grad`, or lets the
leaf keep it. A tensor (tensor.py) only knows its node.

`if observed:` stands at each event that observers, such as the recorder of the player,
are told of. The flag says whether they want this call; `notify` tells them (observe.py,
beside the core).

Built-in operations (builtin.py, beside the core) go through the same `apply`, on
arrays; while no observer wants them, fast_path.py leaves out the phases they don't use.
"""
