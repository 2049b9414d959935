import minigrad as torch


def by_hand(function, forward):
    """The same Function with another forward."""
    return type(function.__name__, (function,), {"forward": staticmethod(forward)})
