from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from nodewise.datasets.reddit.glove import check_glove, read_glove
from nodewise.datasets.reddit.vectors import word_vectors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Silent
from tests.datasets.reddit.small_month import zipped

LINES = [
    b"cat 1 2",
    b". . . 9 9",
    b"dog 3.5 -4e-1",
    b" 7 7",
    b"at name@domain.com 8 8",
    b"5 0 1",
    b"na\xc2\xa0me 6 6",
    b"\xc2\x85 6 6",
    b"cat 0 0",
]
WORDS = {"cat", "dog", "5", "at", ".", "", "bird"}


def write(folder: Path, lines: list[bytes], name: str = "glove.txt") -> Path:
    path = folder / name
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def read(path: Path, width: int = 2, words: set[str] = WORDS) -> dict[str, list[float]]:
    found, vectors = read_glove(path, words, width, Silent())
    return dict(zip(found, vectors.tolist(), strict=True))


EXPECTED = {"cat": [1.0, 2.0], "dog": [3.5, pytest.approx(-0.4)], "": [7.0, 7.0], "5": [0.0, 1.0]}


def test_words_with_spaces_empty_words_numbers_and_repeated_words(tmp_path: Path) -> None:
    assert read(write(tmp_path, LINES)) == EXPECTED


def test_packed_files(tmp_path: Path) -> None:
    plain = write(tmp_path, LINES).read_bytes()
    packed = tmp_path / "glove.txt.gz"
    packed.write_bytes(gzip.compress(plain))
    assert read(packed) == EXPECTED
    assert read(zipped(tmp_path / "one.zip", any=plain)) == EXPECTED
    assert read(zipped(tmp_path / "several.zip", glove_6B_2d=plain, glove_6B_50d=b"cat 1\n")) == EXPECTED


def test_a_line_longer_than_a_piece_a_missing_last_newline_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_bytes(b"cat 1 2\r\n" + b"x" * 3_000_000 + b" 1 1\r\n\r\n" + b"dog 3 4")
    assert read(path) == {"cat": [1.0, 2.0], "dog": [3.0, 4.0]}


def test_no_needed_word_gives_an_array_without_rows(tmp_path: Path) -> None:
    found, vectors = read_glove(write(tmp_path, LINES), {"zebra"}, 2, Silent())
    assert (found, vectors.shape) == ([], (0, 2))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            [b"cat 1 2 3"],
            r"glove.txt has vectors of 3 numbers \(line 1 has 4 fields\), but 2 are asked for: .* ask for width 3",
        ),
        ([b". . . 1"], "has vectors of 1 numbers"),
        ([b"1000 2"], "has vectors of 1 numbers"),
        ([], "glove.txt is empty"),
        ([b"cat 1 2", b"dog 1"], "glove.txt line 2 has 1 numbers, the lines before it 2"),
        ([b"cat 1 2", b"x 0 0", b"dog 1 2 3"], "glove.txt line 3 has 3 numbers, the lines before it 2"),
        ([b"cat 1 2", b"dog"], "line 2 has 0 numbers"),
        ([b"cat 1 2", b"dog 1 x"], "line 2 is no word vector"),
        ([b"cat 1 2", b"dog 1 nan"], "line 2 holds a number that is not finite"),
        ([b"cat 1 2", b"x 1 2", b"<html>"], "line 3 has 0 numbers"),
    ],
)
def test_what_is_wrong_is_told_with_the_line(tmp_path: Path, lines: list[bytes], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(write(tmp_path, lines))


def test_a_file_of_another_width_is_told_from_its_first_line(tmp_path: Path) -> None:
    path = write(tmp_path, [b"cat 1 2", b"dog 1"])
    check_glove(path, 2)
    with pytest.raises(InputError, match="vectors of 2 numbers"):
        check_glove(path, 300)


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_a_truncated_archive_is_told(tmp_path: Path, kind: str, kept: float) -> None:
    plain = write(tmp_path, [b"word%d 1 %d" % (number, number**3) for number in range(5000)]).read_bytes()
    whole = zipped(tmp_path / "whole.zip", any=plain).read_bytes() if kind == "zip" else gzip.compress(plain)
    path = tmp_path / f"glove.{kind}"
    path.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(InputError, match=rf"glove\.{kind} is (damaged|truncated)"):
        read(path)


def test_an_archive_that_leaves_a_choice_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds a\.txt, b\.txt: pack the one GloVe text"):
        read(zipped(tmp_path / "glove.zip", a=b"cat 1 2\n", b=b"cat 1 2\n"))


def test_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no GloVe file at"):
        check_glove(tmp_path / "none.txt", 300)


def test_vectors_from_several_files_are_kept_for_the_next_time(tmp_path: Path) -> None:
    files = [write(tmp_path, [b"cat 1 2"], "a.txt"), write(tmp_path, [b"cat 9 9", b"dog 3 4"], "b.txt")]
    place, vectors = word_vectors(files, WORDS, 2, tmp_path, Silent())
    assert {word: vectors[row].tolist() for word, row in place.items()} == {"cat": [1.0, 2.0], "dog": [3.0, 4.0]}
    heard: list[object] = []
    again, same = word_vectors(files, WORDS, 2, tmp_path, heard.append)
    assert (again, same.tolist(), heard) == (place, vectors.tolist(), [])
    word_vectors(files, {"dog"}, 2, tmp_path, heard.append)
    assert heard  # other words: the files are read again
