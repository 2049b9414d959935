"""What has to be in a replay as it was when the step was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from minigrad.engine.core.tensor import Array, Tensor
from minigrad.engine.dtypes import default_dtype
from minigrad.engine.grad_mode import this_mode
from minigrad.engine.interpreters import current_kind
from minigrad.engine.observe import RECORDED, who_observes
from minigrad.engine.pytree import LEAF, flatten
from minigrad.transforms.replay_notes import SIMPLE, refused, same

if TYPE_CHECKING:
    from minigrad.transforms.replay_recorder import Recorder

ANEW = "call the step itself, or make a new replay of it"

PLAIN = (*SIMPLE, tuple)
"""Of these types are values that decide what a step does, wherever it finds them."""


class Setting(NamedTuple):
    """Where a value is looked up that decides what the step does, and the value."""

    found: Any
    name: str
    value: Any
    of: str

    def current(self) -> Any:
        """The value as it is now."""
        if type(self.found) is dict:
            return self.found.get(self.name)
        return getattr(self.found, self.name, None)

    def is_as_it_was(self) -> bool:
        """Whether the value is still the same."""
        now = self.current()
        return now is self.value or same(now, self.value)


class Kind(NamedTuple):
    """What of an input is part of the recording."""

    shape: tuple[int, ...]
    dtype: Any
    strides: tuple[int, ...]

    def __repr__(self) -> str:
        return (
            f"a tensor of shape {self.shape}, {self.dtype}, with strides {self.strides}"
        )


class Arguments:
    """The arguments of a call: tensors are inputs, all else has to stay the same."""

    def __init__(self, name: str, args: Any, kwargs: Any) -> None:
        self._name = name
        self.leaves, self.structure = flatten((args, kwargs))
        self.kinds = [self._kind(leaf) for leaf in self.leaves]
        arguments, options = self.structure.parts
        self._is_flat = {*arguments.parts} <= {LEAF} and not options.parts

    def _kind(self, leaf: Any) -> Any:
        """Shape, dtype and layout of a tensor; anything else as it is."""
        if not isinstance(leaf, Tensor):
            return leaf
        if leaf._requires_grad:
            raise refused(
                self._name,
                f"an argument of shape {leaf.array.shape} requires grad",
                "let the step take parameters from outside, and give it x.detach()",
            )
        return Kind(leaf.array.shape, leaf.array.dtype, leaf.array.strides)

    def arrays(self, args: Any, kwargs: Any) -> list[Array]:
        """Those of the inputs of another call.

        Raises: ReplayError unless it is like this one.
        """
        leaves = args
        if not self._is_flat or kwargs or len(args) != len(self.kinds):
            leaves, structure = flatten((args, kwargs))
            if structure != self.structure:
                self._refuse(f"the arguments are nested as {structure}", self.structure)
        arrays = []
        for number, (leaf, kind) in enumerate(zip(leaves, self.kinds, strict=True), 1):
            if isinstance(leaf, Tensor):
                array = leaf.array
                found = (array.shape, array.dtype, array.strides)
                if found != kind or leaf._requires_grad:
                    now = f"argument {number} is {self._kind(leaf)}"
                    self._refuse(now, f"{kind!r:.80}")
                arrays.append(array)
            elif leaf is not kind and not same(leaf, kind):
                self._refuse(f"argument {number} is {leaf!r:.60}", f"{kind!r:.80}")
        return arrays

    def _refuse(self, now: str, then: Any) -> NoReturn:
        raise refused(self._name, f"{now}; when it was recorded: {then}", ANEW)


def modes() -> tuple[Any, ...]:
    """What of this thread decides how operations run."""
    mode = this_mode()
    return mode.grad_enabled, mode.inference_enabled, default_dtype()


def refuse_listeners(name: str) -> None:
    """Refuse to run without a graph while somebody wants to see it.

    Raises: ReplayError.
    """
    mode, kind = this_mode(), current_kind()
    what = ""
    if mode.observed >= RECORDED:
        what = who_observes(RECORDED)
    elif kind:
        what = "vmap, or another transform, is open"
        what = "a level of forward mode is open" if kind == "level" else what
    elif mode.saved_tensors_hooks is not None:
        what = "hooks for saved tensors are in force"
    if what:
        raise refused(name, f"{what}; a replay makes no graph to look at", ANEW)


class Guard:
    """What has to be as it was when the step was recorded."""

    def __init__(self, recorder: Recorder) -> None:
        self._name = recorder.name
        self._modes = recorder.modes
        self._known = [
            (known.tensor, known.array, known.requires_grad)
            for known in recorder.known.values()
        ]
        settings = recorder.settings.values()
        self._settings = [one for one in settings if type(one.found) is not dict]
        self._entries = [one for one in settings if type(one.found) is dict]
        self._optimizers = list(recorder.optimizers.values())
        self._grads = [
            (leaf, grad)
            for leaf, grad in recorder.needed_grads.values()
            if grad is not leaf
        ]

    def check(self) -> None:
        """See that nothing has changed.

        Raises: ReplayError that names it.
        """
        refuse_listeners(self._name)
        if modes() != self._modes:
            self._refuse(
                f"grad mode, inference mode and default dtype are {modes()} and were "
                f"{self._modes}"
            )
        for tensor, array, flag in self._known:
            if tensor.array is not array or tensor._requires_grad is not flag:
                self._refuse_tensor(tensor, array, flag)
            if tensor._tensor_hooks or tensor._post_accumulate_hooks:
                self._refuse(f"a tensor of shape {array.shape} has a hook")
        for setting in self._settings:
            if not setting.is_as_it_was():
                self._refuse_setting(setting)
        for setting in self._entries:
            entries, name, value, _ = setting
            if entries.get(name) is not value and not setting.is_as_it_was():
                self._refuse_setting(setting)
        for leaf, grad in self._grads:
            if leaf._grad is not grad:
                kept = "None" if grad is None else "the tensor that the step adds to"
                self._refuse(
                    f".grad of a tensor of shape {leaf.array.shape} is not {kept}, as "
                    "it was"
                )
        for optimizer, counts in self._optimizers:
            now = [len(group["params"]) for group in optimizer.param_groups]
            if now != counts:
                kind = type(optimizer).__name__
                self._refuse(f"{kind} has groups of {now} parameters and had {counts}")

    def _refuse_setting(self, setting: Setting) -> NoReturn:
        self._refuse(
            f"{setting.name} of {setting.of} is {setting.current()!r:.60} and was "
            f"{setting.value!r:.60}"
        )

    def _refuse_tensor(self, tensor: Tensor, array: Array, flag: bool) -> NoReturn:
        if tensor._requires_grad is not flag:
            self._refuse(
                f"requires_grad of a tensor of shape {array.shape} is {not flag} and "
                f"was {flag}"
            )
        self._refuse(
            f"the values of a tensor of shape {array.shape} were replaced by others in "
            f"other memory, of shape {tensor.array.shape}"
        )

    def _refuse(self, what: str) -> NoReturn:
        raise refused(self._name, f"{what} when it was recorded", ANEW)


def watched_in(module: Any) -> Iterator[Setting]:
    """How a module is set: options, training, and what is under its names."""
    own, kind = vars(module), type(module).__name__
    for name, value in own.items():
        if isinstance(value, PLAIN):
            yield Setting(own, name, value, kind)
    for table in ("_parameters", "_buffers", "_modules"):
        for name, value in own[table].items():
            yield Setting(own[table], name, value, kind)
    for one in module.modules():
        yield Setting(vars(one), "training", one.training, type(one).__name__)


def settings_of(step: Any, seen: set[Any] | None = None) -> Iterator[Setting]:
    """The plain values from outside that the code of a step names.

    Those in its variables from outside, under names or keys that stand in the code as
    well; and of the functions that it names, but not of this package's.
    """
    owner = getattr(step, "__self__", None)
    function = getattr(step, "__func__", step)
    if seen is None and not hasattr(function, "__code__"):
        owner, function = step, type(step).__call__
    code = getattr(function, "__code__", None)
    module = getattr(function, "__module__", None) or ""
    seen = set() if seen is None else seen
    if not isinstance(code, CodeType) or module.startswith("minigrad.") or code in seen:
        return
    seen.add(code)
    names = names_in(code)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    for name, cell in cells.items():
        value = content(cell)
        if isinstance(value, PLAIN):
            yield Setting(cell, "cell_contents", value, f"{name}, which the step names")
    outside = {name: function.__globals__.get(name) for name in names}
    yield from settings_in(function.__globals__, names, module)
    for value in [owner, *map(content, cells.values()), *outside.values()]:
        yield from settings_in(value, names, type(value).__name__)
        yield from settings_of(value, seen)


def settings_in(value: Any, names: set[str], of: str) -> Iterator[Setting]:
    """The plain values that a dict, or an object, has under some of the names."""
    entries = value if type(value) is dict else getattr(value, "__dict__", {})
    for name in names & entries.keys():
        if isinstance(entries[name], PLAIN):
            yield Setting(value, name, entries[name], of)


def content(cell: Any) -> Any:
    """What is in a cell; None in an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def names_in(code: CodeType) -> set[str]:
    """Those that the code, and the functions made in it, look up; keys as well."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_in(constant)
        elif isinstance(constant, str):
            names.add(constant)
    return names
