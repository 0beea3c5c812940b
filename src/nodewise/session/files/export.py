"""What the classifier says of every node; labels and predictions as files.

CSV, JSON, npz, PyTorch, Label Studio's JSON, and the whole job as one CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.io.label_studio import shown_column, task
from nodewise.graph.io.npz import write_npz
from nodewise.graph.label_sets import set_confidence, set_names, set_texts
from nodewise.graph.tables.table import csv_lines
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.events import Reporter, count, html_table
from nodewise.ground.files import atomic_file
from nodewise.session.answers import SEPARATOR, numbers_of
from nodewise.session.meaning.rules import Moment

if TYPE_CHECKING:
    import torch

    from nodewise.graph import Graph
    from nodewise.session.answers import ClassList
    from nodewise.session.learning.learner import SessionLearner

__all__ = [
    "ExportFormat",
    "Prediction",
    "find_writer",
    "full_rows",
    "make_prediction",
    "prediction_rows",
    "uniform_prediction",
    "write_export",
]

ExportFormat = Literal["full", "label-studio"]
"""The forms that a file's ending does not say."""
_SPARSE = 0.2
"""Share of numbers that are not 0, up to which a sparse tensor, with two indices for each, is smaller than a dense one.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Predictions for all nodes, from a copy of the classifier that was trained the closing epochs.

    Before the first label every class is as likely as any other, and the class of every node is unknown.

    Attributes:
        classes: the columns' names, in the order of the classes' numbers; one without a label has probability 0, once
            another has one.
        probabilities: float32 [node, class]; every row sums to 1. Where a node may have several classes, each has a
            probability of its own.
        labels: how many labels it was learned from.
        suggestions: model -> what it says of each node, empty where it says nothing.
        given: where a node may have several classes, those that it is given, by the classifier's thresholds, bool
            [node, class]; else None.
    """

    classes: tuple[str, ...]
    probabilities: npt.NDArray[np.float32]
    labels: int
    suggestions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    given: npt.NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        """One line: of how many nodes, and from how many labels."""
        classes = count(len(self.classes), "class", "classes")
        nodes = count(len(self.probabilities), "node")
        return f"Prediction({nodes}, {classes}, from {count(self.labels, 'label')})"

    def _repr_html_(self) -> str:
        """A small table for notebooks: how many nodes each class is predicted for."""
        counts = np.bincount(self.best[self.best >= 0], minlength=len(self.classes)).tolist()
        if self.given is not None:
            counts = self.given.sum(0).tolist()
        return html_table(repr(self), {name: count(n, "node") for name, n in zip(self.classes, counts, strict=True)})

    @property
    def unknown(self) -> bool:
        """Whether there was no label to learn from, nor a model's answer, so that nobody's class is known."""
        return self.labels == 0 and not self.suggestions

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """The most likely class of every node, as a column, −1 where it is unknown: int64 [node]."""
        if self.unknown:
            return np.full(len(self.probabilities), -1, np.int64)
        columns: npt.NDArray[np.int64] = self.probabilities.argmax(1).astype(np.int64)
        return columns

    @property
    def names(self) -> list[str]:
        """The most likely class of every node, by name, empty where it is unknown.

        Where a node may have several classes, all that it is given, with ``;`` between them; alone it means none.
        """
        if self.given is not None:
            return [""] * len(self.given) if self.unknown else set_texts(self.given.view(np.int8), self.classes)
        return ["" if column < 0 else self.classes[column] for column in self.best.tolist()]

    @property
    def sets(self) -> list[tuple[str, ...]]:
        """The classes that every node is given, by name: the most likely one, or any number where it may have several.

        Nothing where they are unknown.
        """
        if self.given is None:
            return [(name,) if name else () for name in self.names]
        return set_names(self.given, self.classes)

    @property
    def confidence(self) -> npt.NDArray[np.float32]:
        """The probability of the most likely class: [node].

        Where a node may have several classes, the probability that the least certain one is decided rightly.
        """
        if self.given is not None:
            return set_confidence(self.given, self.probabilities)
        highest: npt.NDArray[np.float32] = self.probabilities.max(1)
        return highest


def make_prediction(
    learner: SessionLearner,
    classes: ClassList,
    reporter: Reporter | None = None,
    suggestions: Mapping[str, Sequence[str]] | None = None,
) -> Prediction:
    """The predictions of a learner after its closing epochs, with a column for every class, also those that it does not
    know yet.
    """
    closed = learner.closed(reporter=reporter).numpy()
    numbers, table = learner.by_class(closed, classes)
    table.flags.writeable = False
    given = table >= learner.thresholds(classes) if learner.several else None
    return Prediction(tuple(map(classes.name, numbers)), table, learner.count, suggestions or {}, given)


