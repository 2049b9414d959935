"""Answers to 12.2."""

import minigrad as mg


def pack_by_kind(tensor):
    if tensor.dtype in (mg.float32, mg.float64):
        return tensor.half(), tensor.dtype
    return tensor, tensor.dtype


def unpack_pair(packed):
    return packed[0].to(packed[1])


def pack_in_a_dictionary(tensor):
    small = tensor.is_floating_point()
    kept = tensor.to(mg.float16) if small else tensor.clone()
    return {"kept": kept, "dtype": tensor.dtype}


def unpack_dictionary(packed):
    return packed["kept"].to(dtype=packed["dtype"])


elsewhere = {}


def pack_outside(tensor):
    elsewhere[len(elsewhere)] = tensor.clone()
    return len(elsewhere) - 1


def unpack_outside(place):
    return elsewhere.pop(place)
