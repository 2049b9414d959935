"""Answers to 05.5; those to 05.3 are here, too."""

import minigrad as mg


def receivers_of(node):
    return [receiver for receiver, _ in node.next_functions if receiver is not None]


def sent(node, gradient):
    return zip(node.next_functions, node.apply(gradient), strict=True)


def add_to_leaf(leaf, gradient):
    leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


@mg.no_grad()
def with_lists(root, g):
    arrived = {root: [g]}
    for node in down_and_turned_round(root, receivers_of):
        total = sum(arrived[node])
        if node.name() == "torch::autograd::AccumulateGrad":
            add_to_leaf(node.variable, total)
        else:
            for edge, part in sent(node, total):
                if edge[0]:
                    arrived.setdefault(edge[0], []).append(part)


def counting_down(root, g):
    with mg.no_grad():
        counts = {root: 0}
        for node in down_and_turned_round(root, receivers_of):
            for each in receivers_of(node):
                counts[each] = counts.get(each, 0) + 1
        waiting, ready = {root: g}, [root]
        while ready:
            node = ready.pop()
            if hasattr(node, "variable"):
                add_to_leaf(node.variable, waiting[node])
                continue
            for (to, _), part in sent(node, waiting[node]):
                if to is not None:
                    waiting[to] = waiting[to] + part if to in waiting else part
                    counts[to] -= 1
                    ready += [to] if counts[to] == 0 else []


@mg.no_grad()
def each_path(root, g):
    if hasattr(root, "variable"):
        add_to_leaf(root.variable, g)
        return
    for (receiver, _), part in sent(root, g):
        if receiver is not None:
            each_path(receiver, part)
