"""As in tests/nn: minigrad under torch's name, and tests/parity runs torch."""

from tests.nn.conftest import torch

__all__ = ["torch"]
