from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.datasets.reddit import dumps
from nodewise.datasets.reddit.dumps import TOO_LONG, read_chunks


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" ")), max_size=30),
    size=st.integers(1, 200),
    ended=st.booleans(),
)
def test_chunks_are_the_lines_of_the_file_cut_at_newlines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, ended: bool
) -> None:
    path = tmp_path_factory.mktemp("dump") / "RS"
    lines = [b"{}", *lines]  # so that it does not look like a packed file
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    path.write_bytes(data)
    chunks = list(read_chunks(path, size))
    if data and not data.endswith(b"\n"):
        data += b"\n"
    assert b"".join(chunk.data for chunk in chunks) == data
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.data.endswith(b"\n")
        assert chunk.lines == chunk.data.count(b"\n")
    for chunk in chunks[:-1]:
        assert len(chunk.data) >= size
        assert chunk.data.count(b"\n", 0, size - 1) == chunk.lines - 1  # not one line more than needed


def test_chunks_do_not_depend_on_the_pieces_that_a_decompressor_happens_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "RC"
    path.write_bytes(b"".join(b"%d\n" % (number**5) for number in range(2000)))
    whole = [chunk.data for chunk in read_chunks(path, 700)]
    for size in (1, 7, 1000):
        monkeypatch.setattr(dumps, "_SLICE", size)
        assert [chunk.data for chunk in read_chunks(path, 700)] == whole


def test_a_line_that_is_too_long_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "MAX_LINE", 10)
    monkeypatch.setattr(dumps, "_SLICE", 4)
    path = tmp_path / "RC"
    path.write_bytes(b"a\n" + b"x" * 10 + b"\n" + b"y" * 11 + b"\nb\n" + b"z" * 50)
    (chunk,) = read_chunks(path, 10**6)
    assert chunk.data.split(b"\n") == [b"a", b"x" * 10, TOO_LONG, b"b", TOO_LONG, b""]
    assert chunk.lines == 5


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "RC"
    path.write_bytes(b"\xef\xbb\xbf{}\n")
    assert next(read_chunks(path, 10)).data == b"{}\n"


def test_an_empty_file_has_no_chunks(tmp_path: Path) -> None:
    path = tmp_path / "RC"
    path.write_bytes(b"")
    assert list(read_chunks(path, 10)) == []