def uniform_prediction(classes: ClassList, nodes: int, several: bool = False) -> Prediction:
    """What is known before the first label: nothing, so that each class has the same probability for every node."""
    table = np.full((nodes, len(classes)), 0.5 if several else 1 / len(classes), np.float32)
    table.flags.writeable = False
    given = np.zeros(table.shape, bool) if several else None
    return Prediction(tuple(each.name for each in classes), table, 0, given=given)


Writer = Callable[[Moment, Prediction | None, Path], object]
"""Writes what is known at a moment, with predictions where there are any, to a file."""


def find_writer(path: Path, format: ExportFormat | None = None, *, keep_formulas: bool = False) -> Writer:
    """What writes the form that the file's ending says, or that `format` names.

    ``.csv``: one row a node, what it is labelled and predicted. ``.json``: the same with votes and settings. ``.npz``:
    the graph with the labels that count as ``y``, or ``y_multi`` where a node may have several classes, and the further
    fields ``predicted`` and ``probabilities``. ``.pt``: a
    dictionary of plain tensors, which ``torch_geometric.data.Data.from_dict(torch.load(path, weights_only=True))``
    makes a `Data` of; sparse features, such as those of texts, stay a sparse tensor, which the first layer of most
    networks takes as it is, and ``data.x.to_dense()`` makes a plain one of.
    ``.xlsx``: the whole job as an Excel sheet, see `full_rows`. ``format="full"``: the same as a ``.csv``.
    ``format="label-studio"``: a ``.json`` of tasks for Label Studio, with votes as annotations and predictions.

    Raises:
        InputError: the ending is not one of these, or there is no such folder.
    """
    table = partial(_csv, prediction_rows, keep_formulas=keep_formulas)
    writers: dict[str, Writer] = {".csv": table, ".json": _json, ".npz": _npz, ".pt": _pt, ".xlsx": _excel}
    named: dict[str, tuple[str, Writer]] = {
        "full": (".csv", partial(_csv, full_rows, keep_formulas=keep_formulas)),
        "label-studio": (".json", _label_studio),
    }
    if format is not None and format not in named:
        raise UnknownNameError("format", str(format), list(named), "Without one the ending of the file says the form.")
    ending = path.suffix.lower()
    if ending not in writers:
        raise InputError(f"cannot export to {path.name!r}: the ending must be one of {', '.join(writers)}")
    needed, writer = (ending, writers[ending]) if format is None else named[format]
    if ending != needed:
        raise InputError(f"cannot export {format} to {path.name!r}: it is written as {needed}, give such a file")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {str(path.absolute().parent)!r} for the export: make it first")
    return writer


def write_export(moment: Moment, prediction: Prediction | None, path: Path, writer: Writer) -> list[str]:
    """Write a file; gives what was written, in words."""
    writer(moment, prediction, path)
    said = [count(len(moment.labels), "label")]
    if prediction is None:
        return [*said, "no predictions, since nothing trains them yet"]
    nodes = f"{len(moment.rows)} nodes"
    return [*said, f"the class of {nodes} unknown" if prediction.unknown else f"predictions for {nodes}"]


def prediction_rows(moment: Moment, prediction: Prediction | None) -> tuple[list[str], Iterator[list[Any]]]:
    """The table's heading and, one after the other, one row a node. A class that is unknown is an empty cell.

    Names, label and where it comes from, prediction and its probability, every class's probability. Where a node may
    have several classes, ``;`` stands between them, alone for none of them.
    """
    head = ["node", "name", "label", "from"]
    if prediction is not None:
        head += ["predicted", "probability", *(f"p_{name}" for name in prediction.classes)]
        if prediction.suggestions:
            head += ["stands behind", *(f"{name} says" for name in prediction.suggestions)]
    return head, _prediction_rows(moment, prediction)


def _prediction_rows(moment: Moment, prediction: Prediction | None) -> Iterator[list[Any]]:
    labels, sources = moment.labels, _sources(moment)
    if prediction is not None:
        best, sure = prediction.names, prediction.confidence
    for node in moment.rows:
        row: list[Any] = [node, moment.contents.name_of(node), labels.get(node, ""), sources.get(node, "")]
        if prediction is not None:
            row += [
                best[node],
                f"{sure[node]:.6g}",
                *(f"{chance:.6g}" for chance in prediction.probabilities[node].tolist()),
            ]
            if prediction.suggestions:
                said = [answers[node] for answers in prediction.suggestions.values()]
                row += [_behind(prediction, node, best[node], node in labels), *said]
        yield row


def _behind(prediction: Prediction, node: int, predicted: str, is_labelled: bool) -> str:
    """Who stands behind what a row says: a person, the learner, or the models that say the same as it does."""
    if is_labelled:
        return "person"
    alike = [name for name, answers in prediction.suggestions.items() if answers[node] == predicted]
    said = " and ".join(f"model {name}" for name in alike)
    if not prediction.labels:
        return said or "models, by the neighbours"
    return f"learner and {said}" if said else "learner"


