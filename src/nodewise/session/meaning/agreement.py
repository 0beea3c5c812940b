"""How far annotators agree beyond chance: Cohen's and Fleiss' kappa, also for each class.

It imports neither torch nor numpy.

In closed form here: scikit-learn has Cohen's alone and costs a second to import, in a report that is read off the log
in milliseconds; statsmodels has Fleiss' for as many votes on every node alone, and people do not label like that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

__all__ = ["Agreement", "cohen_kappa", "fleiss_kappa", "measure_agreement", "measure_set_agreement"]

_PEOPLE = 40
"""People whose kappas two by two are given: the pairs of 30,000 would be 450 million."""


@dataclass(frozen=True)
class Agreement:
    """Agreement on the nodes with at least two votes. A kappa is 1 for full agreement and 0 for what chance gives.

    None where chance would agree too. Where a node may have several classes, everything is counted class by class:
    whether a class is named or not is one decision, and shares and kappas are those of all decisions together.

    Attributes:
        nodes: how many such nodes there are.
        share: share of the pairs of votes on one node that say the same.
        cohen: for every two annotators with nodes in common, of the 40 who labelled most of these nodes: names, how
            many nodes, Cohen's kappa.
        fleiss: Fleiss' kappa over all.
        classes: class -> Fleiss' kappa of that class against all others.
        pair_classes: for every pair of `cohen`, class -> Cohen's kappa of that class against all others.
    """

    nodes: int
    share: float
    cohen: tuple[tuple[str, str, int, float | None], ...]
    fleiss: float | None
    classes: Mapping[str, float | None]
    pair_classes: tuple[Mapping[str, float | None], ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        pairs = [
            {"annotators": [one, other], "nodes": nodes, "kappa": kappa, "classes": dict(classes)}
            for (one, other, nodes, kappa), classes in zip(self.cohen, self.pair_classes, strict=True)
        ]
        return {
            "nodes": self.nodes,
            "share": self.share,
            "cohen": pairs,
            "fleiss": self.fleiss,
            "classes": dict(self.classes),
        }


def measure_agreement(votes: Mapping[int, Mapping[str, str]]) -> Agreement | None:
    """The agreement of votes, node -> annotator -> label; None where no node has two."""
    shared = {node: by for node, by in votes.items() if len(by) > 1}
    if not shared:
        return None
    pairs = _pairs(shared)
    counts = [Counter(by.values()) for by in shared.values()]
    same = sum(votes * (votes - 1) for said in counts for votes in said.values())
    every = sum(len(by) * (len(by) - 1) for by in shared.values())
    overall, classes = fleiss_kappa(counts)
    cohen = tuple((one, other, len(both), cohen_kappa(both)) for (one, other), both in sorted(pairs.items()))
    each = tuple(_class_kappas(both) for _, both in sorted(pairs.items()))
    return Agreement(len(shared), same / every, cohen, overall, classes, each)


def measure_set_agreement(votes: Mapping[int, Mapping[str, Collection[str]]]) -> Agreement | None:
    """The same of votes that name any number of classes, node -> annotator -> classes, counted class by class.

    With p_e the mean over classes of what each annotator's own shares give, Cohen's kappa of two is that of all their
    decisions; Fleiss' is its formula with the n_i votes on a node in place of the classes named.
    """
    shared = {node: {who: frozenset(said) for who, said in by.items()} for node, by in votes.items() if len(by) > 1}
    if not shared:
        return None
    labels = sorted({label for by in shared.values() for said in by.values() for label in said})
    counts = [Counter(label for said in by.values() for label in said) for by in shared.values()]
    sizes = [len(by) for by in shared.values()]
    overall, classes = fleiss_kappa(counts, sizes)
    every = sum(size * (size - 1) for size in sizes) * max(1, len(labels))
    differing = sum(
        2 * named[label] * (size - named[label]) for named, size in zip(counts, sizes, strict=True) for label in named
    )
    pairs = _pairs(shared)
    cohen = tuple((one, other, len(both), _set_kappa(both)) for (one, other), both in sorted(pairs.items()))
    each = tuple(
        {
            label: cohen_kappa([(str(label in one), str(label in other)) for one, other in both])
            for label in _named(both)
        }
        for _, both in sorted(pairs.items())
    )
    return Agreement(len(shared), 1 - differing / every, cohen, overall, classes, each)


_Says = TypeVar("_Says")


def _pairs(shared: Mapping[int, Mapping[str, _Says]]) -> dict[tuple[str, str], list[tuple[_Says, _Says]]]:
    """What every two of those who labelled most have said of the nodes that both have labelled."""
    busy = Counter(person for by in shared.values() for person in by)
    people = set(sorted(busy, key=lambda person: (-busy[person], person))[:_PEOPLE])
    pairs: dict[tuple[str, str], list[tuple[_Says, _Says]]] = {}
    for by in shared.values():
        for one, other in combinations(sorted(people & by.keys()), 2):
            pairs.setdefault((one, other), []).append((by[one], by[other]))
    return pairs


def _named(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> list[str]:
    return sorted({label for both in pairs for said in both for label in said})


def _set_kappa(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> float | None:
    """Cohen's kappa of all decisions of two: over the classes that one of them has named."""
    labels, count = _named(pairs), len(pairs)
    if not labels:
        return None
    observed = expected = 0.0
    for label in labels:
        first, second = (sum(label in said for said in side) / count for side in zip(*pairs, strict=True))
        observed += sum((label in one) == (label in other) for one, other in pairs) / count
        expected += first * second + (1 - first) * (1 - second)
    return None if expected >= len(labels) else (observed - expected) / (len(labels) - expected)


