"""When to stop: whether the predictions still move, how accurate they are, what ten more labels may bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.contracts import can
from nodewise.ground.events import Progress, Reporter, Silent, count, html_table, percent
from nodewise.session.answers import Answer
from nodewise.session.learning.estimates import (
    Accuracy,
    Bias,
    Decided,
    audit_accuracy,
    audit_parts,
    cross_validated,
    decide,
    left_out_accuracy,
    left_out_answers,
    left_out_bias,
    left_out_lack,
    micro_f1,
    weighted_total,
)
from nodewise.session.learning.unlike import LookedFor, looked_for, rows_unlike_labels

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodewise.session.answers import ClassList
    from nodewise.session.learning.learner import SessionLearner
    from nodewise.session.meaning.rules import Moment, TrainingLabels

__all__ = ["CurvePoint", "StopReport", "make_report", "unlike_words"]

_POINTS = 8
_NEXT = 10
_SETTLED = 0.02
_ENOUGH = 10
"""Answers of the audit, before an accuracy is given in percent."""


@dataclass(frozen=True)
class CurvePoint:
    """The predictions after some labels.

    Attributes:
        labels: how many the classifier had learned from, given ones included.
        changed: share of the nodes predicted differently than at the point before; None at the first.
        confidence: mean probability of the most likely class; None while one class alone has labels, which is then
            predicted everywhere for want of another.
        audit: accuracy on the audit, the same nodes at every point; None without one.
    """

    labels: int
    changed: float | None
    confidence: float | None
    audit: Accuracy | None


@dataclass(frozen=True, repr=False)
class StopReport:
    """Whether more labels are worth it.

    Attributes:
        labels: labels that train the classifier.
        change_rate: share of the nodes whose prediction changes with one more label, on average over the last stretch
            of the curve.
        left_out: accuracy on the labels, each predicted from all the others, of a classifier in closed form: biased,
            since they were chosen and not drawn. Labels given in bulk are not judged.
        left_out_lack: why there is no such accuracy yet, as a sentence, while a class has fewer than two labels; None
            where there is one, and with any other classifier.
        left_out_bias: how far that was from the true accuracy on public graphs; None where there is no such estimate.
        cross_validated: the same of any other classifier, a fifth of the labels left out at a time.
        audit: accuracy on nodes drawn at random: unbiased, with its 95 % interval. Where rows were added, the total of
            ``audit_parts``, each weighted by its rows.
        curve: the predictions after more and more labels.
        next_change: share of the nodes whose prediction the next ten labels may change, if it goes on as it has; no
            gain in accuracy can be larger.
        next_gain: what they may bring in accuracy, from the audit's curve; None without one.
        why_random: why the next question is a random one, by the strategy's own words; None where it chooses.
        words: the same as sentences.
        audit_parts: where rows were added, the number of rows and the accuracy of each part of the audit that has an
            answer: of the rows that the session was begun with, then of each addition; empty where none were.
        audit_f1: where a node may have several classes, Micro-F1 on the audit with its 95 % interval; ``audit`` and
            ``left_out`` are then the share of the nodes whose set of classes is exactly right.
        left_out_f1: the same of the labels, each predicted from all the others.
        unlike: how many nodes stand out as unlike all labelled ones, among which a class may hide that nobody has named
            (`Session.unlike_labels` lists them); None where that cannot be said.
        looked_for: what came of the questions that looked for such a class; None where there was none.
    """

    labels: int
    change_rate: float | None
    left_out: Accuracy | None
    cross_validated: Accuracy | None
    audit: Accuracy | None
    curve: tuple[CurvePoint, ...]
    next_change: float | None
    next_gain: float | None
    words: tuple[str, ...]
    left_out_bias: Bias | None = None
    left_out_lack: str | None = None
    why_random: str | None = None
    audit_parts: tuple[tuple[int, Accuracy], ...] = ()
    audit_f1: Accuracy | None = None
    left_out_f1: Accuracy | None = None
    unlike: int | None = None
    looked_for: LookedFor | None = None

    def __repr__(self) -> str:
        """One line: from how many labels, and what the last sentence says."""
        return f"StopReport({count(self.labels, 'label')}: {self.words[-1] if self.words else 'nothing to report'})"

    def _repr_html_(self) -> str:
        """Its sentences for notebooks."""
        return html_table(count(self.labels, "label"), {str(i): said for i, said in enumerate(self.words, 1)})

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "curve": [asdict(point) for point in self.curve], "words": list(self.words)}


def make_report(
    moment: Moment, labels: TrainingLabels, learner: SessionLearner, reporter: Reporter | None = None
) -> StopReport:
    """The report on a session as it is now.

    A classifier that is trained runs its closing epochs at up to eight points of the history, and five folds.

    Args:
        moment: what is known now.
        labels: those that train.
        learner: one that nothing else uses: the reporter may ask and tell meanwhile, and the next `ask` need not learn
            everything again.
        reporter: hears of the progress.
    """
    report = reporter or Silent()
    training, given = labels
    history, classes = moment.history, moment.history.classes
    audit = moment.rules.audited(history)
    counts = _counts(len(training), bool(given))
    points: list[CurvePoint] = []
    before: Decided | None = None
    alone: str | None = None
    parts: list[tuple[int, Accuracy]] = []
    draws = moment.contents.draws_left
    for number, size in enumerate(counts):
        learner.follow(training[:size], given, report)
        numbers, table = learner.by_class(learner.closed(reporter=report).numpy(), classes)
        best = decide(learner, numbers, table, classes)
        alone = _alone_known(learner, classes, numbers, table)
        changed = None if before is None or points[-1].confidence is None else _differing(best, before)
        parts = audit_parts(best, audit, draws) if len(draws) > 1 else []
        audited = weighted_total(parts) if parts else audit_accuracy(best, audit)
        sure = np.maximum(table, 1 - table).min(1, initial=1) if learner.several else table.max(1)
        sureness = None if alone is not None else float(sure.mean())
        points.append(CurvePoint(learner.count, None if sureness is None else changed, sureness, audited))
        before = best
        report(Progress("curve", number + 1, len(counts)))
    everything = [*given, *training]
    judged = [label for label in everything if label.node not in history.bulk]
    beside = [label for label in training if label.node in history.bulk]
    left_out, lack, crossed = None, None, None
    if everything and can(learner.classifier, "leave-one-out"):
        nodes = {label.node for label in judged}
        left_out, lack = left_out_accuracy(learner, nodes, classes), left_out_lack(learner, nodes, classes)
    elif judged and alone is None:
        crossed = cross_validated(
            learner.tensors, judged, learner.classes, learner.classifier, moment.contents.settings.seed, report, beside
        )
    f1_audit = f1_left_out = None
    if learner.several:
        seed = moment.contents.settings.seed
        if before is not None:
            f1_audit = micro_f1([(_answer(before, node), answer) for node, answer in audit.items()], seed)
        if left_out is not None:
            f1_left_out = micro_f1(left_out_answers(learner, {label.node for label in judged}, classes) or (), seed)
    rate, change = _outlook(points)
    gain = _gain(points, change)
    last = points[-1].audit if points else None
    random = learner.why_random() if everything else None
    stand_out = rows_unlike_labels(learner)
    unlike = None if stand_out is None else len(set(stand_out.tolist()) - set(moment.rules.audit) - history.gone)
    answered = [number for number, (_, nodes) in enumerate(draws) if any(node in audit for node in nodes)]
    words = _part_words(parts, answered) + _words(
        points,
        left_out,
        lack,
        crossed,
        rate,
        change,
        gain,
        random,
        len(moment.rules.audit),
        (f1_audit, f1_left_out) if learner.several else None,
    )
    looked = looked_for(history, moment.contents.first_classes)
    new_classes = ([unlike_words(unlike)] if unlike else []) + ([] if looked is None else [looked.words])
    if moment.rules.look_every and not can(learner.learner, "posterior"):
        new_classes.append(
            f"no question looks for a class that nobody has named: the classifier {learner.classifier.name} cannot"
            " tell which nodes are unlike all labelled ones"
        )
    words = (*words[:-1], *new_classes, *words[-1:])  # the last one sums up
    if alone is not None:
        words = (
            *words,
            f"so far only {alone} has labels, so nothing else can be predicted, and how right that is cannot be known",
        )
    return StopReport(
        labels=len(everything),
        change_rate=rate,
        left_out=left_out,
        cross_validated=crossed,
        audit=last,
        curve=tuple(points),
        next_change=change,
        next_gain=gain,
        words=words,
        left_out_bias=None if left_out is None or learner.several else left_out_bias(),
        left_out_lack=lack,
        why_random=random,
        audit_parts=tuple(parts),
        audit_f1=f1_audit,
        left_out_f1=f1_left_out,
        unlike=unlike,
        looked_for=looked,
    )


def _alone_known(
    learner: SessionLearner, classes: ClassList, numbers: Sequence[int], table: npt.NDArray[np.float32]
) -> str | None:
    """The class that alone has labels and is predicted everywhere for want of another; None where there are others."""
    known = [number for number, labels in learner.labels_by_class(classes).items() if labels]
    if learner.several or len(known) != 1:
        return None
    return classes.name(known[0]) if (table.argmax(1) == list(numbers).index(known[0])).all() else None


def unlike_words(rows: int) -> str:
    """What the report says of so many rows that stand out."""
    stand = "1 row stands" if rows == 1 else f"{rows:,} rows stand"
    return f"{stand} out as unlike all labelled rows: look there for a class that nobody has named"


def _differing(one: Decided, other: Decided) -> float:
    """The share of the nodes that are predicted differently."""
    if isinstance(one, np.ndarray):
        return float((one != other).mean())
    return float(np.mean([mine != theirs for mine, theirs in zip(one, other, strict=True)]))


def _answer(decided: Decided, node: int) -> Answer:
    said = decided[node]
    return said if isinstance(said, tuple) else int(said)


def _counts(labels: int, given: bool) -> list[int]:
    """After how many labels the curve has its points: up to eight, evenly spread, the present one last."""
    stride = max(1, math.ceil(labels / _POINTS))
    return ([0] if given else []) + sorted(range(labels, 0, -stride))


def _outlook(points: Sequence[CurvePoint]) -> tuple[float | None, float | None]:
    """Change a label, and over the next ten: what a new label moves falls as one over the number of labels."""
    steps = [(before.labels, now.labels, now.changed) for before, now in pairwise(points) if now.changed is not None]
    if not steps:
        return None, None
    first, last, changed = steps[-1]
    recent = [moved / math.log(later / earlier) for earlier, later, moved in steps[-2:] if later > earlier > 0]
    now = points[-1].labels
    ahead = float(np.mean(recent)) * math.log((now + _NEXT) / now) if recent else changed
    return changed / max(1, last - first), min(1.0, ahead)


def _gain(points: Sequence[CurvePoint], change: float | None) -> float | None:
    """From a least-squares fit of accuracy = a − b/√labels to the audit's curve, not below 0 and not above the
    change.
    """
    seen = [(point.labels, point.audit.mean) for point in points if point.audit is not None and point.labels > 0]
    if len(seen) < 3:
        return None
    x = np.array([[1.0, -1 / math.sqrt(count)] for count, _ in seen])
    slope = float(np.linalg.lstsq(x, np.array([mean for _, mean in seen]), rcond=None)[0][1])
    now = seen[-1][0]
    return float(
        np.clip(slope * (1 / math.sqrt(now) - 1 / math.sqrt(now + _NEXT)), 0.0, 1.0 if change is None else change)
    )


def _bias_words(bias: Bias) -> str:
    return (
        f"on {bias.graphs} public graphs such an estimate lay {abs(_rounded(bias.mean))} points"
        f" {'below' if bias.mean < 0 else 'above'} the true accuracy on average, from {_signed(bias.low)} to"
        f" {_signed(bias.high)}"
    )


def _signed(points: float) -> str:
    """Whole points with their sign, a minus as a page writes it."""
    return f"{_rounded(points):+}".replace("-", "−")


def _rounded(points: float) -> int:
    """To whole points, a half away from 0: as a page rounds it, so that both say the same."""
    return int(math.copysign(math.floor(abs(points) + 0.5), points))


def _part_words(parts: Sequence[tuple[int, Accuracy]], numbers: Sequence[int]) -> tuple[str, ...]:
    """The parts of the audit that have an answer; 0 is the number of the first."""
    if len(parts) < 2:
        return ()
    words = [
        f"{round(one.mean * one.nodes)} of {one.nodes} are right in the audit of the {rows} rows"
        f" {'that were there first' if not number else f'of addition {number}'}"
        for number, (rows, one) in zip(numbers, parts, strict=True)
    ]
    return (f"{'; '.join(words)}; each part counts by its rows",)


def _words(
    points: Sequence[CurvePoint],
    left_out: Accuracy | None,
    lack: str | None,
    crossed: Accuracy | None,
    rate: float | None,
    change: float | None,
    gain: float | None,
    random: str | None,
    audit_size: int,
    f1: tuple[Accuracy | None, Accuracy | None] | None = None,
) -> tuple[str, ...]:
    if not points:
        return ("nobody has given a label yet, so there is nothing to report",)
    said = []
    if rate is not None and change is not None:
        said.append(
            f"a label changed {percent(rate, 1)} of the predictions lately; the next ten may change"
            f" {percent(change, 1)} together"
        )
    audit = points[-1].audit
    if audit is not None and audit.nodes < _ENOUGH:
        right = round(audit.mean * audit.nodes)
        said.append(
            f"of {count(audit.nodes, 'node')} drawn at random, {right} {'is' if right == 1 else 'are'} predicted right:"
            f" too few to tell an accuracy, which needs {_ENOUGH}"
        )
    elif audit is not None:
        what = f"accuracy on {audit.nodes} nodes drawn at random:"
        if f1 is not None:
            what = f"nodes with exactly the right classes, of {audit.nodes} drawn at random:"
        said.append(
            f"{what} {percent(audit.mean)}, with 95 % confidence {percent(audit.low)} to {percent(audit.high)}"
            " (unbiased)"
        )
        score = None if f1 is None else f1[0]
        if score is not None:
            said.append(
                f"Micro-F1 over all classes on the same nodes: {percent(score.mean)}, {percent(score.low)} to"
                f" {percent(score.high)}"
            )
    if left_out is not None and f1 is not None:
        score = f1[1]
        beside = "" if score is None else f", and Micro-F1 over all classes is {percent(score.mean)}"
        said.append(
            f"predicted from all the others, {percent(left_out.mean)} of the {left_out.nodes} labels have exactly the"
            f" right classes{beside}; biased, since they were chosen and not drawn at random"
        )
    elif left_out is not None:
        said.append(
            f"predicted from all the others, {percent(left_out.mean)} of the {left_out.nodes} labels are right; "
            f"biased, since they were chosen and not drawn at random: {_bias_words(left_out_bias())}"
        )
    if lack is not None:
        said.append(lack)
    if crossed is not None:
        said.append(
            f"cross-validated on the {crossed.nodes} labels: {percent(crossed.mean)}; biased, since they were chosen"
            " and not drawn at random"
        )
    if gain is not None and audit is not None and audit.nodes >= _ENOUGH:
        said.append(
            f"the next ten labels may bring {100 * gain:.1f} points of accuracy, if the curve goes on as it has"
            if f1 is None
            else f"with the next ten labels {percent(gain, 1)} more of the nodes may have exactly the right classes, if"
            " the curve goes on as it has"
        )
    if random is not None:
        said.append(f"{random}, so the next question is a random one: it keeps the shares of the classes true")
    if audit is None and audit_size:
        said.append(
            f"none of the {count(audit_size, 'node')} of the audit is labelled yet: their labels will tell an accuracy"
            " without bias"
        )
    elif audit is None:
        said.append("for an accuracy without bias, make a session with an audit")
    if change is not None:
        settled = change < _SETTLED
        said.append(
            "the predictions have settled: more labels will change little"
            if settled
            else "the predictions still move: more labels are worth it"
        )
    return tuple(said)
