"""Making a session, and what its file holds beside the log.

Settings, which never change, the graph, and the nodes that may be asked.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph, read_graph
from nodewise.graph.checks import class_name
from nodewise.graph.features import prepared
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import GraphError, InputError, SessionError, SessionFileError
from nodewise.ground.events import Note, Reporter, Silent, Warned
from nodewise.ground.files import scratch_folder
from nodewise.ground.plugins import code_digest
from nodewise.session.asking.selection import choose_strategy
from nodewise.session.log.form import damaged, graph_files, graph_path
from nodewise.session.log.log import Log

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy
    from nodewise.policy import Policy

__all__ = ["EMBED_LIMIT", "Contents", "SessionSettings", "create_log", "fetch_graph", "store_graph"]

EMBED_LIMIT = 256 * 2**20
"""The largest graph, in bytes of its npz form, that lies in the session's file."""


def create_log(
    path: Path,
    graph: Graph | str | Path,
    *,
    budget: int | None,
    classes: Sequence[str] | None,
    strategy: str | Strategy | Policy | None,
    policy: str | Path | Policy | None,
    classifier: str | Classifier | None,
    classifier_settings: Mapping[str, Any] | None,
    strategy_settings: Mapping[str, Any] | None,
    seed: int,
    audit: int,
    redundancy: int,
    release_after: float,
    use_labels: bool | None,
    candidates: Sequence[int] | None,
    features: str | None,
    source: str | Path | None,
    embed_limit: int,
    reporter: Reporter | None,
    wait: float,
    clock: Callable[[], float],
) -> tuple[Log, Classifier, Strategy | None]:
    """Decide what was left open, and write the session's file; the arguments are those of `Session.create`.

    Returns:
        The file, the classifier, and the strategy where it is not the learned one.
    """
    from nodewise import __version__
    from nodewise.classifiers import make_classifier, notes_on_features
    from nodewise.datasets import as_graph

    report = reporter or Silent()
    if path.exists():  # told before anything is loaded or trained
        raise InputError(
            f"there is a file {str(path)!r} already: a new session needs a new name; to go on with it, open it"
        )
    if not isinstance(graph, Graph):
        graph = as_graph(graph, reporter=report)
    labelled = 0 if graph.y is None else int((graph.y >= 0).sum())
    if use_labels is None:
        use_labels = labelled < graph.num_nodes
        if not use_labels:
            report(
                Warned(
                    "every node of the graph has a label, so there would be nothing to ask: its labels are left out of"
                    " sight"
                )
            )
    given = labelled if use_labels else 0
    names = _classes(graph, classes, use_labels)
    chosen = choose_strategy(graph, strategy, policy, strategy_settings)
    if classifier is None and chosen.played_with is not None:
        name, own = chosen.played_with
        learns = make_classifier(name, {**own, **(classifier_settings or {})}, imports=False)
    else:
        learns = make_classifier(classifier, classifier_settings)
    raw, graph = graph, prepared(graph, features, learns.default_features(graph))
    source = source if graph is raw else None  # the file holds the features as they were
    report(Note(f"strategy {chosen.strategy}: {chosen.reason}"))
    for remark in notes_on_features(learns, raw, features):
        report(Note(remark))
    foresee = getattr(learns, "foresee", None)
    if foresee is not None:  # before anything is written
        foresee(graph, report)
    settings = SessionSettings(
        budget=_budget(graph, names, budget),
        classes=names,
        strategy=chosen.strategy,
        policy=chosen.policy,
        classifier=learns.name,
        seed=seed,
        audit=audit,
        redundancy=redundancy,
        release_after=release_after,
        use_labels=use_labels,
        reason=chosen.reason,
        features=graph.features,
        classifier_settings=_plain(learns),
        strategy_settings={} if chosen.made is None else _plain(chosen.made),
        classifier_digest=code_digest(learns),
        strategy_digest=None if chosen.made is None else code_digest(chosen.made),
    )
    allowed = _mask(graph, candidates)
    free = int(
        (allowed & ~((graph.y >= 0) if use_labels and graph.y is not None else np.zeros(graph.num_nodes, bool))).sum()
    )
    if settings.budget + settings.audit > free:
        beside = f" and an audit of {settings.audit}" if settings.audit else ""
        raise InputError(
            f"a budget of {settings.budget}{beside} is more than the {free} nodes that can be asked ({given} have a"
            " label): lower it"
        )
    parts: dict[str, bytes] = {}
    where, packed = store_graph(graph, path, None if source is None else Path(source), embed_limit)
    if packed is not None:
        parts["graph"] = packed
    if chosen.weights is not None:
        parts["policy"] = chosen.weights
    if candidates is not None:
        parts["candidates"] = np.packbits(allowed).tobytes()
    where["nodes"] = graph.num_nodes  # for lists of sessions, which read no graph
    record: dict[str, Any] = {"settings": settings.as_dict(), "graph": where, "nodewise_version": __version__}
    return Log.create(path, record, parts, wait=wait, clock=clock), learns, chosen.made


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


