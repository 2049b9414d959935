"""record, step, load_trace, and how a recording shows and keeps itself."""

import base64
import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad import Tensor, errors
from minigrad.autograd import Function
from minigrad.views import graph
from minigrad.views.recording import Recording, load_trace, record, step
from tests.views import stories


class Tenfold(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 10

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 10


class Broken(Function):
    @staticmethod
    def forward(ctx, x):
        raise KeyError("no such thing")


def leaf() -> Tensor:
    return minigrad.tensor([1.0, 2.0], requires_grad=True)


def test_record_is_empty_inside_its_block_and_filled_after() -> None:
    with record("tenfold") as trace:
        Tenfold.apply(leaf()).sum().backward()
        assert len(trace) == 0
    assert trace.data["meta"]["title"] == "tenfold"
    assert {"graph.node", "grad"} <= {event["k"] for event in trace.data["events"]}


def test_record_keeps_the_driver_that_opened_it() -> None:
    with record() as trace:
        leaf()
    drivers = [s for s in trace.data["sources"] if s["role"] == "driver"]
    assert [s["name"] for s in drivers] == [
        "test_record_keeps_the_driver_that_opened_it"
    ]


def test_error_in_a_block_is_raised_and_kept() -> None:
    with pytest.raises(KeyError, match="no such thing"), record() as trace:
        Broken.apply(leaf())
    assert "no such thing" in trace.data["meta"]["error"]


def test_step_records_the_lines_of_a_function_from_elsewhere() -> None:
    recording = step(stories.plain, "text")
    names = [source["name"] for source in recording.data["sources"]]
    assert "plain" in names


@pytest.mark.parametrize(
    ("value", "words"),
    [((3,), "(3,)"), ((3, 4), "2 values: 3 and 4"), (3, "3")],
)
def test_what_a_function_returns_is_told_in_words(value: object, words: str) -> None:
    trace = minigrad.step(lambda: value)
    assert trace.sentences()[-1].endswith(f"returns {words}.")


@pytest.mark.parametrize(
    ("error", "words"),
    [(KeyboardInterrupt(), "KeyboardInterrupt"), (KeyError("k"), "KeyError: 'k'")],
)
def test_error_without_a_text_is_told_by_its_name(
    error: BaseException, words: str
) -> None:
    def program() -> None:
        raise error

    trace = minigrad.step(program)
    assert trace.sentences(level=1)[-1].endswith(f" stops with {words}")
    assert trace.data["meta"]["error"] == words


def test_step_keeps_an_error_and_does_not_raise_it() -> None:
    recording = step(Broken.apply, leaf())
    assert "no such thing" in recording.data["meta"]["error"]
    assert any(event["k"] == "exception" for event in recording.data["events"])


def test_graph_is_drawn_for_where_no_page_plays_and_not_kept() -> None:
    recording = Recording(stories.fan_in())
    before = copy.deepcopy(recording.data)
    drawn = graph.svg_of(graph.dot_of(before))
    assert drawn is not None
    bundle = recording._repr_mimebundle_()
    assert base64.b64encode(drawn[0].encode()).decode() in bundle["text/html"]
    assert recording.data == before


def test_without_a_renderer_a_recording_still_shows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graph, "renderers", list)
    bundle = Recording(stories.fan_in())._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}


def test_saved_recording_loads_as_it_was(tmp_path: Path) -> None:
    recording = Recording(stories.mul_constant())
    recording.save(tmp_path / "story.json")
    assert load_trace(tmp_path / "story.json").data == recording.data


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.json"):
        load_trace(tmp_path / "none.json")


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"schema": "other/1"}', '{"schema": "minigrad.trace/2"}']
)
def test_foreign_or_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=r"load_trace: .*x.json is ") as raised:
        load_trace(tmp_path / "x.json")
    assert isinstance(raised.value, errors.MinigradError)


