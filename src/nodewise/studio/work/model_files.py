"""What a model says, from an uploaded table or a column of the job's own rows: looked at first, then taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.graph.tables.table import read_table
from nodewise.ground.errors import InputError
from nodewise.session.meaning.given import BATCH, Given, read_batch, read_given
from nodewise.session.meaning.suggestions import draft_suggestions, suggested_columns
from nodewise.studio.work.cards import roles
from nodewise.studio.work.table_files import normalise_table
from nodewise.studio.work.upload import Upload, kept_uploads

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["Brought", "bring", "offered_columns", "preview_suggestions"]

_EXAMPLES, _LONGEST = 5, 100


@dataclass(frozen=True)
class Brought:
    """What somebody wants to bring.

    Attributes:
        name: the model's.
        upload: the table; None: a column of the job's own rows.
        node, label, confidence: the columns; None: found by their names.
    """

    name: str
    upload: Upload | None = None
    node: str | None = None
    label: str | None = None
    confidence: str | None = None


def offered_columns(session: Session) -> list[str]:
    """Columns of the rows that a model's answers could stand in: not their texts, nor what was taken already."""
    used = {*roles(session.graph).values(), *suggested_columns(session.refresh())}
    return [name for name in session.graph.attributes if name not in used]


def preview_suggestions(session: Session, brought: Brought, scratch: Path) -> dict[str, Any]:
    """What the answers would bring, and what is refused; nothing is written.

    Gives how many ``rows`` there are, a file's ``columns`` and those ``chosen``, how many ``answers`` name a class,
    by ``classes``, the ``fresh`` ones among them, how many are ``unnamed`` with ``examples``, how many of the model's
    answers would be ``replaced``, and why they are ``refused``, or None.
    """
    history, moment = session.refresh(), session.moment()
    preview: dict[str, Any] = {"rows": 0, "columns": [], "chosen": dict.fromkeys(BATCH), "answers": 0, "classes": {}}
    preview |= {"fresh": [], "unnamed": 0, "examples": [], "replaced": 0, "refused": None}
    with _stored(brought, scratch) as path:
        if path is not None:
            table = read_table(path)
            chosen = {what: getattr(brought, what) or table.find(names) for what, names in BATCH.items()}
            preview |= {"rows": len(table), "columns": list(table.columns), "chosen": chosen}
        try:
            given = _given(session, brought, path)
            body = draft_suggestions("me", brought.name, given, history)[0].body
        except InputError as error:
            return {**preview, "refused": _without_path(error, path, brought)}
    said = Counter(str(label).strip() for label in given.labels if label is not None and str(label).strip())
    unheard = [label for label in said if label not in body["labels"]]
    known = next((each for each in session.suggestions if each.name == brought.name.strip()), None)
    numbers = dict(zip(body["labels"], body["classes"], strict=True))
    replaced = 0
    if known is not None:
        before = zip(given.nodes, given.labels, strict=True)
        replaced = sum(
            bool(known.numbers[node]) and int(known.numbers[node]) != numbers.get(str(label).strip(), 0)
            for node, label in before
        )
    there = {each.name for each in moment.history.classes}
    return {
        **preview,
        "rows": preview["rows"] or len(given.nodes),
        "answers": body["answers"],
        "classes": {label: said[label] for label in body["labels"]},
        "fresh": [label for label in body["labels"] if label not in there],
        "unnamed": body["unnamed"],
        "examples": [label[:_LONGEST] for label in unheard[:_EXAMPLES]],
        "replaced": replaced,
    }


def bring(session: Session, brought: Brought, scratch: Path, annotator: str) -> dict[str, Any]:
    """Take the answers: the event, and how many it holds."""
    with _stored(brought, scratch) as path:
        try:
            event = session.suggest_given(brought.name, _given(session, brought, path), annotator)
        except InputError as error:
            raise InputError(_without_path(error, path, brought)) from None
    body = next(each for each in reversed(session.events) if each.id == event).body
    return {"event": event, "answers": body["answers"]}


def _given(session: Session, brought: Brought, path: Path | None) -> Given:
    graph = session.moment().contents.graph
    if path is not None:
        chosen = {what: name for what in BATCH if (name := getattr(brought, what)) is not None}
        return read_batch(graph, path, chosen)
    if brought.label not in graph.attributes:
        offered = ", ".join(offered_columns(session))
        ways = f"choose one of {offered}" if offered else "they have none at all, so bring a table of answers"
        raise InputError(f"the rows have no column {brought.label!r}: {ways}")
    return read_given(graph, brought.label, brought.confidence)


@contextmanager
def _stored(brought: Brought, scratch: Path) -> Iterator[Path | None]:
    """The uploaded table as a CSV; None where there is none."""
    if brought.upload is None:
        yield None
        return
    with kept_uploads(scratch, {"answers.csv": brought.upload}) as folder:
        yield normalise_table(folder / "answers.csv", brought.upload.name, folder / "table.csv").path


def _without_path(error: Exception, path: Path | None, brought: Brought) -> str:
    """What an error says, with the file called as it was uploaded."""
    said = str(error)
    if path is not None and brought.upload is not None:
        said = said.replace(str(path), brought.upload.name[:_LONGEST] or "the file")
    return " ".join(said.split())
