"""The exercises of lesson 05: right answers pass, wrong ones are named."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.course import catalogue, examine, graphs
from minigrad.course.exercises import ex05_1
from minigrad.course.looks import traversals

TRUTH_1 = ["y d c b a", "13", "the one that was made last: d"]
TRUTH_6 = ["72.0", "None", "36.0", "24.0"]


def test_orders_and_values_are_what_a_run_shows() -> None:
    for name, truth in (("05.1", TRUTH_1), ("05.6", TRUTH_6)):
        loaded = catalogue.load(name)
        assert list(loaded.spec.truth().values()) == truth
        for question, right in zip(loaded.questions, truth, strict=True):
            assert not question.choices or right in question.choices
            assert right not in question.wrong


@pytest.mark.parametrize("order", ["y d c b a", "y b d c a", "ydbca", "y, d, c, b, a"])
def test_any_order_that_keeps_users_first_is_right(order: str) -> None:
    verdict = examine("05.1", [order, *TRUTH_1[1:]])
    assert "3 of 3 as you said" in verdict.message
    assert ex05_1.fits("a", order)


@pytest.mark.parametrize(
    "order", ["y b a d c", "y b d a c", "a b c d y", "y d c a b", "y d c b", "13"]
)
def test_order_that_visits_the_join_early_is_not(order: str) -> None:
    verdict = examine("05.1", [order, *TRUTH_1[1:]])
    assert "2 of 3 as you said" in verdict.message
    assert verdict.state == "solved"  # a prediction counts for being made


LOOP = "o e b m d k n g a j i"


@pytest.mark.parametrize(
    "order", [LOOP, "b o e m d k g n a j i", "o b e m d k g a j n i"]
)
def test_loop_in_any_order_that_works_passes(order: str) -> None:
    verdict = examine("05.2", order)
    assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("o e b m d k n g c i", "taken before its count is zero"),
        ("o e b m d k n g f j i", "the join is visited early"),
        ("o e h m d k n g a j i", "every node is ready from the start"),
        ("o e b m l k n g a j i", "it would run for ever"),
        ("o e b m d k n a j g i", "asked before it is counted down"),
        ("o b m d k n g a j e i", "The loop ran before the root had its gradient"),
        ("o e b i m d k n g a j", "or not at all"),
        ("e o b m d k n g a j i", "uses what a later line makes"),
        ("o e b m k d n g a j i", "Three lines end in a colon"),
        ("o e b m d k n g a j", "10 lines so far"),
    ],
)
def test_wrong_loop_is_named(order: str, says: str) -> None:
    verdict = examine("05.2", order)
    assert verdict.state == "wrong"
    assert says in verdict.message


def test_number_of_a_line_that_nobody_sees_is_not_told() -> None:
    (finding,) = examine("05.2", "o e m b k n g a j i d").findings
    assert finding.what.endswith("after 'while' statement")


def test_random_graphs_are_reached_from_their_first_node() -> None:
    random = np.random.default_rng(1)
    for size in (2, 9, 60):
        order, edges = graphs.drawn(random, size)
        counts = graphs.counts_of(edges)
        assert [name for name in order if not counts[name]] == order[:1]
        for name in order:
            below = [receiver for receiver, _ in edges[name]]
            assert all(order.index(name) < order.index(each) for each in below)


def by_counting(root: Any, receivers: Any) -> Any:
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


def down_and_turned_round(root: Any, receivers: Any) -> Any:
    done: list[Any] = []
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


def with_two_marks(root: Any, receivers: Any) -> Any:
    done: dict[Any, None] = {}
    work = [(root, False)]
    while work:
        node, is_complete = work.pop()
        if is_complete:
            done.setdefault(node)
        elif node not in done:
            work.append((node, True))
            work += [(each, False) for each in receivers(node) if each not in done]
    return tuple(reversed(list(done)))


def pre_order(root: Any, receivers: Any) -> Any:
    met, work = {}, [root]
    while work:
        node = work.pop()
        if node not in met:
            met[node] = None
            work += receivers(node)[::-1]
    return list(met)


def level_by_level(root: Any, receivers: Any) -> Any:
    met = {root: None}
    order = [root]
    for node in order:
        for receiver in receivers(node):
            if receiver not in met:
                met[receiver] = None
                order.append(receiver)
    return order


def calls_itself(root: Any, receivers: Any) -> Any:
    done: list[Any] = []
    met = set()

    def go_down(node: Any) -> None:
        met.add(id(node))
        for receiver in receivers(node):
            if id(receiver) not in met:
                go_down(receiver)
        done.append(node)

    go_down(root)
    return done[::-1]


def asks_in_a_list(root: Any, receivers: Any) -> Any:
    done: list[Any] = []

    def go_down(node: Any) -> None:
        for receiver in receivers(node):
            if receiver not in done:
                go_down(receiver)
        done.append(node)

    go_down(root)
    return done[::-1]


def remembers_nothing(root: Any, receivers: Any) -> Any:
    done: list[Any] = []

    def go_down(node: Any) -> None:
        for receiver in receivers(node):
            go_down(receiver)
        if not any(node is one for one in done):
            done.append(node)

    go_down(root)
    return done[::-1]


def each_visit(root: Any, receivers: Any) -> Any:
    order = [root]
    for receiver in receivers(root):
        order += each_visit(receiver, receivers)
    return order


def counts_receivers_once(take: int) -> Any:
    def answer(root: Any, receivers: Any) -> Any:
        counts, met = {root: 0}, [root]
        for node in met:
            for receiver in set(receivers(node)):
                if receiver not in counts:
                    counts[receiver] = 0
                    met.append(receiver)
                counts[receiver] += 1
        order, ready = [], [root]
        while ready:
            order.append(ready.pop(take))
            for receiver in receivers(order[-1]):
                counts[receiver] -= 1
                ready += [receiver] if counts[receiver] == 0 else []
        return order

    return answer


RIGHT_ORDERS = [by_counting, down_and_turned_round, with_two_marks]


@pytest.mark.parametrize("answer", RIGHT_ORDERS)
def test_order_with_users_first_passes(answer: Any) -> None:
    for seed in range(3):
        verdict = examine("05.3", answer, seed=seed)
        assert verdict.state == "solved", verdict.message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (pre_order, "a comes before c, which sends it a gradient: y b a d c"),
        (level_by_level, "Depth first, or level by level"),
        (calls_itself, "toposort calls itself for each node"),
        (asks_in_a_list, "Two tensors with equal numbers are taken for one"),
        (remembers_nothing, "2 to the power n times"),
        (each_visit, "a is there 2 times"),
        (counts_receivers_once(-1), "counted as one, and counted down as two"),
        (counts_receivers_once(0), "counted as one, and counted down as two"),
        (lambda root, r: by_counting(root, r)[::-1], "this is the order of forward"),
        (lambda root, r: by_counting(root, r)[1:], "the root is missing"),
        (lambda root, r: by_counting(root, r)[:-1], "1 of 5 nodes are missing"),
        (lambda root, r: [*by_counting(root, r), None], "which is no node"),
        (lambda root, r: None, "gave back a NoneType"),
        (lambda root, r: 1 / 0, "ZeroDivisionError"),
        ([1, 2], "not the function toposort"),
    ],
)
def test_wrong_order_is_named(answer: Any, says: str) -> None:
    verdict = examine("05.3", answer)
    assert verdict.state in ("wrong", "crashed")
    assert says in verdict.message


def test_recursion_under_a_raised_limit_is_noticed() -> None:
    def with_more_calls(root: Any, receivers: Any) -> Any:
        sys.setrecursionlimit(10**6)
        return calls_itself(root, receivers)

    limit = sys.getrecursionlimit()
    verdict = examine("05.3", with_more_calls)
    assert verdict.state == "wrong"
    assert "Python's limit was raised (sys.setrecursionlimit)" in verdict.message
    assert sys.getrecursionlimit() == limit


def test_order_of_the_nodes_is_nowhere_to_be_read() -> None:
    def by_name(root: Any, receivers: Any) -> Any:
        met = down_and_turned_round(root, receivers)
        return sorted(met, key=lambda node: int(getattr(node, "name", "n0")[1:] or 0))

    def as_made(root: Any, receivers: Any) -> Any:
        (nodes,) = [
            cell.cell_contents
            for name, cell in zip(
                receivers.__code__.co_freevars, receivers.__closure__, strict=True
            )
            if name == "nodes"
        ]
        return nodes

    for answer in (by_name, as_made):
        assert examine("05.3", answer).state in ("wrong", "crashed")


def test_equality_of_tensors_is_asked_aloud() -> None:
    def finds_the_first(root: Any, receivers: Any) -> Any:
        order = by_counting(root, receivers)
        if isinstance(root, mg.Tensor) and root.numel() > 1:
            order.remove(order[-1])
        return order

    verdict = examine("05.3", finds_the_first)
    assert verdict.state == "crashed"
    assert "`in` on a list asks with ==" in verdict.message


SHIPPED = catalogue.load("05.4").spec.SHIPPED
WRONG_LINE = "waiting[receiver] = waiting[node] * slope"


def repaired(line: str, old: str = WRONG_LINE) -> Any:
    assert old in SHIPPED
    names: dict[str, Any] = {}
    exec(SHIPPED.replace(old, line), names)
    return names["gradients"]


@pytest.mark.parametrize(
    "line",
    [
        WRONG_LINE.replace(" = ", " += "),
        "waiting[receiver] = waiting[receiver] + slope * waiting[node]",
    ],
)
def test_added_gradients_pass(line: str) -> None:
    for seed in range(3):
        assert examine("05.4", repaired(line), seed=seed).state == "solved"


def test_function_as_shipped_is_not_tried() -> None:
    assert examine("05.4", repaired(WRONG_LINE)).state == "not tried"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            repaired(f"waiting[receiver] = 0.0; {WRONG_LINE.replace('=', '+=')}"),
            "2 + 3 arrive there",
        ),
        (
            repaired(f"waiting[receiver] = 0.0; {WRONG_LINE.replace('=', '+=')}"),
            "set back to zero",
        ),
        (repaired("waiting.setdefault(receiver, 0); " + WRONG_LINE), "is overwritten"),
        (
            repaired(
                "waiting[receiver] = waiting[receiver] or waiting[node] * slope",
            ),
            "Only what came first is kept",
        ),
        (repaired(WRONG_LINE.replace("=", "*=")), "Nothing stays there"),
        (repaired(WRONG_LINE.replace("=", "-=")), "is what waits at"),
        (
            repaired(WRONG_LINE.replace("=", "+=").replace("*", "+")),
            "a slope of 1 was added",
        ),
        (repaired(WRONG_LINE.replace("=", "-=")), "1 arrives there"),
        (
            repaired("waiting[node] += waiting[receiver] * slope"),
            "Follow the first edge of y by hand",
        ),
        (repaired("return 7", "return waiting"), "gave back a int"),
        (
            repaired("    edges.clear()\n    return waiting", "    return waiting"),
            "the order or the edges are others",
        ),
        (
            repaired(WRONG_LINE.replace("=", "+=").replace("waiting[node] * ", "")),
            "is what waits at",
        ),
        (7, "not the function gradients"),
    ],
)
def test_wrong_repair_of_the_sum_is_named(answer: Any, says: str) -> None:
    verdict = examine("05.4", answer)
    assert verdict.state == "wrong"
    assert says in verdict.message


def receivers_of(node: Any) -> list[Any]:
    return [receiver for receiver, _ in node.next_functions if receiver is not None]


def sent(node: Any, gradient: Any) -> Any:
    return zip(node.next_functions, node.apply(gradient), strict=True)


def add_to_leaf(leaf: Any, gradient: Any) -> None:
    leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient


@mg.no_grad()
def in_an_order(root: Any, g: Any) -> None:
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
def with_lists(root: Any, g: Any) -> None:
    arrived = {root: [g]}
    for node in down_and_turned_round(root, receivers_of):
        total = sum(arrived[node])
        if node.name() == "torch::autograd::AccumulateGrad":
            add_to_leaf(node.variable, total)
        else:
            for edge, part in sent(node, total):
                if edge[0]:
                    arrived.setdefault(edge[0], []).append(part)


def counting_down(root: Any, g: Any) -> None:
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


@pytest.mark.parametrize(("answer", "seeds"), [(in_an_order, 3), (with_lists, 1)])
def test_backward_of_ones_own_passes(answer: Any, seeds: int) -> None:
    for seed in range(seeds):
        verdict = examine("05.5", answer, seed=seed, seconds=30)
        assert verdict.state == "solved", verdict.message


def test_backward_that_is_right_and_long_is_told_so() -> None:
    verdict = examine("05.5", counting_down, seconds=30)
    assert verdict.state == "wrong"
    assert "backward has 16 lines that do something; 15 are enough" in verdict.message


@mg.no_grad()
def each_path(root: Any, g: Any) -> None:
    if hasattr(root, "variable"):
        add_to_leaf(root.variable, g)
        return
    for (receiver, _), part in sent(root, g):
        if receiver is not None:
            each_path(receiver, part)


@mg.no_grad()
def early(root: Any, g: Any) -> None:
    send(root, g, pre_order(root, receivers_of))


@mg.no_grad()
def overwrites(root: Any, g: Any) -> None:
    def put(waiting: Any, receiver: Any, part: Any) -> None:
        waiting[receiver] = part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def overwrites_inside(root: Any, g: Any) -> None:
    def put(waiting: Any, receiver: Any, part: Any) -> None:
        if hasattr(receiver, "variable"):
            add_up(waiting, receiver, part)
        else:
            waiting[receiver] = part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def writes(root: Any, g: Any) -> None:
    def put(waiting: Any, receiver: Any, part: Any) -> None:
        if receiver in waiting:
            waiting[receiver] += part
        else:
            waiting[receiver] = part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def replaces(root: Any, g: Any) -> None:
    def at_leaf(leaf: Any, gradient: Any) -> None:
        leaf.grad = gradient

    send(root, g, by_counting(root, receivers_of), at_leaf=at_leaf)


@mg.no_grad()
def forgets_leaves(root: Any, g: Any) -> None:
    send(root, g, by_counting(root, receivers_of), at_leaf=lambda leaf, g: None)


def records(root: Any, g: Any) -> None:
    send(root, g, by_counting(root, receivers_of))


@mg.no_grad()
def only_the_root(root: Any, g: Any) -> None:
    send(root, g, [root])


@mg.no_grad()
def calls_itself_once_each(root: Any, g: Any) -> None:
    order = calls_itself(root, receivers_of)
    send(root, g, order)


@mg.no_grad()
def follows_data(root: Any, g: Any) -> None:
    def all_of(node: Any) -> list[Any]:
        return [receiver for receiver, _ in node.next_functions]

    send(root, g, by_counting(root, all_of))


@mg.no_grad()
def adds_to_nothing(root: Any, g: Any) -> None:
    def put(waiting: Any, receiver: Any, part: Any) -> None:
        waiting[receiver] = waiting[receiver] + part

    send(root, g, by_counting(root, receivers_of), put)


@mg.no_grad()
def adds_for_data(root: Any, g: Any) -> None:
    order = by_counting(root, receivers_of)
    waiting = dict.fromkeys(order, g * 0) | {root: g}
    for node in order:
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, waiting[node])
            continue
        for (receiver, _), part in sent(node, waiting[node]):
            waiting[receiver] = waiting[receiver] + part


@mg.no_grad()
def asks_leaves(root: Any, g: Any) -> None:
    for receiver in receivers_of(root):
        receiver.apply(g)


@mg.no_grad()
def adds_to_none(root: Any, g: Any) -> None:
    def at_leaf(leaf: Any, gradient: Any) -> None:
        leaf.grad = leaf.grad + gradient

    send(root, g, by_counting(root, receivers_of), at_leaf=at_leaf)


@mg.no_grad()
def asks_for_truth(root: Any, g: Any) -> None:
    def at_leaf(leaf: Any, gradient: Any) -> None:
        leaf.grad = (leaf.grad or 0) + gradient

    send(root, g, by_counting(root, receivers_of), at_leaf=at_leaf)


@mg.no_grad()
def same_for_all(root: Any, g: Any) -> None:
    waiting: dict[Any, Any] = {}
    for node in by_counting(root, receivers_of):
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, waiting[node])
            continue
        for (receiver, _), part in sent(node, g):
            if receiver is not None:
                add_up(waiting, receiver, part)


@mg.no_grad()
def in_a_queue(root: Any, g: Any) -> None:
    waiting, queue = {root: g}, [root]
    for node in queue:
        if hasattr(node, "variable"):
            add_to_leaf(node.variable, waiting[node])
            continue
        for (receiver, _), part in sent(node, waiting[node]):
            if receiver is not None:
                add_up(waiting, receiver, part)
                queue.append(receiver)


def asks_the_engine(root: Any, g: Any) -> None:
    leaf = mg.ones(3, requires_grad=True)
    (leaf * 1).backward(g)


def add_up(waiting: Any, receiver: Any, part: Any) -> None:
    there = waiting.get(receiver)
    waiting[receiver] = part if there is None else there + part


def send(
    root: Any, g: Any, order: Any, put: Any = add_up, at_leaf: Any = add_to_leaf
) -> None:
    waiting = {root: g}
    for node in order:
        gradient = waiting.pop(node)
        if hasattr(node, "variable"):
            at_leaf(node.variable, gradient)
            continue
        for (receiver, _), part in sent(node, gradient):
            if receiver is not None:
                put(waiting, receiver, part)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (each_path, "A node runs each time something arrives"),
        (early, "A join has its turn too early"),
        (overwrites, "was overwritten by what came next"),
        (overwrites_inside, "What waited was overwritten by what came next"),
        (writes, "`+=` writes into the tensor itself"),
        (replaces, "The gradient of a leaf is replaced, and not added to"),
        (forgets_leaves, "x.grad is None"),
        (records, "has a grad_fn of its own"),
        (only_the_root, "not called: 1 of 2 rules"),
        (calls_itself_once_each, "or what it uses, calls itself for each node"),
        (follows_data, "An edge that leads nowhere was followed"),
        (adds_to_nothing, "was asked for a node that is not in it"),
        (adds_for_data, "KeyError: None"),
        (asks_leaves, "A leaf's node, AccumulateGrad, was asked for a rule"),
        (asks_the_engine, "the engine's own backward was called"),
        (lambda root, g: None, "not called: 2 of 2 rules"),
        (adds_to_none, "added to a `.grad` that is still None"),
        (asks_for_truth, "is it zero, or is there none yet?"),
        (same_for_all, "Every rule was called with the same"),
        (in_a_queue, "was added twice: its node had two turns"),
        (lambda root, g: root.backward(g), "root is a node, and no tensor"),
        (lambda root, g: root.apply(g), "one gradient for each edge"),
        (7, "not the function backward"),
    ],
)
def test_wrong_backward_is_named(answer: Any, says: str) -> None:
    verdict = examine("05.5", answer, seconds=30)
    assert verdict.state in ("wrong", "crashed")
    assert says in verdict.message


def test_lines_are_those_that_do_something() -> None:
    def short(root: Any, g: Any) -> Any:
        """Not counted."""
        # not counted either
        return [
            root,
            g,
        ]

    assert traversals.lines_of(short) == 3
    assert traversals.lines_of(mg.no_grad()(short)) == 3


@pytest.mark.parametrize("number", ["72", "72.", "tensor(72.)"])
def test_two_backwards_are_found_out(number: str) -> None:
    assert examine("05.6", [number, *TRUTH_6[1:]]).state == "solved"


@pytest.mark.parametrize(
    ("place", "said", "says"),
    [
        (0, "36", "the second backward overwrites the first"),
        (0, "144", "added, not multiplied"),
        (1, "12", "an inner one does not"),
        (1, "24", "an inner one does not"),
        (1, "0", "not the same as zero"),
        (2, "72", "taken away before the second came"),
        (2, "None", "None between the two"),
        (3, "12", "what is retained adds"),
        (3, "6", "both edges bring 6"),
        (3, "None", "makes an inner tensor keep"),
    ],
)
def test_wrong_guess_of_two_backwards_is_named(
    place: int, said: str, says: str
) -> None:
    answers = [*TRUTH_6[:place], said, *TRUTH_6[place + 1 :]]
    verdict = examine("05.6", answers)
    assert verdict.state == "wrong"
    assert says in verdict.message
