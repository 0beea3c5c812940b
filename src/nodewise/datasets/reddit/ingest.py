"""From dump files to a table.

Every line ends as a row or as a rejected line with a reason, and the sums are checked.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from nodewise.datasets.reddit.dumps import Chunk, read_chunks
from nodewise.datasets.reddit.prefetch import prefetch
from nodewise.datasets.reddit.records import Record, second_opinion
from nodewise.datasets.reddit.sources import fingerprint
from nodewise.datasets.reddit.work import Work
from nodewise.ground.errors import InputError, NodewiseError
from nodewise.ground.events import Note, Progress, Reporter, Warned

__all__ = ["Ingested", "ingest"]

_FORM = 1  # raise it when the tables change: work folders of before are then read anew
_HOPELESS = 10_000  # a file whose first chunk has so many lines and none of use is not a dump
_EXAMPLES = 3


@dataclass(frozen=True)
class Ingested:
    """What reading one kind of dump gave.

    Attributes:
        files: (path, lines) of each file.
        lines: lines read.
        rows: usable records among them.
        rejected: reason -> lines; together with `rows` they are all `lines`.
        examples: ``"FILE line N: reason: its beginning"`` of some rejected lines.
    """

    files: tuple[tuple[str, int], ...]
    lines: int
    rows: int
    rejected: dict[str, int]
    examples: tuple[str, ...]


def ingest(work: Work, record: Record, files: Sequence[Path], chunk_bytes: int, reporter: Reporter) -> Ingested:
    """Reads the files into the table `record.kind`, in chunks that are each committed with the note that they are done.

    Raises:
        InputError: if a file is damaged, or holds nothing of use.
    """
    stage, key = record.kind, fingerprint(files, chunk_bytes, _FORM)
    if not work.finished(stage, key):
        if work.key_of(stage) != key:
            with work.transaction():
                work.begin(stage, key)
                work.con.execute(f"CREATE OR REPLACE TABLE {record.kind} (seq BIGINT, {record.schema})")
        _read_all(work, record, files, chunk_bytes, reporter)
        work.finish(stage, _scalar(work, f"SELECT count(*) FROM {record.kind}"))
    ingested = _summary(work, record, files)
    if ingested.rejected:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in ingested.rejected.items())
        reporter(
            Warned(
                f"{record.kind}: {sum(ingested.rejected.values()):,} of {ingested.lines:,} lines are not used"
                f" ({reasons}); {ingested.examples[0]}"
            )
        )
    return ingested


def _read_all(work: Work, record: Record, files: Sequence[Path], chunk_bytes: int, reporter: Reporter) -> None:
    finished = {row[0] for row in work.con.execute("SELECT file FROM file WHERE stage = ?", [record.kind]).fetchall()}
    done: dict[str, int] = dict(
        work.con.execute("SELECT file, count(*) FROM chunk WHERE stage = ? GROUP BY file", [record.kind]).fetchall()
    )
    base = _scalar(work, "SELECT coalesce(sum(lines), 0) FROM chunk WHERE stage = ?", record.kind)
    if done:
        reporter(Note(f"{record.kind}: going on after {base:,} lines that were read before"))
    total = sum(path.stat().st_size for path in files)
    before, began, fresh = 0, time.monotonic(), 0
    for path in files:
        name = str(path)
        if name not in finished:
            skip, scratch = done.get(name, 0), work.lines_folder / f"{record.kind}-{files.index(path)}"
            with closing(prefetch(_to_disk(path, chunk_bytes, skip, scratch))) as chunks:
                for chunk, plain in chunks:
                    _store(work, record, name, chunk, plain, base)
                    plain.unlink()
                    base, fresh = base + chunk.lines, fresh + chunk.lines
                    speed = fresh / max(time.monotonic() - began, 1e-9)
                    figures = {"lines": float(base), "lines/s": round(speed)}
                    reporter(
                        Progress(
                            f"read {record.kind} (MB)",
                            _megabytes(before + chunk.read_bytes),
                            _megabytes(total),
                            figures,
                        )
                    )
            work.con.execute("INSERT INTO file VALUES (?, ?)", [record.kind, name])
        before += path.stat().st_size
    reporter(Progress(f"read {record.kind} (MB)", _megabytes(total), _megabytes(total), {"lines": float(base)}))


def _to_disk(path: Path, chunk_bytes: int, skip: int, scratch: Path) -> Iterator[tuple[Chunk, Path]]:
    """Chunks that are not done yet, each also as a plain file that DuckDB can read with all its threads.

    No two files have the same name: DuckDB may remember what it read from one.
    """
    for chunk in read_chunks(path, chunk_bytes):
        if chunk.number >= skip:
            plain = scratch.with_name(f"{scratch.name}-{chunk.number}.ndjson")
            plain.write_bytes(chunk.data)
            yield chunk, plain


def _store(work: Work, record: Record, name: str, chunk: Chunk, plain: Path, base: int) -> None:
    """One transaction: the chunk's rows, and the note that it is done."""
    aligned = _parse(work, record, plain) == chunk.lines
    if not aligned:
        # DuckDB gives a row for each line, in their order, but skips empty ones: so they get something that is not a
        # record.
        filled = plain.with_suffix(".filled")
        filled.write_bytes(b"\n".join(line if line.strip() else b"null" for line in chunk.data.split(b"\n")[:-1]))
        aligned = _parse(work, record, filled) == chunk.lines
        filled.unlink()
    with work.transaction():
        usable = f"coalesce({record.usable}, false)" if aligned else "false"
        doubtful = (
            [row[0] for row in work.con.execute(f"SELECT rowid FROM raw WHERE NOT {usable}").fetchall()]
            if aligned
            else range(chunk.lines)
        )
        rescued, rejected, examples = _look_again(record, chunk, sorted(doubtful))
        work.con.execute(f"INSERT INTO {record.kind} SELECT {base} + rowid, {record.values} FROM raw WHERE {usable}")
        if rescued:
            again = plain.with_suffix(".rescued")
            again.write_text("\n".join(json.dumps(fields) for fields in rescued), encoding="utf-8")
            parsed = _parsed(("place", *record.fields))
            work.con.execute(
                f"INSERT INTO {record.kind} SELECT {base} + place::BIGINT, {record.values} FROM {parsed}", [str(again)]
            )
            again.unlink()
        rows = _scalar(work, f"SELECT count(*) FROM {record.kind} WHERE seq >= {base}")
        if rows + sum(rejected.values()) != chunk.lines:
            raise NodewiseError(_mismatch(name, chunk.lines, rows, sum(rejected.values())))
        first = (
            base
            - _scalar(
                work, "SELECT coalesce(sum(lines), 0) FROM chunk WHERE stage = ? AND file <> ?", record.kind, name
            )
            + 1
        )
        shown = [f"{Path(name).name} line {first + place:,}: {text}" for place, text in examples]
        if rows == 0 and chunk.number == 0 and chunk.lines >= _HOPELESS:
            raise InputError(
                f"{Path(name).name} does not hold {record.kind}: none of its first {chunk.lines:,} lines can be used;"
                f" {shown[0]}"
            )
        row = [record.kind, name, chunk.number, chunk.lines, json.dumps(rejected), json.dumps(shown)]
        work.con.execute("INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?)", row)


