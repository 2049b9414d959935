"""The doctor tries things for real, and says of each that fails how to mend it."""

import importlib.metadata
import locale
import subprocess
import sys
import warnings
from typing import Any

import pytest

from minigrad import _bootstrap
from minigrad.course.doctor import health as doctor_module
from minigrad.course.doctor.health import Item, Report, UnwellError, doctor
from minigrad.kernels import elementwise
from minigrad.views import graph

Patch = pytest.MonkeyPatch


def test_everything_is_well_here() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "minigrad", "doctor"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=_bootstrap.ROOT,
    )
    lines = done.stdout.splitlines()
    assert [line[:2] for line in lines[:-1]] == ["✓ "] * 9
    assert lines[-1] == "Everything the course needs works here."
    assert (done.returncode, done.stderr) == (0, "")


def too_old_a_python(patch: Patch) -> None:
    patch.setattr(sys, "version_info", (3, 10, 4, "final", 0))


def a_package_missing(patch: Patch) -> None:
    right = importlib.metadata.version

    def version(name: str) -> str:
        if name == "ipywidgets":
            raise importlib.metadata.PackageNotFoundError(name)
        return "2.0" if name == "jupyterlab" else right(name)

    patch.setattr(importlib.metadata, "version", version)


def no_graphviz(patch: Patch) -> None:
    patch.setattr(graph, "renderers", list)


def numba_that_gives_up(patch: Patch) -> None:
    def sigmoid(array: Any) -> Any:
        warnings.warn("Numba could not run it", RuntimeWarning, stacklevel=1)
        return elementwise.sigmoid_in_numpy(array)

    patch.setattr(elementwise, "sigmoid", sigmoid)


def numba_that_errs(patch: Patch) -> None:
    patch.setattr(elementwise, "sigmoid", lambda array: array)


def a_folder_that_is_gone(patch: Patch) -> None:
    patch.setenv("MINIGRAD_HOME", "/nowhere/at/all")


def a_full_disk(patch: Patch) -> None:
    usage = doctor_module.shutil.disk_usage(".")._replace(free=10**6)
    patch.setattr(doctor_module.shutil, "disk_usage", lambda place: usage)


def latin_one(patch: Patch) -> None:
    patch.setattr(locale, "getpreferredencoding", lambda setlocale: "ISO-8859-1")


def little_memory(patch: Patch) -> None:
    patch.setattr(doctor_module, "free_memory", lambda: 3 * 10**8)


def kernel_of_another_python(patch: Patch) -> None:
    patch.setattr(_bootstrap, "answer", lambda command: "/another/prefix")


def slider_that_stays(patch: Patch) -> None:
    real = doctor_module.move_a_slider

    class Deaf:
        def __init__(self, client: Any) -> None:
            self.client = client
            self.shell_channel = self

        def send(self, message: Any) -> None:
            """The move never gets there."""

        def __getattr__(self, name: str) -> Any:
            return getattr(self.client, name)

    patch.setattr(doctor_module, "move_a_slider", lambda client: real(Deaf(client)))


@pytest.mark.parametrize(
    ("name", "break_it", "says", "fix"),
    [
        ("Python", too_old_a_python, "3.10.4, the course needs >=3.11", "another"),
        ("packages", a_package_missing, "ipywidgets is missing", "minigrad lab"),
        ("packages", a_package_missing, "jupyterlab 2.0 (>=4.4)", "minigrad lab"),
        ("graph", no_graphviz, "no picture came back", "pip install graphviz-pure"),
        ("Numba", numba_that_gives_up, "Numba could not run it", "--upgrade numba"),
        ("Numba", numba_that_errs, "different numbers", "MINIGRAD_JIT=0"),
        ("writing", a_folder_that_is_gone, "cannot be written", "MINIGRAD_HOME"),
        ("writing", a_full_disk, "has 1 MB left", "500 MB are enough"),
        ("text", latin_one, "not UTF-8 (files: ISO-8859-1)", "PYTHONUTF8=1"),
        ("memory", little_memory, "0.3 GB free", "close other programs"),
        ("kernel", kernel_of_another_python, "not " + sys.executable, "ipykernel"),
        ("widgets", slider_that_stays, "stayed at 1 after a move to 7", "minigrad lab"),
    ],
)
def test_what_is_unwell_is_named_with_its_repair(
    name: str, break_it: Any, says: str, fix: str, monkeypatch: Patch
) -> None:
    look = (doctor_module.LOOKS | doctor_module.OUTSIDE)[name]
    well = doctor_module.examined(name, look)
    break_it(monkeypatch)
    item = doctor_module.examined(name, look)
    assert (well.good, item.good) == (True, False)
    assert says in item.found
    assert fix in item.fix


def test_quiet_doctor_speaks_only_of_what_is_unwell(monkeypatch: Patch) -> None:
    assert doctor(quiet=True) is None
    no_graphviz(monkeypatch)
    report = doctor(quiet=True)
    assert report is not None
    assert [item.name for item in report if not item.good] == ["graph"]


def test_exception_of_a_look_is_named_and_the_others_go_on(monkeypatch: Patch) -> None:
    def raises() -> str:
        raise ZeroDivisionError("of the look")

    monkeypatch.setitem(doctor_module.LOOKS, "graph", raises)
    report = doctor()
    assert len(report) == len(doctor_module.LOOKS)
    assert [item.found for item in report if not item.good] == [
        "ZeroDivisionError: of the look"
    ]


def test_one_unwell_item_makes_the_exit_code_1(
    monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unwell() -> str:
        raise UnwellError("it is broken", "mend it")

    looks = {"one": lambda: "fine", "two": unwell}
    monkeypatch.setattr(doctor_module, "LOOKS", looks)
    monkeypatch.setattr(doctor_module, "OUTSIDE", {})
    assert doctor_module.main([]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "✓ one:         fine",
        "✗ two:         it is broken",
        "  fix: mend it",
        "To be mended: two.",
    ]


def test_report_shows_itself_as_html_without_raw_text() -> None:
    report = Report([Item("graph", False, "<dot> failed", "pip install 'x<2'")])
    shown = report._repr_html_()
    assert "&lt;dot&gt; failed" in shown
    assert "<dot>" not in shown
    assert "x&lt;2" in shown
