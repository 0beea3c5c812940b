"""A query as it was asked: the node, why it was chosen, and what was predicted then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodewise.session.meaning.history import ClassList, OpenQuery

__all__ = ["Query"]


@dataclass(frozen=True)
class Query:
    """A node that the session asks about, as it was when it was asked.

    Attributes:
        node: its index.
        name: its name, or its index as text.
        annotator: who is asked.
        event: the query's number in the log.
        audit: whether it was drawn at random to measure the accuracy; then no prediction is told, so that it cannot
            sway the answer.
        why: the reasons, in words.
        rank: its rank among the candidates by the strategy's score, the best is 1; 0 for an audit.
        candidates: how many there were.
        score: the strategy's score, or None for an audit.
        features: the state features by name, as the policy reads them.
        predicted: class -> probability, the most likely first; empty before the first label and for an audit.
    """

    node: int
    name: str
    annotator: str
    event: int
    audit: bool
    why: tuple[str, ...]
    rank: int
    candidates: int
    score: float | None
    features: Mapping[str, float]
    predicted: Mapping[str, float]

    @property
    def sure(self) -> float | None:
        """The probability of the most likely class, or None where nothing is predicted."""
        return next(iter(self.predicted.values()), None)

    @property
    def guess(self) -> str | None:
        """The most likely class, or None where nothing is predicted."""
        return next(iter(self.predicted), None)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "node": self.node,
            "name": self.name,
            "annotator": self.annotator,
            "event": self.event,
            **self.body(),
            "guess": self.guess,
            "sure": self.sure,
        }

    def body(self) -> dict[str, Any]:
        """What the log keeps beside node, annotator and number."""
        return {
            "audit": self.audit,
            "why": list(self.why),
            "rank": self.rank,
            "candidates": self.candidates,
            "score": self.score,
            "features": dict(self.features),
            "predicted": [[name, chance] for name, chance in self.predicted.items()],
        }

    @classmethod
    def from_log(cls, logged: OpenQuery, name: str, classes: ClassList) -> Query:
        """The query as the log has kept it, with the names that classes have now."""
        body = logged.body
        predicted: dict[str, float] = {}
        for written, chance in body.get("predicted", ()):
            number = classes.find(str(written))
            now = str(written) if number is None else classes.name(number)
            predicted[now] = predicted.get(now, 0.0) + float(chance)
        return cls(
            node=logged.node,
            name=name,
            annotator=logged.annotator,
            event=logged.event,
            audit=bool(body.get("audit", False)),
            why=tuple(body.get("why", ())),
            rank=int(body.get("rank", 0)),
            candidates=int(body.get("candidates", 0)),
            score=body.get("score"),
            features=dict(body.get("features", {})),
            predicted=predicted,
        )
