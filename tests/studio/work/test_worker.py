"""The worker: what is urgent first, long work gives way, nothing is left hanging at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from nodewise.studio.work.errors import BusyError, StoppedError
from nodewise.studio.work.worker import Priority, Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("a test's worker", limit=5)
    yield worker
    worker.close()


def hold(worker: Worker) -> threading.Event:
    """Keeps the worker busy until the event is set."""
    begun, go = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go.wait()

    worker.submit(Priority.ANSWER, wait)
    begun.wait()
    return go


def test_jobs_are_done_by_urgency_and_then_in_order(worker: Worker) -> None:
    go = hold(worker)
    done: list[str] = []
    wanted = [(Priority.BACKGROUND, "d"), (Priority.READ, "b"), (Priority.ANSWER, "a"), (Priority.READ, "c")]
    futures = [worker.submit(priority, lambda name=name: done.append(name)) for priority, name in wanted]  # type: ignore[misc]
    go.set()
    for future in futures:
        future.result()
    assert done == ["a", "b", "c", "d"]


def test_all_jobs_run_in_one_thread_that_is_not_the_callers(worker: Worker) -> None:
    names = {worker.submit(Priority.READ, lambda: threading.current_thread().name).result() for _ in range(5)}
    assert names == {"a test's worker"}


def test_a_long_job_lets_more_urgent_ones_go_before_it_goes_on(worker: Worker) -> None:
    done: list[str] = []
    step, queued = threading.Event(), threading.Event()

    def long() -> None:
        done.append("begun")
        step.set()
        queued.wait()
        worker.give_way()
        done.append("ended")

    future = worker.submit(Priority.BACKGROUND, long)
    step.wait()
    later = worker.submit(Priority.BACKGROUND, lambda: done.append("as urgent"))
    sooner = [
        worker.submit(Priority.READ, lambda: done.append("read")),
        worker.submit(Priority.ANSWER, lambda: done.append("answer")),
    ]
    queued.set()
    for each in (future, later, *sooner):
        each.result()
    assert done == ["begun", "answer", "read", "ended", "as urgent"]


def test_a_job_within_a_job_gives_way_to_nothing_less_urgent(worker: Worker) -> None:
    done: list[str] = []
    ready, queued = threading.Event(), threading.Event()

    def inner() -> None:
        worker.submit(Priority.READ, lambda: done.append("another read"))
        worker.give_way()
        done.append("read")

    def outer() -> None:
        ready.set()
        queued.wait()
        worker.give_way()
        done.append("background")

    future = worker.submit(Priority.BACKGROUND, outer)
    ready.wait()
    worker.submit(Priority.READ, inner)
    queued.set()
    future.result()
    assert done == ["read", "another read", "background"]


def test_what_goes_wrong_is_told_to_who_asked_and_the_worker_goes_on(worker: Worker) -> None:
    with pytest.raises(ZeroDivisionError):
        worker.submit(Priority.READ, lambda: 1 // 0).result()
    assert worker.submit(Priority.READ, lambda: 7).result() == 7


def test_too_many_jobs_are_refused(worker: Worker) -> None:
    go = hold(worker)
    futures = [worker.submit(Priority.READ, lambda: 1) for _ in range(5)]
    with pytest.raises(BusyError, match="has 5 requests to answer before this one: try again"):
        worker.submit(Priority.ANSWER, lambda: 1)
    go.set()
    assert [future.result() for future in futures] == [1] * 5


def test_a_job_that_nobody_waits_for_any_more_is_left_out(worker: Worker) -> None:
    go = hold(worker)
    done: list[int] = []

    async def impatient() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(worker.run(Priority.READ, lambda: done.append(1)), 0.01)

    asyncio.run(impatient())
    go.set()
    worker.submit(Priority.BACKGROUND, lambda: done.append(2)).result()
    assert done == [2]


def test_closing_ends_long_work_refuses_what_waits_and_what_comes() -> None:
    worker = Worker("a test's worker")
    begun, closing = threading.Event(), threading.Event()

    def long() -> None:
        begun.set()
        while True:
            closing.wait(0.01)
            worker.give_way()

    running = worker.submit(Priority.BACKGROUND, long)
    begun.wait()
    waiting = worker.submit(Priority.BACKGROUND, lambda: 1)
    worker.close()
    for future in (running, waiting):
        with pytest.raises(StoppedError, match="shut down"):
            future.result()
    with pytest.raises(StoppedError):
        worker.submit(Priority.ANSWER, lambda: 1)
    assert not any(thread.name == "a test's worker" for thread in threading.enumerate())


def test_the_event_loop_goes_on_while_a_job_runs(worker: Worker) -> None:
    async def beat() -> int:
        go = threading.Event()
        job = asyncio.create_task(worker.run(Priority.READ, go.wait))
        beats = 0
        while beats < 20:
            await asyncio.sleep(0.001)
            beats += 1
        assert not job.done()
        go.set()
        assert await job
        return beats

    assert asyncio.run(beat()) == 20
