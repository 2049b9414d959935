"""What models are made of: parameters, buffers and modules, by attribute."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from minigrad import errors
from minigrad.engine.core.tensor import Tensor
from minigrad.engine.dtypes import DTYPES
from minigrad.engine.grad_mode import modes, no_grad
from minigrad.engine.hooks import Hooks, RemovableHandle, register
from minigrad.engine.observe import notify
from minigrad.nn import registry, state
from minigrad.nn.parameter import Parameter

if TYPE_CHECKING:
    from minigrad.nn.backward_hooks import HookedCall


class Module(registry.Registry):
    """Base of every model and layer: call it, and its ``forward`` runs.

    A Parameter or a Module that becomes an attribute is registered: ``parameters()``
    and ``state_dict()`` find it. Call ``super().__init__()`` before the first one.
    See: torch ``nn.Module``.

    >>> class Scale(minigrad.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.by = minigrad.nn.Parameter(minigrad.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return x * self.by
    >>> Scale()(minigrad.tensor(3.0))
    tensor(6., grad_fn=<MulBackward0>)
    """

    training: bool
    _shown: ClassVar[tuple[str, ...]] = ()
    _backward_hooks: Hooks | None = None

    def __init__(self) -> None:
        super().__init__()
        self.training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output.

        Raises: ModuleForwardError unless the class defines it.
        """
        raise errors.ModuleForwardError.at(
            type(self).__name__,
            f'Module [{type(self).__name__}] is missing the required "forward" '
            "function",
            f"define `forward(self, ...)` in {type(self).__name__}",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = hooked_call(self) if self._backward_hooks else None
        if call is not None:
            args = call.enter(args)
        if modes.observed:
            result = told(self, args, kwargs)
        else:
            result = self.forward(*args, **kwargs)
        return result if call is None else call.leave(result)

    def register_full_backward_hook(
        self,
        hook: Callable[[Any, Any, Any], Any],
        prepend: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, grad_inputs, grad_outputs)`` when backward has passed.

        It returns None, or a tuple that takes the place of ``grad_inputs``. Arguments
        given by keyword, and what is no Tensor, have no gradient here.
        Raises: HookError in backward for another number of gradients.
        See: torch ``nn.Module.register_full_backward_hook``.

        >>> scale = minigrad.nn.Linear(1, 1, bias=False)
        >>> handle = scale.register_full_backward_hook(
        ...     lambda module, grad_inputs, grad_outputs: (grad_inputs[0] * 0,)
        ... )
        >>> x = minigrad.ones(1, requires_grad=True)
        >>> scale(x).backward()
        >>> x.grad
        tensor([0.])
        """
        if self._backward_hooks is None:
            vars(self)["_backward_hooks"] = OrderedDict()
        hooks = cast("Hooks", self._backward_hooks)
        handle = register(hooks, hook)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def named_modules(
        self,
        memo: set[Any] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Module]]:
        """This module and all inside it, each with its path."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, path, remove_duplicate)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside this one."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Every parameter with its path, such as ``"0.weight"``."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Every buffer with its path."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def _named(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        modules: Any = [(prefix, self)]
        if recurse:
            modules = self.named_modules(None, prefix, remove_duplicate)
        seen = set()
        for path, module in modules:
            for name, tensor in getattr(module, kind).items():
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield f"{path}.{name}" if path else name, tensor

    def modules(self) -> Iterator[Module]:
        """This module and all inside it."""
        return (module for _, module in self.named_modules())

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        return (module for _, module in self.named_children())

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Every parameter once: what an optimizer is given."""
        return (parameter for _, parameter in self.named_parameters("", recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Every buffer once."""
        return (buffer for _, buffer in self.named_buffers("", recurse))

    def get_submodule(self, target: str) -> Module:
        """The module at a path; ``""`` is this one.

        Raises: ModuleAttributeError.
        """
        found: Module = registry.module_at(self, target)
        return found

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path.

        Raises: ModuleAttributeError.
        """
        return registry.parameter_at(self, target)

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn`` on all modules inside and, last, on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Say whether the model is being trained: some layers then act otherwise.

        Raises: ArgumentValueError for anything but a bool.
        """
        if not isinstance(mode, bool):
            raise errors.ArgumentValueError.at(
                f"{type(self).__name__}.train",
                f"training mode is expected to be boolean, not {mode!r:.40}",
                "write train(), or eval() for the contrary",
            )
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """The contrary of ``train()``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of all parameters, or with False freeze them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.detach_().zero_()

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert all floating-point parameters and buffers, in this module itself."""
        return self._apply(
            lambda x: x.to(*args, **kwargs) if x.is_floating_point() else x
        )

    def half(self) -> Self:
        """All floating-point numbers in float16."""
        return self.to(DTYPES["float16"])

    def float(self) -> Self:
        """All floating-point numbers in float32."""
        return self.to(DTYPES["float32"])

    def double(self) -> Self:
        """All floating-point numbers in float64."""
        return self.to(DTYPES["float64"])

    def _apply(self, fn: Callable[[Tensor], Tensor]) -> Self:
        """Put the values that ``fn`` makes in the place of the present ones."""
        with no_grad():
            for parameter in self.parameters():
                parameter.data = fn(parameter.data)
                if parameter.grad is not None:
                    parameter.grad.data = fn(parameter.grad.data)
            for module in self.modules():
                for name, buffer in module._buffers.items():
                    if buffer is not None:
                        module._buffers[name] = fn(buffer)
        return self

    def state_dict(
        self,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Parameters and buffers by path: the same memory, detached."""
        return state.state_of(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> state.IncompatibleKeys:
        """Copy the values of a ``state_dict()`` into parameters and buffers.

        With ``assign`` its tensors take their place. The result says which keys are
        missing and which were not expected; ``strict`` refuses both.
        Raises: StateDictError.
        """
        return state.load(self, state_dict, strict, assign)

    def extra_repr(self) -> str:
        """What prints inside the brackets: the attributes that the layer names."""
        return ", ".join([f"{name}={getattr(self, name)!r}" for name in self._shown])

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        for name, module in self._modules.items():
            lines.append(f"({name}): " + repr(module).replace("\n", "\n  "))
        if self._modules or len(lines) > 1:
            inside = "\n  ".join(lines)
            return f"{type(self).__name__}(\n  {inside}\n)"
        return f"{type(self).__name__}({extra})"


def hooked_call(module: Module) -> HookedCall:
    """What puts the module's hooks around one call of it."""
    # Imported here because few modules have any.
    from minigrad.nn.backward_hooks import HookedCall

    return HookedCall(module, cast("Hooks", module._backward_hooks))


def told(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the forward of a module, and tell the observers before and after."""
    result = None
    notify("module_entered", module)
    try:
        result = module.forward(*args, **kwargs)
    finally:
        notify("module_left", module, result)
    return result