def _own_columns(graph: Graph) -> dict[str, Any]:
    """The columns of the table that the graph was made from, by the names that they had there."""
    columns: dict[str, Any] = dict(graph.attributes)
    known = graph.preparation
    if known is None:
        return columns
    text = next((part["column"] for part in known.parts if part["kind"] == "words" and "joined" not in part), None)
    if text is not None and text not in columns:
        columns = {text if name == "text" else name: cells for name, cells in columns.items()}
    for name, kept in known.originals.items():
        if kept != name and kept in columns:  # the texts that were put together have its name here
            called = {name: f"joined {name}", kept: name}
            columns = {called.get(each, each): cells for each, cells in columns.items()}
    if known.id is not None and graph.node_names is not None and known.id not in columns:
        columns = {known.id: graph.node_names, **columns}
    return columns


def full_rows(moment: Moment, prediction: Prediction | None) -> tuple[list[str], Iterator[list[Any]]]:
    """The whole job: `prediction_rows`, then the graph's own columns and texts, every vote, and the notes."""
    history = moment.history
    head, rows = prediction_rows(moment, prediction)
    people = sorted({who for votes in history.votes.values() for who in votes})
    columns = {
        name if name not in head else f"original {name}": cells
        for name, cells in _own_columns(moment.contents.graph).items()
    }

    def whole() -> Iterator[list[Any]]:
        for node, row in zip(moment.rows, rows, strict=True):
            votes = history.votes.get(node, {})
            row += [str(cells[node]) for cells in columns.values()]
            row += [votes.get(who, "") for who in people]
            row.append("\n".join(f"{note.annotator}: {note.text}" for note in history.notes.get(node, ())))
            yield row

    return [*head, *columns, *(f"vote of {who}" for who in people), "notes"], whole()


def _sources(moment: Moment) -> dict[int, str]:
    """Where the labels come from: node -> audit, told, bulk or given.

    A given label that somebody has changed is told.
    """
    history, audit = moment.history, moment.audit_labels
    bulk = history.bulk | moment.rules.known  # what the owner knows was labelled for many at once
    return {
        node: "given"
        if node not in history.numbers
        else "audit"
        if node in audit
        else "bulk"
        if node in bulk
        else "told"
        for node in moment.labels
    }


def _csv(
    table: Callable[[Moment, Prediction | None], tuple[list[str], Iterator[list[Any]]]],
    moment: Moment,
    prediction: Prediction | None,
    path: Path,
    *,
    keep_formulas: bool,
) -> None:
    with atomic_file(path) as handle:  # a row at a time: with very many classes the whole text takes a gigabyte
        lines = csv_lines(*table(moment, prediction), keep_formulas=keep_formulas)
        handle.writelines(line.encode("utf-8", "replace") for line in lines)


def _excel(moment: Moment, prediction: Prediction | None, path: Path) -> None:
    from nodewise.graph.tables.excel import write_excel

    write_excel(path, *full_rows(moment, prediction))


def _json(moment: Moment, prediction: Prediction | None, path: Path) -> None:
    from nodewise import __version__

    contents, history, sources = moment.contents, moment.history, _sources(moment)
    record: dict[str, Any] = {
        "schema": 1,
        "nodewise_version": __version__,
        "graph": contents.graph.name,
        "settings": contents.settings.as_dict(),
        "classes": list(_class_names(moment, prediction)),
        "guideline": history.guideline,
        "guidelines": {each.name: each.description for each in history.classes if each.description},
        "labels": [
            {
                "node": node,
                "name": contents.name_of(node),
                "label": label,
                "from": sources[node],
                "audit": sources[node] == "audit",
                "votes": dict(history.votes.get(node, {})),
                "notes": [note.text for note in history.notes.get(node, ())],
            }
            for node, label in moment.labels.items()
        ],
    }
    if prediction is not None:
        record["predictions"] = [
            {
                "node": node,
                "name": contents.name_of(node),
                "predicted": name,
                "probabilities": [round(p, 6) for p in row.tolist()],
            }
            for node, (name, row) in enumerate(zip(prediction.names, prediction.probabilities, strict=True))
            if node not in moment.rules.gone
        ]
    with atomic_file(path) as handle:
        handle.write(json.dumps(record, indent=1).encode())


