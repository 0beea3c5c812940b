"""What a table's columns seem to hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.ground.errors import GraphError
from nodewise.studio.work.preview import preview_table


def looked_at(path: Path, text: str) -> dict[str, str]:
    path.write_text(text, encoding="utf-8")
    return {column["name"]: column["kind"] for column in preview_table(path)["columns"]}


def test_kinds_are_told_from_names_and_cells(tmp_path: Path) -> None:
    rows = "".join(
        f"{n},a long sentence about {n},{'yes' if n % 2 else 'no'},{n / 3:.2f},https://x.org/{n},w{n}\n"
        for n in range(40)
    )
    kinds = looked_at(tmp_path / "t.csv", "id,abstract,spam,size,link,code\n" + rows)
    assert kinds == {
        "id": "id",
        "abstract": "text",
        "spam": "label",
        "size": "number",
        "link": "other",
        "code": "other",
    }


def test_a_column_called_label_may_hold_numbers(tmp_path: Path) -> None:
    rows = "".join(f"t{n} word word,{n % 4}\n" for n in range(40))
    path = tmp_path / "t.csv"
    assert looked_at(path, "text,label\n" + rows) == {"text": "text", "label": "label"}
    assert preview_table(path)["guess"] == {"text": "text", "label": "label", "id": None}


def test_titles_that_repeat_are_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"Closed early {n % 5},the {n}th long text of a letter\n" for n in range(40))
    assert looked_at(path, "title,text\n" + rows)["title"] != "label"
    assert looked_at(path, "reason,text\n" + rows)["reason"] == "label"


def test_an_id_that_repeats_is_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert looked_at(path, "id,text\n1,a b c d\n1,e f g h\n")["id"] != "id"
    assert preview_table(path)["guess"]["id"] is None


def test_the_longest_of_the_usual_columns_is_the_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(
        f"a title of {n},{'many words of a body ' * 5}{n},{'words of a remark ' * 20}{n}\n" for n in range(9)
    )
    looked_at(path, "title,body,remark\n" + rows)
    assert preview_table(path)["guess"]["text"] == "body"


def test_other_delimiters_a_mark_at_the_beginning_and_line_breaks_in_cells(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('\ufeffname;text\nx;"one\ntwo three; four"\ny;"z"\n', encoding="utf-8")
    found = preview_table(path)
    assert [column["name"] for column in found["columns"]] == ["name", "text"] and found["rows"] == 2
    assert found["columns"][1]["examples"][0] == "one\ntwo three; four"


def test_all_rows_are_counted_and_examples_are_short_and_different(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + f"{'x' * 500},\n" * 1500 + "y,z\n", encoding="utf-8")
    found = preview_table(path)
    assert (
        found["rows"] == 1501
        and found["columns"][0]["examples"] == ["x" * 120]
        and found["columns"][1]
        == {
            "name": "b",
            "kind": "other",
            "examples": [],
            "separator": None,
            "filled": 0.0,
        }
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00\x01", "is not encoded as utf-8"),
        (b"a,b\n", "names columns but holds no rows"),
        (b'a,b\n"1,2\n', "cannot be read as CSV"),
        (",".join(f"c{n}" for n in range(501)).encode() + b"\n", "has 501 columns"),
        (b"\n\n", "has no rows"),
    ],
)
def test_what_is_no_table_is_told(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(GraphError, match=said):
        preview_table(path)


def test_a_column_that_differs_on_every_row_is_proposed_as_the_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"T-{number},{number * 1.5},A sentence of several words about number {number}" for number in range(1200)]
    path.write_text("\n".join(["ticket,price,body", *rows]) + "\n", encoding="utf-8")
    assert preview_table(path)["guess"]["id"] == "ticket", "neither the prices nor the texts"
    path.write_text("\n".join(["ticket,price,body", *rows, rows[3]]) + "\n", encoding="utf-8")
    assert preview_table(path)["guess"]["id"] is None, "the last row is called like the fourth"
    path.write_text("Order No,body\n" + "".join(f"{n},Some words {n}\n" for n in (17, 4, 9)), encoding="utf-8")
    assert preview_table(path)["guess"]["id"] == "Order No"
