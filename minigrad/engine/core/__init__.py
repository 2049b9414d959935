"""The core of the engine: what apply and backward do with tensors, file by file.

`Function.apply` (function.py) collects where each input came from (node.py:
`collect_edges`), makes a ctx (ctx.py) and calls the learner's forward with it. What
forward returns is wrapped (function.py: `wrap_outputs`); ctx becomes its node, since it
holds the edges (ctx.py: `_wire_edges`), and keeps what was saved, each tensor with its
version (saved.py; saved_hooks.py where hooks pack it).

`GraphTask.run` (backward.py) starts at the node of the tensor that `backward` was
called on. It takes the newest node that has all its gradients, calls its rule (ctx.py:
`_run_backward`, which reads saved.py), checks what the rule returned (validate.py has
every refusal and its words) and adds each gradient to those that wait at the next node.
Hooks run around that (hook_calls.py). At a leaf, AccumulateGrad (node.py) adds what
arrived into `.grad` (accumulate.py). A tensor (tensor.py) knows its node, no more.
"""
