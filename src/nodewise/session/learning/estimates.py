"""How accurate the predictions are.

Measured on an audit without bias, or on labels that are left out, which is biased.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from nodewise.contracts import LeavesOneOut, can, seen_by
from nodewise.ground.compute import numpy_generator
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.session.answers import Answer
from nodewise.session.meaning.rules import Label

if TYPE_CHECKING:
    from nodewise.contracts import Classifier
    from nodewise.graph.tensors import GraphTensors
    from nodewise.session.answers import ClassList
    from nodewise.session.learning.learner import SessionLearner

__all__ = [
    "Accuracy",
    "Bias",
    "audit_accuracy",
    "audit_parts",
    "cross_validated",
    "decide",
    "left_out_accuracy",
    "left_out_answers",
    "left_out_bias",
    "left_out_lack",
    "micro_f1",
    "weighted_total",
    "wilson",
]

_FOLDS = 5
_LEAST = 2
"""Labels of each class from which on one may be left out."""
_EPOCHS = 35
_SAMPLES = 2000
Decided = npt.NDArray[np.int64] | Sequence[tuple[int, ...]]
"""What is predicted for each node: the number of its class, [node], or the numbers of its classes in order."""


@dataclass(frozen=True)
class Accuracy:
    """A share of right predictions with its 95 % interval, and how many nodes it was found on."""

    mean: float
    low: float
    high: float
    nodes: int


@dataclass(frozen=True)
class Bias:
    """How far an estimate of the accuracy was from the true one, in points.

    Mean, lowest and highest over public graphs.
    """

    mean: float
    low: float
    high: float
    graphs: int


@cache
def left_out_bias() -> Bias:
    """The measured bias of `left_out_accuracy` on labels that `gain` has chosen, five a class.

    By ``benchmarks/calibration.py``.
    """
    return Bias(**json.loads((files("nodewise.session.learning") / "left_out_bias.json").read_text(encoding="utf-8")))


def wilson(right: int, of: int) -> Accuracy:
    """Wilson's score interval (1927) for a share.

    Unlike the textbook's it stays within 0 and 1 and holds for small samples.
    """
    from scipy import stats

    low, high = stats.binomtest(right, of).proportion_ci(method="wilson")
    return Accuracy(right / of, float(low), float(high), of)


def audit_accuracy(best: Decided, audit: Mapping[int, Answer]) -> Accuracy | None:
    """The accuracy on the audit's labels: they were drawn at random and train nothing, so it is unbiased.

    None without any.

    Args:
        best: the number of each node's predicted class: [node]. Where it may have several, all their numbers: only a
            set that is exactly right is right.
        audit: node -> number of its class, or of its classes.
    """
    if not audit:
        return None
    return wilson(sum(bool(best[node] == number) for node, number in audit.items()), len(audit))


def audit_parts(
    best: Decided, audit: Mapping[int, Answer], draws: Sequence[tuple[int, Sequence[int]]]
) -> list[tuple[int, Accuracy]]:
    """The accuracy on each part of the audit that has an answer, with the number of rows that it was drawn from.

    Args:
        best: the number of each node's predicted class: [node].
        audit: node -> number of its class.
        draws: of how many rows each part was drawn, and its nodes.
    """
    found = [
        (rows, audit_accuracy(best, {node: audit[node] for node in nodes if node in audit})) for rows, nodes in draws
    ]
    return [(rows, accuracy) for rows, accuracy in found if accuracy is not None]


def weighted_total(parts: Sequence[tuple[int, Accuracy]]) -> Accuracy | None:
    """The accuracy on all rows, from parts that were drawn from some of them each; None without any.

    Each part counts by its rows: p = Σ w p_part, with the variance Σ w² p_part (1 − p_part) / n_part (Cochran, 1977,
    section 5.3). The interval is Wilson's for the number of answers that would give this variance if they were drawn
    from all rows.
    """
    if len(parts) < 2:
        return parts[0][1] if parts else None
    rows = sum(size for size, _ in parts)
    answers = sum(one.nodes for _, one in parts)
    mean = sum(size / rows * one.mean for size, one in parts)
    # a half more right and wrong, so that a part in which all are right is not taken for certain
    shares = [(size / rows, (one.mean * one.nodes + 0.5) / (one.nodes + 1), one.nodes) for size, one in parts]
    variance = sum(weight**2 * share * (1 - share) / number for weight, share, number in shares)
    pooled = sum(weight * share for weight, share, _ in shares)
    worth = pooled * (1 - pooled) / variance
    z = 1.959963984540054
    middle = (mean + z * z / (2 * worth)) / (1 + z * z / worth)
    half = z / (1 + z * z / worth) * math.sqrt(mean * (1 - mean) / worth + z * z / (4 * worth * worth))
    return Accuracy(mean, max(0.0, middle - half), min(1.0, middle + half), answers)


def left_out_lack(learner: SessionLearner, judged: Collection[int], classes: ClassList) -> str | None:
    """Why `left_out_accuracy` would say nothing of the predictions yet, as a sentence; None where it may be shown.

    A label that is the only one of its class is predicted from labels of other classes alone, so it cannot be predicted
    right; and as long as a class has none, nobody knows how often it would be mistaken for another.

    Args:
        learner: it has learned the labels, with a classifier that can leave one out.
        judged: the nodes whose labels count.
        classes: the session's, those that were declared among them.
    """
    labels = learner.labels_by_class(classes)
    enough = sum(number >= _LEAST for number in labels.values())
    if len(labels) < 2 and not learner.several:
        return "an accuracy from the labels can be measured once two classes have two labels each: there is one so far"
    if enough < len(labels):
        return (
            f"an accuracy from the labels can be measured once each class has two labels: {enough} of {len(labels)}"
            f" {'has' if enough == 1 else 'have'} them"
        )
    judgeable = sum(node in judged for node, _ in learner.environment.taken)
    if judgeable < _FOLDS:
        return (
            f"an accuracy from the labels can be measured from {_FOLDS} labels on that were given one by one: there are"
            f" {judgeable}"
        )
    return None


def left_out_accuracy(learner: SessionLearner, judged: Collection[int], classes: ClassList) -> Accuracy | None:
    """The accuracy on the labels, each predicted from all the others in closed form.

    It is biased: the labels were chosen because they are hard, or central, and not at random. The interval takes them
    for a random sample, which they are not.

    Args:
        learner: it has learned the labels.
        judged: the nodes whose labels count; the others are learned from alone.
        classes: the session's.

    Returns:
        None where the classifier has no closed form, or where it would say nothing, see `left_out_lack`.
    """
    if not can(learner.classifier, "leave-one-out") or left_out_lack(learner, judged, classes) is not None:
        return None
    said = left_out_answers(learner, judged, classes)
    return None if said is None else wilson(sum(guess == answer for guess, answer in said), len(said))


def left_out_answers(
    learner: SessionLearner, judged: Collection[int], classes: ClassList
) -> list[tuple[Answer, Answer]] | None:
    """What is predicted for each label from all the others, and what it is; None without a label."""
    table = cast(LeavesOneOut, learner.learner).leave_one_out()
    if table is None:
        return None
    numbers, columns = learner.by_class(table[0].numpy(), classes)
    best = decide(learner, numbers, columns, classes)
    keys = learner.classes

    def number(column: int) -> int:
        return classes.number_of_key(keys[column]) or 0

    said: list[tuple[Answer, Answer]] = []
    for index, (node, label) in enumerate(learner.environment.taken):
        if node in judged:
            answer = tuple(sorted({number(each) for each in label})) if isinstance(label, tuple) else number(label)
            guess = best[index]
            said.append((guess if isinstance(guess, tuple) else int(guess), answer))
    return said


def decide(
    learner: SessionLearner, numbers: Sequence[int], table: npt.NDArray[np.float32], classes: ClassList
) -> Decided:
    """What is predicted: the likeliest class, or where a node may have several those above the learner's thresholds.

    Args:
        numbers: of the session's classes.
        table: their probabilities, [row, class].
    """
    if not learner.several:
        best: npt.NDArray[np.int64] = np.array(numbers)[table.argmax(1)]
        return best
    given = table >= learner.thresholds(classes)
    return [tuple(number for number, is_given in zip(numbers, row, strict=True) if is_given) for row in given.tolist()]


def micro_f1(said: Sequence[tuple[Answer, Answer]], seed: int) -> Accuracy | None:
    """Micro-F1 of predicted sets of classes, over all classes: 2 hits / (classes predicted + classes answered).

    The 95 % interval is that of 2,000 samples of the nodes, drawn with replacement. None where no class occurs.

    Args:
        said: what is predicted and what is right, of each node.
        seed: of the samples.
    """
    counts = np.array(
        [
            (len(set(guess) & set(answer)), len(guess) + len(answer))
            for guess, answer in said
            if isinstance(guess, tuple) and isinstance(answer, tuple)
        ],
        np.float64,
    )
    if not len(counts) or not counts[:, 1].sum():
        return None
    drawn = numpy_generator(seed, "micro-f1").integers(0, len(counts), (_SAMPLES, len(counts)))
    sums = counts[drawn].sum(1)
    low, high = np.quantile(
        np.divide(2 * sums[:, 0], sums[:, 1], where=sums[:, 1] > 0, out=np.ones(_SAMPLES)), (0.025, 0.975)
    )
    total = counts.sum(0)
    return Accuracy(float(2 * total[0] / total[1]), float(low), float(high), len(counts))


def cross_validated(
    tensors: GraphTensors,
    labels: Sequence[Label],
    classes: Sequence[str],
    classifier: Classifier,
    seed: int,
    reporter: Reporter | None = None,
    beside: Sequence[Label] = (),
) -> Accuracy | None:
    """The accuracy on labels that were left out in turn, five folds at once.

    None with fewer than five labels or a single class, and where a node may have several classes.

    Labels ``beside`` train every fold and are never judged: given in bulk, they lean on predictions or on each other.

    It is biased: the labels were chosen because they are hard, or central, and not at random; and every classifier here
    has learned from a fifth fewer labels. The interval takes the labels for a random sample, which they are not.
    """
    import torch

    from nodewise.environment import finish_learner, fit_learner, reset_learner
    from nodewise.ground.compute import one_thread

    report = reporter or Silent()
    count = len(labels)
    if (
        count < _FOLDS
        or len({label.label for label in labels}) < 2
        or any(isinstance(label.label, tuple) for label in labels)
    ):
        return None
    order = numpy_generator(seed, "cross-validation").permutation(count)
    size = -(-count // _FOLDS)
    # Folds of one size, since all runs have as many labels; where they overlap, a label counts in the first that leaves
    # it out.
    left_out = np.stack([np.roll(order, -(fold * count // _FOLDS))[:size] for fold in range(_FOLDS)])
    kept = np.stack([np.setdiff1d(np.arange(count), part) for part in left_out])
    kept = np.concatenate([kept, np.tile(np.arange(count, count + len(beside)), (_FOLDS, 1))], axis=1)
    nodes = torch.tensor([label.node for label in (*labels, *beside)])
    numbers = torch.tensor([classes.index(str(label.label)) for label in (*labels, *beside)])
    with one_thread():
        seen = seen_by(classifier, tensors)
        runs = classifier.start(seen.unlabelled, seen.prepared_by(classifier), _FOLDS, len(classes), kept.shape[1])
        reset_learner(runs, seed, "cross-validation")
        index = torch.from_numpy(kept)
        runs.add(nodes[index], numbers[index])
        for done in range(total := min(count + len(beside), _EPOCHS) if classifier.trained else 1):
            fit_learner(runs)
            report(Progress("cross-validate", done + 1, total))
        finish_learner(runs, report)
        guesses = runs.logits().argmax(-1)
    right: dict[int, bool] = {}
    for fold, part in enumerate(left_out.tolist()):
        for index in part:
            right.setdefault(index, bool(guesses[fold, nodes[index]] == numbers[index]))
    return wilson(sum(right.values()), count)
