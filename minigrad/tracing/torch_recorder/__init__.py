"""Hear a program that computes with torch, and tell it as the engine's story."""

from minigrad.tracing.torch_recorder.listening import TorchListener
from minigrad.tracing.torch_recorder.telling import TorchTelling

__all__ = ["TorchListener", "TorchTelling"]
