"""Label Studio's JSON: its tasks of one choice each, or of several, as a table, and a task as it is written.

A file is an array of tasks: ``data`` holds what is shown, ``annotations`` what people have chosen, ``predictions`` what
a program has. A choice stands in ``result`` as ``{"type": "choices", "from_name": …, "to_name": …, "value": {"choices":
["spam"]}}`` (https://labelstud.io/guide/task_format).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nodewise.graph.tables.table import COLUMNS, Table, meaning
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed
from nodewise.ground.files import existing_file

__all__ = ["FROM_NAME", "decided", "read_tasks", "shown_column", "task"]

FROM_NAME = "label"
"""What the choice is called in tasks that are written: the ``name`` of ``<Choices>`` in the labelling interface."""
_EXPORT = "export the project as JSON (not JSON-MIN, CSV or another form)"


def read_tasks(path: str | Path, label: str | None = None, separator: str | None = None) -> Table:
    """The tasks as a table with a row each: the fields of ``data``, then ``label`` and ``annotator``.

    ``id`` too where no field is one.

    A task's label is what most annotations say, between equals the one that was said first; one that is marked as
    ground truth decides. Annotations that were cancelled or choose nothing do not count, and predictions are no labels.
    ``annotator`` has those that count, by e-mail address, number or name.

    Args:
        path: the file.
        label: which choice is meant, by the ``name`` of its ``<Choices>``, where tasks have several; None: the only one
            there is.
        separator: what stands between the choices in a label where a task may have several; an annotation without a
            choice then says none of them. None: a task has one choice.

    Raises:
        GraphError: if it is no such file, or a task has more than one choice where it may have one; says which.
    """
    path = Path(path).expanduser()
    tasks = _tasks(path)
    fields = list(dict.fromkeys(key for task in tasks for key in task["data"]))
    if len(fields) > COLUMNS or len(fields) * len(tasks) > path.stat().st_size:
        raise GraphError(
            f"{path}: its {len(tasks):,} tasks name {len(fields):,} fields of data, hardly two the same: tasks of one"
            f" project share them; {_EXPORT}"
        )
    control = _control(path, tasks, label)
    own = {"label": "original label", "annotator": "original annotator"}
    columns = {own.get(field, field): [_text(task["data"].get(field)) for task in tasks] for field in fields}
    if not any(meaning(field) == "id" for field in fields) and all("id" in task for task in tasks):
        columns = {"id": [_text(task["id"]) for task in tasks], **columns}
    columns["label"], columns["annotator"] = [], []
    for number, task in enumerate(tasks, start=1):
        votes = list(_votes(path, number, task, control, separator))
        columns["label"].append(
            decided([choice for choice, _, _ in votes], [choice for choice, _, truth in votes if truth])
        )
        columns["annotator"].append(", ".join(dict.fromkeys(who for _, who, _ in votes if who)))
    return Table(path, columns, list(range(1, len(tasks) + 1)))


def shown_column(columns: Iterable[str]) -> tuple[str, str] | None:
    """The column that a person is shown and whether it is a ``text`` or an ``image``, by its name.

    None where no name tells.
    """
    for kind, tag in (("text", "text"), ("picture", "image"), ("title", "text")):
        for column in columns:
            if meaning(column) == kind:
                return column, tag
    return None


def decided(votes: Sequence[str], truths: Sequence[str] = ()) -> str:
    """The label that counts: the ground truth, else what most say, between equals what was said first.

    An empty text where nobody says anything.
    """
    among = truths or votes
    return max(dict.fromkeys(among), key=list(among).count, default="")


def task(
    data: Mapping[str, Any],
    tag: str,
    votes: Sequence[tuple[str, str]],
    counts: str,
    predicted: tuple[str, float, str] | None,
    separator: str | None = None,
) -> dict[str, Any]:
    """A task as Label Studio imports it.

    It refuses annotations by people that it has no account of, so that the annotator's name stands in the choice's
    ``meta``, which it keeps as it is.

    Args:
        data: what is shown.
        tag: the ``name`` of the tag that shows it, ``text`` or ``image``.
        votes: label and annotator, the oldest first.
        counts: the label that counts, empty where there is none; where it is not the votes' majority, those that agree
            are the ground truth.
        predicted: class, probability and version, if something is predicted.
        separator: what stands between the classes in a label where a task may have several; alone it means none.
    """
    settled = bool(counts) and decided([choice for choice, _ in votes]) != counts
    if settled and counts not in [choice for choice, _ in votes]:
        votes = [*votes, (counts, "")]
    record: dict[str, Any] = {"data": dict(data)}
    record["annotations"] = [
        {
            "result": _choices(choice, tag, separator, who),
            "was_cancelled": False,
            "ground_truth": settled and choice == counts,
        }
        for choice, who in votes
    ]
    if predicted is not None:
        best, chance, version = predicted
        result = _choices(best, tag, separator)
        record["predictions"] = [{"model_version": version, "score": round(chance, 6), "result": result}]
    return record


def _choices(choice: str, tag: str, separator: str | None, who: str = "") -> list[dict[str, Any]]:
    """What was chosen; nothing where none of the classes was."""
    chosen = [choice] if separator is None else [part for part in choice.split(separator) if part]
    if not chosen:
        return []
    result = {"from_name": FROM_NAME, "to_name": tag, "type": "choices", "value": {"choices": chosen}}
    return [{**result, "meta": {"annotator": who}} if who else result]


def _tasks(path: Path) -> list[dict[str, Any]]:
    existing_file(path)
    try:
        tasks = json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise GraphError(f"{path} cannot be read as JSON ({error}): it may be cut off; {_EXPORT}") from error
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from error
    if not isinstance(tasks, list) or not tasks:
        raise GraphError(f"{path} is no array of Label Studio's tasks, received {_kind(tasks)}: {_EXPORT}")
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise GraphError(
                f"{path}, task {number}: a task needs an object 'data' with what is shown, received {_kind(task)}:"
                f" {_EXPORT}"
            )
        if not isinstance(task.get("annotations") or [], list):
            raise GraphError(
                f"{path}, task {number}: 'annotations' must be a list, received {_kind(task['annotations'])}: {_EXPORT}"
            )
    return tasks


def _control(path: Path, tasks: Sequence[Mapping[str, Any]], wanted: str | None) -> str | None:
    """The name of the choice that is meant; None where nothing is annotated."""
    names: dict[str, None] = {}
    others: dict[str, None] = {}
    for number, task in enumerate(tasks, start=1):
        for annotation in _annotations(path, number, task):
            for result in annotation["result"]:
                if result.get("type") == "choices":
                    names[str(result.get("from_name"))] = None
                else:
                    others[str(result.get("type"))] = None
    if wanted is not None and wanted not in names and names:
        raise GraphError(f"{path} has no choice called {wanted!r}: its choices are {listed(names)}")
    if wanted is None and len(names) > 1:
        raise GraphError(
            f"{path} has several choices for each task, {listed(names)}: say which one is the label (label=…, --label)"
        )
    if not names and others:
        raise GraphError(
            f"{path} holds {listed(others)}, but no choices: only tasks that are classified as a whole can become"
            " labels of nodes"
        )
    return wanted if wanted in names else next(iter(names), None)


def _annotations(path: Path, number: int, task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The annotations that count, each with a list of results that are objects."""
    for annotation in task.get("annotations") or []:
        results = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(results, list) or not all(isinstance(result, dict) for result in results):
            raise GraphError(
                f"{path}, task {number}: an annotation needs a list 'result' of objects, received {_kind(annotation)}:"
                f" {_EXPORT}"
            )
        if not annotation.get("was_cancelled"):
            yield annotation


