"""Files that an open job takes in: rows to add, to change or to predict, another job of the same rows; and backups.

What is uploaded is looked at first: a preview says what would come, and what is refused, before anything is written.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nodewise.graph.knn.growth import added_rows, read_rows
from nodewise.graph.knn.rows import new_features, rows_as_columns
from nodewise.graph.tables.table import cell, write_rows
from nodewise.ground.errors import InputError, SessionFileError
from nodewise.session.log.log import Log
from nodewise.session.meaning import row_edits
from nodewise.studio.settings import ENDING
from nodewise.studio.work.errors import ConflictError
from nodewise.studio.work.table_files import normalise_table
from nodewise.studio.work.upload import Upload, check_job_name, kept_uploads

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.ground.events import Progress
    from nodewise.session import Session

__all__ = [
    "PREDICTED",
    "Purpose",
    "add_rows",
    "change_rows",
    "join_job",
    "open_backup",
    "predict_rows",
    "preview_join",
    "preview_rows",
]

Purpose = Literal["add", "change", "predict"]
"""What rows of a file are for."""

PREDICTED = 100_000
"""Rows that the page predicts at once; more are for the command line, which needs no more memory for them."""
_SHOWN = 3
_LONGEST = 200
_PLAIN = (".npy", ".txt")
"""Endings of rows that are no table: numbers, and a text a line."""


def preview_rows(
    session: Session, upload: Upload, scratch: Path, purpose: Purpose = "add", **reading: Any
) -> dict[str, Any]:
    """What the rows of a file would bring; nothing is written.

    Gives how many ``rows`` would be added, changed or predicted, the ``columns`` and what each is used for, those that
    are ``lacking``, ``examples`` of the texts, how many rows have a text that is there ``already``, how many to be
    changed are ``labelled``, and why they are ``refused``, or None. Rows that are predicted alone may have names of
    rows that are there.
    """
    graph = session.graph
    with _uploaded_file(upload, scratch, **reading) as path:
        rows: Any = read_rows(path) if path.suffix in _PLAIN else rows_as_columns(path)
        columns = rows_as_columns(rows)
        preview: dict[str, Any] = {
            "rows": len(next(iter(columns.values()), ())) if columns is not None else len(rows),
            "columns": [{"name": name, "use": _use(graph, name)} for name in columns or ()],
            "lacking": [] if columns is None or purpose == "change" else _lacking(graph, columns),
            "examples": [],
            "already": 0,
            "labelled": 0,
            "refused": None,
        }
        try:
            _refuse_pictures(graph)
            if purpose == "predict":
                new_features(graph, rows)
                return preview
            if purpose == "change":
                moment = session.moment()
                edit = row_edits.change_rows(read_rows(path), moment, moment.contents)
                new = edit.rows
                preview["rows"] = new.num_nodes
                preview["labelled"] = sum(node in moment.labels for node in edit.body(0)["nodes"])
            else:
                new = added_rows(graph, rows)
        except InputError as error:
            return {**preview, "refused": " ".join(str(error).split())}
        texts = [str(text) for text in new.attributes.get("text", ())]
        known = set(map(str, graph.attributes.get("text", ())))
        preview["examples"] = [text[:_LONGEST] for text in texts[:_SHOWN]]
        preview["already"] = sum(text in known for text in texts)
        return preview


def add_rows(session: Session, upload: Upload, scratch: Path, annotator: str, **reading: Any) -> dict[str, Any]:
    """Add the rows of a file: their first number, how many, how many of them are for the audit, and the event."""
    with _uploaded_rows(upload, scratch, **reading) as rows:
        _refuse_pictures(session.graph)
        numbers = session.add_rows(rows, annotator)
    event = next(each for each in reversed(session.events) if each.body.get("first") == numbers[0])
    return {"first": numbers[0], "count": len(numbers), "audit": len(event.body["audit"]), "event": event.id}


def change_rows(session: Session, upload: Upload, scratch: Path, annotator: str, **reading: Any) -> dict[str, Any]:
    """Put the rows of a file in the place of the job's: how many, how many of them have a label, and the event."""
    with _uploaded_file(upload, scratch, **reading) as path:
        _refuse_pictures(session.graph)
        event = session.change_rows(read_rows(path), annotator)
    nodes, labels = session.events[event - 1].body["nodes"], session.labels
    return {"count": len(nodes), "labelled": sum(node in labels for node in nodes), "event": event}


def predict_rows(
    session: Session, upload: Upload, scratch: Path, target: Path, step: Callable[[], None], **reading: Any
) -> None:
    """Write a table of what the job's labels predict for the rows of a file, which are not added.

    Args:
        step: called between the steps of the work; may end it by an error.

    Raises:
        InputError: there is no label yet, nor a model's answer, the rows do not fit, or there are too many.
    """
    from nodewise.fitted.jobs import fit_session
    from nodewise.fitted.streaming import predicted_rows

    def report(event: Progress, /) -> None:
        step()

    with _uploaded_file(upload, scratch, **reading) as path:
        _refuse_pictures(session.graph)
        if not session.labels and not session.suggestions:
            raise InputError("nothing can be predicted before the first label: label a row first")
        learner = fit_session(session, reporter=report)  # type: ignore[arg-type]

        def table() -> Iterator[list[str]]:
            for number, row in enumerate(predicted_rows(learner, path, reporter=report)):  # type: ignore[arg-type]
                if number > PREDICTED:
                    raise InputError(
                        f"the file has more than {PREDICTED:,} rows, which is more than the page predicts: take the"
                        " fitted learner along (nodewise session export-fitted) and use nodewise predict"
                    )
                yield [cell(text) if text else "" for text in row]

        write_rows(target, table())


