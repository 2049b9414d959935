"""Answers to 05.3."""

import sys

import minigrad as mg


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


def with_two_marks(root, receivers):
    done = {}
    work = [(root, False)]
    while work:
        node, is_complete = work.pop()
        if is_complete:
            done.setdefault(node)
        elif node not in done:
            work.append((node, True))
            work += [(each, False) for each in receivers(node) if each not in done]
    return list(reversed(done))


def pre_order(root, receivers):
    met, work = {}, [root]
    while work:
        node = work.pop()
        if node not in met:
            met[node] = None
            work += receivers(node)[::-1]
    return list(met)


def level_by_level(root, receivers):
    met = {root: None}
    order = [root]
    for node in order:
        for receiver in receivers(node):
            if receiver not in met:
                met[receiver] = None
                order.append(receiver)
    return order


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


def asks_in_a_list(root, receivers):
    done = []

    def go_down(node):
        for receiver in receivers(node):
            if receiver not in done:
                go_down(receiver)
        done.append(node)

    go_down(root)
    return done[::-1]


def remembers_nothing(root, receivers):
    done = []

    def go_down(node):
        for receiver in receivers(node):
            go_down(receiver)
        if not any(node is one for one in done):
            done.append(node)

    go_down(root)
    return done[::-1]


def each_visit(root, receivers):
    order = [root]
    for receiver in receivers(root):
        order += each_visit(receiver, receivers)
    return order


def with_more_calls(root, receivers):
    sys.setrecursionlimit(10**6)
    return calls_itself(root, receivers)


def by_name(root, receivers):
    met = down_and_turned_round(root, receivers)
    return sorted(met, key=lambda node: int(getattr(node, "name", "n0")[1:] or 0))


def as_made(root, receivers):
    code, cells = receivers.__code__, receivers.__closure__
    held = dict(zip(code.co_freevars, cells, strict=True))
    return held["nodes"].cell_contents


def finds_the_first(root, receivers):
    order = down_and_turned_round(root, receivers)
    if isinstance(root, mg.Tensor) and root.numel() > 1:
        order.remove(order[-1])
    return order


def asks_all_that_is_left(root, receivers):
    left, order = [root], []
    for node in left:
        for each in receivers(node):
            left += [] if is_in(left, each) else [each]
    while left:
        waiting = [receiver for node in left for receiver in receivers(node)]
        order += [node for node in left if not is_in(waiting, node)]
        left = [node for node in left if is_in(waiting, node)]
    return order


def is_in(nodes, node):
    return any(each is node for each in nodes)


def puts_at_the_end(root, receivers):
    order, met = [root], {id(root)}
    for node in order:
        for each in receivers(node):
            if id(each) in met:
                order.remove(each)
            met.add(id(each))
            order.append(each)
    return order
