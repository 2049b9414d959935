"""Recording what the engine does, as plain data that can be saved and played."""

from minigrad.tracing.recorder import Recorder
from minigrad.tracing.trace import SCHEMA, Trace

__all__ = ["SCHEMA", "Recorder", "Trace"]
