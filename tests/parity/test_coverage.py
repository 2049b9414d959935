"""The recorded names of torch are those of the torch that is here."""

from pathlib import Path
from typing import Any

import pytest

from minigrad.course.coverage import __main__ as command


def test_recorded_names_are_torchs(
    torch: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["--check"]) == 0
    other = tmp_path / "torch_names.tsv"
    other.write_text(command.text().replace("torch\tabs\n", ""), encoding="utf8")
    monkeypatch.setattr(command, "RECORDED", other)
    assert command.main(["--check"]) == 1
    assert "stale: torch_names.tsv" in capsys.readouterr().err
    assert command.main([]) == 0
    assert command.main(["--check"]) == 0