def cohen_kappa(pairs: list[tuple[str, str]]) -> float | None:
    """Cohen's kappa (1960): (p_o − p_e) / (1 − p_e), with p_e from each annotator's own shares; None where p_e is 1.

    Args:
        pairs: what the two said of each node.
    """
    count = len(pairs)
    observed = sum(one == other for one, other in pairs) / count
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    expected = sum(first[label] * second[label] for label in first) / count**2
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def _class_kappas(pairs: list[tuple[str, str]]) -> dict[str, float | None]:
    """Cohen's kappa of each class that one of the two has used against all others."""
    labels = sorted({label for both in pairs for label in both})
    return {label: cohen_kappa([(str(one == label), str(other == label)) for one, other in pairs]) for label in labels}


def fleiss_kappa(
    counts: list[Counter[str]], votes: list[int] | None = None
) -> tuple[float | None, dict[str, float | None]]:
    """Fleiss' kappa (1971), over all classes and for each.

    1 − Σ_i x_ij (n_i − x_ij) / (Σ_i n_i (n_i − 1) p_j (1 − p_j)) for class j.

    x_ij votes of the n_i on node i are for class j, which has the share p_j of all votes. With as many votes on every
    node that is Fleiss' formula; with different numbers every pair of votes has the same weight.

    Args:
        counts: for each node class -> votes, at least two.
        votes: how many there are on each node, where one vote may name any number of classes.
    """
    sizes = [sum(named.values()) for named in counts] if votes is None else votes
    total, pairs = sum(sizes), sum(size * (size - 1) for size in sizes)
    labels = sorted({label for named in counts for label in named})
    shares = {label: sum(named[label] for named in counts) / total for label in labels}
    differing = {
        label: sum(named[label] * (size - named[label]) for named, size in zip(counts, sizes, strict=True))
        for label in labels
    }
    chance = {label: pairs * share * (1 - share) for label, share in shares.items()}
    each = {label: 1 - differing[label] / chance[label] if chance[label] > 0 else None for label in labels}
    return (1 - sum(differing.values()) / sum(chance.values()) if sum(chance.values()) > 0 else None), each