def test_trace_that_was_saved_is_plain_json(tmp_path: Path) -> None:
    with record() as trace:
        Tenfold.apply(leaf()).sum().backward()
    trace.save(tmp_path / "real.json")
    assert json.loads((tmp_path / "real.json").read_text()) == trace.data


def test_html_file_holds_the_page(tmp_path: Path) -> None:
    path = Recording(stories.fan_in()).save_html(tmp_path / "story.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_views_do_not_load_what_draws() -> None:
    heavy = "{'graphviz', 'ipywidgets', 'anywidget', 'matplotlib', 'IPython'}"
    program = f"import sys, minigrad.views.recording; print({heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_html_into_a_missing_folder_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="save_html: there is no folder"):
        Recording(stories.fan_in()).save_html(tmp_path / "none" / "story.html")


@pytest.mark.parametrize("watch", [Tenfold, [Tenfold], Tenfold.forward, (leaf,)])
def test_watch_takes_one_item_or_several(watch: object) -> None:
    with record(watch=watch) as trace:
        leaf()
    assert len(trace)


@pytest.mark.parametrize("watch", [None, "abc", [3], int, minigrad.exp])
def test_watch_refuses_what_has_no_lines(watch: object) -> None:
    with pytest.raises(errors.ArgumentTypeError, match=r"watch holds .* no lines"):
        record(watch=watch)


def test_step_of_a_function_class_records_its_apply() -> None:
    recording = step(Tenfold, leaf())
    assert recording.data["meta"]["title"] == "Tenfold.apply"
    assert any(event["k"] == "ctx.new" for event in recording.data["events"])


def test_step_passes_keywords_on() -> None:
    def power(base: Tensor, exponent: int) -> Tensor:
        return base**exponent

    recording = step(power, leaf(), exponent=2)
    assert "error" not in recording.data["meta"]
    assert any(event["k"] == "graph.node" for event in recording.data["events"])


def test_step_refuses_what_cannot_be_called() -> None:
    with pytest.raises(errors.ArgumentTypeError, match="Tensor can't be called"):
        step(leaf())


def test_question_stands_before_the_step_it_asks_about() -> None:
    recording = Recording(stories.fan_in())
    events = recording.data["events"]
    place = next(i for i, e in enumerate(events) if e["k"] == "grad.accumulate")
    recording.ask("What now?", ["2", "5"], "5", before="x.grad was empty")
    asked = {"k": "ask", "say": "What now?", "lvl": 0, "why": "What now?"}
    asked |= {"question": "What now?", "answer": "5"}
    where = {key: events[place - 1].get(key) for key in ("d", "s", "l")}
    assert events[place] | asked | where == events[place]
    assert events[place]["choices"] == ["2", "5"]
    assert events[place + 1]["k"] == "grad.accumulate"


def test_question_before_no_step_is_refused() -> None:
    with pytest.raises(errors.ArgumentValueError, match="no step says 'magic'"):
        Recording(stories.fan_in()).ask("?", ["a", "b"], "a", before="magic")


@pytest.mark.parametrize("choices", [["a", "b"], ["c"], []])
def test_answer_must_be_one_of_the_choices(choices: list[str]) -> None:
    with pytest.raises(errors.ArgumentValueError, match="'c' is not one of at least"):
        Recording(stories.fan_in()).ask("?", choices, "c", before="x.grad")


def test_player_opens_at_the_level_that_shows_the_step() -> None:
    def product() -> None:
        x = minigrad.tensor(3.0, requires_grad=True)
        (x * 2).backward()

    seen = minigrad.step(product).open_at("x.grad is")
    assert "level" not in seen.data["meta"]
    assert "x.grad is" in seen.data["events"][seen.data["meta"]["start"] - 1]["why"]
    assert minigrad.step(product).open_at("line").data["meta"]["level"] == 2
    ended = minigrad.step(product).open_at("None")  # most steps have no `why`
    last = ended.data["events"][ended.data["meta"]["start"] - 1]
    assert "returns None" in last["say"]
    with pytest.raises(errors.ArgumentValueError, match="there is no level 'story'"):
        seen.at_level("story")
