"""Uploaded folders and zips: what becomes a graph, and what is refused before it costs memory or leaves its folder."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path
from typing import BinaryIO

import pytest

from nodewise.datasets.relational import library_graph
from nodewise.graph import write_graph
from nodewise.ground.errors import GraphError
from nodewise.ground.events import Silent
from nodewise.studio.work import folders
from nodewise.studio.work.upload import NewSession, Upload, create_session, preview

FILES = {
    "nodes-paper.csv": "id,title,label\np1,On cats,pets\np2,On dogs,\np3,On bonds,money\np4,On stocks,\n",
    "nodes-author.csv": "id,name\na1,Ann\na2,Bo\na3,Cy\n",
    "edges-written by.csv": "paper,author\np1,a1\np2,a1\np2,a2\np3,a3\np4,a3\n",
}


def uploads(files: dict[str, str]) -> list[Upload]:
    return [Upload(name, io.BytesIO(text.encode())) for name, text in files.items()]


def packed(files: dict[str, str], name: str = "library.zip") -> Upload:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as made:
        for inside, text in files.items():
            made.writestr(inside, text)
    return Upload(name, content)


@pytest.mark.parametrize("form", ["files", "zip", "zip with a folder"])
def test_a_folder_of_tables_becomes_a_session(tmp_path: Path, form: str) -> None:
    first, *more = uploads(FILES)
    if form != "files":
        inside = {name if form == "zip" else f"mine/{name}": text for name, text in FILES.items()}
        first, more = packed({**inside, "__MACOSX/._x": "", "mine/.DS_Store": ""}), []
    seen = preview(first, tmp_path, more=more)
    assert (seen["types"], seen["labelled"], seen["rows"]) == (["author", "paper"], "paper", 4)
    assert seen["guess"]["label"] == "label"
    new = NewSession("job", label="label", options={"budget": 2})
    with create_session(new, first, None, tmp_path, tmp_path, Silent(), more) as session:
        record = session.graph.relations
        assert record is not None and record.labelled == "paper"
        assert [relation.name for relation in record.relations] == ["written by"]
        assert session.graph.class_names == ("money", "pets")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_another_type_can_be_labelled_and_one_is_proposed_where_no_table_has_labels(tmp_path: Path) -> None:
    bare = {**FILES, "nodes-paper.csv": "id,title\np1,On cats\np2,On dogs\np3,On bonds\np4,On stocks\n"}
    first, *more = uploads(bare)
    assert preview(first, tmp_path, more=more)["labelled"] == "author"
    assert preview(first, tmp_path, more=more, labelled="paper")["rows"] == 4
    new = NewSession("job", labelled="author", options={"budget": 2, "classes": ["one", "two"]})
    with create_session(new, first, None, tmp_path, tmp_path, Silent(), more) as session:
        assert session.graph.num_nodes == 3


def test_labels_of_a_folder_that_look_like_sets_are_said_to_and_taken_apart(tmp_path: Path) -> None:
    cells = ["pets;money", "pets", "money", "pets;money"]
    marked = "".join(f"p{number},{cell}\n" for number, cell in enumerate(cells, 1))
    first, *more = uploads({**FILES, "nodes-paper.csv": f"id,label\n{marked}p5,\n"})
    (column,) = (each for each in preview(first, tmp_path, more=more)["columns"] if each["name"] == "label")
    assert column["separator"] == ";"
    for how in ({"separator": ";"}, {}):
        new = NewSession(f"job{len(how)}", label="label", options={"budget": 1, "several": True}, **how)
        with create_session(new, first, None, tmp_path, tmp_path, Silent(), more) as session:
            graph = session.graph
            assert session.settings.several and graph.class_names == ("money", "pets") and graph.relations is not None
            assert graph.y_sets is not None
            assert graph.y_sets.tolist() == [[1, 1], [0, 1], [1, 0], [1, 1], [-1, -1]]
    with create_session(
        NewSession("one", label="label", options={"budget": 1}), first, None, tmp_path, tmp_path, Silent(), more
    ) as session:
        assert session.graph.class_names == ("money", "pets", "pets;money")


def test_a_plain_folder_is_a_graph_of_one_type(tmp_path: Path) -> None:
    files = {"nodes.csv": "id,label\na,x\nb,y\n", "edges.csv": "source,target\na,b\n"}
    seen = preview(packed(files), tmp_path)
    assert (seen["types"], seen["rows"]) == ([], 2)


def test_what_was_written_can_be_uploaded(tmp_path: Path) -> None:
    write_graph(library_graph(60), tmp_path / "library")
    files = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "library").iterdir()}
    assert preview(packed(files), tmp_path)["types"] == ["paper", "author", "venue"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"../../evil.csv": "x"}, "is no file of a graph"),
        ({"readme.txt": "x"}, "is no file of a graph"),
        ({"sub/nodes-paper.csv": "id\n1\n"}, "two files called 'nodes-paper.csv'"),
        ({"edges-written by.csv": "a,b\np1,a1\n"}, "not called after the types"),
        ({"edges-written by.csv": "paper,author\np9,a1\n"}, "edges-written by.csv, line 2: 'p9' is no id"),
        ({"graph.json": '{"relations": {"written by": ["paper", "editor"]}}'}, "names the type 'editor'"),
        ({"graph.json": "{"}, "graph.json cannot be understood"),
        ({f"nodes-{number}.csv": "id\n1\n" for number in range(70)}, "holds 73 files"),
    ],
)
def test_what_is_no_folder_of_a_graph_is_refused_in_a_sentence(
    tmp_path: Path, changed: dict[str, str], said: str
) -> None:
    with pytest.raises(GraphError, match=said) as told:
        preview(packed({**FILES, **changed}), tmp_path)
    assert str(tmp_path) not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bomb_is_refused_by_what_it_claims_and_by_what_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_UNPACKED", 2**16)
    large = packed({**FILES, "nodes-big.csv": "id\n" + "x" * 2**17})
    with pytest.raises(GraphError, match="grows to more than"):
        preview(large, tmp_path)
    data = bytearray(large.content.read() if large.content.seek(0) == 0 else b"")
    true, claimed = (2**17 + 3).to_bytes(4, "little"), (20).to_bytes(4, "little")
    assert data.count(true) == 2  # in the head of the file and in the list at the end
    with pytest.raises(GraphError, match="cannot be unpacked|grows to more"):
        preview(Upload("lying.zip", io.BytesIO(bytes(data).replace(true, claimed))), tmp_path)


def test_a_damaged_an_empty_and_an_encrypted_zip_are_refused(tmp_path: Path) -> None:
    whole = packed(FILES).content
    whole.seek(0)
    data = bytearray(whole.read())
    torn = data.copy()
    torn[60] ^= 0xFF
    for wrong, said in (
        (b"PK no zip", "cannot be unpacked"),
        (bytes(data[: len(data) // 2]), "cannot be unpacked"),
        (bytes(torn), "cannot be unpacked"),
    ):
        with pytest.raises(GraphError, match=said):
            preview(Upload("x.zip", io.BytesIO(wrong)), tmp_path)
    with pytest.raises(GraphError, match="holds 0 files"):
        preview(packed({}), tmp_path)
    locked = data.copy()
    for head, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := locked.find(head, at + 1)) >= 0:
            locked[at + flag] |= 1
    with pytest.raises(GraphError, match="is encrypted"):
        preview(Upload("x.zip", io.BytesIO(bytes(locked))), tmp_path)


def test_more_files_than_a_graph_has_are_refused(tmp_path: Path) -> None:
    many = uploads({f"nodes-{number}.csv": "id\n1\n" for number in range(70)})
    with pytest.raises(GraphError, match="70 files were given"):
        preview(many[0], tmp_path, more=many[1:])


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_zip_is_read_or_refused_however_it_is_packed(tmp_path: Path, method: int) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        for name in ("nodes-paper.csv", "edges-by.csv"):
            archive.writestr(name, "id,x\n" + "\n".join(f"{row},{row * row}" for row in range(300)))
    refused = 0
    for number in range(60):
        chance, content = random.Random(number), bytearray(whole.getvalue())
        for _ in range(8):
            content[chance.randrange(len(content))] = chance.randrange(256)
        (tmp_path / str(number)).mkdir()
        try:
            folders.put_zip("x.zip", io.BytesIO(content), tmp_path / str(number), copied)
        except GraphError:
            refused += 1
    assert refused > 30


def test_a_zip_whose_list_would_lie_before_its_beginning_is_refused(tmp_path: Path) -> None:
    """A real file, which answers such a place with an error of the system."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("nodes-paper.csv", "id\n1\n")
    content = bytearray((tmp_path / "x.zip").read_bytes())
    at = content.rindex(b"PK\x05\x06") + 16
    content[at : at + 4] = b"\xff\xff\xff\x7f"
    (tmp_path / "x.zip").write_bytes(content)
    (tmp_path / "unpacked").mkdir()
    with (tmp_path / "x.zip").open("rb") as file, pytest.raises(GraphError, match="cannot be unpacked"):
        folders.put_zip("x.zip", file, tmp_path / "unpacked", copied)


def copied(name: str, source: BinaryIO, target: BinaryIO) -> None:
    while piece := source.read(2**16):
        target.write(piece)
