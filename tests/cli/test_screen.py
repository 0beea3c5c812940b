"""Tables and lines on a terminal and in a pipe."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from nodewise.cli.screen import Screen, printable


def screen(terminal: bool, quiet: bool = False) -> tuple[Screen, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    settings = {
        "force_terminal": terminal,
        "color_system": None,
        "markup": False,
        "emoji": False,
        "legacy_windows": False,
    }
    return Screen(quiet, Console(file=out, width=60, **settings), Console(file=err, width=60, **settings)), out, err  # type: ignore[arg-type]


def test_a_table_in_a_pipe_is_one_row_a_line_with_numbers_flush_right(capfd: pytest.CaptureFixture[str]) -> None:
    Screen.open().table(("name", "nodes", "note"), [("a" * 300, 5, "x"), ("b", 12345, None)], title="unseen in a pipe")
    lines = capfd.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["name", "nodes", "note"], ["a" * 300, "5", "x"], ["b", "12345", "–"]]
    assert lines[1].index("5") == lines[2].index("12345") + 4


def test_a_table_on_a_terminal_has_a_rule_and_folds_what_is_too_wide() -> None:
    shown, out, _ = screen(terminal=True)
    shown.table(("name", "nodes"), [("[b]" + "a" * 100, 5)], title="things")
    text = out.getvalue()
    assert "things" in text
    assert "─" in text
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("a") - text.partition("─")[0].count("a") == 100
    assert "[b]" in text


def test_a_table_that_the_terminal_is_too_narrow_for_becomes_a_block_a_row() -> None:
    shown, out, _ = screen(terminal=True)
    columns = tuple(f"column-{letter}" for letter in "abcdefgh")
    shown.table(columns, [("first", 1, None, "x" * 30, 2.5, 3, 4, 5), ("second", *range(7))], title="things")
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert (
        ["column-a", "first"] in lines
        and ["column-c", "–"] in lines
        and ["column-d", "x" * 30] in lines
        and ["column-h", "6"] in lines
    )
    assert max(map(len, out.getvalue().splitlines())) <= 60 and ["things"] in lines
    shown.table(("name", "nodes", "edges"), [("cora", 2708, 5278)])
    assert ["cora", "2708", "5278"] in [line.split() for line in out.getvalue().splitlines()]


def test_json_goes_out_as_it_is() -> None:
    shown, out, _ = screen(terminal=True)
    shown.json({"name": "é" * 80, "n": 3})
    assert json.loads(out.getvalue()) == {"name": "é" * 80, "n": 3}
    assert out.getvalue().isascii()


def test_notes_go_to_the_other_stream_and_quiet_drops_them() -> None:
    shown, out, err = screen(terminal=False)
    shown.note("aside")
    assert (out.getvalue(), err.getvalue()) == ("", "aside\n")
    hushed, out, err = screen(terminal=False, quiet=True)
    hushed.note("aside")
    with hushed.reporting() as report:
        from nodewise.ground.events import Warned

        report(Warned("dropped"))
    assert (out.getvalue(), err.getvalue()) == ("", "")


def test_printable_keeps_one_line_of_text() -> None:
    assert printable("a\tb\nc\x1b[0m\x00é–漢") == "a b c [0m é–漢"
