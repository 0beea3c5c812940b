"""What a model says of the nodes of a graph, read from whatever holds it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph
from nodewise.graph.nodes import node_index
from nodewise.graph.tables.table import ID, LABEL, read_table
from nodewise.ground.compute import free_memory
from nodewise.ground.errors import InputError, WrongTypeError
from nodewise.ground.events import count

__all__ = [
    "BATCH",
    "Given",
    "answer_table",
    "answers_and_confidence",
    "check_models",
    "is_said",
    "read_batch",
    "read_given",
    "some_answers",
]

_CONFIDENCE = ("confidence", "probability", "score", "certainty")
BATCH = {"node": ID, "label": LABEL, "confidence": _CONFIDENCE}
"""What the columns of a file of suggestions hold, and the names by which each is found."""


@dataclass(frozen=True)
class Given:
    """Answers as they were given: which nodes, what is said of each, and how sure the model is.

    Attributes:
        columns: those of the graph that they came from.
    """

    nodes: Sequence[int]
    labels: Sequence[object]
    confidence: Sequence[float] = field(default_factory=tuple)
    columns: tuple[str, ...] = ()


def answer_table(speakers: int, nodes: int, classes: int) -> npt.NDArray[np.float32]:
    """Room for how sure each model is of each class, all 0: float32 [model, node, class].

    Raises:
        InputError: the memory has no room for it; a small file may name many models and classes.
    """
    size, free = 4 * speakers * nodes * classes, free_memory()
    if free is not None and size > free:
        raise InputError(
            f"what {count(speakers, 'model')} may say of {nodes:,} nodes and {count(classes, 'class', 'classes')} takes"
            f" {size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB are free: leave out models, or merge classes"
        )
    return np.zeros((speakers, nodes, classes), np.float32)


def answers_and_confidence(said: Any, graph: Graph) -> tuple[Any, Any]:
    """What stands for one model in a dictionary of several: its answers, and its confidence, None where it tells none.

    A tuple of two is a pair of these. On a graph of two nodes it may also be one answer a node, and is, where its first
    can be no model's answers: those are a dictionary, a list, a function, a column or a file.

    Raises:
        InputError: it could be either.
    """
    if not (isinstance(said, tuple) and len(said) == 2):
        return said, None
    first, second = said
    scalar = first is None or isinstance(first, (str, Path, int, float, np.generic))
    if graph.num_nodes != 2 or not scalar:
        return first, second
    named = isinstance(first, (str, Path)) and str(first).strip()
    if not named or not (str(first) in graph.attributes or Path(first).is_file()):
        return list(said), None
    raise InputError(
        f"{said!r} can be read as one answer for each of the two nodes, or as the column or file {str(first)!r} with"
        f" its confidences: give {list(said)!r} for answers, or {{…}} node -> label and their confidences"
    )


def check_models(suggestions: Any) -> Mapping[str, Any]:
    """Pass a dictionary, a model's name -> what it says.

    Raises:
        WrongTypeError: it is something else.
    """
    if not isinstance(suggestions, Mapping):
        raise WrongTypeError(
            f"suggestions are a dictionary, a model's name -> what it says, got {type(suggestions).__name__}: give"
            ' for example {"rules": {0: "spam"}}'
        )
    return suggestions


def read_given(graph: Graph, answers: Any, confidence: Any = None, gone: Container[int] = frozenset()) -> Given:
    """A model's answers from whatever holds them.

    Args:
        graph: for its nodes and columns.
        answers: a dictionary or a Series, node -> label; one label a node in an array or a list, None where it says
            nothing; a function that is given each node's columns as a dictionary and gives a label, a pair of label
            and confidence, or None; the name of a column of the graph; or a CSV file with a column that names the
            node, one with the label and perhaps one with the confidence.
        confidence: how sure the model is, from 0 to 1: one number for all, or in the form of `answers`; a column's name
            where the answers are a column's.
        gone: rows that were taken out of the job, which a function is not asked about.

    Raises:
        InputError: says what is wrong.
    """
    columns, nodes = graph.attributes, range(graph.num_nodes)
    if callable(answers):
        return _asked(graph, answers, gone)
    if isinstance(answers, str) and answers in columns:
        sources = [answers, *([confidence] if isinstance(confidence, str) else [])]
        cells = [str(cell) for cell in columns[answers]]
        return Given(list(nodes), cells, _sure(confidence, graph, list(nodes)), tuple(sources))
    if isinstance(answers, (str, Path)):
        return read_batch(graph, Path(answers))
    if isinstance(answers, Mapping) or hasattr(answers, "items"):
        pairs = dict(answers.items())
        indices = [node_index(node, graph) for node in pairs]
        return Given(indices, _one_each(pairs.values()), _sure(confidence, graph, indices))
    if isinstance(answers, (bytes, int, float)) or not hasattr(answers, "__len__"):
        raise WrongTypeError(
            f"a model's answers must be a dictionary, one label a node, a function, a column's name or a file, got"
            f" {type(answers).__name__}"
        )
    if len(answers) != len(nodes):
        raise InputError(
            f"{count(len(answers), 'answer')} for {count(len(nodes), 'node')}: give one for each node, None where the"
            " model says nothing, or a dictionary node -> label"
        )
    return Given(list(nodes), _one_each(answers), _sure(confidence, graph, list(nodes)))


def _one_each(answers: Iterable[object]) -> list[object]:
    """Pass answers that name one class each.

    Raises:
        InputError: one names several, or is a row of probabilities.
    """
    every = list(answers)
    wrong = next((one for one in every if hasattr(one, "__iter__") and not isinstance(one, (str, bytes))), None)
    if wrong is not None:
        raise InputError(
            f"a model says one class a node, and {str(wrong)[:60]} is several: of a row of probabilities give the"
            " likeliest class by its name, and how sure the model is in a list of confidences beside it"
        )
    return every


def _asked(graph: Graph, ask: Callable[[Mapping[str, str]], Any], gone: Container[int]) -> Given:
    """What a function says of each row; what it raises ends it, and nothing is kept."""
    nodes = [node for node in range(graph.num_nodes) if node not in gone]
    labels: list[object] = []
    sure: list[float] = []
    for node in nodes:
        row = {name: str(cells[node]) for name, cells in graph.attributes.items()}
        said = ask({"node": _name_of(node, graph), **row})
        label, certainty = said if isinstance(said, tuple) and len(said) == 2 else (said, 1.0)
        labels.append(label)
        try:
            sure.append(float(certainty))
        except (TypeError, ValueError):
            raise InputError(
                f"the function gave {certainty!r} as its confidence about node {_name_of(node, graph)!r}: it must be"
                " a number from 0 to 1"
            ) from None
    return Given(nodes, labels, sure)


def read_batch(graph: Graph, path: Path, columns: Mapping[str, str] | None = None) -> Given:
    """A model's answers from a CSV file.

    Without a column that names the node the file must have a row for each, in their order.

    Args:
        columns: which column holds what, by the names of `BATCH`; what is not named is found by its name.

    Raises:
        InputError: says what is wrong.
    """
    table = read_table(path)
    chosen = {what: (columns or {}).get(what) or table.find(names) for what, names in BATCH.items()}
    if lost := [name for name in chosen.values() if name is not None and name not in table.columns]:
        raise InputError(f"{str(path)!r} has no column {lost[0]!r}: it has {', '.join(table.columns)}")
    node, label, sure = chosen["node"], chosen["label"], chosen["confidence"]
    in_order = node is None and len(table) == graph.num_nodes
    if label is None or (node is None and not in_order):
        raise InputError(
            f"{str(path)!r} has the columns {', '.join(table.columns)}: suggestions need one that names the node"
            f" ({', '.join(ID)}) and one with what the model says ({', '.join(LABEL)})"
        )
    nodes = list(range(len(table))) if node is None else [node_index(cell, graph) for cell in table.column(node)]
    if sure is None:
        return Given(nodes, table.column(label))
    return Given(nodes, table.column(label), _numbers(table.column(sure), f"the column {sure!r} of {str(path)!r}"))


def _numbers(cells: Iterable[object], where: str) -> list[float]:
    """How sure a model is, from texts; where nothing stands, wholly."""
    try:
        return [float(text) if (text := str(cell).strip()) else 1.0 for cell in cells]
    except ValueError as error:
        raise InputError(f"{where} must hold numbers from 0 to 1: {error}") from None


def is_said(label: object) -> bool:
    """Whether an answer of `Given` says something: it is not None, NaN, -1 or empty."""
    if label is None or (isinstance(label, str) and not label.strip()):
        return False
    return not (isinstance(label, (int, float, np.number)) and (label != label or label == -1))


def some_answers(spelled: Iterable[str]) -> str:
    """The first different answers of a model, for a message."""
    said = list(dict.fromkeys(label for label in spelled if label))
    return ", ".join(said[:3]) + (" …" if len(said) > 3 else "") if said else "nothing"


def _sure(confidence: Any, graph: Graph, nodes: Sequence[int]) -> list[float]:
    if confidence is None:
        return []
    where = "the confidences"
    if isinstance(confidence, str):
        if confidence not in graph.attributes:
            known = ", ".join(graph.attributes) or "none at all"
            raise InputError(f"the graph has no column {confidence!r} for a model's confidences: it has {known}")
        confidence, where = graph.attributes[confidence], f"the column {confidence!r}"
    if isinstance(confidence, (int, float)):
        return [float(confidence)] * len(nodes)
    if hasattr(confidence, "items"):
        pairs = list(confidence.items())
        numbers = _numbers((value for _, value in pairs), where)
        by_node = {node_index(node, graph): sure for (node, _), sure in zip(pairs, numbers, strict=True)}
        return [by_node.get(node, 1.0) for node in nodes]
    if not hasattr(confidence, "__len__"):
        raise WrongTypeError(
            f"a model's confidence must be a number, one for each answer, a dictionary or a column's name, got"
            f" {type(confidence).__name__}"
        )
    if len(confidence) != len(nodes):
        raise InputError(f"{count(len(confidence), 'confidence')} for {count(len(nodes), 'answer')}: give one for each")
    return _numbers(confidence, where)


def _name_of(node: int, graph: Graph) -> str:
    return str(node) if graph.node_names is None else graph.node_names[node]