def _votes(
    path: Path, number: int, task: Mapping[str, Any], control: str | None, separator: str | None
) -> Iterator[tuple[str, str, bool]]:
    """Label, annotator and whether it is the ground truth, of every annotation that chooses something."""
    for annotation in _annotations(path, number, task):
        chosen = [
            result
            for result in annotation["result"]
            if result.get("type") == "choices" and str(result.get("from_name")) == control
        ]
        values = [result.get("value") for result in chosen]
        choices = [value.get("choices") if isinstance(value, dict) else None for value in values]
        if any(not isinstance(each, list) or not all(isinstance(one, str) for one in each) for each in choices):
            raise GraphError(
                f"{path}, task {number}: a choice needs 'value' with a list 'choices' of texts, received"
                f" {str(values)[:80]}: {_EXPORT}"
            )
        said = [one.strip() for each in choices for one in each or [] if one.strip()]
        if separator is None and len(said) > 1:
            raise GraphError(
                f"{path}, task {number}: {len(said)} choices at once ({listed(said)}), but a node has one class: say"
                ' what stands between them (separator=, --separator), use choice="single", or leave such tasks out'
            )
        if separator is not None and (held := [one for one in said if separator in one]):
            raise GraphError(
                f"{path}, task {number}: the choice {held[0]!r} holds {separator!r}, which is to stand between choices:"
                " give another separator"
            )
        if said or separator is not None:
            text = said[0] if separator is None else separator.join(sorted(said)) or separator
            yield text, _annotator(annotation, chosen[0] if chosen else {}), bool(annotation.get("ground_truth"))


def _annotator(annotation: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    meta, by = result.get("meta"), annotation.get("completed_by")
    if isinstance(meta, dict) and isinstance(meta.get("annotator"), str):
        return str(meta["annotator"])
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return "" if by is None else _text(by)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {listed(map(str, value), 5)}" if value else "an empty object"
    return f"an array of {len(value)}" if isinstance(value, list) else f"{str(value)[:40]!r}"
