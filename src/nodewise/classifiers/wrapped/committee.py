"""Several classifiers that learn from the same labels, their predictions averaged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from nodewise.contracts import Capability, Classifier, GrowsByClasses, Learner, can
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter
from nodewise.ground.plugins import CallsOthers, identity_of

__all__ = ["Committee"]

_LEAST = 1e-9
"""What a class is given at least, so that its logarithm is a number."""


@dataclass(frozen=True)
class Committee(Classifier, CallsOthers):
    """Members that learn from the same labels, each with a seed of its own; the mean of their probabilities counts.

    The strategy `bald` asks where they disagree.

    Example:
        >>> import nodewise as nw
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from nodewise.classifiers import Committee, SklearnClassifier
        >>> trees = Committee(SklearnClassifier(DecisionTreeClassifier(max_features=2)), size=4)
        >>> nw.evaluate("wine", "bald", classifier=trees, budget=9, runs=2).classifier
        '4 x DecisionTreeClassifier'

    Attributes:
        members: one classifier, of which there are ``size``, or several.
        size: how many of one there are.
        name: what it is called; by default made of its members' names.
    """

    version = 1

    members: Classifier | Sequence[Classifier]
    size: int = 5
    name: str = ""

    def __post_init__(self) -> None:
        several = not isinstance(self.members, Classifier)
        if isinstance(self.members, str) or not isinstance(self.members, (Classifier, Sequence)):
            raise InputError(
                f"a committee's members are classifiers, received {self.members!r}: give one, as Views(), or a list"
            )
        if isinstance(self.size, bool) or not isinstance(self.size, int):
            raise InputError(f"the size of a committee is a whole number, received {self.size!r}")
        if not self.all_members or (not several and self.size < 1):
            raise InputError("a committee has a member at least: give a classifier and a size, or several classifiers")
        if any(not isinstance(one, Classifier) for one in self.all_members):
            raise InputError(f"a committee's members are classifiers, got {list(self.all_members)}")
        names = [one.name for one in self.all_members]
        called = " + ".join(names) if several else f"{self.size} x {names[0]}"
        possible: tuple[Capability, ...] = ("grow-classes", "edges-alone", "relations", "weights")
        shared = [each for each in possible if all(can(member, each) for member in self.all_members)]
        object.__setattr__(self, "name", self.name or called)
        object.__setattr__(self, "trained", any(one.trained for one in self.all_members))
        object.__setattr__(self, "capabilities", frozenset[Capability](shared))
        codes = sorted({identity_of(one).code for one in self.all_members if identity_of(one).storable})
        if all(identity_of(one).storable for one in self.all_members):
            object.__setattr__(self, "version", f"{type(self).version}, {'; '.join(codes)}")
        else:
            object.__setattr__(self, "code", tuple(type(one) for one in self.all_members))

    @property
    def all_members(self) -> tuple[Classifier, ...]:
        """The members, one after another."""
        return (self.members,) * self.size if isinstance(self.members, Classifier) else tuple(self.members)

    def identity(self) -> Mapping[str, Any]:
        """The members' names and settings."""
        return {"members": [{"name": one.name, "settings": dict(one.identity())} for one in self.all_members]}

    def default_features(self, graph: Graph) -> str:
        """What the first member wants."""
        return self.all_members[0].default_features(graph)

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """All that the members take."""
        return sum(one.bytes_per_run(graph, budget) for one in self.all_members)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> list[Any]:
        """What each member makes of the graph; equal ones share it."""
        made: dict[int, Any] = {}
        for one in self.all_members:
            if id(one) not in made:
                made[id(one)] = one.prepare(graph, reporter)
        return [made[id(one)] for one in self.all_members]

    def start(self, graph: GraphTensors, prepared: list[Any], runs: int, classes: int, budget: int) -> Learner:
        """Runs without a label."""
        learners = [
            one.start(graph, ready, runs, classes, budget)
            for one, ready in zip(self.all_members, prepared, strict=True)
        ]
        return (_GrowingCommittee if can(self, "grow-classes") else _CommitteeLearner)(learners)


class _CommitteeLearner(Learner):
    """Learners that are led together."""

    capabilities = frozenset[Capability]({"members"})

    def __init__(self, learners: Sequence[Learner]) -> None:
        self._learners = learners

    @property
    def num_classes(self) -> int:  # type: ignore[override]
        """How many classes there are."""
        return self._learners[0].num_classes

    def reset(self, seed: int) -> None:
        """Forget all labels; each member has a seed of its own."""
        for number, learner in enumerate(self._learners):
            learner.reset(derive_seed(seed, "member", number) >> 31)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """More labels: int64 [run, k] each."""
        for learner in self._learners:
            learner.add(nodes, labels)

    def fit(self) -> None:
        """Let all of them learn."""
        for learner in self._learners:
            learner.fit()

    def finish(self, reporter: Reporter | None = None) -> None:
        """Let all of them train to the end."""
        for learner in self._learners:
            learner.finish(reporter)

    def member_probabilities(self) -> torch.Tensor:
        """What each member predicts: [run, node, member, class]."""
        return torch.stack([learner.logits().softmax(-1) for learner in self._learners], 2)

    def logits(self) -> torch.Tensor:
        """The logarithm of the mean of the members' probabilities: [run, node, class]."""
        return self.member_probabilities().mean(2).clamp_min(_LEAST).log()

    def snapshot(self) -> Any:
        """All members' snapshots; None where one gives none."""
        kept = [learner.snapshot() for learner in self._learners]
        return None if any(one is None for one in kept) else kept

    def restore(self, snapshot: Any) -> None:
        """Go on from there."""
        for learner, kept in zip(self._learners, snapshot, strict=True):
            learner.restore(kept)


class _GrowingCommittee(_CommitteeLearner):
    """The same with members that take in classes."""

    def add_classes(self, names: Sequence[str]) -> None:
        """More classes."""
        for learner in self._learners:
            cast(GrowsByClasses, learner).add_classes(names)
