"""The one table of named mistakes; check, lint, judge and diagnose speak from it.

The ids are stable: lessons, exercises, known wrong answers and records use them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One named mistake: its name, what gives it away, one next step, its concept."""

    name: str
    looks_like: str
    hint: str
    concept: str


TABLE = {
    "C01": Entry(
        "upstream gradient ignored",
        "Your gradient stays the same when the upstream gradient changes.",
        "Send g back once, and 2 * g once with fresh inputs. What should happen to the"
        " gradient, and what does your backward do with its second argument?",
        "backward computes a vector-Jacobian product",
    ),
    "C02": Entry(
        "upstream gradient applied twice",
        "Doubling the upstream gradient makes yours four times as large.",
        "Count how often grad_output takes part in each value you return.",
        "backward is linear in grad_output",
    ),
    "C03": Entry(
        "local derivative dropped",
        "You hand the upstream gradient on unchanged.",
        "On paper: if this input grows a little, how much does the output grow?",
        "local derivative",
    ),
    "C04": Entry(
        "upstream gradient collapsed to one number",
        "Every element sees the same upstream value: the mean or sum of them all.",
        "Print grad_output.shape, and the shape at every step after it.",
        "vector-Jacobian product",
    ),
    "C05": Entry(
        "forward output where the upstream gradient belongs",
        "Your gradient is built from the value forward returned, not from the gradient"
        " that arrives from above.",
        "Print the second argument of backward. Is it the value you computed with?",
        "what backward receives",
    ),
    "C06": Entry(
        "contribution added twice",
        "Your gradient is exactly twice too large.",
        "Look for a term that is added twice: the engine adds up the paths, one"
        " backward returns its own share only.",
        "the engine adds, you return one term",
    ),
    "L01": Entry(
        "wrong sign",
        "It is exactly the negative of the right gradient.",
        "If this input grows a little and the other is positive, does the output grow"
        " or shrink?",
        "sign of the derivative",
    ),
    "L02": Entry(
        "constant factor",
        "Your gradient is a constant times the right one, for every input.",
        "Take inputs with one element, work the slope out by hand, and compare.",
        "constants in a derivative",
    ),
    "L04": Entry(
        "own operand instead of the other",
        "The gradient for an input is built from that input itself.",
        "Hold one input still and let the other grow: which of the two sets how fast"
        " the output grows?",
        "product rule",
    ),
    "L05": Entry(
        "input and output confused",
        "Your formula needs an input, but the tensor it reads is the output.",
        "Print what you saved beside what you multiply with.",
        "what to save",
    ),
    "R01": Entry(
        "broadcast not summed",
        "The input was copied to a larger shape, and the engine adds up the gradients"
        " of the copies for you, in silence.",
        "Compare the shape of each gradient with that of its argument.",
        "broadcasting",
    ),
    "A01": Entry(
        "too few gradients",
        "The number of values backward returns is not the number of arguments"
        " forward takes.",
        "Count forward's arguments after ctx, then the values that backward returns.",
        "signature contract",
    ),
    "A03": Entry(
        "gradients in each other's slots",
        "Each gradient is the right one for the other input.",
        "Write down, for each value you return, which argument of forward it belongs"
        " to. The order of the arguments is the order of the gradients.",
        "signature contract",
    ),
    "A04": Entry(
        "list instead of tuple",
        "backward returned a list; the engine takes a list for one single gradient.",
        "Look at the brackets of what backward returns.",
        "signature contract",
    ),
    "A05": Entry(
        "None for an input that needs a gradient",
        "None means 'no gradient', so nothing reaches this input.",
        "Ask which of the inputs require grad, and what each of them gets.",
        "None means zero",
    ),
    "A06": Entry(
        "needs_input_grad read at the wrong place",
        "With one input frozen, the gradient of the other one goes missing.",
        "Print ctx.needs_input_grad with only x, then with only y requiring grad.",
        "needs_input_grad",
    ),
    "A08": Entry(
        "@staticmethod missing",
        "It runs, but then the first argument looks like self and is in truth ctx.",
        "Write @staticmethod above the method, as torch's documentation asks.",
        "who calls forward",
    ),
    "A09": Entry(
        "signature of forward or setup_context",
        "The call itself failed: forward does not take the arguments it is given.",
        "Choose one style: forward takes ctx and the inputs, or forward takes the"
        " inputs and setup_context takes ctx, inputs and output.",
        "two styles",
    ),
    "A11": Entry(
        "unpacking of saved_tensors",
        "ctx.saved_tensors is a tuple with as many tensors as were saved.",
        "Print ctx.saved_tensors in backward: what is it, and how long?",
        "tuples",
    ),
    "A12": Entry(
        "array or number returned",
        "backward returned something that is not a tensor.",
        "Print the type of every value you return; stay with tensors all the way.",
        "outside code",
    ),
    "A13": Entry(
        "wrong number of upstream arguments",
        "The call of backward failed: it is given ctx and one gradient per output.",
        "Count the outputs of forward, then the arguments of backward after ctx.",
        "several outputs",
    ),
    "A14": Entry(
        "non-tensor passed to save_for_backward",
        "save_for_backward keeps tensors only, each one an argument of its own.",
        "Print the type of every argument you give to save_for_backward.",
        "ctx",
    ),
    "A15": Entry(
        "save_for_backward called twice",
        "The second call replaces the first; what the first one kept is gone.",
        "Print ctx.to_save after each call of save_for_backward.",
        "ctx",
    ),
    "A16": Entry(
        "backward returns nothing",
        "backward came to its end without a return value, so no gradient arrives.",
        "Look at the last line of backward.",
        "None means zero",
    ),
    "A17": Entry(
        "forward does not return a tensor",
        "apply can attach a graph to a tensor only; nothing else remembers its past.",
        "Print type(...) of what forward returns.",
        "what apply wraps",
    ),
    "S01": Entry(
        "wrong tensor saved",
        "A tensor that the gradient depends on was never kept.",
        "List what each gradient needs, then what you saved. What is missing?",
        "what to save",
    ),
    "S02": Entry(
        "saved and unpacked in different order",
        "saved_tensors comes back in the order you saved in; you read it in another.",
        "Compare the order of names in save_for_backward and before ctx.saved_tensors.",
        "ctx",
    ),
    "S03": Entry(
        "saved value changed before forward ended",
        "save_for_backward keeps the tensor, not its values: backward gets those it has"
        " when forward ends.",
        "Print the tensor when you save it, and once more in the last line of forward.",
        "when the value is read",
    ),
    "S04": Entry(
        "state kept on the class",
        "Two calls share one variable: the second call overwrote what the first kept.",
        "Ask which object is new for every call; keep your values there.",
        "one ctx per call",
    ),
    "S05": Entry(
        "state kept in a shared variable or buffer",
        "Two calls share one variable: one of them overwrote what the other kept.",
        "Ask which object is new for every call; keep your values there.",
        "one ctx per call",
    ),
    "S06": Entry(
        "tensor kept as an attribute of ctx",
        "The numbers are right, but autograd cannot see this tensor: it is not freed"
        " after backward, and a later change of it goes unnoticed.",
        "Keep tensors with ctx.save_for_backward; attributes are for plain values.",
        "memory and safety",
    ),
    "S07": Entry(
        "output kept as an attribute of ctx",
        "The output holds ctx as its grad_fn and ctx holds the output, so neither is"
        " freed.",
        "Keep tensors with ctx.save_for_backward; it knows how to keep an output.",
        "reference cycle",
    ),
    "S08": Entry(
        "array on ctx that shares memory with an input",
        "The numbers are right, but if the input is changed later, your gradient"
        " changes with it and nobody notices.",
        "Keep the tensor itself with ctx.save_for_backward.",
        "views and versions",
    ),
    "S10": Entry(
        "backward changes its own state",
        "The first backward is right, a second one through the same graph is not.",
        "Look for a line in backward that changes ctx or takes something off it.",
        "backward is a pure function",
    ),
    "M01": Entry(
        "writes into grad_output",
        "The gradient that came from above was changed; others may still need it.",
        "Look for an in-place operation (a name that ends in _, or *=) on grad_output.",
        "ownership of gradients",
    ),
    "M02": Entry(
        "writes into an input",
        "forward changed the caller's tensor.",
        "Look for an in-place operation (a name that ends in _, or *=) in forward.",
        "mark_dirty",
    ),
    "M04": Entry(
        "needed value overwritten",
        "backward will read the new value, where its formula may need the old one.",
        "Print what you saved in the last line of forward: is it what backward needs?",
        "in-place ops",
    ),
    "M05": Entry(
        "writes into a saved tensor",
        "backward changed a tensor that belongs to the caller.",
        "Look for an in-place operation (a name that ends in _, or *=) on what you"
        " saved.",
        "ownership",
    ),
    "D01": Entry(
        "intermediate saved",
        "Nothing is recorded inside forward, so backward takes it for a constant: if it"
        " depends on an input, a second derivative loses that part in silence.",
        "List what you saved: which of them are inputs or outputs?",
        "double backward",
    ),
    "D02": Entry(
        "graph cut in backward",
        "The numbers are right, but gradients of gradients would be silently lost.",
        "Look for detach, numpy, or a copy made in forward: autograd cannot see past"
        " them.",
        "double backward",
    ),
    "T01": Entry(
        "float32 inside",
        "Right to about seven digits only: somewhere float64 was turned into float32.",
        "Print the dtype at every step, starting from float64 inputs.",
        "dtypes",
    ),
    "T03": Entry(
        "dtype of the gradient differs from its input's",
        "The numbers are right; the engine casts the gradient to the input's dtype.",
        "Look for the place where a dtype is written down.",
        "dtypes",
    ),
}
