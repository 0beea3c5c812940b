"""Rows that must go: nothing of them is left in the new file, and all else is there as it was."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.session import Session
from nodewise.session.answers import Draft
from tests.session.test_growing import texts

SECRET = "zanzibarian purr fur meow quillfeather"


def held_bytes(path: Path) -> bytes:
    """All that a file holds: as it lies there, and what is packed in it unpacked."""
    found = [path.read_bytes()]
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT content FROM parts UNION ALL SELECT content FROM attachments").fetchall()
    found += [json.dumps(row).encode() for row in connection.execute("SELECT body FROM events")]
    connection.close()
    for (content,) in rows:
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for name in archive.namelist():
                    member = archive.read(name)
                    found.append(member)
                    if name.endswith(".npy"):
                        array = np.load(io.BytesIO(member), allow_pickle=False)
                        found.append(str(array.tolist()).encode())
        else:
            found.append(content)
    everything = b"\n".join(found)
    return everything + everything.replace(b"\0", b"")  # texts of four bytes a letter


@pytest.fixture
def job(tmp_path: Path) -> Session:
    """A job of 60 named rows, of which number 7 must go; people and a model have said something of it."""
    rows, kinds = texts(60, 1)
    rows[7], rows[8] = SECRET, "zanzibarian road"
    graph = Graph.from_dataframe({"id": [f"person-{n}" for n in range(60)], "text": rows}, text="text", id="id", k=5)
    session = Session.create(tmp_path / "job", graph, budget=20, audit=6, classes=["cat", "car"])
    audit = session.rules().audit
    told = [node for node in range(20) if node not in audit and node != 7]
    session.tell(told, [kinds[node] for node in told], "ada")
    session.tell(7, "strange", "ada")
    session.add_note(7, "a note on it")
    session.tell_bulk([7, 40], ["odd", "car"], "bob", overrule=True)
    session.suggest("model", {7: "cat", 9: "car"})
    session.ask(5, annotator="eve")
    session.add_rows({"id": ["new 1", "new 2"], "text": [SECRET + " again", "road wheel"]})
    session.change_rows({"person-7": SECRET + " changed", "person-9": "motor brake"})
    session.skip("new 1", annotator="eve")
    return session


def test_nothing_is_left_of_the_rows_and_all_else_stays(job: Session, tmp_path: Path) -> None:
    before, events, old = job.refresh(), job.events, job.path.read_bytes()
    assert b"quillfeather" in held_bytes(job.path) and b"person-7" in held_bytes(job.path)
    gone = job.erase_rows(["person-7", 60], tmp_path / "new", "owner")
    assert job.path.read_bytes() == old and gone.rows == (7, 60)
    left = held_bytes(tmp_path / "new")
    for trace in (b"quillfeather", b'person-7"', b"person-7'", b"a note on it", b"new 1"):
        assert trace not in left, trace
    assert b"zanzibarian" in left, "another row has that word as well"
    with Session.open(tmp_path / "new") as new:
        history = new.refresh()
        assert [event.id for event in new.events] == list(range(1, len(events) + 2))
        assert {(e.at, e.annotator) for e in new.events[:-1]} == {(e.at, e.annotator) for e in events}
        assert new.events[-1].kind == "erase" and new.events[-1].annotator == "owner"
        others = {node: votes for node, votes in before.votes.items() if node not in (7, 60)}
        assert dict(history.votes) == others and history.notes == {} and history.gone == {7, 60}
        assert new.rules().audit == tuple(node for node in job.rules().audit if node not in (7, 60))
        assert history.classes.names == before.classes.names, "no class loses its number with the row that brought it"
        assert new.graph.num_nodes == 62 and not new.graph.degree[[7, 60]].any()
        keep = [node for node in range(62) if node not in (7, 60)]
        assert new.graph.attributes["text"][keep].tolist() == job.graph.attributes["text"][keep].tolist()
        among = {(int(a), int(b)) for a, b in job.graph.edge_index.T if not {7, 60} & {int(a), int(b)}}
        assert {(int(a), int(b)) for a, b in new.graph.edge_index.T} == among
        assert np.isfinite(new.predict().probabilities).all()
        assert 7 not in {query.node for query in new.ask(3, annotator="new")}
        assert new.suggestions[0].numbers[[7, 9]].tolist() == [0, 2]
        assert new.add_rows({"id": ["new 3"], "text": ["purr meow"]}) == range(62, 63)
        new.undo()
        with pytest.raises(InputError, match="cannot be undone"):
            new.undo(event=next(e.id for e in new.events if e.kind == "erase"))
        with pytest.raises(InputError, match="taken out"):
            new.tell(7, "cat")
        with Session.open(tmp_path / "new") as again:
            assert again.graph.equals(new.graph) and again.labels == new.labels
    assert (gone.answers, gone.events) == (3, 3)  # two votes and a suggestion; tell, note and skip


def test_a_word_that_no_other_row_has_is_forgotten(tmp_path: Path) -> None:
    rows = texts(60, 1)[0]
    rows[4], rows[5] = "xylograph purr", "xylograph road"
    with Session.create(tmp_path / "job", Graph.from_texts(rows, k=5), budget=9, classes=["cat", "car"]) as job:
        assert b"xylograph" in held_bytes(job.path)
        assert job.erase_rows([4], tmp_path / "one").words == 0 and b"xylograph" in held_bytes(tmp_path / "one")
        assert job.erase_rows([4, 5], tmp_path / "both").words == 1
    assert b"xylograph" not in held_bytes(tmp_path / "both")
    with Session.open(tmp_path / "both") as new:
        new.add_rows(["xylograph purr"])
        assert new.graph.degree[60] == 5


def test_an_encoders_texts_go_as_well(tmp_path: Path) -> None:
    def encoder(given: list[str]) -> np.ndarray:
        return np.array([[len(text), text.count("r"), text.count("w") + 1] for text in given], np.float32)

    rows = texts(30, 1)[0]
    rows[0] = SECRET
    with Session.create(
        tmp_path / "job", Graph.from_texts(rows, k=5, encoder=encoder), budget=9, classes=["cat", "car"]
    ) as job:
        assert b"quillfeather" in held_bytes(job.path)
        job.erase_rows([0], tmp_path / "one")
        job.erase_rows(list(range(20)), tmp_path / "many")
    assert b"quillfeather" not in held_bytes(tmp_path / "one")
    for name in ("one", "many"):
        with Session.open(tmp_path / name) as new:
            new.add_rows([SECRET], encoder=encoder)
            assert new.graph.degree[30] == 5


def test_it_says_where_the_same_words_still_stand(job: Session, tmp_path: Path) -> None:
    job.add_note(12, "see person-7 as well")
    job.set_guideline("as in " + SECRET)
    gone = job.erase_rows([7], tmp_path / "new")
    kinds = {job.events[int(place.split()[1]) - 1].kind for place in gone.mentioned if place.startswith("event")}
    assert kinds == {"note", "describe"} and "text of row 60" in gone.mentioned
    gone = job.erase_rows([8], tmp_path / "other")
    assert gone.mentioned == ()


def test_reasons_that_name_the_row_are_left_out(job: Session, tmp_path: Path) -> None:
    why = ["it is near to person-7", "it is near to person-77", "it has 5 neighbours"]
    job._change(lambda history: [Draft("ask", "zoe", {"node": 30, "why": why})])
    assert job.erase_rows([7], tmp_path / "new").reasons >= 1
    with Session.open(tmp_path / "new") as new:
        assert new.events[-2].body["why"] == why[1:]


def test_labels_given_with_the_graph_keep_their_numbers_and_the_audit_its_draw(tmp_path: Path) -> None:
    rows, kinds = texts(60, 1)
    given = ["second", *kinds[1:20], *[""] * 40]
    known = Graph.build(np.zeros((2, 0), np.int64), 60, y=given)
    graph = replace(Graph.from_texts(rows, k=5), y=known.y, class_names=known.class_names)
    with Session.create(tmp_path / "job", graph, budget=10, audit=8) as job:
        job.tell(30, "third")
        job.erase_rows([0, 41], tmp_path / "new")
        with Session.open(tmp_path / "new") as new:
            assert new.class_list.names == job.class_list.names
            assert new.rules().audit == tuple(node for node in job.rules().audit if node != 41)
            assert new.labels == {node: label for node, label in job.labels.items() if node not in (0, 41)}


def test_what_cannot_be_erased_is_refused_and_nothing_is_written(job: Session, tmp_path: Path) -> None:
    for rows, path, said in (
        (["nobody"], tmp_path / "new", "nobody"),
        ([], tmp_path / "new", "at least one"),
        ([7], job.path, "session itself"),
        ([7], tmp_path / "none" / "new", "no folder"),
    ):
        with pytest.raises(InputError, match=said):
            job.erase_rows(rows, path)
    (tmp_path / "there").write_text("something")
    with pytest.raises(InputError, match="already"):
        job.erase_rows([7], tmp_path / "there")
    assert (tmp_path / "there").read_text() == "something" and not (tmp_path / "new").exists()


def test_an_older_file_loses_a_row_and_its_classes_keep_their_numbers(tmp_path: Path) -> None:
    """Of a form in which labels had no numbers."""
    packed = Path(__file__).parents[1] / "first_form.nodewise.gz"
    (tmp_path / "old").write_bytes(gzip.decompress(packed.read_bytes()))
    with Session.open(tmp_path / "old") as old:
        first = next(iter(old.refresh().ballots))
        classes, labels = old.class_list.names, old.labels
        old.erase_rows([first], tmp_path / "new")
    with Session.open(tmp_path / "new") as new:
        assert new.class_list.names == classes
        assert new.labels == {node: label for node, label in labels.items() if node != first}
