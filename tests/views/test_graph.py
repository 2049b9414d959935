"""DOT text, its rendering, and what must not go wrong in either."""

import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minigrad.views import graph
from tests.views import stories

MUL_CONSTANT = """\
digraph autograd {
	graph [bgcolor=white nodesep=0.3 rankdir=TB ranksep=0.55]
	node [fontname=Courier fontsize=11 height=0.34 margin="0.12,0.06" \
shape=box style=rounded]
	edge [arrowsize=0.7 fontname=Courier fontsize=9]
	n1 [label="AccumulateGrad\\nx"]
	n0 [label=MulConstantBackward]
	n2 [label=SumBackward0]
	n0 -> n1
	n2 -> n0 [weight=2]
}
"""

Program = Callable[[str, str], Path]


def dot_with_label(label: str, **more: Any) -> str:
    story = stories.Story("one node")
    story.node("n0", label, **more)
    return graph.dot_of(story.data)


def leaf_used(times: int) -> str:
    story = stories.Story("one leaf")
    story.node("n0", "AccumulateGrad", kind="accumulate", tensor="w")
    for use in range(times):
        story.node(f"n{use + 1}", "MulBackward0")
        story.edge(f"e{use}", f"n{use + 1}", "n0", 0)
    return graph.dot_of(story.data)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Makes a shell script to be found on PATH, where nothing else is but ``sleep``."""
    (tmp_path / "sleep").symlink_to(shutil.which("sleep") or "/bin/sleep")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.delenv("MINIGRAD_DOT", raising=False)

    def make(name: str, body: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IEXEC)
        return path

    return make


def test_dot_of_a_trace_has_its_nodes_and_edges() -> None:
    assert graph.dot_of(stories.mul_constant()) == MUL_CONSTANT


def test_node_of_several_outputs_has_a_slot_for_each() -> None:
    dot = graph.dot_of(stories.grid())
    assert 'PORT="o0">out 0<' in dot
    assert 'PORT="o1">out 1<' in dot


def test_edge_ends_at_the_slot_of_its_output() -> None:
    story = stories.Story("slots")
    story.node("n0", "UnbindBackward0", outputs=2)
    story.node("n1", "MulBackward0")
    story.edge("e0", "n1", "n0", 0, to_slot=1)
    assert "n1 -> n0:o1:n [weight=2]" in graph.dot_of(story.data)


def test_leaf_used_seven_times_is_drawn_once_a_use() -> None:
    dot = leaf_used(7)
    assert dot.count('style="rounded,dashed"') == 7
    assert "n7 -> n0__e6\n" in dot
    dot = leaf_used(6)
    assert "dashed" not in dot
    assert "n6 -> n0\n" in dot


@pytest.mark.parametrize("name", ['<b>"x"\\', "a\\N\n{z}", "<img src=x onerror=y>"])
def test_odd_name_stays_text_in_the_svg(name: str) -> None:
    drawn = graph.svg_of(dot_with_label(name))
    assert drawn is not None
    assert "<img" not in drawn[0]
    assert "<b>" not in drawn[0]


def test_name_in_angle_brackets_is_no_html_label() -> None:
    assert 'label="<b>x</b>"' in dot_with_label("<b>x</b>")
    assert "&lt;b&gt;&amp;" in dot_with_label("<b>&", outputs=2)


def test_renderers_are_asked_for_then_pure_then_dot(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["mine", "graphviz-pure", "dot"]
    paths = [program(name, "exit 0") for name in names]
    monkeypatch.setenv("MINIGRAD_DOT", str(paths[0]))
    assert graph.renderers() == paths


def test_renderer_beside_python_is_found_without_path(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program("graphviz-pure", "exit 0")
    monkeypatch.setenv("PATH", "/nowhere")
    assert graph.renderers() == [path]


def test_failing_renderer_is_passed_over(program: Program) -> None:
    program("graphviz-pure", "echo '<svg>half'; exit 1")
    program("dot", "echo '<?xml?><svg>drawn</svg>'")
    assert graph.svg_of("digraph {}") == ("<svg>drawn</svg>\n", "dot")


def test_slow_renderer_is_given_up(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert graph.svg_of("digraph {}") is None  # there is none
    program("graphviz-pure", "sleep 1; echo '<svg>late</svg>'")
    monkeypatch.setattr(graph, "TIME_OUT", 0.2)
    assert graph.svg_of("digraph {}") is None


def test_chain_whose_nodes_all_use_a_leaf_stays_narrow() -> None:
    story = stories.Story("a recurrence")
    story.node("n0", "AccumulateGrad", kind="accumulate", tensor="w")
    for place in range(1, 31):
        story.node(f"n{place}", "MulBackward0")
        story.edge(f"e{place}", f"n{place}", "n0", 0)
        if place > 1:
            story.edge(f"f{place}", f"n{place}", f"n{place - 1}", 1)
    drawn = graph.svg_of(graph.dot_of(story.data))
    assert drawn is not None
    assert float(drawn[0].split('width="')[1].split("pt")[0]) < 400
