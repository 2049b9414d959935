"""Answers to 05.5."""

import minigrad as mg


def by_counting(root, receivers):
    counts, met = {root: 0}, [root]
    for node in met:
        for receiver in receivers(node):
            if receiver not in counts:
                counts[receiver] = 0
                met.append(receiver)
            counts[receiver] += 1
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for receiver in receivers(node):
            counts[receiver] -= 1
            if counts[receiver] == 0:
                ready.append(receiver)
    return order


def down_and_turned_round(root, receivers):
    done = []
    met = {id(root)}
    work = [(root, iter(receivers(root)))]
    while work:
        node, left = work[-1]
        for receiver in left:
            if id(receiver) not in met:
                met.add(id(receiver))
                work.append((receiver, iter(receivers(receiver))))
                break
        else:
            done.append(node)
            work.pop()
    return done[::-1]


def pre_order(root, receivers):
    met, work = {}, [root]
    while work:
        node = work.pop()
        if node not in met:
            met[node] = None
            work += receivers(node)[::-1]
    return list(met)


def calls_itself(root, receivers):
    done = []
    met = set()

    def go_down(node):
        met.add(id(node))
        for receiver in receivers(node):
            if id(receiver) not in met:
                go_down(receiver)
        done.append(node)

    go_down(root)
    return done[::-1]


def receivers_of(node):
    return [receiver for receiver, _ in node.next_functions if receiver is not None]


def sent(node, gradient):
    return zip(node.next_functions, node.apply(gradient), strict=True)


def add_to_leaf(leaf, gradient):
    leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


@mg.no_grad()
def in_an_order(root, g):
    waiting = {root: g}
    for node in by_counting(root, receivers_of):
        gradient = waiting.pop(node)
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, gradient)
            continue
        for (receiver, _), part in sent(node, gradient):
            if receiver is not None:
                there = waiting.get(receiver)
                waiting[receiver] = part if there is None else there + part


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
        for node in by_counting(root, receivers_of):
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


@mg.no_grad()
def early(root, g):
    send(root, g, pre_order(root, receivers_of))


@mg.no_grad()
def overwrites(root, g):
    def put(waiting, receiver, part):
        waiting[receiver] = part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def overwrites_inside(root, g):
    def put(waiting, receiver, part):
        if hasattr(receiver, "variable"):
            add_up(waiting, receiver, part)
        else:
            waiting[receiver] = part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def writes(root, g):
    def put(waiting, receiver, part):
        if receiver in waiting:
            waiting[receiver] += part
        else:
            waiting[receiver] = part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def replaces(root, g):
    def at_leaf(leaf, gradient):
        leaf.grad = gradient

    send(root, g, by_counting(root, receivers_of), at_leaf=at_leaf)


@mg.no_grad()
def forgets_leaves(root, g):
    send(root, g, by_counting(root, receivers_of), at_leaf=lambda leaf, g: None)


def records(root, g):
    send(root, g, by_counting(root, receivers_of))


@mg.no_grad()
def only_the_root(root, g):
    send(root, g, [root])


@mg.no_grad()
def calls_itself_once_each(root, g):
    order = calls_itself(root, receivers_of)
    send(root, g, order)


@mg.no_grad()
def follows_data(root, g):
    def all_of(node):
        return [receiver for receiver, _ in node.next_functions]

    send(root, g, by_counting(root, all_of))


@mg.no_grad()
def adds_to_nothing(root, g):
    def put(waiting, receiver, part):
        waiting[receiver] = waiting[receiver] + part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def adds_for_data(root, g):
    order = by_counting(root, receivers_of)
    waiting = dict.fromkeys(order, g * 0) | {root: g}
    for node in order:
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, waiting[node])
            continue
        for (receiver, _), part in sent(node, waiting[node]):
            waiting[receiver] = waiting[receiver] + part


@mg.no_grad()
def asks_leaves(root, g):
    for receiver in receivers_of(root):
        receiver.apply(g)


@mg.no_grad()
def adds_to_none(root, g):
    def at_leaf(leaf, gradient):
        leaf.grad = leaf.grad + gradient

    send(root, g, by_counting(root, receivers_of), at_leaf=at_leaf)


@mg.no_grad()
def asks_for_truth(root, g):
    def at_leaf(leaf, gradient):
        leaf.grad = (leaf.grad or 0) + gradient

    send(root, g, by_counting(root, receivers_of), at_leaf=at_leaf)


@mg.no_grad()
def same_for_all(root, g):
    waiting = {}
    for node in by_counting(root, receivers_of):
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, waiting[node])
            continue
        for (receiver, _), part in sent(node, g):
            if receiver is not None:
                add_up(waiting, receiver, part)


@mg.no_grad()
def in_a_queue(root, g):
    waiting, queue = {root: g}, [root]
    for node in queue:
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, waiting[node])
            continue
        for (receiver, _), part in sent(node, waiting[node]):
            if receiver is not None:
                add_up(waiting, receiver, part)
                queue.append(receiver)


def asks_the_engine(root, g):
    leaf = mg.ones(3, requires_grad=True)
    (leaf * 1).backward(g)


def add_up(waiting, receiver, part):
    there = waiting.get(receiver)
    waiting[receiver] = part if there is None else there + part


def send(root, g, order, put=add_up, at_leaf=add_to_leaf):
    waiting = {root: g}
    for node in order:
        gradient = waiting.pop(node)
        if hasattr(node, "variable"):
            at_leaf(node.variable, gradient)
            continue
        for (receiver, _), part in sent(node, gradient):
            if receiver is not None:
                put(waiting, receiver, part)
