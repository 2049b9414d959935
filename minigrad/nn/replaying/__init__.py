"""A training step without its graph: recorded once, then run as a list of calls."""

from minigrad.nn.replaying.replayed import Replay, replay

__all__ = ["Replay", "replay"]
