"""Tables as people have them: in other encodings, without a heading, as JSON lines or parquet, of pictures alone; and
graphs.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from nodewise.graph.tables.excel import write_excel
from nodewise.graph.tables.table import read_table
from nodewise.ground.errors import GraphError
from nodewise.studio.work import table_files
from nodewise.studio.work.table_files import guess_encoding, normalise_table
from tests.studio.serving import API, Client, running

ROWS = [
    {
        "note": f"the {'cat' if n % 2 else 'dog'} sat beside the mat number {n}",
        "more": f"further words {n % 3}",
        "kind": "cat" if n % 2 else "dog",
    }
    for n in range(20)
]


def table(delimiter: str = ",", header: bool = True) -> str:
    lines = [delimiter.join(ROWS[0])] if header else []
    return "\n".join([*lines, *(delimiter.join(row.values()) for row in ROWS)]) + "\n"


def preview(client: Client, name: str, content: bytes, **fields: Any) -> Any:
    answer = client.post(f"{API}/preview", files={"nodes": (name, content)}, data=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def make(client: Client, file: str, content: bytes, **fields: Any) -> Any:
    data = {"name": "made", "knn": 3, "budget": 5, **fields}
    answer = client.post(f"{API}/session", files={"nodes": (file, content)}, data=data)
    assert answer.status_code == 201, answer.text
    return client.look("/status")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_guessed(tmp_path: Path, encoding: str) -> None:
    content = table().replace("cat sat", "Kätzchen saß").encode(encoding)
    with running(tmp_path) as client:
        assert preview(client, "t.csv", content)["encoding"] == encoding.removesuffix("-sig")
        make(client, "t.csv", content, text="note")
        assert "Kätzchen saß" in client.look("/nodes/1")["text"]


def test_an_encoding_can_be_chosen(tmp_path: Path) -> None:
    content = table().replace("cat sat", "кот сидел").encode("koi8-r")
    with running(tmp_path) as client:
        assert preview(client, "t.csv", content, encoding="koi8-r")["encoding"] == "koi8-r"
        make(client, "t.csv", content, text="note", encoding="koi8-r")
        assert "кот сидел" in client.look("/nodes/1")["text"]
        refused = client.post(f"{API}/preview", files={"nodes": ("t.csv", content)}, data={"encoding": "klingon"})
        assert refused.status_code == 400 and "no known encoding" in refused.json()["error"]


def test_a_missing_heading_is_noticed_and_what_was_noticed_can_be_corrected(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        guessed = preview(client, "t.csv", table(header=False).encode())
        assert not guessed["header"] and [column["name"] for column in guessed["columns"]] == [
            "column 1",
            "column 2",
            "column 3",
        ]
        assert guessed["rows"] == 20 and preview(client, "t.csv", table().encode())["header"]
        assert preview(client, "t.csv", table(header=False).encode(), header="true")["rows"] == 19
        assert make(client, "t.csv", table(header=False).encode(), text="column 1")["nodes"] == 20


def test_names_of_columns_may_be_odd(tmp_path: Path) -> None:
    content = '" a\nb ",,note,note,"q"\n' + "".join(f"{n},x,the cat {n},dog {n},z\n" for n in range(9))
    with running(tmp_path) as client:
        assert [column["name"] for column in preview(client, "t.csv", content.encode())["columns"]] == [
            "a b",
            "column 2",
            "note",
            "note 2",
            "q",
        ]
        assert make(client, "t.csv", content.encode(), text="note 2")["nodes"] == 9


def test_json_lines_and_arrays_are_tables(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({**row, "extra": None, "tags": [n]}) for n, row in enumerate(ROWS))
    with running(tmp_path) as client:
        for name, content in (("t.jsonl", lines), ("t.json", json.dumps(ROWS))):
            assert preview(client, name, content.encode())["rows"] == 20
        make(client, "t.jsonl", lines.encode(), text="note")
        card = client.look("/nodes/3")
        assert (
            card["text"] == ROWS[3]["note"]
            and card["attributes"]["kind"] == "cat"
            and card["attributes"]["tags"] == "[3]"
        )
        broken = client.post(f"{API}/preview", files={"nodes": ("t.jsonl", b'{"a": 1\n')})
        assert broken.status_code == 400 and broken.json()["error"].startswith("t.jsonl cannot be read as JSON lines")


def test_parquet_is_a_table(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_json('{tmp_path / 't.jsonl'}')) TO '{tmp_path / 't.parquet'}' (FORMAT parquet)"
        )
    with running(tmp_path) as client:
        content = (tmp_path / "t.parquet").read_bytes()
        assert preview(client, "t.parquet", content)["rows"] == 20
        assert make(client, "t.parquet", content, text="note")["nodes"] == 20
        broken = client.post(f"{API}/preview", files={"nodes": ("t.parquet", b"no parquet")})
        assert broken.status_code == 400 and "cannot be read as parquet" in broken.json()["error"]


def test_several_columns_of_texts_are_joined(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        make(client, "t.csv", table().encode(), text=["note", "more"])
        card = client.look("/nodes/4")
        assert card["text"] == f"{ROWS[4]['note']}\n\n{ROWS[4]['more']}" and card["attributes"] == {"kind": "dog"}


def test_classes_may_be_separated_by_commas_semicolons_or_lines(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        assert make(client, "t.csv", table().encode(), text="note", classes="a; b\nc,d")["classes"] == [
            "a",
            "b",
            "c",
            "d",
        ]


def test_one_row_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        answer = client.post(f"{API}/preview", files={"nodes": ("t.csv", b"note,kind\nhello,x\n")})
        assert answer.status_code == 400 and answer.json()["error"].startswith(
            "t.csv holds one row, and a row is predicted by its neighbours"
        )


@pytest.mark.slow
def test_graphs_are_taken_as_they_are(tmp_path: Path) -> None:
    from nodewise.graph import write_graph
    from tests.small_graphs import block_graph

    write_graph(block_graph(30), tmp_path / "g.graphml")
    with running(tmp_path) as client:
        content = (tmp_path / "g.graphml").read_bytes()
        shown = preview(client, "g.graphml", content)
        assert shown["form"] == "graph" and shown["rows"] == 30 and shown["guess"]["label"] == "label"
        assert make(client, "g.graphml", content, classes="x, y")["nodes"] == 30
        assert client.look("/status")["given"] == 0, "labels that nobody chose stay out of sight"
        edges = "".join(f"{n} {(n + 1) % 30}\n" for n in range(30)).encode()
        assert preview(client, "g.edges", edges)["rows"] == 30
        assert make(client, "g.edges", edges, name="ring", classes="x, y")["name"] == "made"
        assert client.look("/nodes/4", session="ring")["degree"] == 2


def test_a_table_of_pictures_alone(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for n in range(12):
        image.new("RGB", (8, 8), (255 * (n % 2), 255 * (1 - n % 2), 10 * n)).save(pictures / f"{n}.png")
    content = ("picture,who\n" + "".join(f"{n}.png,somebody {n}\n" for n in range(12))).encode()
    with running(tmp_path, pictures=pictures) as client:
        assert make(client, "t.csv", content, knn=2)["nodes"] == 12
        assert (
            client.look("/nodes/3")["picture"]
            and client.get(f"{API}/nodes/3/picture").headers["content-type"] == "image/png"
        )
        assert all(near["node"] % 2 == 0 for near in client.look("/nodes/0/neighbourhood")["nodes"]), (
            "those that look alike are joined"
        )
        outside = client.post(
            f"{API}/session",
            files={"nodes": ("t.csv", content.replace(b"3.png", b"../t"))},
            data={"name": "x", "budget": 3},
        )
        assert outside.status_code == 400 and "line 5: there is no picture '../t'" in outside.json()["error"]


def test_labels_of_a_table_can_be_an_answer_key(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        now = make(client, "t.csv", table().encode(), text="note", label="kind", labels_as="key", classes="cat, dog")
        assert (
            now["given"] == 0
            and client.look("/nodes/1")["label"] is None
            and client.look("/nodes/1")["attributes"].get("kind") is None
        )
        client.say("/tell", labels=[{"node": node, "label": ROWS[node]["kind"]} for node in range(6)])
        key = client.look("/report")["key"]
        assert key["of"] == 14 and key["right"] >= 12


def test_an_excel_file_is_a_table(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    write_excel(tmp_path / "nodes", ["id", "text"], [["one", "a text"], ["two", "another"]])
    made = normalise_table(tmp_path / "nodes", "mine.XLSX", tmp_path / "table.csv")
    assert made.encoding == "excel" and made.header
    assert read_table(made.path).columns == {"id": ["one", "two"], "text": ["a text", "another"]}
    with pytest.raises(GraphError, match=r"old Excel: open it there and save it as .xlsx"):
        normalise_table(tmp_path / "nodes", "mine.xls", tmp_path / "table.csv")


def test_messages_name_the_line_of_the_file_that_was_given(tmp_path: Path) -> None:
    source = tmp_path / "nodes"
    source.write_text('id,text\n\n\na,"one\ntwo"\nb,too,many\n', encoding="utf-8")
    with pytest.raises(GraphError, match="line 6: 3 cells where the first row has 2"):
        normalise_table(source, "t.csv", tmp_path / "table.csv")
    source.write_text('id,text\n\n\na,"one\ntwo"\n\nb,three\n', encoding="utf-8")
    assert read_table(normalise_table(source, "t.csv", tmp_path / "table.csv").path).lines == [5, 7]
    source.write_text('id,text\na,one\nb,"two" and more\nc,three\n', encoding="utf-8")
    with pytest.raises(GraphError, match="line 3 cannot be read as CSV"):
        normalise_table(source, "t.csv", tmp_path / "table.csv")
    source.write_text('{"a": "x"}\n{"a": }\n', encoding="utf-8")
    with pytest.raises(GraphError, match="line 2 cannot be read as JSON lines"):
        normalise_table(source, "t.jsonl", tmp_path / "table.csv")


def test_only_a_line_feed_ends_a_json_line(tmp_path: Path) -> None:
    source = tmp_path / "nodes"
    source.write_text('{"a": "x\u2028y"}\r\n\n{"a": "\x85z"}\n', encoding="utf-8")
    assert read_table(normalise_table(source, "t.jsonl", tmp_path / "table.csv").path).columns == {
        "a": ["x\u2028y", "\x85z"]
    }


def test_a_carriage_return_in_a_cell_makes_no_row(tmp_path: Path) -> None:
    source, rows = tmp_path / "nodes", {"id": ["a", "b", "c"], "text": ["one\rtwo", "x\r\ny", "\r=cmd"]}
    lines = [json.dumps(dict(zip(rows, row, strict=True))) for row in zip(*rows.values(), strict=True)]
    source.write_text("\n".join(lines), encoding="utf-8")
    assert read_table(normalise_table(source, "t.jsonl", tmp_path / "table.csv").path).columns == rows


def test_json_lines_with_a_key_each_are_refused_before_a_table_is_made(tmp_path: Path) -> None:
    source = tmp_path / "nodes"
    source.write_text("".join(f'{{"k{number}": 1}}\n' for number in range(4000)), encoding="utf-8")
    with pytest.raises(GraphError, match="4,000 objects with 4,000 different keys"):
        normalise_table(source, "t.jsonl", tmp_path / "table.csv")
    assert not (tmp_path / "table.csv").exists() or (tmp_path / "table.csv").stat().st_size == 0


def test_parquet_that_grows_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    source = tmp_path / "bomb.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT repeat('x', 20000) AS t FROM range(3000)) TO '{source}' (FORMAT parquet)")
    assert source.stat().st_size < 2**20
    monkeypatch.setattr(table_files, "WRITTEN", 2**24)
    with pytest.raises(GraphError, match="MB when it is unpacked"):
        normalise_table(source, "bomb.parquet", tmp_path / "table.csv")
    monkeypatch.setattr(table_files, "CELLS", 2999)
    with pytest.raises(GraphError, match="3,000 cells of"):
        normalise_table(source, "bomb.parquet", tmp_path / "table.csv")


def test_label_studios_tasks_are_a_table_of_what_they_show_with_the_label_that_was_chosen(tmp_path: Path) -> None:
    choice = {"type": "choices", "from_name": "kind", "to_name": "text", "value": {"choices": ["plant"]}}
    tasks = [
        {"id": n, "data": {"text": f"fern {n}", "place": "river"}, "annotations": [{"result": [choice]}] if n else []}
        for n in range(3)
    ]
    source = tmp_path / "tasks.json"
    source.write_text(json.dumps(tasks))
    written = normalise_table(source, "tasks.json", tmp_path / "out.csv")
    rows = list(csv.reader(written.path.read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["id", "text", "place", "label", "annotator"]
    assert rows[1:] == [
        ["0", "fern 0", "river", "", ""],
        ["1", "fern 1", "river", "plant", ""],
        ["2", "fern 2", "river", "plant", ""],
    ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_recognised(tmp_path: Path, encoding: str) -> None:
    source = tmp_path / "table.csv"
    source.write_bytes("text,place\nhéllo,x\nwörld,y\n".encode(encoding))
    assert guess_encoding(source) == encoding
    assert "wörld,y" in normalise_table(source, "table.csv", tmp_path / "out.csv").path.read_text(encoding="utf-8")


def test_a_quote_that_is_never_closed_is_told_by_the_line_on_which_it_opens(tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text('text,place\nhello,x\n"unclosed,y\nmore,z\nagain,w\n')
    with pytest.raises(GraphError, match=r"line 3 cannot be read as CSV .*goes on to line 5"):
        normalise_table(source, "table.csv", tmp_path / "out.csv")