@dataclass(frozen=True, eq=False)
class Contents:
    """A session's file without its events; none of it ever changes.

    Attributes:
        settings: what the session was made with.
        graph: the graph.
        given: node -> the label that it had before the session.
        candidates: the nodes that may be asked, [node].
        free: the candidates without a given label, [node].
        audit: the nodes of the audit, in the order drawn.
        policy: the policy's file, or None.
    """

    settings: SessionSettings
    graph: Graph
    given: Mapping[int, str]
    candidates: npt.NDArray[np.bool_]
    free: npt.NDArray[np.bool_]
    audit: tuple[int, ...]
    policy: bytes | None

    def find(self, node: int | str) -> int:
        """The node of that index or name: an integer is an index.

        A text is a name where the graph has names, else an index.

        Raises:
            InputError: there is no such node.
        """
        graph = self.graph
        if isinstance(node, str):
            if graph.node_names is not None:
                if node not in self._index:
                    near = difflib.get_close_matches(node, graph.node_names, n=3) if graph.num_nodes <= 20_000 else []
                    meant = (
                        f"did you mean {' or '.join(map(repr, near))}?"
                        if near
                        else f"give a name such as {graph.node_names[0]!r}"
                    )
                    raise InputError(f"the graph {graph.name!r} has no node named {node!r}: {meant}")
                return self._index[node]
            if not re.fullmatch(r"\d{1,18}", node):
                raise InputError(
                    f"node {node!r} is not an index: the graph's nodes have no names, give a number from 0 to"
                    f" {graph.num_nodes - 1}"
                )
        try:
            index = node.__index__() if not isinstance(node, str) else int(node)
        except AttributeError:
            raise InputError(f"a node is given by its index or its name, got {node!r}") from None
        if isinstance(node, bool) or not 0 <= index < graph.num_nodes:
            raise InputError(
                f"there is no node {node!r}: the graph {graph.name!r} has nodes 0 to {graph.num_nodes - 1}"
            )
        return index

    def name_of(self, node: int) -> str:
        """The node's name where the graph has names, else its index."""
        return self.graph.node_names[node] if self.graph.node_names is not None else str(node)

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {name: node for node, name in enumerate(self.graph.node_names or ())}

    @classmethod
    def read(cls, log: Log) -> Contents:
        """Read them from an open file.

        Raises:
            SessionFileError: they cannot be used, or the graph is gone or has changed.
        """
        settings = SessionSettings.from_dict(log.settings.get("settings", {}))
        graph = fetch_graph(log)
        packed = log.part("candidates")
        count = graph.num_nodes
        candidates = (
            np.ones(count, bool)
            if packed is None
            else np.unpackbits(np.frombuffer(packed, np.uint8), count=count).astype(bool)
        )
        given: dict[int, str] = {}
        if settings.use_labels and graph.y is not None:
            given = {int(node): graph.class_names[graph.y[node]] for node in np.flatnonzero(graph.y >= 0)}
        free = candidates.copy()
        free[list(given)] = False
        nodes = np.flatnonzero(free).tolist()
        drawn = numpy_generator(settings.seed, "audit").permutation(len(nodes))[: settings.audit]
        return cls(settings, graph, given, candidates, free, tuple(nodes[index] for index in drawn), log.part("policy"))


def store_graph(
    graph: Graph, session: Path, source: Path | None = None, limit: int = EMBED_LIMIT
) -> tuple[dict[str, Any], bytes | None]:
    """Where the graph is, for the settings, and its bytes if it is to lie inside.

    Args:
        graph: what to keep.
        session: the session's file.
        source: the file or folder that the graph was read from, as it is; where it is too large to lie inside, that is
            referred to. Without it, a copy is written beside the session.
        limit: the largest size in bytes that lies inside.
    """
    if (
        source is not None and zipfile.is_zipfile(source) and zipfile.Path(source, "name.npy").exists()
    ):  # in the form that it is kept in already
        if source.stat().st_size <= limit:
            return {"where": "inside"}, source.read_bytes()
    else:
        with scratch_folder() as folder:
            packed = folder / "graph.npz"
            write_npz(graph, packed)
            if packed.stat().st_size <= limit:
                return {"where": "inside"}, packed.read_bytes()
    if source is None:
        source = session.with_name(session.name + ".graph.npz")
        if source.exists():
            raise SessionError(
                f"the graph is too large for the session's file, and there is a {source.name!r} beside it already:"
                " remove that one"
            )
        write_npz(graph, source)
    return {"where": "file", "path": str(source.absolute()), "sha256": _hash(source)}, None


