"""Lets a source run ahead of its consumer by one item, in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import TypeVar

__all__ = ["prefetch"]

T = TypeVar("T")
_END = object()


def prefetch(source: Iterator[T], ahead: int = 1) -> Generator[T, None, None]:
    """The items of `source`, made while the consumer is busy with the one before.

    Decompression and the join engine both let go of Python's lock, so the two work at the same time. What `source`
    raises is raised here; closing this generator stops the thread.
    """
    items: queue.Queue[object] = queue.Queue(ahead)
    stop = threading.Event()

    def fill() -> None:
        last: object = _END
        try:
            for item in source:
                if not _put(items, item, stop):
                    return
        except BaseException as error:  # handed to the consumer, which raises it
            last = _Failure(error)
        _put(items, last, stop)

    thread = threading.Thread(target=fill, name="nodewise-prefetch", daemon=True)
    thread.start()
    try:
        while (item := items.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        stop.set()
        with suppress(queue.Empty):
            items.get_nowait()
        thread.join()


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error


def _put(items: queue.Queue[object], item: object, stop: threading.Event) -> bool:
    while not stop.is_set():
        with suppress(queue.Full):
            items.put(item, timeout=0.1)
            return True
    return False
