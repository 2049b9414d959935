"""The core of the engine: what apply and backward do with tensors, file by file.

`Function.apply` (function.py) collects where each input's gradient will go (node.py:
`collect_edges`; arguments.py puts keywords in their places), makes a ctx that knows
these edges, and runs forward with it (ctx.py has its methods). What forward returns is
wrapped (function.py: `wrap_outputs`). ctx becomes the node of the outputs (ctx.py:
`_link_outputs`) and keeps what forward saved (node.py: `_keep_saved`; saved.py: which
version it had; hooks that pack it are in saved_hooks.py, beside the core).

`Tensor.backward` (gradients.py, beside the core) makes a GraphTask, which counts how
many gradients each node waits for, and hands it to `run_task` (backward.py). `start`
makes the node of that tensor ready; `run` is the loop. It picks the newest node that
has all its gradients (AccumulateGrad before all others), calls its rule (ctx.py:
`_run_backward`; node.py: `saved_tensors`), checks what the rule returned
(`_check_returned`; `fit` where a shape or dtype differs), and adds each gradient to
those waiting at the next node. hook_calls.py runs hooks around that. At a leaf,
AccumulateGrad (node.py; its own hooks in accumulate.py) adds what arrived into
`.grad`, or lets the leaf keep it. validate.py has the words of most refusals.

`if observed:` stands at events that observers, such as the recorder of the player, are
told of. The flag says whether they want this call; `notify` tells them (observe.py,
beside the core).

Built-in operations (builtin.py, beside the core) go through the same `apply`, on
arrays; while no observer wants them, fast_path.py leaves out the phases they don't use.
"""
