from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodewise.datasets.reddit import Limits, ingest
from nodewise.datasets.reddit.ingest import Ingested
from nodewise.datasets.reddit.records import COMMENTS, SUBMISSIONS
from nodewise.datasets.reddit.work import Work
from nodewise.ground.errors import InputError, NodewiseError
from nodewise.ground.events import Event, Progress, Silent, Warned
from tests.datasets.reddit.small_month import PACK


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    work = Work(tmp_path / "work", Limits(memory_gb=1, threads=2))
    yield work
    work.close()


def comment(number: int) -> bytes:
    return json.dumps(
        {"id": f"c{number}", "link_id": f"t3_p{number % 7}", "author": f"u{number % 5}", "body": "x" * (number % 50)}
    ).encode()


def write(path: Path, lines: list[bytes], ending: str = "") -> Path:
    path.write_bytes(PACK[ending](b"".join(line + b"\n" for line in lines)))
    return path


def read(work: Work, *paths: Path, chunk: int = 500) -> Ingested:
    return ingest.ingest(work, COMMENTS, list(paths), chunk, Silent())


def table(work: Work) -> list[tuple[object, ...]]:
    return work.con.execute("SELECT * FROM comments ORDER BY seq").fetchall()


@pytest.mark.parametrize("ending", PACK)
def test_every_line_of_every_packing_arrives_in_its_place(work: Work, tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"RC{ending}", [comment(number) for number in range(1001)], ending)
    found = read(work, path, chunk=20_000)
    assert (found.lines, found.rows, found.rejected) == (1001, 1001, {})
    assert table(work) == [(number, f"c{number}", f"p{number % 7}", f"u{number % 5}") for number in range(1001)]


def test_broken_lines_are_counted_by_reason_and_the_others_keep_their_places(work: Work, tmp_path: Path) -> None:
    lines = [comment(number) for number in range(100)]
    lines[3], lines[40], lines[41], lines[99] = b'{"id": "c3", "link', b"[]", b'{"id": "x"}', b"\x00"
    found = read(work, write(tmp_path / "RC", lines))
    assert found.rejected == {"no link_id that names a post": 1, "not JSON": 2, "not a JSON object": 1}
    assert found.lines == found.rows + 4 == 100
    assert [row[0] for row in table(work)] == [number for number in range(100) if number not in (3, 40, 41, 99)]
    assert found.examples[0] == 'RC line 4: not JSON: \'{"id": "c3", "link\''
    assert found.examples[1].startswith("RC line 41: ")


@pytest.mark.parametrize("chunk", [1, 500, 10**6])
def test_empty_lines_are_counted_too(work: Work, tmp_path: Path, chunk: int) -> None:
    lines = [comment(0), b"", comment(1), b"  ", comment(2), b"\r", b"rubbish", comment(3) + b"\r"]
    found = read(work, write(tmp_path / "RC", lines), chunk=chunk)
    assert found.rejected == {"empty line": 3, "not JSON": 1}
    assert [row[:2] for row in table(work)] == [(0, "c0"), (2, "c1"), (4, "c2"), (7, "c3")]


@pytest.mark.parametrize("blank", [[], [b""]])
def test_a_line_is_read_the_same_whatever_its_neighbours_are(work: Work, tmp_path: Path, blank: list[bytes]) -> None:
    odd = [
        comment(0) + comment(1),
        comment(2) + b" rubbish",
        comment(3)[:-1] + b",}",
        b'{"id": "c4", "id": "c5", "link_id": "t3_p"}',
    ]
    found = read(work, write(tmp_path / "RC", [*blank, *odd, *blank]))
    assert [row[1] for row in table(work)] == ["c0", "c2", "c3", "c4"]
    assert found.lines == found.rows + 2 * len(blank)


