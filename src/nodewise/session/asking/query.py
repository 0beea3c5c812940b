"""Queries drafted for the log: which nodes are asked, and why: score and rank, state, and which labels speak for a
prediction.

torch is loaded only where the strategy has to choose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from nodewise.contracts import Explains, can
from nodewise.ground.compute import one_thread
from nodewise.ground.events import count, percent
from nodewise.session.answers import ClassList, Draft
from nodewise.session.meaning.rules import Moment, Plan

if TYPE_CHECKING:
    from nodewise.session.learning.learner import SessionLearner

__all__ = ["Explainer", "States", "draft_queries"]

_LONGEST_NAME = 200
"""Characters of a node's name in a reason."""

_SHOWN_CLASSES = 5
_WORTH_SAYING = 0.5
"""A share of the nodes that a node is above, from which on it is said."""
_COMPARED = 2048
"""Nodes that a node is compared with on a large graph: shares of all nodes are right to about two percent."""
_SHOWN_LABELS, _LEAST_PART = 3, 0.1
"""Labels that are named as speaking for a class: up to three, each with at least a tenth of what all of them say."""
_UNLIKE = "unlike everything labelled so far: perhaps a class that nobody has named"
"""Why a row is asked in the strategy's place."""


def draft_queries(moment: Moment, plan: Plan, who: str, learner: SessionLearner | None) -> tuple[list[Draft], str]:
    """New queries, to be logged, and why there are not more.

    Args:
        moment: what is known now.
        plan: what the annotator is to be given.
        who: the annotator.
        learner: it has learned the labels that count; not needed where the plan wants no fresh nodes.
    """
    bodies = [_second(moment, node) for node in plan.second] + [_audit(node) for node in plan.audit]
    lack = plan.lack
    if plan.fresh or plan.control:
        fresh = [] if learner is None else _fresh(moment, plan, who, learner)
        wanted = plan.fresh + len(plan.control)
        reserve = plan.reserve[: wanted - len(fresh)]
        bodies += [*fresh, *map(_audit, reserve)]
        if len(fresh) + len(reserve) < wanted:
            lack = "no node is left that may be asked"
    return [Draft("ask", who, body) for body in bodies], lack


