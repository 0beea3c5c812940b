"""Making a session: what was left open is decided, and its file is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.graph import Graph
from nodewise.graph.checks import class_name
from nodewise.graph.features import prepared
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Reporter, Silent, Warned
from nodewise.ground.identity import code_of
from nodewise.session.asking.selection import choose_strategy
from nodewise.session.log.contents import store_graph
from nodewise.session.log.log import Log
from nodewise.session.settings import NewSettings, SessionSettings

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy

__all__ = ["create_log"]


def create_log(
    path: Path,
    graph: Graph | str | Path,
    wanted: NewSettings,
    *,
    candidates: Sequence[int] | None,
    source: str | Path | None,
    embed_limit: int,
    reporter: Reporter | None,
    wait: float,
    clock: Callable[[], float],
) -> tuple[Log, Classifier, Strategy | None]:
    """Decide what the settings leave open, and write the session's file; the others are those of `Session.create`.

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
    use_labels = wanted.use_labels
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
    names = _classes(graph, wanted.classes, use_labels)
    chosen = choose_strategy(graph, wanted.strategy, wanted.policy, wanted.strategy_settings)
    if wanted.classifier is None and chosen.played_with is not None:
        name, own = chosen.played_with
        learns = make_classifier(name, {**own, **(wanted.classifier_settings or {})}, imports=False)
    else:
        learns = make_classifier(wanted.classifier, wanted.classifier_settings)
    raw, graph = graph, prepared(graph, wanted.features, learns.default_features(graph))
    source = source if graph is raw else None  # the file holds the features as they were
    report(Note(f"strategy {chosen.strategy}: {chosen.reason}"))
    for remark in notes_on_features(learns, raw, wanted.features):
        report(Note(remark))
    foresee = getattr(learns, "foresee", None)
    if foresee is not None:  # before anything is written
        foresee(graph, report)
    settings = SessionSettings.decide(
        wanted,
        budget=_budget(graph, names, wanted.budget),
        classes=names,
        strategy=chosen.strategy,
        policy=chosen.policy,
        classifier=learns.name,
        use_labels=use_labels,
        reason=chosen.reason,
        features=graph.features,
        classifier_settings=_plain(learns),
        strategy_settings={} if chosen.made is None else _plain(chosen.made),
        classifier_digest=code_of(learns),
        strategy_digest=None if chosen.made is None else code_of(chosen.made),
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