def test_lines_that_only_python_can_read_are_kept(work: Work, tmp_path: Path) -> None:
    line = b'{"id": "c1", "link_id": "t3_p1", "author": "x\\ud83d", "body": "\xff"}'
    assert read(work, write(tmp_path / "RC", [comment(0), line, comment(2)])).rejected == {}
    assert table(work)[1] == (1, "c1", "p1", "x\ufffd")


def test_several_files_are_one_sequence(work: Work, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"RC_{part}{ending}", [comment(part), b"{"], ending) for part, ending in enumerate(PACK)]
    found = read(work, *paths)
    assert [row[:2] for row in table(work)] == [(2 * part, f"c{part}") for part in range(5)]
    assert found.files == tuple((str(path), 2) for path in paths)
    assert found.examples[1].startswith("RC_1.bz2 line 2: not JSON")


def test_the_same_files_are_not_read_again_and_others_are(work: Work, tmp_path: Path) -> None:
    path = write(tmp_path / "RC", [comment(number) for number in range(50)])
    heard: list[Event] = []
    first = ingest.ingest(work, COMMENTS, [path], 500, heard.append)
    assert any(isinstance(event, Progress) for event in heard)
    heard.clear()
    assert ingest.ingest(work, COMMENTS, [path], 500, heard.append) == first
    assert heard == []
    write(path, [comment(number) for number in range(60)])
    assert ingest.ingest(work, COMMENTS, [path], 500, heard.append).rows == 60
    assert len(table(work)) == 60


def test_rejected_lines_are_warned_of(work: Work, tmp_path: Path) -> None:
    heard: list[Event] = []
    ingest.ingest(work, COMMENTS, [write(tmp_path / "RC", [comment(0), b"oops"])], 500, heard.append)
    assert heard[-1] == Warned("comments: 1 of 2 lines are not used (1 not JSON); RC line 2: not JSON: 'oops'")


def test_a_large_file_of_something_else_is_told_early(work: Work, tmp_path: Path) -> None:
    path = write(tmp_path / "RC", [b"2014-01-01,some,table"] * 30_000)
    with pytest.raises(
        InputError, match=r"RC does not hold comments: none of its first [\d,]+ lines can be used; RC line 1: not JSON"
    ):
        read(work, path, chunk=300_000)


def test_submissions_are_brought_into_one_form(work: Work, tmp_path: Path) -> None:
    lines = [
        (
            b'{"id": "a", "created_utc": "10", "author": "[deleted]", "title": "t", "selftext": "[removed]", "media":'
            b' {"id": "z"}}'
        ),
        b'{"id": "b", "created_utc": 10.5, "subreddit": "", "selftext": null, "url": "u"}',
        b'{"id": "c", "created_utc": 11, "author": "", "subreddit": "s", "selftext": "text"}',
        b'{"id": "d", "created_utc": 12, "author": "x", "title": null}',
    ]
    ingest.ingest(work, SUBMISSIONS, [write(tmp_path / "RS", lines)], 10**6, Silent())
    assert work.con.execute("SELECT * FROM submissions ORDER BY seq").fetchall() == [
        (0, "a", 10.0, None, None, "t", "", ""),
        (1, "b", 10.5, None, None, "", "", "u"),
        (2, "c", 11.0, None, "s", "", "text", ""),
        (3, "d", 12.0, "x", None, "", "", ""),
    ]


def test_a_sum_that_does_not_add_up_is_never_passed_over(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "second_opinion", lambda record, line: dict.fromkeys(record.fields) | {"id": "x"})
    monkeypatch.setattr(
        ingest,
        "_parsed",
        lambda fields: (
            f"(SELECT {', '.join(f'NULL::VARCHAR AS {name}' for name in fields)} FROM range(0) WHERE ? <> '')"
        ),
    )
    with pytest.raises(NodewiseError, match="1 lines were read, but 0 rows and 0 rejected lines came of them"):
        read(work, write(tmp_path / "RC", [comment(0)]))
    assert table(work) == []
