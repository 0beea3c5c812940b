"""Node classifiers, each a folder, behind the one contract of `nodewise.contracts.Classifier`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nodewise.classifiers.gcn.gcn import Gcn
from nodewise.classifiers.views.views import Views
from nodewise.classifiers.wrapped.committee import Committee
from nodewise.classifiers.wrapped.estimator import SklearnClassifier
from nodewise.classifiers.wrapped.module import TorchClassifier
from nodewise.contracts import Classifier, can, check_capabilities
from nodewise.graph import Graph
from nodewise.graph.checks import unscaled
from nodewise.graph.graph import canonical_features
from nodewise.ground.errors import InputError
from nodewise.ground.plugins import check_name, list_plugins, own_object, resolve_plugin

__all__ = [
    "CLASSIFIERS",
    "DEFAULT_CLASSIFIER",
    "Committee",
    "Gcn",
    "SklearnClassifier",
    "TorchClassifier",
    "Views",
    "list_classifiers",
    "make_classifier",
    "notes_on_graph",
    "unusual_settings",
]

CLASSIFIERS: dict[str, Callable[..., Classifier]] = {"views": Views, "gcn": Gcn}
"""Every classifier by the name that the command line uses."""

DEFAULT_CLASSIFIER = "views"

GROUP = "nodewise.classifiers"
"""The group of entry points under which installed packages offer classifiers."""


def list_classifiers() -> list[str]:
    """The names there are."""
    return list_plugins(CLASSIFIERS, GROUP)


def make_classifier(
    classifier: str | Classifier | None = None, settings: Mapping[str, Any] | None = None, *, imports: bool = True
) -> Classifier:
    """A classifier by name, with settings; an object of one's own is taken as it is.

    Args:
        classifier: one of `CLASSIFIERS`, an entry point's name, ``package.module:Name``, or a classifier; None: the
            default.
        settings: what it is made with, by name.
        imports: whether ``package.module:Name`` may be imported.

    Raises:
        UnknownNameError: there is no such classifier, or it has no such setting.
        InputError: it does not keep the contract.
    """
    if isinstance(classifier, str) or classifier is None:
        made = resolve_plugin(
            "classifier", classifier or DEFAULT_CLASSIFIER, CLASSIFIERS, GROUP, settings, imports=imports
        )
    else:
        made = own_object("classifier", classifier, settings)
    if not isinstance(made, Classifier):
        raise InputError(
            f"{made!r} is no classifier: it needs a name, trained, capabilities and the methods prepare, start,"
            " identity, default_features and bytes_per_run; inherit from nodewise.contracts.Classifier"
        )
    check_name(made, "classifier")
    check_capabilities(made, "classifier", made.name)
    return made


def unusual_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a classifier's settings that are not its defaults; all of them where these are not known."""
    usual = CLASSIFIERS[name]().identity() if name in CLASSIFIERS else {}
    return {key: value for key, value in settings.items() if key not in usual or usual[key] != value}


def notes_on_graph(classifier: Classifier, graph: Graph, asked: str | None = None) -> list[str]:
    """What to know of a graph's features, weights and relations before a classifier is given them, in words.

    Args:
        classifier: who is given them.
        graph: the graph as it was loaded.
        asked: the preprocessing that somebody asked for by name: whoever did so has looked at the scales.
    """
    edges = []
    if graph.relations is not None and not can(classifier, "relations"):
        seen = "edges both ways" if graph.relations.directed else "the union of the paths as plain edges"
        edges = [f"{graph.name!r} has relations: {classifier.name} cannot tell them apart, and is given {seen}"]
    if graph.edge_weight is not None and not can(classifier, "weights"):
        edges += [f"the edges of {graph.name!r} have weights: {classifier.name} cannot use them, and is given none"]
    if graph.has_features:
        scales = unscaled(graph.x, graph.x_offset, graph.features) if asked is None else None
        return edges if scales is None else [*edges, f"{graph.name!r}: {scales}" if graph.name else scales]
    if asked is not None and canonical_features(asked, graph.name) != "raw":
        return edges
    told_apart = graph.relations is not None and can(classifier, "relations")
    instead = (
        f"looks at its {'relations' if told_apart else 'edges'} alone"
        if can(classifier, "edges-alone")
        else "is given numbers made of its edges (degree, clustering, PageRank …) instead"
    )
    return [*edges, f"{graph.name!r} has no features: {classifier.name} {instead}"]