def _label_studio(moment: Moment, prediction: Prediction | None, path: Path) -> None:
    """Every node as a task: its attributes as data, votes as annotations, and what is predicted."""
    from nodewise import __version__

    contents, votes, labels = moment.contents, moment.history.votes, moment.labels
    attributes = contents.graph.attributes
    shown, tag = shown_column(attributes) or ("text", "text")
    version = f"nodewise {__version__}, {contents.settings.classifier}"
    if prediction is not None and prediction.unknown:  # Label Studio knows no empty choice
        prediction = None
    best = None if prediction is None else list(zip(prediction.names, map(float, prediction.confidence), strict=True))
    tasks = []
    for node in moment.rows:
        name, label = contents.name_of(node), labels.get(node, "")
        data = {
            "node": name,
            shown: name,
            **{key: str(cells[node]) for key, cells in attributes.items() if key != "node"},
        }
        opinions = {} if node in moment.rules.known else votes.get(node, {})  # an annotation is a label there
        said = [(choice, who) for who, choice in opinions.items()] or ([(label, "")] if label else [])
        predicted = None if best is None else (*best[node], version)
        tasks.append(task(data, tag, said, label, predicted, SEPARATOR if contents.settings.several else None))
    with atomic_file(path) as handle:
        handle.write(json.dumps(tasks, indent=1).encode())


def _class_names(moment: Moment, prediction: Prediction | None) -> tuple[str, ...]:
    return prediction.classes if prediction is not None else tuple(each.name for each in moment.history.classes)


def _label_sets(moment: Moment) -> npt.NDArray[np.int8]:
    """The classes of each node where it may have several, -1 without an answer: [node, class]."""
    columns = {number: column for column, number in enumerate(moment.history.classes.numbers)}
    table = np.full((moment.contents.graph.num_nodes, len(columns)), -1, np.int8)
    for node, answer in moment.answers.items():
        table[node] = 0
        table[node, [columns[number] for number in numbers_of(answer)]] = 1
    return table


def _label_ids(moment: Moment, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
    y = np.full(moment.contents.graph.num_nodes, -1, dtype=np.int64)
    for node, label in moment.labels.items():
        y[node] = names.index(label)
    return y


def _npz(moment: Moment, prediction: Prediction | None, path: Path) -> None:
    names = _class_names(moment, prediction)
    graph = moment.contents.graph
    extra = dict(graph.extra)
    if prediction is not None:
        predicted = prediction.best if prediction.given is None else prediction.given.astype(np.int8)
        extra |= {"predicted": predicted, "probabilities": prediction.probabilities}
    if moment.contents.settings.several:
        write_npz(replace(graph, y=None, y_sets=_label_sets(moment), class_names=names, extra=extra), path)
    else:
        write_npz(replace(graph, y=_label_ids(moment, names), class_names=names, extra=extra), path)


def _feature_tensor(graph: Graph) -> torch.Tensor:
    """The features, sparse where that is smaller: of texts, hardly one number in a hundred is not 0."""
    import torch

    if (
        graph.x is None
        or not sp.issparse(graph.x)
        or graph.x_offset is not None
        or graph.x.nnz > _SPARSE * graph.x.shape[0] * graph.x.shape[1]
    ):
        return torch.from_numpy(graph.dense_features())
    cells = graph.x.tocoo()
    indices = torch.from_numpy(np.stack([cells.row, cells.col]).astype(np.int64))
    return torch.sparse_coo_tensor(
        indices, torch.from_numpy(cells.data.astype(np.float32)), cells.shape, check_invariants=True
    ).coalesce()


def _pt(moment: Moment, prediction: Prediction | None, path: Path) -> None:
    import torch

    names = _class_names(moment, prediction)
    graph = moment.contents.graph
    several = moment.contents.settings.several
    y = _label_sets(moment) if several else _label_ids(moment, names)
    labelled = (y >= 0).all(1) if several else y >= 0
    held = np.zeros(graph.num_nodes, dtype=bool)
    held[list(moment.audit_labels)] = True
    both = np.concatenate([graph.edge_index, graph.edge_index[::-1]], axis=1)
    order = np.lexsort((both[1], both[0]))
    tensors: dict[str, Any] = {
        "edge_index": torch.from_numpy(both[:, order].copy()),
        "y": torch.from_numpy(y),
        "train_mask": torch.from_numpy(labelled & ~held),
        "test_mask": torch.from_numpy(held),
        "num_nodes": graph.num_nodes,
        "class_names": list(names),
    }
    if graph.edge_weight is not None:
        tensors["edge_weight"] = torch.from_numpy(np.concatenate([graph.edge_weight, graph.edge_weight])[order])
    if graph.x is not None:
        tensors["x"] = _feature_tensor(graph)
    if graph.node_names is not None:
        tensors["node_names"] = list(graph.node_names)
    if prediction is not None:
        tensors |= {
            "predicted": torch.from_numpy(prediction.best if prediction.given is None else prediction.given),
            "probabilities": torch.from_numpy(prediction.probabilities.copy()),
        }
    with atomic_file(path) as handle:
        torch.save(tensors, handle)
