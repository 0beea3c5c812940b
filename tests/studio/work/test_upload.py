"""From an uploaded table to a session: names, joined texts, edges, what is refused, and that nothing is left over."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.events import Event, Note, Progress, Warned
from nodewise.session import Session
from nodewise.studio.work.cards import texts
from nodewise.studio.work.errors import CancelledWorkError, ConflictError
from nodewise.studio.work.upload import NewSession, Upload, check_job_name, create_session, preview, told_to_pages

WORDS = ("apple", "river", "stone", "cloud", "horse")
TABLE = "name,text,label\n" + "".join(f"n{row},{WORDS[row % 5]} {WORDS[row % 3]} {row},\n" for row in range(30))


def upload(text: str | bytes, name: str = "mine.csv") -> Upload:
    return Upload(name, io.BytesIO(text.encode() if isinstance(text, str) else text))


def make(folder: Path, nodes: Upload, edges: Upload | None = None, **asked: Any) -> Session:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    options = {"classes": ["a", "b"], "budget": 5, **asked.pop("options", {})}
    new = NewSession(**{"name": "job", "knn": 3, "options": options, **asked})
    try:
        return create_session(new, nodes, edges, folder, scratch, lambda event: None)
    finally:
        assert list(scratch.iterdir()) == [], "nothing is left of an upload"


@pytest.mark.parametrize("name", ["job", "a", "Größe 2.1 (neu)+-_", "名" * 60, "x" * 100])
def test_names_that_a_file_may_have(name: str) -> None:
    check_job_name(name)


@pytest.mark.parametrize(
    "name", ["", "x" * 101, "名" * 100, ".hidden", "a.", " a", "a ", "a/b", "a\\b", "..", "a\0", "a\nb", "a:b", "a*"]
)
def test_names_that_no_file_may_have(name: str) -> None:
    with pytest.raises(InputError, match="a session's name has 1 to 100 letters"):
        check_job_name(name)
    with pytest.raises(InputError):
        NewSession(name)


def test_a_table_of_texts_becomes_a_session_in_its_folder(tmp_path: Path) -> None:
    with make(tmp_path, upload(TABLE), text=("text",), id="name") as session:
        assert session.path == tmp_path / "job.nodewise" and session.graph.num_nodes == 30
        assert session.name_of(4) == "n4" and session.classes == ("a", "b") and session.status().budget == 5
        assert session.graph.attributes["text"][7] == "stone river 7"
        assert session.graph.num_edges >= 30, "each row is joined to those most like it"


def test_several_columns_of_texts_are_joined_and_shown_as_the_text(tmp_path: Path) -> None:
    table = "head,body,year\n" + "".join(f"{WORDS[row % 5]},more of {WORDS[row % 4]},{row}\n" for row in range(20))
    with make(tmp_path, upload(table), text=("head", "body")) as session:
        assert session.graph.attributes["text"][1] == "river\n\nmore of river"
        assert session.graph.attributes["year"][3] == "3"
        texts = {"head": "river", "body": "more of river"}
        assert {name: session.graph.attributes[name][1] for name in texts} == texts, "and the columns that they are of"


def test_columns_that_were_put_together_are_exported_as_they_came_and_can_be_changed(tmp_path: Path) -> None:
    """One of them is called text, as what is shown of all of them is here."""
    table = "head,text,year\n" + "".join(f"{WORDS[row % 5]},more of {WORDS[row % 4]},{row}\n" for row in range(20))
    with make(tmp_path, upload(table), text=("head", "text")) as session:
        assert texts(session.graph, 1)["text"] == "river\n\nmore of river"
        assert texts(session.graph, 1)["attributes"] == {"year": "1"}, "they are not shown twice"
        session.add_rows({"head": ["new"], "text": ["river"], "year": ["20"]})
        session.change_rows({1: {"head": "other"}})
        session.export(tmp_path / "full.csv", format="full")
    with (tmp_path / "full.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    told = [tuple(rows[row][name] for name in ("head", "text", "year", "joined text")) for row in (1, 2, 20)]
    assert told == [
        ("other", "more of river", "1", "other\n\nmore of river"),
        (WORDS[2], f"more of {WORDS[2]}", "2", f"{WORDS[2]}\n\nmore of {WORDS[2]}"),
        ("new", "river", "20", "new\n\nriver"),
    ]


def test_edges_are_taken_where_they_are_given(tmp_path: Path) -> None:
    edges = upload("source,target\n" + "".join(f"n{row},n{row + 1}\n" for row in range(29)), "edges.csv")
    with make(tmp_path, upload(TABLE), edges, text=("text",), id="name") as session:
        assert session.graph.num_edges == 29


def test_a_name_that_is_taken_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / "job.nodewise").write_bytes(b"mine")
    with pytest.raises(ConflictError, match="there is a session 'job' already"):
        make(tmp_path, upload(TABLE))
    assert (tmp_path / "job.nodewise").read_bytes() == b"mine"
    (tmp_path / "link.nodewise").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConflictError):
        make(tmp_path, upload(TABLE), name="link")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("table", "asked", "said"),
    [
        ("text,size\n" + "one,2,3,4\n" * 5, {"text": ("text",)}, "mine.csv"),
        (TABLE, {"text": ("absent",)}, "absent"),
        (TABLE, {"text": ("text",), "id": "absent"}, "absent"),
        (b"\x00\x01\x02", {}, "mine.csv"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_by_its_own_name(
    tmp_path: Path, table: str | bytes, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(GraphError) as refused:
        make(tmp_path, upload(table), **asked)
    assert said in str(refused.value) and str(tmp_path) not in str(refused.value)
    assert not (tmp_path / "job.nodewise").exists()


def test_a_table_of_too_many_cells_is_refused_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodewise.studio.work.upload._CELLS", 1000)
    with pytest.raises(GraphError, match="'?mine.csv'? has more than 1,000 cells"):
        make(tmp_path, upload("a,b\n" + ",\n" * 1000))
    monkeypatch.undo()
    with pytest.raises(GraphError, match="names no columns: its first line is longer"):
        make(tmp_path, upload(b"a," * 2**20))


def test_a_preview_keeps_nothing(tmp_path: Path) -> None:
    found = preview(upload(TABLE), tmp_path)
    assert found["rows"] == 30 and found["form"] == "table" and found["guess"]["text"] == "text"
    assert [column["name"] for column in found["columns"]] == ["name", "text", "label"]
    assert list(tmp_path.iterdir()) == []


def test_events_reach_the_pages_and_whoever_ends_the_work_ends_it() -> None:
    published: list[dict[str, Any]] = []
    wanted = True

    def give_way() -> None:
        if not wanted:
            raise CancelledWorkError("it was cancelled")

    report = told_to_pages(published.append, give_way, "job")
    events: list[Event] = [Progress("build", 3, 9), Note("a note"), Warned("a warning")]
    for event in events:
        report(event)
    assert published == [
        {"type": "progress", "session": "job", "what": "build", "done": 3, "total": 9},
        {"type": "note", "session": "job", "text": "a note"},
        {"type": "note", "session": "job", "text": "a warning"},
    ]
    wanted = False
    with pytest.raises(CancelledWorkError):
        report(Note("too late"))
    assert len(published) == 3
