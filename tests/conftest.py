"""What all tests share; tests/sealing.py keeps them apart from each other."""

import os

import hypothesis
import pytest

from minigrad import _bootstrap

# Time limits of single examples fail on a busy machine and find nothing.
hypothesis.settings.register_profile("minigrad", deadline=None)
hypothesis.settings.load_profile("minigrad")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser; without one the test skips, or fails if it is required."""
    path = _bootstrap.find_browser(os.environ)
    if path is None:
        words = "no Chromium or Chrome found; MINIGRAD_CHROMIUM can name one"
        if os.environ.get("MINIGRAD_REQUIRE_BROWSER"):
            pytest.fail(words)
        pytest.skip(words)
    return path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the very end which part of the suite has not run."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(report.nodeid.startswith("tests/browser/") for report in skipped)
    if count:
        terminalreporter.section("BROWSER TESTS NOT RUN", red=True)
        terminalreporter.line(
            f"{count} browser tests did not run. Install Chromium or Chrome, or set"
            " MINIGRAD_CHROMIUM to its path, and run the tests again."
        )
