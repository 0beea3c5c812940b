from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from nodewise.datasets.reddit.prefetch import prefetch


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "nodewise-prefetch"]


def test_gives_every_item_in_order() -> None:
    assert list(prefetch(iter(range(1000)))) == list(range(1000))
    assert not threads()


def test_runs_in_another_thread() -> None:
    def where() -> Iterator[int | None]:
        yield threading.current_thread().ident

    assert next(iter(prefetch(where()))) != threading.current_thread().ident


def test_what_the_source_raises_is_raised_after_the_items_before_it() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("no more")

    items = prefetch(failing())
    assert next(items) == 1
    with pytest.raises(OSError, match="no more"):
        next(items)
    assert not threads()


def test_closing_stops_a_source_without_end() -> None:
    made = []

    def endless() -> Iterator[int]:
        while True:
            made.append(1)
            yield len(made)

    items = prefetch(endless())
    next(items)
    items.close()
    assert not threads()
    assert len(made) <= 4  # one taken, one waiting, one on its way, one begun


def test_does_not_run_far_ahead() -> None:
    made = []

    def source() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    for item in prefetch(source()):
        assert len(made) <= item + 4