class Explainer:
    """Explains the nodes of one moment.

    Args:
        learner: at the moment of the query.
        allowed: the nodes that could have been asked, bool [node].
        strategy: its name.
        classes: what the classes are called.
        name_of: what a node is called.
    """

    def __init__(
        self,
        learner: SessionLearner,
        allowed: npt.NDArray[np.bool_],
        strategy: str,
        classes: ClassList,
        name_of: Callable[[int], str] = str,
    ) -> None:
        from nodewise.policy.policy import PAPER_STATE_FEATURES

        self._feature_names = PAPER_STATE_FEATURES
        self._learner, self._allowed, self._strategy, self._classes, self._name_of = (
            learner,
            allowed,
            strategy,
            classes,
            name_of,
        )
        with one_thread():
            self._scores = learner.scores().numpy()
            self._states = States(learner)
        self._why_random = learner.why_random()
        self._known = [number for number, labels in learner.labels_by_class(classes).items() if labels]
        looked_at = int(np.isfinite(self._scores[allowed]).sum())  # of a large graph, a sample
        self._candidates = looked_at or int(allowed.sum())

    def body(self, node: int, place_of: int | None = None, first_word: str | None = None) -> dict[str, Any]:
        """What a query's event says beside the node: why, rank, score, features, predictions.

        A random question has no rank and no score: the numbers that it was drawn by mean nothing. A question whose
        answer is known has those of the node in whose place it is asked, ``place_of``. One that the strategy has not
        chosen says ``first_word`` why it is asked.
        """
        score = float(self._scores[node if place_of is None else place_of])
        rank = 1 + int(np.count_nonzero(self._scores[self._allowed] > score))
        state, is_random = self._states.of(node), self._why_random is not None and first_word is None
        row = self._learner.probabilities_of([node]).numpy()
        return {
            "audit": False,
            "random": is_random,
            "why": self._words(node, first_word or self._first_word(rank), state, row),
            "rank": 0 if is_random else rank,
            "candidates": self._candidates,
            "score": score if np.isfinite(score) and not is_random else None,
            "features": {name: round(float(value), 4) for name, value in zip(self._feature_names, state, strict=True)},
            "predicted": self._predicted(row),
            **self._given(row),
        }

    def _predicted(self, row: npt.NDArray[np.float32]) -> list[list[Any]]:
        learner = self._learner
        if not learner.predicts or not learner.classes:
            return []
        if self._classes.merged:
            numbers, row = learner.by_class(row, self._classes)
        else:  # in the classifier's order, which decides between equals
            numbers = [self._classes.number_of_key(key) or 0 for key in learner.classes]
        best = np.argsort(-row[0], kind="stable")[:_SHOWN_CLASSES]
        return [[self._classes.name(numbers[column]), round(float(row[0, column]), 4)] for column in best]

    def _given(self, row: npt.NDArray[np.float32]) -> dict[str, Any]:
        """Where a node may have several classes, all that it could be labelled with, and which it would be given."""
        learner = self._learner
        if not learner.several or not learner.predicts or not learner.classes:
            return {}
        numbers, chances = learner.by_class(row, self._classes)
        given = chances[0] >= learner.thresholds(self._classes)
        order = sorted(range(len(numbers)), key=lambda column: (not given[column], -chances[0, column]))
        shown = order[: max(_SHOWN_CLASSES, int(given.sum()))]
        names = [self._classes.name(number) for number in numbers]
        return {
            "predicted": [[names[column], round(float(chances[0, column]), 4)] for column in shown],
            "given": [name for name, is_given in zip(names, given, strict=True) if is_given],
        }

    def _words(
        self, node: int, first_word: str, state: npt.NDArray[np.float32], row: npt.NDArray[np.float32]
    ) -> list[str]:
        entropy, _, from_neighbours, to_neighbours, _ = state.tolist()
        tensors = self._learner.tensors
        degrees, near = tensors.adjacency.crow.diff().numpy(), tensors.neighbours(node)
        degree = int(degrees[node])
        labelled = int(self._learner.environment.labelled[0].numpy()[near].sum())
        said = [first_word]
        many = "neighbour" if degree == 1 else "neighbours"
        fewer = float((degrees < degrees[node]).mean())  # the state's is clipped
        more = f", more than {_percent(fewer)} of the nodes" if fewer >= _WORTH_SAYING else ""
        of_them = "" if degree == 0 else f"; {labelled or 'none'} of them labelled"
        said.append(f"it has {degree or 'no'} {many}{more}{of_them}")
        said += self._in_common(node)
        if self._learner.count and self._is_without_choice(row):
            said.append(
                f"so far only {self._classes.name(self._known[0])} has labels, so nothing else can be predicted"
            )
        elif self._learner.predicts:
            said.append(
                self._least_sure(row)
                if self._learner.several
                else f"the classifier is {_how_unsure(entropy)} about it"
                + self._more(0, state, entropy > 0.6, "so than about")
            )
            distance = max(from_neighbours, to_neighbours)
            column = 2 if from_neighbours >= to_neighbours else 3
            said.append(
                f"its neighbours are predicted {_how_far(distance)}"
                + self._more(column, state, distance > 0.1, "so than at")
            )
        else:
            what = "no class has a label yet" if self._learner.count else "nothing is labelled yet"
            said.append(f"{what}, so its place in the graph decides")
        if can(self._learner.classifier, "explain"):
            explains = cast(Explains, self._learner.learner)
            said += self._reasons(explains, node, set(near.tolist()), int(row.argmax()))
        return said

    def _least_sure(self, row: npt.NDArray[np.float32]) -> str:
        """Which of several classes is most undecided."""
        numbers, chances = self._learner.by_class(row, self._classes)
        column = int((chances[0] * (1 - chances[0])).argmax())
        name, chance = self._classes.name(numbers[column]), float(chances[0, column])
        return f"of its classes, {name} is the least certain: the classifier gives it {percent(chance)}"

    def _in_common(self, node: int) -> list[str]:
        """What the node shares with a labelled one, by the name of what is shared."""
        record = self._learner.tensors.relations
        if record is None:
            return []
        labelled = [other for other, _ in self._learner.environment.taken if other != node]
        shared = record.shared(node, labelled)
        if shared is None:
            return []
        kind, other, names = shared
        named = ", ".join(name[:_LONGEST_NAME] for name in names[:_SHOWN_LABELS])
        more = ", …" if len(names) > _SHOWN_LABELS else ""
        called = self._name_of(other)[:_LONGEST_NAME]
        return [f"it shares {count(len(names), kind)} with {called}, which is labelled: {named}{more}"]

    def _first_word(self, rank: int) -> str:
        """Why this node and no other."""
        if self._why_random is not None:
            return f"{self._why_random}, so this question is a random one: it keeps the shares of the classes true"
        could = (
            f"of the {self._candidates:,} nodes that could be asked" if self._candidates > 1 else "the last one left"
        )
        return f"{could}, {self._strategy} puts it {'first' if rank == 1 else f'at number {rank}'}"

    def _is_without_choice(self, row: npt.NDArray[np.float32]) -> bool:
        """Whether one class of several has all labels, and a node's prediction, which then says nothing of the node."""
        if len(self._known) != 1 or len(self._classes) < 2 or self._learner.several:
            return False
        numbers, chances = self._learner.by_class(row, self._classes)
        return bool(np.delete(chances[0], numbers.index(self._known[0])).max() == 0)

    def _more(self, column: int, state: npt.NDArray[np.float32], worth: bool, than: str) -> str:
        share = self._states.share_below(column, state)
        return f", more {than} {_percent(share)} of the nodes" if worth and share >= _WORTH_SAYING else ""

    def _reasons(self, reasoning: Explains, node: int, neighbours: set[int], best: int) -> list[str]:
        """Which labels speak for the predicted class, and how many nodes the label would decide."""
        said = []
        with one_thread():
            if self._learner.count and self._learner.classes:
                said += self._speaking(reasoning, node, neighbours, best)
            decided = round(reasoning.reach(node))
        said.append(
            f"its label would decide about {decided} nodes"
            if decided > 1
            else "its label would decide little beyond the node itself"
        )
        return said

    def _speaking(self, reasoning: Explains, node: int, neighbours: set[int], best: int) -> list[str]:
        labels = dict(self._learner.environment.taken)
        speaking = [
            (other, much) for other, much in reasoning.evidence(node) if much > 0 and _names_column(labels[other], best)
        ]
        total = sum(much for _, much in speaking)
        named = [other for other, much in speaking[:_SHOWN_LABELS] if much >= _LEAST_PART * total]
        near, alike = ([other for other in named if (other in neighbours) == is_near] for is_near in (True, False))
        parts = [self._called(near, "its labelled neighbour")] if near else []
        parts += [self._called(alike, "the similar node")] if alike else []
        predicted = self._classes.name(self._classes.number_of_key(self._learner.classes[best]) or 0)
        because = f"because of {' and '.join(parts)}" if parts else ""
        if self._learner.several:  # the likeliest class, which need not be likely
            said = f"{predicted} is the likeliest class"
            return [f"{said} {because}" if parts else f"{said}, and no label speaks clearly for it"]
        if not parts:
            return [f"no label speaks clearly for {predicted}, which is predicted"]
        return [f"{predicted} is predicted {because}"]

    def _called(self, nodes: Sequence[int], kind: str) -> str:
        # a name may be a whole text, and several of them more than the log takes
        names = [
            name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…" for name in map(self._name_of, nodes)
        ]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{kind if len(names) == 1 else kind + 's'} {listed}"


