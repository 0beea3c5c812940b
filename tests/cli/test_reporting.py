"""Events drawn on a terminal and written to a log."""

from __future__ import annotations

import io

from rich.console import Console

from nodewise.cli.reporting import BarReporter, LineReporter
from nodewise.ground.events import Note, Progress, Warned


def console(terminal: bool) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return (
        Console(file=stream, force_terminal=terminal, width=100, markup=False, color_system=None, legacy_windows=False),
        stream,
    )


def test_lines_tell_progress_now_and_then_and_at_the_end() -> None:
    screen, stream = console(terminal=False)
    times = iter([0.0, 1.0, 12.0, 13.0, 14.0])
    report = LineReporter(screen, every=10.0, clock=lambda: next(times))
    for done in (1, 2, 3, 4, 5):
        report(Progress("train", done, 5, {"reward": 0.123456}))
    assert stream.getvalue().splitlines() == ["train: 3/5 reward 0.1235", "train: 5/5 reward 0.1235"]


def test_a_task_that_is_over_at_once_is_not_worth_a_line() -> None:
    screen, stream = console(terminal=False)
    times = iter([0.0, 0.9])
    report = LineReporter(screen, clock=lambda: next(times))
    report(Progress("neighbours", 1, 2))
    report(Progress("neighbours", 2, 2))
    assert stream.getvalue() == ""


def test_tasks_are_timed_apart() -> None:
    screen, stream = console(terminal=False)
    times = iter([0.0, 20.0, 20.0])
    report = LineReporter(screen, every=10.0, clock=lambda: next(times))
    report(Progress("one", 1))
    report(Progress("two", 1))
    report(Progress("one", 2))
    assert stream.getvalue() == "one: 2\n"


def test_notes_and_warnings_are_one_line_each_and_cannot_steer_the_terminal() -> None:
    screen, stream = console(terminal=False)
    report = LineReporter(screen)
    report(Note("read [bold]7[/bold] nodes\nfrom a file"))
    report(Warned("dropped \x1b[2J3 edges"))
    assert stream.getvalue() == "read [bold]7[/bold] nodes from a file\nwarning: dropped  [2J3 edges\n"


def test_a_log_that_nobody_reads_does_not_stop_the_work() -> None:
    tried: list[str] = []

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            tried.append(text)
            raise BrokenPipeError

    report = LineReporter(Console(file=Gone()))
    report(Note("hello"))
    report(Warned("careful"))
    assert tried == ["hello\n", "warning: careful\n"], "each line was written, and failed"


def test_bars_show_task_count_and_figures() -> None:
    screen, stream = console(terminal=True)
    with BarReporter(screen) as report:
        report(Progress("train [x]", 1, 4, {"reward": 0.5}))
        report(Note("half [time]"))
        report(Warned("careful"))
        report(Progress("train [x]", 4, 4, {"reward": 0.75}))
    drawn = stream.getvalue()
    for part in ("train [x]", "4/4", "reward 0.75", "half [time]", "warning: careful"):
        assert part in drawn


def test_a_bar_without_a_total_still_counts() -> None:
    screen, stream = console(terminal=True)
    with BarReporter(screen) as report:
        report(Progress("download", 17))
    assert "17/?" in stream.getvalue()
