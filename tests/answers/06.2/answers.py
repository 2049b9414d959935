"""Answers to 06.2."""

import minigrad as mg


def by_axes(g, shape):
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes, keepdim=True).reshape(shape) if axes else g


def from_the_right(g, shape):
    lengths = (1,) * (g.ndim - len(shape)) + tuple(shape)
    for axis in range(g.ndim):
        if lengths[axis] != g.shape[axis]:
            g = g.sum(axis, keepdim=True)
    return g.reshape(shape)


def in_numpy(g, shape):
    array = g.numpy()
    array = array.sum(tuple(range(array.ndim - len(shape))))
    ones = tuple(i for i, n in enumerate(shape) if n == 1)
    return mg.tensor(array.sum(ones, keepdims=True))


def only_new(g, shape):
    while g.ndim > len(shape):
        g = g.sum(0)
    return g


def without_keepdim(g, shape):
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes) if axes else g


def with_all_kept(g, shape):
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes, keepdim=True) if axes else g


def flush_left(g, shape):
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis, keepdim=True)
    return only_new(g, shape)


def no_axis_is_all(g, shape):
    new = g.ndim - len(shape)
    axes = [*range(new), *[new + i for i, n in enumerate(shape) if n == 1]]
    return g.sum(axes, keepdim=True).reshape(shape)


def into_g(g, shape):
    right = from_the_right(g, shape).clone()
    g.mul_(2)
    return right
