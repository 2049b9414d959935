class Kept:
    def __init__(self, tensor):
        self.dtype = tensor.dtype
        self.kept = tensor.half() if tensor.is_floating_point() else tensor


class Slots:
    __slots__ = "dtype", "kept"
    __init__ = Kept.__init__


def unpack_kept(packed):
    return packed.kept.to(packed.dtype)
