class Kept:
    def __init__(self, tensor):
        self.dtype = tensor.dtype
        self.kept = tensor.half() if tensor.is_floating_point() else tensor


def unpack_kept(packed):
    return packed.kept.to(packed.dtype)
