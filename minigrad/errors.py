"""Every exception that minigrad raises, and the one form of their messages."""

from __future__ import annotations

import re
from typing import Self

LESSONS = frozenset(f"{number:02d}" for number in range(18))


def message(where: str, what: str, fix: str, lesson: str = "") -> str:
    """Lay out one message: where and what, how to mend it, where it is taught.

    A lesson that does not exist yet is left out, so no message points nowhere.

    >>> print(message("Halve.backward", "returned 1 gradient", "return 2", "01"))
    Halve.backward: returned 1 gradient
      fix: return 2
      see: lesson 01
    """
    lines = [f"{where}: {what}", f"  fix: {fix}"]
    if lesson in LESSONS:
        lines.append(f"  see: lesson {lesson}")
    return "\n".join(lines)


def count_of(number: int, noun: str) -> str:
    """A number with its noun, in the singular or the plural.

    >>> count_of(1, "gradient"), count_of(2, "gradient")
    ('1 gradient', '2 gradients')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_words(text: str) -> str:
    """A message for learners: torch writes a tensor as its class and shape.

    >>> in_words("[torch.FloatTensor []], which is output 0 of Exp, is at version 1")
    'a tensor of shape (), which is output 0 of Exp, is at version 1'
    """
    text = re.sub(r"\[torch\.\w+ \[(\d+)\]\]", r"a tensor of shape (\1,)", text)
    return re.sub(r"\[torch\.\w+ \[(.*?)\]\]", r"a tensor of shape (\1)", text)


class MinigradError(Exception):
    """Base of all errors below; each is also the built-in that torch raises."""

    @classmethod
    def at(cls, where: str, what: str, fix: str, lesson: str = "") -> Self:
        """The error whose text is ``message(where, what, fix, lesson)``."""
        return cls(message(where, what, fix, lesson))


class ForwardMissingError(MinigradError, NotImplementedError):
    """A Function without ``forward`` was applied."""


class BackwardMissingError(MinigradError, NotImplementedError):
    """A gradient has to pass a Function that has no ``backward``."""


class JvpMissingError(MinigradError, NotImplementedError):
    """A tangent has to pass an operation that has no ``jvp``."""


class TangentError(MinigradError, RuntimeError):
    """A tangent that does not belong to its tensor as it should."""


class LevelError(MinigradError, RuntimeError):
    """A level of forward mode is not open, or not the innermost one."""


class SavedForForwardError(MinigradError, AssertionError):
    """``save_for_forward`` was given something that is not a Tensor."""


class BackwardAmbiguousError(MinigradError, RuntimeError):
    """A Function defines both ``backward`` and ``vjp``."""


class FunctionUseError(MinigradError, RuntimeError):
    """A Function was called as an object; it is used by ``apply``."""


class CtxUseError(MinigradError, RuntimeError):
    """Something given to a method of ctx cannot be used there."""


class SavedTypeError(MinigradError, TypeError):
    """Something to be saved, or that was unpacked, is not a Tensor."""


class SavedFreedError(MinigradError, RuntimeError):
    """Saved values were asked for after backward had released them."""


class SavedModifiedError(MinigradError, RuntimeError):
    """A saved tensor was changed in place before backward read it."""


class SavedDetachedError(MinigradError, RuntimeError):
    """A saved tensor was detached in place before backward read it."""


class SavedHookError(MinigradError, RuntimeError):
    """Hooks on saved tensors that cannot be set, or that did what they must not."""


class SavedOutsideError(MinigradError, AssertionError):
    """A backward outside of the block that keeps what it needs."""


class CheckpointError(MinigradError, RuntimeError):
    """A checkpointed call cannot be computed again as it was."""


class InferenceError(MinigradError, RuntimeError):
    """A tensor made in inference mode is asked for what only normal tensors have."""


class OnceDifferentiableError(MinigradError, RuntimeError):
    """A second derivative passed a backward marked ``@once_differentiable``."""


class GradientCountError(MinigradError, RuntimeError):
    """``backward`` returned the wrong number of gradients."""


class GradientShapeError(MinigradError, RuntimeError):
    """A gradient's shape cannot be reduced to its input's shape."""


class GradientKindError(MinigradError, RuntimeError):
    """A gradient was given to a non-tensor argument, or is not a Tensor."""


class GradientArgumentError(MinigradError, RuntimeError):
    """A gradient argument is missing, of the wrong shape, or one too many."""


class GradientArgumentTypeError(MinigradError, TypeError):
    """A gradient argument is neither a Tensor nor None."""


class GraphError(MinigradError, RuntimeError):
    """A tensor has no graph where one is needed."""


class HookError(MinigradError, RuntimeError):
    """A hook cannot be registered there, or returned what cannot be used."""


class HookTypeError(MinigradError, TypeError):
    """A hook returned something that is no gradient."""


class TransformError(MinigradError, RuntimeError):
    """Something that a function transform (vmap, grad, jvp, ...) cannot do."""


class NoStorageError(MinigradError, RuntimeError):
    """Under vmap, the memory of one example was asked for."""


class MappingError(MinigradError, ValueError):
    """Arguments or outputs that ``vmap`` cannot map over."""


class InplaceError(MinigradError, RuntimeError):
    """An in-place change that would make gradients wrong."""


class RequiresGradError(MinigradError, RuntimeError):
    """``requires_grad`` cannot be what it was asked to be."""


class ArgumentTypeError(MinigradError, TypeError):
    """An argument has a type that the called function cannot use."""


class ArgumentValueError(MinigradError, ValueError):
    """An argument has the right type and a value that cannot work."""


class DerivativeMissingError(MinigradError, RuntimeError):
    """A gradient has to pass an operation that has no derivative."""


class ShapeError(MinigradError, RuntimeError):
    """Shapes that do not fit together."""


class DimensionError(MinigradError, IndexError):
    """A dimension that does not exist."""


class IndexingError(MinigradError, IndexError):
    """An index that a tensor does not have, or that is none."""


class OperandError(MinigradError, RuntimeError):
    """Elements of a dtype that the operation does not take."""


class GradcheckError(MinigradError, RuntimeError):
    """A gradient is not the slope that small differences measure."""


class LayoutError(MinigradError, RuntimeError):
    """Memory that is laid out in a way the called function cannot work with."""


class ArgumentAssertionError(MinigradError, AssertionError):
    """An argument that torch refuses with an assertion."""


class DerivativeError(MinigradError, RuntimeError):
    """A derivative of a whole function cannot be taken as asked."""


class UnsupportedOptionError(MinigradError, NotImplementedError):
    """Options that each work alone, and not together."""


class DeviceError(MinigradError, RuntimeError):
    """A name that no device has."""


class DeviceMissingError(MinigradError, AssertionError):
    """A tensor is asked for on a device that is not there."""


class RangeError(MinigradError, RuntimeError):
    """A range or a size that cannot be."""


class AnomalyError(MinigradError, RuntimeError):
    """A gradient holds NaN, in anomaly mode."""


class ModuleForwardError(MinigradError, NotImplementedError):
    """A module was called that has no ``forward``."""


class ModuleAttributeError(MinigradError, AttributeError):
    """A module is asked for what it does not have, or before it is set up."""


class ModuleNameError(MinigradError, KeyError):
    """A name under which nothing can be registered in a module."""

    # That of KeyError shows the message as it would be typed.
    __str__ = Exception.__str__


class ScheduleResumeError(MinigradError, KeyError):
    """A schedule that is to go on, with an optimizer that has not been loaded."""

    __str__ = Exception.__str__


class StateDictError(MinigradError, RuntimeError):
    """Saved values that do not fit a model."""


class ReplayError(MinigradError, RuntimeError):
    """A step cannot be recorded for ``replay``, or a call is not like the recorded."""
