"""What a learner has beside its labels: what models say of the nodes, and how far labels are trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nodewise.contracts import Classifier, Learner, TakesSuggestions, TakesTrust, can, refusal
from nodewise.graph import Graph
from nodewise.graph.checks import class_labels, natural_order
from nodewise.graph.nodes import node_index
from nodewise.ground.errors import InputError
from nodewise.ground.events import count
from nodewise.session.answers import valid_person
from nodewise.session.meaning.given import (
    Given,
    answer_table,
    answers_and_confidence,
    check_models,
    read_given,
    some_answers,
)
from nodewise.session.meaning.trust import LabelTrust

__all__ = ["Extras", "named_classes", "read_answers", "read_extras"]

_ANSWERS, _CONFIDENCE, _TRUST, _CONFIRMED = "model answers", "model confidence", "label trust", "label confirmed"


@dataclass(frozen=True, eq=False)
class Extras:
    """What a learner has beside its labels.

    Attributes:
        names: the models'.
        answers: the number of the class that each names for each node, −1 where it says nothing: int32 [model, node].
        confidence: how sure each is, from 0 to 1: float32 [model, node].
        unnamed: answers of each that named none of the classes and were left out.
        trust: how far labels are trusted by who gave them; None where each counts whole.
    """

    names: tuple[str, ...]
    answers: npt.NDArray[np.int32]
    confidence: npt.NDArray[np.float32]
    unnamed: tuple[int, ...]
    trust: LabelTrust | None

    def __repr__(self) -> str:
        said = [
            f"{count(int((row >= 0).sum()), 'answer')} of {name}"
            for name, row in zip(self.names, self.answers, strict=True)
        ]
        trusted = "count whole" if self.trust is None else "may be doubted"
        return f"Extras({', '.join(said) or 'no models'}; labels {trusted})"

    def hand_to(self, learner: Learner, classifier: Classifier, classes: int) -> None:
        """Give a learner what there is.

        Raises:
            InputError: its classifier cannot take it.
        """
        if self.names:
            if not can(classifier, "own-centre"):
                raise refusal(classifier, "own-centre", f"{self.names[0]!r} has suggestions")
            cast(TakesSuggestions, learner).set_suggestions(self._table(classes))
        if self.trust is not None:
            if not can(classifier, "label-trust"):
                raise refusal(classifier, "label-trust", "trust was asked for")
            cast(TakesTrust, learner).set_trust(*self.trust)

    def _table(self, classes: int) -> npt.NDArray[np.float32]:
        """How sure each model is of each class: float32 [model, node, class]."""
        table = answer_table(len(self.answers), self.answers.shape[1], classes)
        which, where = np.nonzero(self.answers >= 0)
        table[which, where, self.answers[which, where]] = self.confidence[which, where]
        return table

    def said(self, classes: tuple[str, ...]) -> dict[str, tuple[dict[int, str], dict[int, float]]]:
        """What each model says, as a session takes it: node -> class, and node -> how sure it is."""
        found = {}
        for name, answers, sure in zip(self.names, self.answers, self.confidence, strict=True):
            nodes = np.flatnonzero(answers >= 0).tolist()
            found[name] = {node: classes[answers[node]] for node in nodes}, {node: float(sure[node]) for node in nodes}
        return found

    def packed(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """All of it as named arrays and JSON, for a file."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        if self.names:
            arrays |= {_ANSWERS: self.answers, _CONFIDENCE: self.confidence}
        if self.trust is not None:
            arrays |= {_TRUST: self.trust.trust, _CONFIRMED: self.trust.confirmed}
        return arrays, {"names": list(self.names), "unnamed": list(self.unnamed), "trust": self.trust is not None}

    @classmethod
    def unpacked(
        cls, arrays: Mapping[str, npt.NDArray[Any]], record: Mapping[str, Any], nodes: int, classes: int
    ) -> Extras:
        """From what `packed` gave, checked.

        Raises:
            InputError: it does not fit so many nodes and classes.
        """
        names, unnamed = tuple(map(str, record.get("names", ()))), tuple(map(int, record.get("unnamed", ())))
        nothing = _no_answers(0, nodes)
        answers, sure = (arrays[_ANSWERS], arrays[_CONFIDENCE]) if names else nothing
        if (answers.dtype, sure.dtype) != (nothing[0].dtype, nothing[1].dtype) or len(unnamed) != len(names):
            raise InputError("what models say in it is of another kind")
        if answers.shape != (len(names), nodes) or sure.shape != answers.shape:
            raise InputError(f"models' answers have the shape {list(answers.shape)}, which does not fit its graph")
        if names and (answers.min() < -1 or answers.max() >= classes or not _are_shares(sure)):
            raise InputError("a model names a class that is not there, or its confidence is no number from 0 to 1")
        if not record.get("trust"):
            return cls(names, answers, sure, unnamed, None)
        trust, confirmed = arrays[_TRUST], arrays[_CONFIRMED]
        fits = trust.dtype == np.float32 and confirmed.dtype == np.bool_
        if not fits or not trust.shape == confirmed.shape == (nodes,):
            raise InputError("how far its labels are trusted does not fit its graph")
        if not _are_shares(trust):
            raise InputError("a label is trusted by a number that is not from 0 to 1")
        return cls(names, answers, sure, unnamed, LabelTrust(trust, confirmed))


