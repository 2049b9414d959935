"""The methods that operations give to Tensor: empty here, filled by ``@op``.

The types of the methods are in the generated stub beside this file.
"""


class TensorMethods:
    """Base of Tensor; each registered operation adds its method to this class."""

    __slots__ = ()
