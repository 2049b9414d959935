"""Timing side by side: ``python -m minigrad bench`` prints the rows of the engine."""

from minigrad.bench.harness import Measured, interleaved

__all__ = ["Measured", "interleaved"]