class States:
    """The paper's five state features (section 3.2) of the nodes that are asked for, as a policy reads them, beside
    those of all nodes.

    On a very large graph they are compared with a sample, and nothing of any other node is computed.
    """

    def __init__(self, learner: SessionLearner) -> None:
        self._learner = learner
        count = learner.tensors.num_nodes
        self._many = learner.is_large
        self._compared = self._states_of(np.arange(0, count, max(1, count // _COMPARED)) if self._many else slice(None))
        self._largest = np.array(
            [max(float(column.max()), 1e-6) for column in self._compared[2:4]], np.float32
        )  # what is less is rounding

    def of(self, node: int) -> npt.NDArray[np.float32]:
        """A node's features, its divergences divided by the largest: [feature]."""
        row = np.array(self._states_of(np.array([node]))[:, 0] if self._many else self._compared[:, node])
        row[2:4] /= np.maximum(self._largest, row[2:4])
        return row

    def share_below(self, column: int, state: npt.NDArray[np.float32]) -> float:
        """The share of the nodes that have less of a feature, entropy or divergence, than a node whose state is
        given.
        """
        compared = self._compared[column] / self._largest[column - 2] if column in (2, 3) else self._compared[column]
        return float((compared < state[column]).mean())

    def _states_of(self, nodes: npt.NDArray[np.int64] | slice) -> npt.NDArray[np.float32]:
        """Entropy, degree, the divergences from and to the neighbours, and whether a node is labelled.

        [feature, node].
        """
        from nodewise.policy.policy import StateSettings

        learner = self._learner
        degree = learner.tensors.degree.numpy()[nodes]
        features = np.zeros((5, len(degree)), np.float32)
        features[0], features[1] = 1, np.minimum(degree / StateSettings.degree_alpha, 1)
        features[4] = learner.environment.labelled[0].numpy()[nodes]
        if not learner.predicts:  # every prediction is the same: what differs is rounding
            return features
        if isinstance(nodes, slice):
            seen = learner.observation
            negative, forward, reverse = (each[0].numpy() for each in (seen.negative_entropy, *seen.divergences))
        else:
            negative, forward, reverse = self._of_some(nodes)
        classes = learner.learner.num_classes
        features[0] = negative / -(classes * math.log(2) if learner.several else math.log(max(classes, 2)))
        features[2], features[3] = reverse, forward
        return features

    def _of_some(self, nodes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], ...]:
        """`negative_entropy` and both `divergences` of `nodewise.contracts.Observation`, from the predictions of these
        nodes and their neighbours alone.
        """
        learner, around = self._learner, self._learner.tensors.adjacency
        starts, ends = around.crow[nodes].numpy().astype(np.int64), around.crow[nodes + 1].numpy().astype(np.int64)
        degree = ends - starts
        of_node = np.repeat(np.arange(len(nodes)), degree)  # for every edge the row of its node
        edges = np.arange(len(of_node)) - np.repeat(np.cumsum(degree) - degree, degree) + np.repeat(starts, degree)
        needed, rows = np.unique(np.concatenate([nodes, around.col[edges].numpy()]), return_inverse=True)
        own, other = rows[: len(nodes)], rows[len(nodes) :]
        p = learner.probabilities_of(needed.astype(np.int64)).double().numpy()
        p = np.maximum(np.concatenate([p, 1 - p], 1) if learner.several else p, 1e-10)
        log_p = np.log(p)
        towards = (p[own][of_node] * (log_p[own][of_node] - log_p[other])).sum(1)  # KL(node ‖ neighbour)
        back = (p[other] * (log_p[other] - log_p[own][of_node])).sum(1)
        total: npt.NDArray[Any] = np.maximum(degree, 1)
        if learner.tensors.weighted:
            weights = around.values[edges].numpy().astype(np.float64)
            towards, back, total = towards * weights, back * weights, learner.tensors.divisor[nodes].numpy()
        forward, reverse = (np.bincount(of_node, each, len(nodes)) / total for each in (towards, back))
        return (p * log_p).sum(1)[own], forward, reverse


def _fresh(moment: Moment, plan: Plan, who: str, learner: SessionLearner) -> list[dict[str, Any]]:
    """The nodes that the strategy wants, spread over graph and classes where it has not thought of that itself."""
    import torch

    from nodewise.session.asking.selection import diverse_batch

    history, settings = moment.history, moment.contents.settings
    learner.set_budget(moment.rules.budget)
    allowed = learner.environment.pool[0].numpy().copy()
    allowed[[*plan.out, *history.skipped.get(who, ()), *moment.rules.known]] = False
    if not allowed.any():
        return []
    # labels of an audit are not waited for: they train nothing
    waiting = [node for node in sorted(plan.out) if learner.environment.pool[0, node]]
    places = plan.fresh + len(plan.control)  # a node is chosen for each: a question that is known looks like its own
    chosen = learner.batch(places, torch.from_numpy(allowed), waiting)
    if chosen is None:
        chosen = diverse_batch(
            learner.scores().double().numpy(),
            allowed,
            places,
            learner.tensors.neighbours,
            learner.probabilities().argmax(-1).numpy(),
            plan.out,
        )
    name = settings.strategy if settings.policy is None else f"the policy {settings.policy}"
    explainer = Explainer(learner, allowed, name, history.classes, moment.contents.name_of)
    control, unlike = dict(plan.control), _unlike(plan, learner, allowed, chosen)
    return [
        {"node": control[place], **explainer.body(control[place], place_of=node), "control": True}
        if place in control
        else {"node": unlike[place], **explainer.body(unlike[place], first_word=_UNLIKE), "unlike": True}
        if place in unlike
        else {"node": node, **explainer.body(node)}
        for place, node in enumerate(chosen)
    ]


def _unlike(
    plan: Plan, learner: SessionLearner, allowed: npt.NDArray[np.bool_], chosen: Sequence[int]
) -> dict[int, int]:
    """The rows unlike all labelled ones that are asked in the strategy's place: place -> node.

    Nothing where none stands out, or the classifier cannot tell: the question is then the strategy's own.
    """
    if not plan.looking:
        return {}
    from nodewise.session.learning.unlike import most_among_unlike, rows_unlike_labels

    listed = rows_unlike_labels(learner)
    free = [] if listed is None else [node for node in listed.tolist() if allowed[node]]
    found: dict[int, int] = {}
    for place in plan.looking:
        taken = {*chosen[:place], *chosen[place + 1 :], *found.values()}
        left = [node for node in free if node not in taken]
        if place < len(chosen) and left:
            found[place] = most_among_unlike(left, learner.tensors)
    return found


def _audit(node: int) -> dict[str, Any]:
    why = "drawn at random for the audit: its label measures the accuracy and trains nothing, so no prediction is shown"
    return {"node": node, "audit": True, "why": [why]}


def _second(moment: Moment, node: int) -> dict[str, Any]:
    have = len(moment.history.ballots.get(node, {}))
    why = f"another opinion: {have} of {moment.rules.redundancy} annotators have labelled it, so no prediction is shown"
    return {"node": node, "audit": node in moment.rules.audit, "why": [why]}


def _names_column(label: int | tuple[int, ...], column: int) -> bool:
    return column in label if isinstance(label, tuple) else label == column


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"  # rounded down: a node is never above all of the nodes


def _how_unsure(entropy: float) -> str:
    return "very unsure" if entropy > 0.9 else "unsure" if entropy > 0.6 else "fairly sure" if entropy > 0.3 else "sure"


def _how_far(distance: float) -> str:
    return "as something else" if distance > 0.5 else "somewhat differently" if distance > 0.1 else "much the same"
