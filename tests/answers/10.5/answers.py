def not_written(f, x, v):
    raise NotImplementedError("TODO: the slopes, then what v makes of their slopes")
