"""Seeded stochastic block graphs, of any size up to what memory holds, drawn in blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nodewise.graph import Graph
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]

__all__ = ["NAMED", "SyntheticSettings", "synthetic_graph"]

_BLOCK = 2**20  # edges drawn, or feature values made, at once


@dataclass(frozen=True)
class SyntheticSettings:
    """What a stochastic block graph is to be like.

    Attributes:
        nodes: how many.
        classes: how many blocks; a node's class is its block.
        mean_degree: neighbours of a node on average.
        homophily: share of the edges that join nodes of one class; 1 / classes is no preference.
        degrees: ``"poisson"``, as in a random graph, or ``"powerlaw"``, few nodes with many neighbours and many with
            few.
        exponent: of the power law, above 2; the smaller, the larger the hubs.
        class_shares: sizes of the classes in proportion, or None: equal.
        features: columns; 0 for none.
        signal: how far a class's mean lies from the origin, in a random direction, in units of the deviation of each
            feature within a class.
        seed: where all randomness comes from.
        between_weight: what an edge between two classes weighs on average, where one within a class weighs 1, each up
            to a fifth more or less; None: edges have no weights.
    """

    nodes: int = 2000
    classes: int = 5
    mean_degree: float = 10.0
    homophily: float = 0.8
    degrees: Literal["poisson", "powerlaw"] = "poisson"
    exponent: float = 2.5
    class_shares: tuple[float, ...] | None = None
    features: int = 16
    signal: float = 1.0
    seed: int = 0
    between_weight: float | None = None

    def __post_init__(self) -> None:
        checks = (
            ("nodes", self.nodes >= 2, "2 or more"),
            ("classes", 1 <= self.classes <= self.nodes, "from 1 to the number of nodes"),
            ("mean_degree", 0 <= self.mean_degree <= self.nodes - 1, "from 0 to the number of nodes - 1"),
            ("homophily", 0 <= self.homophily <= 1, "from 0 to 1"),
            ("degrees", self.degrees in ("poisson", "powerlaw"), "'poisson' or 'powerlaw'"),
            ("exponent", math.isfinite(self.exponent) and self.exponent > 2, "above 2"),
            ("class_shares", self.class_shares is None or len(self.class_shares) == self.classes, "one for each class"),
            ("class_shares", all(math.isfinite(share) and share > 0 for share in self.class_shares or ()), "above 0"),
            ("features", self.features >= 0, "0 or more"),
            ("signal", math.isfinite(self.signal) and self.signal >= 0, "0 or more"),
            ("between_weight", self.between_weight is None or 1e-6 <= self.between_weight <= 1e6, "from 1e-6 to 1e6"),
        )
        for name, right, allowed in checks:
            if not right:
                raise InputError(f"{name} of a synthetic graph must be {allowed}, received {getattr(self, name)!r}")


NAMED = {
    "sbm": SyntheticSettings(),
    "sbm-heterophilous": SyntheticSettings(homophily=0.1),
    "sbm-powerlaw": SyntheticSettings(degrees="powerlaw"),
    "sbm-1m": SyntheticSettings(nodes=1_000_000, classes=10, mean_degree=20.0, degrees="powerlaw", features=128),
    "sbm-weighted": SyntheticSettings(
        nodes=600, classes=3, mean_degree=60.0, homophily=1 / 3, features=32, signal=0.0, between_weight=0.05
    ),
}
"""The settings of the generated data sets that have a name."""


def synthetic_graph(
    settings: SyntheticSettings | None = None, *, name: str = "sbm", reporter: Reporter | None = None, **changes: Any
) -> Graph:
    """A stochastic block graph with exactly the number of edges, within and between classes, that the settings ask for.

    Every edge is drawn by its ends, a node being chosen in proportion to its expected degree; edges that are there
    already are drawn again. Beyond the result itself, memory holds two integers an edge and one block.

    Args:
        settings: what it is to be like; None: `SyntheticSettings` as they are.
        name: of the graph.
        reporter: gets the number of edges drawn.
        **changes: fields of the settings that are to be different, such as ``nodes=500``.

    Raises:
        InputError: if a setting is not allowed, or so many edges do not exist within, or between, classes of these
            sizes.
    """
    wanted = replace(settings or SyntheticSettings(), **changes)
    y = _classes(wanted)
    edges = round(wanted.nodes * wanted.mean_degree / 2)
    within = round(wanted.homophily * edges)
    _check_room(wanted, y, within, edges - within)
    report = reporter or Silent()
    lines = _Line(y, _weights(wanted)), _Line(y, None)
    keys = np.concatenate(
        [
            _draw(wanted, lines, True, within, 0, edges, report),
            _draw(wanted, lines, False, edges - within, within, edges, report),
        ]
    )
    keys.sort()
    edge_index = np.empty((2, edges), dtype=np.int64)
    np.floor_divide(keys, wanted.nodes, out=edge_index[0])
    np.remainder(keys, wanted.nodes, out=edge_index[1])
    del keys
    x = _drawn_features(wanted, y) if wanted.features else None
    for array in (edge_index, y, *(() if x is None else (x,))):
        array.flags.writeable = False  # made here and held by nobody else: the graph need not copy them
    graph = Graph(edge_index, wanted.nodes, x, y, tuple(str(c) for c in range(wanted.classes)), name=name)
    return graph if wanted.between_weight is None else replace(graph, edge_weight=_edge_weights(wanted, graph))


def _edge_weights(wanted: SyntheticSettings, graph: Graph) -> npt.NDArray[np.float32]:
    """Heavy edges within classes and light ones between them, or the other way round: float32 [edge]."""
    assert graph.y is not None and wanted.between_weight is not None
    inside = graph.y[graph.edge_index[0]] == graph.y[graph.edge_index[1]]
    spread = numpy_generator(wanted.seed, "edge weights").uniform(0.8, 1.2, graph.num_edges)
    weights: npt.NDArray[np.float32] = (spread * np.where(inside, 1, wanted.between_weight)).astype(np.float32)
    return weights


def _classes(wanted: SyntheticSettings) -> Ints:
    """Classes in random order, each with its share of the nodes, at least one."""
    shares = np.array(wanted.class_shares or (1.0,) * wanted.classes)
    bounds = np.cumsum(shares) / shares.sum() * (wanted.nodes - wanted.classes)
    sizes = np.diff(np.rint(bounds).astype(np.int64), prepend=0) + 1
    y = np.repeat(np.arange(wanted.classes), sizes)
    return numpy_generator(wanted.seed, "classes").permutation(y)


def _weights(wanted: SyntheticSettings) -> Floats | None:
    """The expected degree of each node up to a factor; None: all the same."""
    if wanted.degrees == "poisson":
        return None
    uniform = numpy_generator(wanted.seed, "degrees").random(wanted.nodes)
    weight: Floats = (1 - uniform) ** (-1 / (wanted.exponent - 1))
    # No node can expect more neighbours than the root of twice the edges, or pairs of hubs would be joined many times
    # over.
    most = weight.mean() * math.sqrt(wanted.nodes / max(1.0, wanted.mean_degree))
    limited: Floats = np.minimum(weight, most)
    return limited


def _check_room(wanted: SyntheticSettings, y: Ints, within: int, between: int) -> None:
    sizes = [int(size) for size in np.bincount(y)]
    inside = sum(size * (size - 1) // 2 for size in sizes)
    outside = wanted.nodes * (wanted.nodes - 1) // 2 - inside
    for asked, there, where in ((within, inside, "within"), (between, outside, "between")):
        if asked > there:
            raise InputError(
                f"a synthetic graph with mean degree {wanted.mean_degree} and homophily {wanted.homophily} has"
                f" {asked:,} edges {where} classes, but {wanted.nodes:,} nodes in {wanted.classes} classes leave room"
                f" for {there:,}: change the degree, the homophily or the classes"
            )


class _Line:
    """All nodes along a line, class by class, each as long as its weight.

    A point on it chooses a node in proportion to the weight.
    """

    def __init__(self, y: Ints, weight: Floats | None) -> None:
        self.y, self.order = y, np.argsort(y, kind="stable")
        self.reach: Floats = np.cumsum(np.ones(len(y)) if weight is None else weight[self.order])
        self.ends = np.append(0.0, self.reach[np.cumsum(np.bincount(y)) - 1])  # where each class begins and ends

    def pairs(self, generator: np.random.Generator, same: bool, draws: int) -> tuple[Ints, Ints]:
        """At most `draws` pairs of different nodes, of one class or of two."""
        one = generator.random(draws) * self.reach[-1]
        kind = np.minimum(np.searchsorted(self.ends, one, side="right") - 1, len(self.ends) - 2)
        begin, width = self.ends[kind], self.ends[kind + 1] - self.ends[kind]
        if same:
            other = begin + generator.random(draws) * width
        else:  # along what is left when the class is cut out
            other = generator.random(draws) * (self.reach[-1] - width)
            other += np.where(other >= begin, width, 0.0)
        first, second = (
            self.order[np.minimum(np.searchsorted(self.reach, at, side="right"), len(self.y) - 1)]
            for at in (one, other)
        )
        fit = (first != second) & ((self.y[first] == self.y[second]) == same)
        return first[fit], second[fit]


def _draw(
    wanted: SyntheticSettings,
    lines: tuple[_Line, _Line],
    same: bool,
    number: int,
    before: int,
    total: int,
    report: Reporter,
) -> Ints:
    """Keys ``low * nodes + high`` of as many different edges as asked, within classes or between them."""
    kind = "within" if same else "between"
    keys: Ints = np.zeros(0, dtype=np.int64)
    for turn in count():
        if len(keys) == number:
            return keys
        # Where hubs are joined to all that they can be, drawing by weight would find nothing new: after many turns all
        # nodes are alike.
        line = lines[0] if turn < 32 else lines[1]
        # from the second turn on some more draws than edges are missing: in a dense graph most edges are there already
        fresh = [keys]
        for block, draws in enumerate(_blocks(number - len(keys) + (number // 16 if turn else 0))):
            low, high = line.pairs(numpy_generator(wanted.seed, kind, turn, block), same, draws)
            fresh.append(np.minimum(low, high) * wanted.nodes + np.maximum(low, high))
        every: Ints = np.unique(np.concatenate(fresh))
        del fresh
        if len(every) > number:
            # Which of this turn's edges stay must not hang on their order, or nodes with a low index would be
            # preferred.
            new = np.setdiff1d(every, keys, assume_unique=True)
            kept = numpy_generator(wanted.seed, kind, turn, "kept").permutation(new)[: number - len(keys)]
            every = np.concatenate([keys, kept])
        keys = every
        report(Progress("edges", before + len(keys), total))
    raise AssertionError


def _blocks(edges: int) -> Iterator[int]:
    """A few more draws than edges, since some come twice, in blocks."""
    draws = edges + edges // 32 + 16
    for start in range(0, draws, _BLOCK):
        yield min(_BLOCK, draws - start)


def _drawn_features(wanted: SyntheticSettings, y: Ints) -> npt.NDArray[np.float32]:
    """A class's mean plus noise of deviation 1, float32 [node, feature]."""
    means = numpy_generator(wanted.seed, "means").standard_normal((wanted.classes, wanted.features))
    means *= wanted.signal / np.linalg.norm(means, axis=1, keepdims=True)
    x = np.empty((wanted.nodes, wanted.features), dtype=np.float32)
    step = max(1, _BLOCK // wanted.features)
    for block, start in enumerate(range(0, wanted.nodes, step)):
        part = slice(start, start + step)
        noise = numpy_generator(wanted.seed, "noise", block).standard_normal(x[part].shape, dtype=np.float32)
        x[part] = noise + means[y[part]].astype(np.float32)
    return x
