"""A labelling job as its file tells it: the log's meaning, the rules, the classifier that follows from them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from nodewise.ground.seeds import numpy_generator
from nodewise.session.asking.rules import Rules
from nodewise.session.files.graph_store import fetch_graph
from nodewise.session.log.history import History, carry_on, fold
from nodewise.session.log.labels import Label
from nodewise.session.log.log import Draft, Event, Log
from nodewise.session.naming import find_node, node_name
from nodewise.session.settings import SessionSettings

if TYPE_CHECKING:
    from nodewise.session.learning.learner import Learner

__all__ = ["Job"]

_SNAPSHOT_BYTES, _APART_BYTES = 256 * 2**20, 64 * 2**20
"""Memory for snapshots of the classifier that asks, and of each of the others."""

SomeJob = TypeVar("SomeJob", bound="Job")


class Job:
    """What can be read off a session's file; nothing is ever written here but through `_append`.

    Attributes:
        path: the session's file.
        settings: what it was made with.
        graph: the graph.
    """

    def __init__(self, log: Log, clock: Callable[[], float] = time.time) -> None:
        self._log, self._clock, self._lock = log, clock, threading.RLock()
        self.path = log.path
        self.settings = SessionSettings.from_dict(log.settings.get("settings", {}))
        self.graph = fetch_graph(log)
        self._index = {name: node for node, name in enumerate(self.graph.node_names or ())}
        allowed = log.part("candidates")
        nodes = self.graph.num_nodes
        self._candidates = (
            np.ones(nodes, bool) if allowed is None else np.unpackbits(np.frombuffer(allowed, np.uint8), count=nodes).astype(bool)
        )
        self._given: dict[int, str] = {}
        if self.settings.use_labels and self.graph.y is not None:
            self._given = {int(node): self.graph.class_names[self.graph.y[node]] for node in np.flatnonzero(self.graph.y >= 0)}
        self._free = self._candidates.copy()  # candidates without a label of their own
        self._free[list(self._given)] = False
        self._audit = self._draw_audit()
        self._history = fold(log.events)
        self._derived: _Derived | None = None
        self._learner: Learner | None = None
        self._apart: dict[str, Learner] = {}
        self._cache: dict[str, tuple[Any, Any]] = {}

    @property
    def labels(self) -> dict[int, str]:
        """node -> label that counts: the majority's where somebody has told it, else the one given with the graph."""
        with self._lock:
            return {**self._given, **self.refresh().labels}

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes so far: those of the start, those of the labels in their order, those only declared."""
        with self._lock:
            return self._derive(self.refresh()).classes

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask: the budget is spent, or no node is left, and the audit is complete."""
        with self._lock:
            history = self.refresh()
            left = self._free.sum() > sum(1 for node in history.labels if self._free[node])
            return self.rules().done(history) or not left

    @property
    def history(self) -> Sequence[tuple[int, str]]:
        """The labels that the classifier learns from, in order, without the given ones."""
        with self._lock:
            return [(label.node, label.label) for label in self._derive(self.refresh()).training]

    @property
    def events(self) -> Sequence[Event]:
        """Everything in the log, the oldest first."""
        with self._lock:
            self.refresh()
            return tuple(self._log.events)

    @property
    def audit_labels(self) -> dict[int, str]:
        """The audit's labels so far: node -> label."""
        with self._lock:
            return self.rules().audited(self.refresh())

    def close(self) -> None:
        """Let go of the file. Nothing is lost without it."""
        with self._lock:
            self._log.close()

    def __enter__(self: SomeJob) -> SomeJob:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def refresh(self) -> History:
        """The log's meaning now, with what other processes have written."""
        self._log.refresh()
        if self._history.last != self._log.last:
            self._history = carry_on(self._history, self._log.events)
        return self._history

    def rules(self) -> Rules:
        """Budget, redundancy and audit as they are now."""
        budget, settings = self._history.budget or self.settings.budget, self.settings
        return Rules(budget, settings.redundancy, settings.release_after, self._audit, frozenset(self._given))

    def follow(self, history: History) -> Learner:
        """The classifier brought to the labels that count."""
        training, given = self.training(history)
        if self._learner is None:
            self._learner = self._new_learner(given, _SNAPSHOT_BYTES)
        self._learner.follow(training, given)
        return self._learner

    def apart(self, history: History, purpose: Literal["predict", "report"]) -> Learner:
        """Another classifier, as it was left when last used: for long work that gives its reporter the chance to use the session."""
        if purpose not in self._apart:
            self._apart[purpose] = self._new_learner(self.training(history)[1], _APART_BYTES)
        return self._apart[purpose]

    def training(self, history: History) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
        """What the classifier learns from: the labels told, in order, and those given with the graph as they stand now."""
        found = self._derive(history)
        return found.training, found.given

    def find(self, node: int | str) -> int:
        """The node of that index or name."""
        return find_node(self.graph, node, self._index)

    def name_of(self, node: int) -> str:
        """What the node is called."""
        return node_name(self.graph, node)

    def now(self) -> float:
        """The time, by the session's clock."""
        return self._clock()

    @property
    def candidates(self) -> npt.NDArray[np.bool_]:
        """The nodes that may be asked, [node]."""
        return self._candidates

    def _new_learner(self, given: Sequence[Label], snapshot_bytes: int) -> Learner:
        import torch

        from nodewise.session.asking.choice import make_stored_strategy
        from nodewise.session.learning.learner import Learner

        strategy = make_stored_strategy(self.settings.strategy, self._log.part("policy"))
        mask = self._candidates.copy()
        mask[list(self._audit)] = False
        other = self._learner or next(iter(self._apart.values()), None)
        tensors = None if other is None else other.tensors
        return Learner(self.graph, self.settings, strategy, given, torch.from_numpy(mask), tensors, snapshot_bytes)

    def _append(self, drafts: Sequence[Draft]) -> Sequence[Event]:
        events = self._log.append(drafts)
        self.refresh()
        return events

    def _derive(self, history: History) -> _Derived:
        """What follows from the labels that count; made once for each state of them, since much asks for it and a query changes nothing."""
        kept = self._derived
        if kept is None or kept.labels is not history.labels or kept.added != history.classes:
            training = tuple(Label(node, label) for node, label in self.rules().told(history).items())
            given = tuple(Label(node, history.labels.get(node, label)) for node, label in self._given.items())
            used = dict.fromkeys([*self.settings.classes, *(label.label for label in (*given, *training)), *history.classes])
            kept = self._derived = _Derived(history.labels, history.classes, training, given, tuple(used))
        return kept

    def _draw_audit(self) -> tuple[int, ...]:
        free = np.flatnonzero(self._free).tolist()
        order = numpy_generator(self.settings.seed, "audit").permutation(len(free))[: self.settings.audit]
        return tuple(free[place] for place in order)


class _Derived(NamedTuple):
    labels: Mapping[int, str]
    added: tuple[str, ...]
    training: tuple[Label, ...]
    given: tuple[Label, ...]
    classes: tuple[str, ...]
