"""The list of what torch has and minigrad has not."""

import re
from pathlib import Path

import pytest

import minigrad
from minigrad.course import coverage
from minigrad.course.coverage.groups import GROUPS, OTHER, group_of

ROOT = Path(minigrad.__file__).resolve().parent.parent


def test_list_holds_what_is_missing_and_nothing_that_is_here() -> None:
    text = (ROOT / coverage.BUILT).read_text("utf8")
    functions = text.split("## Functions\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(\w+)`", functions))
    assert {"svd", "lstm", "unique"} <= listed
    assert not listed & {"add", "softmax", "einsum", "exp"}
    assert not [name for name in listed if hasattr(minigrad, name)]
    assert "\n* As a method only (`x.abs_()`): `abs_`" in functions


def test_new_name_leaves_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    before = coverage.text()
    assert "`svd`" in before.split("## Functions\n")[1].split("\n## ")[0]
    monkeypatch.setattr(minigrad, "svd", abs, raising=False)
    after = coverage.text()
    assert "`svd`" not in after.split("## Functions\n")[1].split("\n## ")[0]
    counts = [
        int(re.search(r"`torch` \| \d+ \| (\d+)", one)[1]) for one in (before, after)
    ]
    assert counts[1] == counts[0] + 1


def test_every_place_counts_up() -> None:
    _, names = coverage.recorded()
    assert names.keys() == coverage.PLACES.keys()
    rows = re.findall(r"`(torch[.\w]*)` \| (\d+) \| (\d+) \| (\d+)", coverage.text())
    assert len(rows) == len(names)
    for place, every, here, missing in rows:
        assert int(every) == len(names[place]) == int(here) + int(missing)


def test_every_group_is_used_and_few_names_are_left_over() -> None:
    _, names = coverage.recorded()
    missing = [
        name
        for place in coverage.IN_GROUPS
        for name in coverage.missing_in(place, names[place])
    ]
    groups = [group_of(name) for name in missing]
    assert set(groups) == {*GROUPS, OTHER}
    left_over = [name for name in set(missing) if group_of(name) == OTHER]
    assert len(coverage.missing_in("torch.Tensor", left_over)) < 20


def test_a_place_that_is_not_here_lacks_all_its_names() -> None:
    assert coverage.ours("torch.fft") is None
    assert coverage.missing_in("torch.fft", ["fft"]) == ["fft"]
    assert coverage.missing_in("torch.Tensor", ["add_", "stft"]) == ["stft"]
