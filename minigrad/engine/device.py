"""Where tensors live: in the memory of the processor, and nowhere else."""

from __future__ import annotations

from typing import Any

from minigrad import errors

OTHER_KINDS = frozenset({"cuda", "mps", "xpu", "meta"})
"""Devices that torch knows and minigrad does not have."""


class device:
    """A place for tensors: ``device("cpu")``, the only one there is here.

    Raises: DeviceError for a name that torch does not know either. Another device can
    be named, as in torch without one, but no tensor can be made on it.

    >>> minigrad.ones(2).device
    device(type='cpu')
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        name, colon, number = str(type).partition(":")
        known = name == "cpu" or name in OTHER_KINDS
        if not known or (colon and not number.isdigit()):
            raise errors.DeviceError.at(
                "device",
                "Expected one of cpu, cuda, ... device type at start of device "
                f"string: {type}",
                'write device("cpu")',
            )
        self.type = name
        self.index = int(number) if colon else index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"


CPU = device("cpu")


def check_device(wanted: Any) -> None:
    """Let a program that names the device pass, as long as it is the processor.

    Raises: DeviceMissingError for any other.
    """
    if wanted is not None and device(wanted).type != "cpu":
        raise errors.DeviceMissingError.at(
            f"device {str(wanted)!r}",
            "Torch not compiled with CUDA enabled, and minigrad computes with "
            "NumPy: there is only the cpu",
            'leave device out, or write device="cpu"',
        )


class cuda:
    """What a program asks before it chooses a device: there is none of this kind."""

    @staticmethod
    def is_available() -> bool:
        """False: minigrad computes with NumPy, on the processor."""
        return False

    @staticmethod
    def device_count() -> int:
        """None of them: 0."""
        return 0
