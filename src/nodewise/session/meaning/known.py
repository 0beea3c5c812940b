"""What the owner knows of some rows: people are asked about these now and then, to see how right they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nodewise.session.answers import Answer

__all__ = ["KnownAnswer", "KnownAnswers"]


class KnownAnswer(NamedTuple):
    """What the owner knows of a node, who has said so, and whether it is the node's label as well."""

    number: Answer
    by: str
    counts: bool = False


@dataclass(frozen=True)
class KnownAnswers:
    """What is known, and how often it is asked.

    Attributes:
        answers: node -> what is known of it.
        percent: how many of a hundred questions are about these, as it was last set, or None if it never was.
        columns: the columns that hold such answers: nobody is shown them.
    """

    answers: Mapping[int, KnownAnswer] = field(default_factory=dict)
    percent: int | None = None
    columns: frozenset[str] = frozenset()

    def and_event(self, who: str, body: Mapping[str, Any], said: Sequence[Answer]) -> KnownAnswers:
        """The same with what an event adds, its answers given by number."""
        new = {
            int(node): KnownAnswer(one, who, "counts" in body) for node, one in zip(body["nodes"], said, strict=True)
        }
        columns = self.columns | ({str(body["column"])} if "column" in body else set())
        return KnownAnswers({**self.answers, **new}, body.get("percent", self.percent), columns)
