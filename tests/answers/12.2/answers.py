"""Answers to 12.2."""


def pack_in_a_dictionary(tensor):
    small = tensor.is_floating_point()
    kept = tensor.half() if small else tensor.clone()
    return {"kept": kept, "dtype": tensor.dtype}


def unpack_dictionary(packed):
    return packed["kept"].to(dtype=packed["dtype"])


elsewhere = {}


def pack_outside(tensor):
    elsewhere[len(elsewhere)] = tensor.clone()
    return len(elsewhere) - 1


def unpack_outside(place):
    return elsewhere.pop(place)
