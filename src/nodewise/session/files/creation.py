"""Making a session: what was left open is decided, and its file is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from nodewise.contracts import Foresees, can, check_needs, refusal
from nodewise.graph import Graph
from nodewise.graph.checks import class_name
from nodewise.graph.features import prepared
from nodewise.graph.nodes import Nodes, node_indices
from nodewise.ground.errors import InputError, UnknownNameError, WrongTypeError
from nodewise.ground.events import Note, Reporter, Silent, Warned, count
from nodewise.ground.files import scratch_folder
from nodewise.ground.plugins import code_of
from nodewise.session.log.contents import code_on, store_graph
from nodewise.session.log.log import Log
from nodewise.session.meaning.changes import member_name
from nodewise.session.settings import NewSettings, SessionSettings

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy
    from nodewise.policy import Policy

__all__ = ["Choice", "choose_strategy", "create_log", "remove_session"]

_TOLERANCE = 2.0
"""A graph is outside a policy's source graphs when its average degree is this many times beyond theirs.

A denser one only if most of its nodes have more neighbours than the policy can tell apart as well (20): up to there the
policies were measured to win, on graphs of 4.5 to 14.4."""


def create_log(
    path: Path,
    graph: Graph | str | Path,
    wanted: NewSettings,
    *,
    candidates: Nodes | None,
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
    from nodewise.classifiers import make_classifier, notes_on_graph
    from nodewise.datasets import as_graph

    report = reporter or Silent()
    if path.exists():  # refused before anything is loaded or trained
        raise InputError(
            f"there is a file {str(path)!r} already: a new session needs a new name; to go on with it, open it"
        )
    if not isinstance(graph, Graph):
        graph = as_graph(graph, reporter=report, several=wanted.several)
    several = wanted.several or graph.several
    labelled = int(graph.labelled.sum())
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
    names = _classes(graph, wanted.classes, use_labels, wanted.closed_classes)
    if several:
        names = tuple(map(member_name, names))
    chosen = choose_strategy(graph, wanted.strategy, wanted.policy, wanted.strategy_settings)
    if wanted.classifier is None and chosen.played_with is not None:
        name, own = chosen.played_with
        learns = make_classifier(name, {**own, **(wanted.classifier_settings or {})}, imports=False)
    else:
        learns = make_classifier(wanted.classifier, wanted.classifier_settings)
    if chosen.made is not None:
        check_needs(chosen.made, learns)
    if several:
        _refuse_one_label(learns, chosen)
    raw, usual = graph, learns.default_features(graph)
    if wanted.features is not None or usual != "raw":
        graph = prepared(graph, wanted.features, usual)
    source = source if graph is raw else None  # the file holds the features as they were
    report(Note(f"strategy {chosen.strategy}: {chosen.reason}"))
    for remark in notes_on_graph(learns, raw, wanted.features):
        report(Note(remark))
    if not names and not can(learns, "grow-classes"):
        raise refusal(learns, "grow-classes", "no class is named")
    if wanted.trust and several:
        raise InputError(
            "trust was asked for, which weighs labels of one class a node, and nodes of the job may have several: leave"
            " one of them out"
        )
    if wanted.trust and not can(learns, "label-trust"):
        raise refusal(learns, "label-trust", "trust was asked for")
    if wanted.look_for_classes and not can(learns, "posterior"):
        raise InputError(
            f"the classifier {learns.name!r} cannot tell which rows are unlike all labelled ones, and look_for_classes"
            " asks about such rows: leave it out, or use the classifier views"
        )
    if can(learns, "foresee"):  # before anything is written
        cast(Foresees, learns).foresee(graph, report)
    settings = SessionSettings.decide(
        wanted,
        budget=_budget(graph, names, wanted.budget),
        classes=names,
        several=several,
        strategy=chosen.strategy,
        policy=chosen.policy,
        classifier=learns.name,
        use_labels=use_labels,
        reason=chosen.reason,
        features=graph.features,
        classifier_settings=_stored_settings(learns),
        strategy_settings={} if chosen.made is None else _stored_settings(chosen.made),
        classifier_digest=code_on(graph, learns),
        strategy_digest=None if chosen.made is None else code_of(chosen.made),
    )
    allowed = _mask(graph, candidates)
    free = int((allowed & ~graph.labelled if use_labels else allowed).sum())
    if settings.budget + settings.audit > free:
        beside = f" and an audit of {settings.audit}" if settings.audit else ""
        raise InputError(
            f"a budget of {settings.budget}{beside} is more than the {count(free, 'node')} that can be asked"
            f" ({given} have a label): lower it"
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


def remove_session(log: Log, source: str | Path | None) -> None:
    """Take away the file of a session that was just made, and a graph that was written beside it.

    Args:
        log: the session's, closed.
        source: the file that its graph was read from, which stays, also where it is called as one written beside.
    """
    beside = log.path.with_name(log.path.name + ".graph.npz").absolute()
    own = source is not None and Path(source).absolute() == beside
    if log.settings["graph"].get("path") == str(beside) and not own:
        beside.unlink(missing_ok=True)
    log.path.unlink(missing_ok=True)


class Choice(NamedTuple):
    """A strategy for a session.

    Attributes:
        strategy: its name.
        policy: the policy's name or file, where it is the learned one.
        weights: the policy's file, to be stored with the session.
        reason: why, in words.
        made: the strategy itself, where it is not the learned one.
        played_with: name and settings of the classifier that the policy brings along.
    """

    strategy: str
    policy: str | None
    weights: bytes | None
    reason: str
    made: Strategy | None = None
    played_with: tuple[str, dict[str, Any]] | None = None


def choose_strategy(
    graph: Graph,
    strategy: str | Strategy | Policy | None = None,
    policy: str | Path | Policy | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Choice:
    """The strategy that is asked for, else the default one.

    Raises:
        UnknownNameError: there is no such strategy or policy.
    """
    from nodewise.policy import DEFAULT_POLICY, Policy, find_policy
    from nodewise.strategies import DEFAULT_STRATEGY, Learned, make_strategy

    if isinstance(strategy, Learned):
        strategy = strategy.policy
    if isinstance(strategy, Policy):
        strategy, policy = "policy", strategy
    if isinstance(strategy, str) and strategy.startswith("policy:") and policy is None:
        strategy, policy = "policy", strategy.partition(":")[2]
    if strategy is None and policy is None:
        return Choice(DEFAULT_STRATEGY, None, None, "the default", make_strategy(DEFAULT_STRATEGY, settings=settings))
    if strategy is not None and strategy != "policy":
        if policy is not None:
            raise InputError(
                f"a policy was given, but the strategy is {strategy!r}: leave one of them out, or use the strategy"
                " 'policy'"
            )
        made = make_strategy(strategy, settings=settings)
        name = strategy if isinstance(strategy, str) and ":" not in strategy else made.name
        return Choice(name, None, None, "chosen by hand", made)
    chosen = policy if isinstance(policy, Policy) else find_policy(policy)
    name = "given" if isinstance(policy, Policy) else str(policy or DEFAULT_POLICY)
    return Choice("policy", name, _packed(chosen), _warned(graph, chosen), None, chosen.classifier)


def _stored_settings(thing: Classifier | Strategy) -> dict[str, Any]:
    """What a classifier or strategy was made with, as JSON holds it."""
    settings: dict[str, Any] = json.loads(json.dumps(dict(thing.identity())))
    return settings


def _classes(graph: Graph, classes: Sequence[str] | None, use_labels: bool, closed: bool) -> tuple[str, ...]:
    if classes is None:
        return graph.class_names
    if isinstance(classes, str):
        raise WrongTypeError(
            f"classes must be a list of names, got the text {classes!r}: give [{classes!r}], or several"
        )
    names = [class_name(name) for name in classes]
    if use_labels and (graph.y is not None or graph.y_sets is not None):
        used = [graph.class_names[number] for number in _used_classes(graph)]
        others = [name for name in used if name not in names]
        if closed and others:
            raise UnknownNameError(
                "class",
                others[0],
                names,
                "The graph has labels of it, but the list of classes is to be closed: add it.",
            )
        names += others
    return tuple(names)


def _used_classes(graph: Graph) -> list[int]:
    """The numbers of the classes that the graph has labels of."""
    if graph.y_sets is not None:
        return np.flatnonzero((graph.y_sets > 0).any(0)).tolist()
    return [] if graph.y is None else np.unique(graph.y[graph.y >= 0]).tolist()


def _refuse_one_label(learns: Classifier, chosen: Choice) -> None:
    """Refuse a classifier or strategy that can deal with one class a node alone, before anything is written."""
    why = "nodes of the job may have several"
    if not can(learns, "several-labels"):
        raise refusal(learns, "several-labels", why)
    if chosen.made is None:
        raise InputError(
            "the strategy 'policy' cannot deal with several labels of a node, and nodes of the job may have several:"
            " choose gain, uncertainty or random"
        )
    if not can(chosen.made, "several-labels"):
        raise refusal(chosen.made, "several-labels", why)


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


def _mask(graph: Graph, candidates: Nodes | None) -> np.ndarray[Any, np.dtype[np.bool_]]:
    mask = np.ones(graph.num_nodes, dtype=bool)
    if candidates is not None:
        mask[:] = False
        mask[node_indices(candidates, graph, "candidates")] = True
    return mask


def _packed(policy: Policy) -> bytes:
    from nodewise.policy import save_policy

    with scratch_folder() as folder:
        file = folder / "policy.safetensors"
        save_policy(policy, file)
        return file.read_bytes()


def _warned(graph: Graph, policy: Policy) -> str:
    """Why this strategy: chosen by hand.

    On a graph unlike those that the policy was trained on, with what that may mean.
    """
    degrees = [
        float(source["average_degree"])
        for source in policy.origin.get("source_graphs", [])
        if "average_degree" in source
    ]
    here = 2 * graph.num_edges / graph.num_nodes
    if not degrees or min(degrees) / _TOLERANCE <= here <= max(
        max(degrees) * _TOLERANCE, policy.settings.state.degree_alpha
    ):
        return "chosen by hand"
    denser = "denser" if here > max(degrees) else "sparser"
    return (
        f"chosen by hand; this graph is much {denser} than those that the policy was trained on: its nodes have"
        f" {here:.1f} neighbours on average, there {min(degrees):.1f} to {max(degrees):.1f}, and on such graphs a"
        " policy can do worse than chance"
    )
