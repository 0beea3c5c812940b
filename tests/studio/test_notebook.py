"""`nw.open_studio`: rows of a notebook become a job whose page is really there, and closing ends it."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

import nodewise as nw
from nodewise.graph import write_graph
from nodewise.ground.errors import InputError, WrongTypeError
from nodewise.strategies import make_strategy
from nodewise.studio.notebook import StudioSession

ROWS = [
    {"body": f"the cat number {i} sat here" if i % 2 else f"stock {i} rose and fell", "year": str(2000 + i % 3)}
    for i in range(24)
]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def opened(source: Any, *arguments: Any, **options: Any) -> StudioSession:
    return nw.open_studio(source, *arguments, browser=False, **{"k": 3, **options})


def test_a_frame_becomes_a_job_and_its_page_is_there(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    with opened(pandas.DataFrame(ROWS), text="body", classes=["pet", "money"], budget=6) as session:
        assert session.path.name == "studio.nodewise" and session.address in repr(session)
        assert f'href="{session.address}"' in session._repr_html_()
        page = httpx.get(session.address, follow_redirects=True, timeout=120).text
        assert "<title>" in page and "work.js" in page
        there = nw.connect(session.address)
        query = there.ask()
        assert query.text == ROWS[query.node]["body"] and query.attributes == {"year": ROWS[query.node]["year"]}
        there.tell(query.node, "pet")
        assert session.labels == {query.node: "pet"}, "what the page is told the session knows"
        session.tell((query.node + 1) % 24, "money")
        assert there.status()["told"] == 2
        where = urlsplit(session.address)
    assert session.address == "" and "open at" not in repr(session)
    with socket.socket() as probe:
        assert probe.connect_ex((where.hostname, where.port)) != 0, "closing ends it"
    with nw.Session.open(tmp_path / "studio.nodewise") as again:
        assert len(again.labels) == 2


def test_only_the_address_lets_one_in() -> None:
    with opened([row["body"] for row in ROWS], budget=5) as session:
        bare = session.address.partition("?")[0].replace("/s/studio", "/api/v1/status")
        assert httpx.get(bare, timeout=120).status_code == 401


def test_a_cell_that_is_run_again_goes_on_and_other_rows_are_refused() -> None:
    with opened(ROWS, "mine.nodewise", text="body", classes=["a", "b"]) as first:
        first.tell(0, "a")
    with opened(ROWS, "mine.nodewise", text="body", classes=["a", "b"]) as again:
        assert again.labels == {0: "a"}
        again.add_rows([{"body": "a cat came later"}])
    with opened(ROWS, "mine.nodewise", text="body") as grown:
        assert grown.graph.num_nodes == 25
    with pytest.raises(InputError, match=r"'mine\.nodewise' is a job of other rows: give another path"):
        opened([{**row, "year": "1999"} for row in ROWS], "mine.nodewise", text="body")
    with opened("mine.nodewise") as by_path:
        assert by_path.labels == {0: "a"}
    with pytest.raises(InputError, match="is a session with settings of its own"):
        opened("mine.nodewise", budget=3)


def test_files_folders_graphs_and_names(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("comment,label\n" + "".join(f"{row['body']},\n" for row in ROWS))
    with opened(tmp_path / "notes.csv", text="comment") as table:
        assert table.path.name == "notes.nodewise" and list(table.graph.attributes) == ["text"]
    (tmp_path / "lines.txt").write_text("\n".join(row["body"] for row in ROWS))
    with opened("lines.txt") as lines:
        assert lines.graph.num_nodes == 24
        write_graph(lines.graph, tmp_path / "folder")
        with opened(lines.graph, "graph.nodewise") as graph:
            assert graph.graph.num_edges == lines.graph.num_edges
    with opened(tmp_path / "folder", "from-folder.nodewise") as folder:
        assert folder.graph.num_nodes == 24
    with opened("wine", strategy="random", use_labels=False) as named:
        assert named.graph.num_nodes == 178 and named.path.name == "wine.nodewise"
    with pytest.raises(InputError, match="text='body' names a column, and what was given is no table"):
        opened([row["body"] for row in ROWS], text="body")
    with pytest.raises(WrongTypeError, match="no job can be made of|data frame"):
        opened(17)


def test_a_strategy_of_ones_own_asks_in_the_page_too() -> None:
    with opened(ROWS, text="body", strategy=make_strategy("random"), classes=["a", "b"], seed=5) as session:
        there = nw.connect(session.address, annotator="ada")
        query = there.ask()
        assert session.ask(annotator="bo").node != query.node


def test_a_taken_port_leaves_nothing_open() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="is taken: give another one"):
            opened(ROWS, text="body", port=taken.getsockname()[1])
    with opened(ROWS, text="body") as session:
        assert session.status().told == 0
