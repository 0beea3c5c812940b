import numpy as np
import pytest

from nodewise.errors import GraphError
from nodewise.graph.columns import column_features, pick, read_columns


def write(tmp_path, text, name="t.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "name"), [("a,b\n1,x\n2,y\n", "t.csv"), ("a;b\n1;x\n2;y\n", "t.csv"), ("a\tb\r\n1\tx\r\n\r\n2\ty", "t.tsv")]
)
def test_delimiters_and_line_ends(tmp_path, text, name):
    assert read_columns(write(tmp_path, text, name)) == {"a": ["1", "2"], "b": ["x", "y"]}


def test_quotes_byte_order_mark_and_long_cells(tmp_path):
    long = "word " * 100_000
    path = write(tmp_path, f'id,text\n1,"two\nlines, ""quoted"""\n2,{long}\n', encoding="utf-8-sig")
    assert read_columns(path) == {"id": ["1", "2"], "text": ['two\nlines, "quoted"', long]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 cell, but the heading names 2"),
        ("a,a\n1,2\n", "every column needs a name of its own"),
        ("a,\n1,2\n", "every column needs a name of its own"),
        ("a,b\n", "a heading but no rows"),
        ('a,b\n1,"2\n', "line 2.*check the quotes"),
        ("", "is empty"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    with pytest.raises(GraphError, match=message):
        read_columns(write(tmp_path, text))


def test_other_encoding_is_told(tmp_path):
    with pytest.raises(GraphError, match="not UTF-8"):
        read_columns(write(tmp_path, "a,b\né,2\n", encoding="latin-1"))


def test_missing_column_is_told_with_those_there_are():
    with pytest.raises(GraphError, match=r"no column 'tekst' for the texts; the columns are 'text', 'label'"):
        pick({"text": ["x"], "label": ["y"]}, "tekst", "texts")


def test_numbers_are_standardised_and_categories_get_a_column_each():
    x, notes = column_features({"height": ["1", "2", "3", ""], "kind": ["b", "a", "", "b"]})
    deviation = np.sqrt(2 / 3)
    np.testing.assert_allclose(x, [[-1 / deviation, 0, 1], [0, 1, 0], [1 / deviation, 0, 0], [0, 0, 1]], atol=1e-6)
    assert notes == ["column 'height': 1 empty cell filled with the mean"]
    assert x.dtype == np.float32


def test_columns_that_say_nothing_are_left_out_and_told():
    columns = {"same": ["1"] * 6, "title": list("abcdef"), "zero": ["0", "0.0"] * 3, "n": list("123456")}
    x, notes = column_features(columns)
    assert x.shape == (6, 2)
    assert not x[:, 0].any()
    assert notes[0].startswith("column 'same' has the same value")
    assert "column 'title' has 6 different texts" in notes[1]


def test_no_usable_column():
    with pytest.raises(GraphError, match="no column of 'title' can become a feature"):
        column_features({"title": list("abcdef")})