def preview_join(session: Session, upload: Upload, scratch: Path, me: str | None) -> dict[str, Any]:
    """What joining another job's file would bring, and what is refused; nothing is written."""
    nothing: dict[str, Any] = {"labels": 0, "people": [], "new": [], "conflicts": [], "refused": None}
    with _uploaded_job(upload, scratch) as path:
        try:
            return {**nothing, **session.preview_join(path, me=me)}
        except InputError as error:
            return {**nothing, "refused": _named(error, path, upload)}


def join_job(session: Session, upload: Upload, scratch: Path, annotator: str, me: str | None) -> dict[str, Any]:
    """Take over the labels of another job's file: how many, on how many rows people now disagree, and the event."""
    with _uploaded_job(upload, scratch) as path:
        try:
            labels = session.join(path, annotator, me=me)
        except InputError as error:
            raise InputError(_named(error, path, upload)) from None
    event = next(each for each in reversed(session.events) if each.kind == "join")
    return {"labels": labels, "disagreements": len(session.refresh().disagreements), "event": event.id}


def open_backup(upload: Upload, name: str, folder: Path, scratch: Path) -> None:
    """Put a backup among the studio's sessions, under a name that none has: it is checked as any session is.

    Raises:
        ConflictError: there is a session of that name.
        SessionError: it is no session, damaged, newer, or its graph lies elsewhere.
    """
    from nodewise.session import Session

    check_job_name(name)
    target = folder / f"{name}{ENDING}"
    if target.exists() or target.is_symlink():
        raise ConflictError(f"there is a session {name!r} already: give the backup another name")
    with _uploaded_job(upload, scratch) as path, Session.open(path) as session:
        session.backup(target)


def _use(graph: Graph, name: str) -> str:
    known = graph.preparation
    if known is not None and (name in known.columns or (known.rows == "texts" and name == "text")):
        return "compared"
    if known is not None and name == known.id:
        return "name"
    return "shown" if name in graph.attributes else "not used"


def _lacking(graph: Graph, columns: dict[str, list[str]]) -> list[str]:
    known = graph.preparation
    return [] if known is None else [name for name in known.columns if name not in columns]


def _refuse_pictures(graph: Graph) -> None:
    """A row that names a picture would have the studio open a file: that is for whoever has the machine."""
    if graph.preparation is not None and graph.preparation.rows == "pictures":
        raise InputError(
            "the rows of this job are pictures, which the page does not take in: nodewise session add, where the"
            " pictures are"
        )


@contextmanager
def _uploaded_rows(upload: Upload, scratch: Path, **reading: Any) -> Iterator[Any]:
    """The rows of an upload, as `Session.add_rows` takes them."""
    with _uploaded_file(upload, scratch, **reading) as path:
        yield read_rows(path) if path.suffix in _PLAIN else rows_as_columns(path)


@contextmanager
def _uploaded_file(
    upload: Upload, scratch: Path, encoding: str | None = None, header: bool | None = None
) -> Iterator[Path]:
    """An upload as a file: numbers and texts as they are, a table in any form as a CSV."""
    ending = Path(upload.name).suffix.lower()
    ours = f"rows{ending}" if ending in _PLAIN else "rows.csv"
    with kept_uploads(scratch, {ours: upload}) as folder:
        stored = folder / ours
        if ending in _PLAIN:
            yield stored
        else:
            yield normalise_table(stored, upload.name, folder / "table.csv", encoding, header).path


@contextmanager
def _uploaded_job(upload: Upload, scratch: Path) -> Iterator[Path]:
    """Another job's file, of which nothing is trusted: not even where it says that its graph lies.

    Raises:
        SessionFileError: it is none, or its graph does not lie in it.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        path = Path(name) / f"uploaded{ENDING}"
        with path.open("wb") as file:
            upload.content.seek(0)
            shutil.copyfileobj(upload.content, file, 2**20)
        try:
            with Log.open(path) as log:
                stored = log.settings.get("graph")
            if not isinstance(stored, dict) or stored.get("where") != "inside":
                raise SessionFileError(
                    f"the graph of {upload.name[:100]!r} lies in a file of its own, which the page does not open: put"
                    " both into the studio's folder"
                )
            yield path
        except SessionFileError as error:
            raise SessionFileError(_named(error, path, upload)) from None


def _named(error: Exception, path: Path, upload: Upload) -> str:
    """What an error says, with the file called as it was uploaded."""
    said = str(error).replace(str(path), upload.name[:100] or "the file").replace(path.name, upload.name[:100])
    return " ".join(said.split())