def fetch_graph(log: Log) -> Graph:
    """The session's graph.

    Raises:
        SessionFileError: the stored graph is damaged, or the file referred to is gone or has changed.
    """
    stored = log.settings.get("graph")
    if not isinstance(stored, dict):
        raise damaged(log.path, "it does not say where its graph is")
    if stored.get("where") == "inside":
        packed = log.part("graph")
        if packed is None:
            raise SessionFileError(f"the session {str(log.path)!r} holds no graph: go on from a backup")
        with scratch_folder() as folder:
            file = folder / "graph.npz"
            file.write_bytes(packed)
            try:
                return read_npz(file)
            except GraphError as error:
                raise SessionFileError(f"the graph in the session {str(log.path)!r} cannot be read: {error}") from error
    path = graph_path(log)
    if path is None:
        raise SessionFileError(
            f"the graph of the session {str(log.path)!r} is not at {str(stored.get('path'))!r}: put it back there, or"
            " beside the session's file"
        )
    if _hash(path) != stored.get("sha256"):
        raise SessionFileError(
            f"the graph {str(path)!r} has changed since the session was made: put the old file back, or make a new"
            " session"
        )
    try:
        return read_graph(path)
    except GraphError as error:
        raise SessionFileError(f"the session's graph cannot be read: {error}") from error


def _plain(thing: Classifier | Strategy) -> dict[str, Any]:
    """The settings that differ from nothing, as JSON holds them."""
    settings: dict[str, Any] = json.loads(json.dumps(dict(thing.identity())))
    return settings


def _classes(graph: Graph, classes: Sequence[str] | None, use_labels: bool) -> tuple[str, ...]:
    if classes is None:
        return graph.class_names
    if isinstance(classes, str):
        raise InputError(f"classes must be a list of names, got the text {classes!r}: give [{classes!r}], or several")
    names = [class_name(name) for name in classes]
    if use_labels and graph.y is not None:
        names += [
            graph.class_names[number]
            for number in np.unique(graph.y[graph.y >= 0])
            if graph.class_names[number] not in names
        ]
    return tuple(names)


def _budget(graph: Graph, names: Sequence[str], budget: int | None) -> int:
    if budget is not None:
        return budget
    from nodewise.datasets.load import LABELS_PER_CLASS, default_budget

    if graph.num_classes and tuple(names) == graph.class_names:
        return default_budget(graph)
    if not names:
        raise InputError(
            "no budget and no classes are given, so there is no default: give a budget, such as five labels for each"
            " class you expect"
        )
    return LABELS_PER_CLASS * len(names)


def _mask(graph: Graph, candidates: Sequence[int] | None) -> np.ndarray[Any, np.dtype[np.bool_]]:
    mask = np.ones(graph.num_nodes, dtype=bool)
    if candidates is not None:
        nodes = np.asarray(candidates, dtype=np.int64)
        if nodes.ndim != 1 or (nodes.size and not (nodes.min() >= 0 and nodes.max() < graph.num_nodes)):
            raise InputError(f"candidates must be a list of nodes from 0 to {graph.num_nodes - 1}")
        mask[:] = False
        mask[nodes] = True
    return mask


def _hash(path: Path) -> str:
    """SHA-256 of a file, or of the names and hashes of the files that a folder's graph is read from."""
    files = graph_files(path)
    digests = []
    for file in files:
        if not file.is_file():  # a pipe would never end
            raise SessionFileError(
                f"the session's graph {str(file)!r} is not an ordinary file: put the old file back, or make a new"
                " session"
            )
        digest = hashlib.sha256()
        try:
            with file.open("rb") as stream:
                while block := stream.read(2**20):
                    digest.update(block)
        except OSError as error:
            raise SessionFileError(
                f"the session's graph {str(file)!r} cannot be read: {error.strerror or error}; check its permissions"
            ) from error
        digests.append(digest.hexdigest())
    if files == [path]:
        return digests[0]
    named = [f"{os.fsdecode(file.name)} {digest}" for file, digest in zip(files, digests, strict=True)]
    return hashlib.sha256("\n".join(named).encode("utf-8", "surrogateescape")).hexdigest()
