"""What a labelling job is made with; its file keeps it, and none of it ever changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from nodewise.ground.errors import InputError, SessionFileError

__all__ = ["SessionSettings"]


@dataclass(frozen=True)
class SessionSettings:
    """A labelling job's settings.

    Attributes:
        budget: labels to ask for at first; an event may raise it.
        classes: the classes known at the start, in order.
        strategy: how nodes are chosen, by name.
        policy: the policy's name or file where the strategy is ``"policy"``; its weights are stored in the session.
        classifier: what learns from the labels, by name.
        seed: where all randomness comes from.
        audit: nodes drawn at random whose labels train nothing and so tell the accuracy without bias; on top of the
            budget.
        redundancy: annotators that every node should be labelled by.
        release_after: seconds after which a query that its annotator has not answered may be given to another.
        use_labels: whether the labels in the graph count as given; otherwise they are never looked at.
        reason: why this strategy, in words.
        features: what was done to the graph's features, for the record. classifier_settings, strategy_settings: what
        these were made with. classifier_digest, strategy_digest: of their code, where they are somebody's own.
    """

    budget: int
    classes: tuple[str, ...] = ()
    strategy: str = "policy"
    policy: str | None = None
    classifier: str = "gcn"
    seed: int = 0
    audit: int = 0
    redundancy: int = 1
    release_after: float = 3600.0
    use_labels: bool = True
    reason: str = ""
    features: str = "raw"
    classifier_settings: Mapping[str, Any] = field(default_factory=dict)
    strategy_settings: Mapping[str, Any] = field(default_factory=dict)
    classifier_digest: str | None = None
    strategy_digest: str | None = None

    def __post_init__(self) -> None:
        given: object = self.classes
        if not isinstance(given, (list, tuple)):
            raise InputError(f"a session's classes must be a list of names, got {str(given)[:40]!r}")
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        for name in ("classifier_settings", "strategy_settings"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"a session's {name} must be settings by name, got {getattr(self, name)!r}")
        limits = {"budget": 1, "audit": 0, "redundancy": 1, "seed": 0}
        for name, least in limits.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    f"a session's {name} must be a whole number, at least {least}, got {str(value)[:40]!r}"
                )
        for name in ("strategy", "classifier", "reason", "features"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"a session's {name} must be a text, got {str(getattr(self, name))[:40]!r}")
        if not (self.policy is None or isinstance(self.policy, str)) or not isinstance(self.use_labels, bool):
            raise InputError("a session's policy must be a name and use_labels yes or no")
        seconds = self.release_after
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
            raise InputError(f"release_after must be a number of seconds above 0, got {str(seconds)[:40]!r}")
        if any(not name.strip() for name in self.classes) or len(set(self.classes)) < len(self.classes):
            raise InputError(f"classes must have names, each another one, got {str(list(self.classes))[:200]}")

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "classes": list(self.classes)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SessionSettings:
        """The inverse of `as_dict`.

        Raises:
            SessionFileError: there are settings that this version does not know.
        """
        if not isinstance(record, Mapping):
            raise SessionFileError(
                f"the session's settings cannot be used (they are {str(record)[:40]!r}): go on from a backup"
            )
        known = {one.name for one in fields(cls)}
        if unknown := set(record) - known:
            raise SessionFileError(
                f"the session has settings that this version does not know, {sorted(unknown)}: update nodewise"
            )
        try:
            return cls(**record)
        except (TypeError, InputError) as error:
            raise SessionFileError(f"the session's settings cannot be used ({error}): go on from a backup") from None
