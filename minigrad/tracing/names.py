"""What the program that is recorded calls its tensors and its layers."""

from __future__ import annotations

import dis
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import repeat
from operator import is_
from types import CodeType
from typing import Any, Final

from minigrad.engine.tensor import Tensor
from minigrad.nn.module import Module
from minigrad.tracing.foreign import is_tensor

MOST_NAMESPACES: Final = 30
"""Of a deep recursion not every call's variables are looked through."""
FEW: Final = 20


class Namespace:
    """The variables of a frame or of a module.

    Many are looked through whole only when their number has changed; else those that
    named something then, and those that the code which runs can set.
    """

    def __init__(self, variables: Any, code: CodeType | None) -> None:
        self.variables = variables
        self._set_by_code = () if code is None else names_set_by(code)
        self._size = -1
        self._looked_at: Iterable[str] = ()

    def named(self, nameless: set[type]) -> list[tuple[str, Any]]:
        """The variables that may hold tensors or models, with what they hold.

        ``nameless`` notes the types that are known to be neither.
        """
        variables = self.variables
        size = len(variables)
        if FEW < size == self._size:
            read = variables.get
            return only_named(
                [
                    (name, value)
                    for name in self._looked_at
                    if type(value := read(name)) not in nameless
                ],
                nameless,
            )
        found = only_named(
            [
                (name, value)
                for name, value in variables.copy().items()
                if type(value) not in nameless and name[:1] != "_"
            ],
            nameless,
        )
        if size != self._size or size > FEW:
            self._size = size
            names = [name for name, _ in found]
            looked_at = dict.fromkeys([*names, *self._set_by_code])
            self._looked_at = [name for name in looked_at if name[:1] != "_"]
        return found


@lru_cache(maxsize=256)
def names_set_by(code: CodeType) -> tuple[str, ...]:
    """The variables that some code can bind."""
    outside = [
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("STORE_NAME", "STORE_GLOBAL")
    ]
    return (*outside, *code.co_varnames, *code.co_cellvars, *code.co_freevars)


def only_named(
    variables: list[tuple[str, Any]], nameless: set[type]
) -> list[tuple[str, Any]]:
    """Those that hold a tensor or a model."""
    found = []
    for name, value in variables:
        if is_tensor(value) or isinstance(value, Module):
            found.append((name, value))
        else:
            nameless.add(type(value))
    return found


class Names:
    """Finds the variable that holds something; those of the program come first.

    ``is_stale`` is to be set when lines of the program have run: its variables may be
    others now.
    """

    def __init__(self) -> None:
        self._namespaces: list[Namespace] = []
        self._known: dict[int, tuple[Mapping[str, Any], str]] = {}
        self.is_stale = False
        self._nameless: set[type] = {type(None)}

    def add(
        self, variables: Any, code: CodeType | None = None, first: bool = False
    ) -> None:
        """From now on these variables name something, too."""
        if any([one.variables is variables for one in self._namespaces]):
            return
        if first:
            self._namespaces.insert(0, Namespace(variables, code))
        elif len(self._namespaces) < MOST_NAMESPACES:
            self._namespaces.append(Namespace(variables, code))
        self.is_stale = True

    def forget(self, variables: Any) -> None:
        """A function has returned: its variables name nothing any more."""
        self._namespaces = [
            one for one in self._namespaces if one.variables is not variables
        ]
        self.is_stale = True

    def values(self) -> list[Any]:
        """All tensors that a variable holds."""
        held = [variables.get(name) for variables, name in self._all().values()]
        return [one for one in held if one is not None]

    def of(self, tensor: Any) -> str | None:
        """The variable that holds ``tensor``; one that was found before is good."""
        variables, name = self._known.get(id(tensor), (None, ""))
        if variables is None or variables.get(name) is not tensor:
            may_be_new = self.is_stale and type(tensor) is Tensor
            if may_be_new and not self._may_hold(tensor):
                return None  # most have no name, and this is soon found out
            variables, name = self._all().get(id(tensor), (None, ""))
        return name if variables and variables.get(name) is tensor else None

    def _may_hold(self, tensor: Tensor) -> bool:
        """Whether a variable holds a tensor that is no parameter of a model."""
        for namespace in self._namespaces:
            if any(map(is_, namespace.variables.values(), repeat(tensor))):
                return True
        return False

    def _all(self) -> dict[int, tuple[Mapping[str, Any], str]]:
        if self.is_stale:
            self._known = self._find_all()
            self.is_stale = False
        return self._known

    def of_module(self, module: Any) -> str | None:
        """The variable and the path by which a layer can be reached."""
        for namespace in self._namespaces:
            for name, value in list(namespace.variables.items()):
                if isinstance(value, Module) and not name.startswith("_"):
                    for path, found in value.named_modules(prefix=name):
                        if found is module:
                            return str(path)
        return None

    def _find_all(self) -> dict[int, tuple[Mapping[str, Any], str]]:
        known: dict[int, tuple[Mapping[str, Any], str]] = {}
        for namespace in self._namespaces:
            for name, value in namespace.named(self._nameless):
                if not isinstance(value, Module):
                    known.setdefault(id(value), (namespace.variables, name))
                    continue
                paths = parameters_of(value, name)
                # "model.0.weight" says more than the "p" of a loop over parameters.
                known |= {id(found): (paths, path) for path, found in paths.items()}
        return known


def parameters_of(module: Module, name: str) -> dict[str, Any]:
    """The parameters of a model by their paths; none if it cannot tell them."""
    try:
        return dict(module.named_parameters(prefix=name))
    except Exception:  # the model is the learner's, and may be half built
        return {}
