"""What is measured in a process of its own."""

from minigrad.bench import starts


def test_import_is_timed_and_what_it_loads_is_named() -> None:
    times, loaded = starts.import_times(["numpy", "minigrad"], rounds=1)
    # Which takes longer is not sure: the first import may compile NumPy's files.
    assert [len(own) for own in times.values()] == [1, 1]
    assert times["minigrad"][0] > 0
    assert loaded == set()
    code = starts.IMPORTS.format(module="minigrad.views.plots", others=("minigrad",))
    assert starts.printed_by(code).split()[1:] == ["minigrad"]