def read_answers(suggestions: Any, graph: Graph) -> dict[str, Given]:
    """Model -> what it says, from whatever holds it; nothing where there are no suggestions.

    Raises:
        InputError: says what is wrong.
    """
    if suggestions is None:
        return {}
    return {
        valid_person(name, "a model"): read_given(graph, *answers_and_confidence(said, graph))
        for name, said in check_models(suggestions).items()
    }


def named_classes(given: Mapping[str, Given]) -> tuple[str, ...]:
    """The classes that models name, in order: those of a learner that has no others."""
    spelled = {name for each in given.values() for name in _spelled(each, ()) if name}
    return tuple(natural_order(list(spelled)))


def read_extras(given: Mapping[str, Given], trust: Any, graph: Graph, classes: tuple[str, ...]) -> Extras:
    """What a learner has beside its labels.

    Args:
        given: what `read_answers` gave.
        trust: True, a number for each node, a dictionary node -> number, or what a session knows; False or None: each
            label counts whole.
        graph: whose nodes. classes: of the learner.

    Raises:
        InputError: a confidence or trust is no number from 0 to 1, or a model names none of the classes.
    """
    number, unnamed = {name: i for i, name in enumerate(classes)}, []
    answers, confidence = _no_answers(len(given), graph.num_nodes)
    for row, (name, each) in enumerate(given.items()):
        spelled, sure = _spelled(each, classes), np.asarray(each.confidence or np.ones(len(each.nodes)), np.float32)
        _check_share(sure, f"a confidence of {name!r}")
        kept = [i for i, label in enumerate(spelled) if label in number]
        if not kept:
            raise InputError(
                f"no answer of {name!r} names one of the classes ({', '.join(classes)}), it says"
                f" {some_answers(spelled)}: check the spelling, or give classes=[…]"
            )
        nodes = [each.nodes[i] for i in kept]  # of a node that is listed twice the later answer counts
        answers[row, nodes], confidence[row, nodes] = [number[spelled[i]] for i in kept], sure[kept]
        unnamed.append(sum(bool(label) and label not in number for label in spelled))
    return Extras(tuple(given), answers, confidence, tuple(unnamed), _read_trust(trust, graph))


def _no_answers(programs: int, nodes: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    return np.full((programs, nodes), -1, np.int32), np.zeros((programs, nodes), np.float32)


def _spelled(given: Given, classes: tuple[str, ...]) -> list[str]:
    """What is said of each node in the spelling of the classes, empty where nothing is."""
    return class_labels([None if label == -1 else label for label in given.labels], classes)[0]


def _read_trust(trust: Any, graph: Graph) -> LabelTrust | None:
    if isinstance(trust, LabelTrust):
        return trust
    if trust is None or trust is False:
        return None
    table = np.ones(graph.num_nodes, np.float32)
    try:
        if isinstance(trust, Mapping) or hasattr(trust, "items"):
            for node, share in trust.items():
                table[node_index(node, graph)] = share
        elif trust is not True:
            table = np.array(trust, np.float32)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"trust must be True, a number a node, or a dictionary node -> number: {error}") from None
    if table.shape != (graph.num_nodes,):
        raise InputError(
            f"trust needs a number for each of the {graph.num_nodes} nodes, received the shape {list(table.shape)}:"
            " give as many, or a dictionary node -> number"
        )
    _check_share(table, "how far a label is trusted")
    return LabelTrust(table, np.zeros(graph.num_nodes, bool))


def _are_shares(table: npt.NDArray[np.float32]) -> bool:
    return bool(((table >= 0) & (table <= 1)).all())  # false for what is no number, too


def _check_share(table: npt.NDArray[np.float32], what: str) -> None:
    wrong = ~((table >= 0) & (table <= 1))
    if wrong.any():
        raise InputError(f"{what} must be a number from 0 to 1, got {float(table[wrong][0]):g}")
