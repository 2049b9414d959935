"""Where ``Size`` used to be defined: pickled shapes of older versions say so."""

from minigrad.engine.tensor_properties import Size

__all__ = ["Size"]
