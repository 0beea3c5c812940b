"""What the mistakes of all subjects share: a graph, a folder with sessions, and how a refusal is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import nodewise as nw
from nodewise.cli import main
from nodewise.ground.errors import InputError
from tests.small_graphs import random_graph

GRAPH = random_graph()
KARATE = nw.load_graph("karate")


@dataclass(frozen=True)
class World:
    """A folder with three sessions of two classes: an open one, one with a closed list of classes, an ended one."""

    folder: Path
    session: nw.Session
    closed: nw.Session
    ended: nw.Session


Mistake = tuple[str, Callable[[World], object], type[Exception], str]
"""What somebody got wrong, in words; the call; the error's class; a part of what it says."""
Typed = tuple[str, str, int, str]
"""The same on the command line: what is typed, its exit status, and a part of what is said."""


def message(call: Any) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def is_refused(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call says what was wrong, and nothing is written."""
    _, do, kind, said = mistake
    monkeypatch.chdir(world.folder)
    with pytest.raises(nw.NodewiseError) as refused:
        do(world)
    assert isinstance(refused.value, kind) and said in str(refused.value)
    assert world.session.events == () == world.closed.events, "nothing was written"
    assert not {":memory:", "n", "other.nodewise"} & {path.name for path in world.folder.iterdir()}, "no file was made"


def is_told(mistake: Typed, world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """The command says what was wrong in a sentence, and ends with its status."""
    _, typed, status, said = mistake
    monkeypatch.chdir(world.folder)
    assert main(typed.split()) == status
    told = capfd.readouterr()
    assert said in told.err and told.out == "" and "Traceback" not in told.err
    assert not (world.folder / "job").exists()
