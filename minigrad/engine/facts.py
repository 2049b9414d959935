"""Where ``Size`` used to be defined: pickled shapes of older versions name this module."""

from minigrad.engine.tensor_properties import Size

__all__ = ["Size"]