def _parse(work: Work, record: Record, plain: Path) -> int:
    """Fills the table ``raw`` and returns its length. Outside a transaction.

    Only then are its row numbers the lines' places.
    """
    work.con.execute(f"CREATE OR REPLACE TEMP TABLE raw AS SELECT * FROM {_parsed(record.fields)}", [str(plain)])
    return _scalar(work, "SELECT count(*) FROM raw")


def _parsed(fields: Sequence[str]) -> str:
    columns = ", ".join(f"{field}: 'VARCHAR'" for field in fields)
    return (
        f"read_json(?, format = 'newline_delimited', columns = {{{columns}}}, ignore_errors = true, maximum_object_size"
        " = 8388608)"
    )


def _look_again(
    record: Record, chunk: Chunk, doubtful: Sequence[int]
) -> tuple[list[dict[str, str | int | None]], dict[str, int], list[tuple[int, str]]]:
    """The second opinion on the doubtful lines.

    Records after all (with their place), lines a reason, and some examples.
    """
    rescued: list[dict[str, str | int | None]] = []
    rejected: Counter[str] = Counter()
    examples: list[tuple[int, str]] = []
    lines = chunk.data.split(b"\n") if doubtful else []
    for place in doubtful:
        opinion = second_opinion(record, lines[place])
        if not isinstance(opinion, str):
            rescued.append({"place": place, **opinion})
            continue
        rejected[opinion] += 1
        if len(examples) < _EXAMPLES:
            examples.append((place, f"{opinion}: {lines[place][:60].decode('utf-8', 'replace')!a}"))
    return rescued, dict(rejected), examples


def _summary(work: Work, record: Record, files: Sequence[Path]) -> Ingested:
    chunks = work.con.execute(
        "SELECT file, lines, rejected, examples FROM chunk WHERE stage = ? ORDER BY rowid", [record.kind]
    ).fetchall()
    lines = {str(path): 0 for path in files}
    rejected: Counter[str] = Counter()
    examples: list[str] = []
    for name, number, reasons, shown in chunks:
        lines[name] += number
        rejected.update(json.loads(reasons))
        examples += json.loads(shown)
    rows = _scalar(work, f"SELECT count(*) FROM {record.kind}")
    if rows + rejected.total() != sum(lines.values()):
        raise NodewiseError(_mismatch(record.kind, sum(lines.values()), rows, rejected.total()))
    return Ingested(
        tuple(lines.items()), sum(lines.values()), rows, dict(sorted(rejected.items())), tuple(examples[:_EXAMPLES])
    )


def _mismatch(name: str, lines: int, rows: int, rejected: int) -> str:
    return (
        f"{name}: {lines:,} lines were read, but {rows:,} rows and {rejected:,} rejected lines came of them; delete the"
        " work folder and try again"
    )


def _megabytes(size: int) -> int:
    return -(-size // 1_000_000)


def _scalar(work: Work, query: str, *values: object) -> int:
    row = work.con.execute(query, list(values)).fetchone()
    return int(row[0]) if row else 0
