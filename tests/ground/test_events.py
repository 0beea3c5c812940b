"""The bar that ``progress=True`` draws, where warnings go without one, and how counts and lists are said."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import nodewise as nw
from nodewise.ground.events import Event, Note, Progress, TextBar, Warned, count, listed, listening, percent, told_apart
from tests.small_graphs import random_graph


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_line_that_is_written_over_and_ends() -> None:
    stream, now = Terminal(), iter([0.0, 1.0, 2.0])
    bar = TextBar(stream, lambda: next(now))
    for done in (1, 2, 4):
        bar(Progress("play", done, 4))
    shown = stream.getvalue()
    assert shown.count("\r") == 3 and shown.count("\n") == 1 and shown.endswith("\n")
    assert "play: ██████" in shown and "1/4" in shown and "4/4  2 s" in shown and "s left" in shown


def test_a_log_gets_the_end_alone_where_it_comes_soon() -> None:
    stream, now = io.StringIO(), iter([0.0, 1.0, 2.0])
    bar = TextBar(stream, lambda: next(now))
    for done in (1, 2, 4):
        bar(Progress("play", done, 4, {"reward": 0.5}))
    assert "\r" not in stream.getvalue()
    (line,) = stream.getvalue().splitlines()
    assert "4/4" in line and "reward 0.5" in line


def test_sentences_stand_on_lines_of_their_own() -> None:
    stream = Terminal()
    bar = TextBar(stream, lambda: 0.0)
    bar(Progress("play", 1, 4))
    bar(Note("so far so good"))
    bar(Warned("not so good"))
    assert stream.getvalue().split("\n")[1:-1] == ["so far so good", "warning: not so good"]


def test_progress_draws_and_a_reporter_is_told_as_well(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[Event] = []
    nw.evaluate(random_graph(), "random", budget=2, runs=3, progress=True, reporter=told.append)
    nw.compare(random_graph(), ["random", "centrality"], budgets=2, runs=3, progress=True)
    nw.train_policy([random_graph()], episodes=2, batch=2, budgets=3, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "3/3" in err and "6/6" in err and "2/2" in err
    assert told and {type(event) for event in told} == {Progress}


def test_without_either_nothing_is_drawn_and_warnings_are_python_s(capfd: pytest.CaptureFixture[str]) -> None:
    with listening(None, False) as report:
        report(Progress("play", 1, 1))
        with pytest.warns(UserWarning, match="look out"):
            report(Warned("look out"))
    nw.evaluate(random_graph(), "random", budget=2, runs=1)
    assert capfd.readouterr() == ("", "")


def test_count_knows_one_and_many() -> None:
    assert count(1, "edge") == "1 edge"
    assert count(12345, "edge") == "12,345 edges"
    assert count(0, "class", "classes") == "0 classes"


def test_listed_quotes_and_cuts() -> None:
    assert listed(["a", 2]) == "'a', '2'"
    assert listed(range(10), most=2) == "'0', '1' and 8 more"
    assert listed([]) == ""


def test_names_are_told_apart_by_a_number_that_no_other_has() -> None:
    assert told_apart(["g", "h", "g", "g"]) == ["g", "h", "g 2", "g 3"]
    assert told_apart(["g", "g", "g 2"]) == ["g", "g 3", "g 2"]
    assert told_apart(["g", "g", "g"], keep=[False, True, False]) == ["g", "g", "g 2"]


def test_shares_are_written_in_one_form_everywhere() -> None:
    assert (percent(0.6), percent(0.125, 1), percent(1)) == ("60 %", "12.5 %", "100 %")
    source = Path(nw.__file__).parent
    lines = [line for path in source.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines()]
    assert not [line for line in lines if re.search(r":\.\d%\}", line)], "percent() of nodewise.ground.events"
