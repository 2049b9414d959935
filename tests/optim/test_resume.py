"""A run that is interrupted, saved and gone on with loses nothing."""

from pathlib import Path
from typing import Any

import pytest


class Interrupted(Exception):
    """Somebody pressed the button."""


class Run:
    """All that a training run consists of, and how far it is."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.losses = torch, list[float]()
        torch.manual_seed(0)
        self.w = (torch.randn(3, 2) / 2).requires_grad_()
        self.optimizer = torch.optim.Adam([self.w], lr=0.3)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 20)

    def to(self, steps: int, stop_at: int = -1) -> "Run":
        """Train until this step; in step ``stop_at`` it is interrupted."""
        torch = self.torch
        while len(self.losses) < steps:
            x = torch.randn(8, 3)
            loss = ((x @ self.w - x[:, :2]) ** 2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            if len(self.losses) == stop_at:
                raise Interrupted
            self.optimizer.step()
            self.schedule.step()
            self.losses.append(loss.item())
        return self

    def state(self) -> dict[str, Any]:
        """What has to be in the file."""
        return {
            "w": self.w.detach(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": self.torch.get_rng_state(),
            "losses": self.losses,
        }

    def load(self, state: dict[str, Any], leave_out: str = "") -> "Run":
        """Go on from what a file had, but for one part of it."""
        with self.torch.no_grad():
            self.w.copy_(state["w"])
        if leave_out != "optimizer":
            self.optimizer.load_state_dict(state["optimizer"])
        if leave_out != "schedule":
            self.schedule.load_state_dict(state["schedule"])
        if leave_out != "random":
            self.torch.set_rng_state(state["random"])
        self.losses = list(state["losses"])
        return self


def interrupted_at_9(torch: Any, file: Path) -> dict[str, Any]:
    """What is in the file after step 6, and is there after an interrupt in step 9."""
    run = Run(torch).to(6)
    torch.save(run.state(), file)
    with pytest.raises(Interrupted):
        run.to(20, stop_at=9)
    found: dict[str, Any] = torch.load(file)
    return found


def test_run_that_goes_on_from_its_file_has_the_numbers_of_one_that_never_stopped(
    torch: Any, tmp_path: Path
) -> None:
    whole = Run(torch).to(20)
    resumed = Run(torch).load(interrupted_at_9(torch, tmp_path / "run.pt")).to(20)
    assert resumed.losses == whole.losses
    assert resumed.w.tolist() == whole.w.tolist()


@pytest.mark.parametrize("part", ["optimizer", "schedule", "random"])
def test_run_without_a_part_of_its_state_has_others(
    torch: Any, tmp_path: Path, part: str
) -> None:
    whole = Run(torch).to(20)
    state = interrupted_at_9(torch, tmp_path / "run.pt")
    assert Run(torch).load(state, leave_out=part).to(20).losses != whole.losses
