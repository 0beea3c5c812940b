"""Seeded graphs of several node types, and seeded directed ones: what their relations, or directions, say is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nodewise.graph import Graph, NodeType, Relation, RelationalGraph
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError
from nodewise.ground.events import listed

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["RelationSettings", "directed_graph", "library_graph", "relational_graph"]

_FIRST = ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gia", "Hal", "Ida", "Jon", "Kim", "Lea", "Max", "Nia", "Oto")
_LAST = ("Abel", "Berg", "Cole", "Dorn", "Egan", "Falk", "Gray", "Hart", "Ibsen", "Jung", "Kern", "Lund", "Moor")
_TOPICS = {
    "birds": ("nests", "wings", "songs", "flocks"),
    "rivers": ("floods", "banks", "deltas", "fish"),
    "stars": ("orbits", "dust", "light", "novae"),
}
_WORDS = ("A study of", "Notes on", "On", "The age of", "Measuring", "What is known of", "A history of", "Counting")
_VENUES = ("Letters", "Annals", "Reports", "Proceedings")


@dataclass(frozen=True)
class RelationSettings:
    """What a relation of a generated graph is to be like.

    Attributes:
        name: such as "written by".
        source, target: the types at its ends.
        degree: edges of a source node on average, at least one each.
        signal: share of the edges that lead to a node of the same class; the others lead anywhere.
    """

    name: str
    source: str
    target: str
    degree: float
    signal: float

    def __post_init__(self) -> None:
        if not 1 <= self.degree <= 1e4 or not 0 <= self.signal <= 1:
            raise InputError(
                f"the relation {self.name!r} needs a degree from 1 to 10,000 and a signal from 0 to 1, received"
                f" {self.degree!r} and {self.signal!r}"
            )


def relational_graph(
    types: Mapping[str, int],
    relations: Sequence[RelationSettings],
    classes: int = 4,
    *,
    features: Mapping[str, tuple[int, float]] | None = None,
    seed: int = 0,
    name: str = "relational",
) -> RelationalGraph:
    """A graph of several node types, whose nodes all have a class that is given for the first type alone.

    Args:
        types: how many nodes each type has; the first one carries the labels.
        relations: what joins them.
        classes: how many; nodes belong to them in equal shares.
        features: of a type the number of columns, and how far a class's mean lies from the origin, in units of the
            deviation within a class; a type that is not named has none.
        seed: where all randomness comes from.
        name: of the graph.

    Raises:
        InputError: a relation or features name a type that there is not, or a number is out of range.

    Example:
        >>> from nodewise.datasets import RelationSettings, relational_graph
        >>> written = RelationSettings("written by", "paper", "author", degree=2, signal=0.9)
        >>> relational_graph({"paper": 100, "author": 60}, [written], classes=3)
        RelationalGraph('relational': 100 papers (labelled: 3 classes), 60 authors; written by: ... edges)
    """
    named = {kind for one in relations for kind in (one.source, one.target)} | set(features or {})
    if unknown := sorted(named - set(types)):
        raise InputError(f"there is no type {listed(unknown)}: the types are {listed(types)}")
    if not types or not 2 <= classes <= min(types.values()):
        raise InputError(f"classes must be from 2 to the nodes of the smallest type, received {classes}")
    hidden = {
        kind: numpy_generator(seed, "classes", kind).permutation(np.arange(count) % classes)
        for kind, count in types.items()
    }
    kinds = tuple(
        NodeType(kind, count, _features_of_type(kind, hidden[kind], classes, (features or {}).get(kind), seed))
        for kind, count in types.items()
    )
    joined = tuple(
        Relation(one.name, one.source, one.target, _edges(one, hidden[one.source], hidden[one.target], seed))
        for one in relations
    )
    return RelationalGraph(kinds, joined, next(iter(types)), hidden[next(iter(types))], name=name)


def library_graph(papers: int = 300, *, seed: int = 0, name: str = "library") -> Graph:
    """Papers with their authors and venues, under made-up names; the papers' topics are the classes.

    Args:
        papers: how many, at least 30.
        seed: where all randomness comes from.
        name: of the graph.

    Example:
        >>> from nodewise.datasets import library_graph
        >>> library_graph(60).relations
        Relations(60 × paper; 40 × author; 12 × venue; paper –written by– author: ... edges; ...)
    """
    if papers < 30:
        raise InputError(f"a library needs at least 30 papers, received {papers}")
    authors = 2 * papers // 3
    drawn = relational_graph(
        {"paper": papers, "author": authors, "venue": 12},
        (
            RelationSettings("written by", "paper", "author", 2.0, 0.85),
            RelationSettings("appears in", "paper", "venue", 1.0, 0.7),
        ),
        len(_TOPICS),
        seed=seed,
        name=name,
    )
    draws, topics = numpy_generator(seed, "titles"), list(_TOPICS)
    titles = []
    for topic in (topics[number] for number in drawn.y.tolist()):
        words, aspect = _WORDS[int(draws.integers(len(_WORDS)))], _TOPICS[topic][int(draws.integers(4))]
        titles.append(f"{words} {topic} and {aspect}")

    pairs = [f"{first} {last}" for last in _LAST for first in _FIRST]
    people = [
        pairs[at % len(pairs)] + (f" {at // len(pairs) + 1}" if at >= len(pairs) else "") for at in range(authors)
    ]
    venues = [f"{_VENUES[at % 4]} {chr(65 + at // 4)}" for at in range(12)]
    own = NodeType("paper", papers, None, tuple(f"p{at}" for at in range(papers)), {"title": np.array(titles, object)})
    others = (NodeType("author", authors, None, tuple(people)), NodeType("venue", 12, None, tuple(venues)))
    whole = RelationalGraph((own, *others), drawn.relations, "paper", drawn.y, topics, name)
    return whole.to_graph()


def directed_graph(
    nodes: int = 400, classes: int = 3, *, degree: float = 6.0, signal: float = 0.8, seed: int = 0, name: str = "cyclic"
) -> Graph:
    """A directed graph in which each class points to the next one, and the last to the first.

    Args:
        nodes: how many.
        classes: how many.
        degree: edges that lead away from a node on average.
        signal: share of the edges that lead to the next class; the others lead anywhere.
        seed: where all randomness comes from.
        name: of the graph.

    Example:
        >>> from nodewise.datasets import directed_graph
        >>> directed_graph(60).relations.directed
        True
    """
    if not 2 <= classes <= nodes:
        raise InputError(f"classes must be from 2 to the number of nodes, received {classes} of {nodes} nodes")
    y = numpy_generator(seed, "classes", name).permutation(np.arange(nodes) % classes)
    points = RelationSettings("points to", "node", "node", degree, signal)
    edges = _edges(points, (y + 1) % classes, y, seed)
    return Graph.build(edges, nodes, y=y, directed=True, name=name)


def _edges(
    wanted: RelationSettings, source: npt.NDArray[np.int64], target: npt.NDArray[np.int64], seed: int
) -> npt.NDArray[np.int64]:
    """Ends of the edges: [2, edge]; targets are drawn in proportion to weights of a power law."""
    draws = numpy_generator(seed, "edges", wanted.name)
    ends = np.repeat(np.arange(len(source)), 1 + draws.poisson(wanted.degree - 1, len(source)))
    order = np.argsort(target, kind="stable")
    weight = np.minimum((1 - draws.random(len(target))) ** (-1 / 1.5), 10.0)[order]
    reach = np.append(0.0, np.cumsum(weight))
    bounds = reach[np.searchsorted(target[order], np.arange(int(max(source.max(), target.max())) + 2))]
    alike = draws.random(len(ends)) < wanted.signal
    low = np.where(alike, bounds[source[ends]], 0.0)
    high = np.where(alike, bounds[source[ends] + 1], reach[-1])
    at = np.searchsorted(reach, low + draws.random(len(ends)) * (high - low), side="right") - 1
    other = order[np.minimum(at, len(target) - 1)]
    proper = (ends != other) if wanted.source == wanted.target else np.ones(len(ends), bool)
    return np.stack([ends[proper], other[proper]])


def _features_of_type(
    kind: str, y: npt.NDArray[np.int64], classes: int, wanted: tuple[int, float] | None, seed: int
) -> npt.NDArray[np.float32] | None:
    if wanted is None:
        return None
    columns, signal = wanted
    draws = numpy_generator(seed, "features", kind)
    means = draws.standard_normal((classes, columns))
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    return (draws.standard_normal((len(y), columns), dtype=np.float32) + means[y]).astype(np.float32)
