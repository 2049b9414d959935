"""The player's own folding of the events, against that in Python."""

from typing import Any

import pytest
from playwright.sync_api import Page

from minigrad.views.recording import Recording
from tests.tracing import happenings
from tests.tracing.any_program import recorded
from tests.views import stories
from tests.views.folding import bytes_alive, facts_at, state_at

FOLD = """
([trace, positions]) => {
  const story = new (document.getElementById("player").player.story.constructor)(trace);
  return positions.map((position) => {
    const state = story.stateAt(position);
    const { waiting, left, handles, tangents, grads, advice } = state;
    const { nodes, edges } = state;
    const facts = { waiting, left, handles, tangents, grads, advice };
    return structuredClone({ ...facts, nodes, edges });
  });
}
"""


@pytest.fixture(scope="module")
def opened(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("player") / "player.html"
    page.goto(Recording(stories.fan_in()).save_html(path).as_uri())
    page.wait_for_function("() => document.getElementById('player').player")
    return page


@pytest.mark.parametrize("program", happenings.PROGRAMS)
def test_player_knows_at_every_step_what_the_trace_says(
    opened: Page, program: Any
) -> None:
    knows_forward_and_back(opened, happenings.recorded(program).data)


@pytest.mark.parametrize("seed", [1, 4])
def test_player_knows_at_every_step_of_any_program(opened: Page, seed: int) -> None:
    knows_forward_and_back(opened, recorded(seed, lines=False)[2])


def known_at(data: Any, position: int) -> Any:
    lit = state_at(data, position)
    facts = facts_at(data, position)
    del facts["memory"]  # told by the strip
    return {**facts, "nodes": lit["nodes"], "edges": lit["edges"]}


def knows_forward_and_back(opened: Page, data: Any) -> None:
    length = len(data["events"])
    there = [*range(0, length, 1 + length // 100), length]
    known = opened.evaluate(FOLD, [data, [*there, *there[::-1]]])
    expected = [known_at(data, position) for position in there]
    assert known[: len(there)] == expected
    assert known[len(there) :] == expected[::-1]


def test_bytes_alive_fall_to_those_of_grad() -> None:
    data = happenings.recorded(happenings.saved_hooks).data
    sizes = [
        bytes_alive(facts_at(data, i)["memory"]) for i in range(len(data["events"]))
    ]
    assert (max(sizes), sizes[-1]) == (8, 8)
    assert 4 in sizes
