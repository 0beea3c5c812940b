"""How right models are, and where they and the learner differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nodewise.ground.events import count, percent
from nodewise.session.answers import Answer
from nodewise.session.learning.estimates import Accuracy, wilson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from nodewise.session.meaning.rules import Moment
    from nodewise.session.meaning.suggestions import Suggestions

__all__ = ["Disagreement", "ModelReport", "find_disagreements", "report_models"]


@dataclass(frozen=True, repr=False)
class ModelReport:
    """How right a model is.

    Attributes:
        name: the model's.
        answers: nodes of which it has said something. unnamed: answers that named no class and were left out.
        by_labels: share of people's labels that it says, too, without the audit's; biased, since the nodes were chosen.
            None without any.
        by_audit: the same of the audit's labels, which were drawn at random: unbiased. None without any.
        classes: class -> the share of people's labels of that class, the audit's among them, that it says, too.
    """

    name: str
    answers: int
    unnamed: int
    by_labels: Accuracy | None
    by_audit: Accuracy | None
    classes: Mapping[str, Accuracy]

    def __repr__(self) -> str:
        """One line: how many answers, and how right they are by people's labels and by the audit."""
        shares = {"labels of people": self.by_labels, "of the audit": self.by_audit}
        said = [f"{percent(share.mean)} of {share.nodes} {what}" for what, share in shares.items() if share is not None]
        right = ", ".join(said) or "not judged yet"
        return f"ModelReport({self.name!r}: {count(self.answers, 'answer')}, right: {right})"

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


@dataclass(frozen=True)
class Disagreement:
    """A node without a label of which a model says something else than the learner.

    Attributes:
        node: its index. name: what it is called.
        said_by: the model that says so. says: what. confidence: how sure the model is.
        predicted: what the learner says. probability: how likely it takes that to be.
    """

    node: int
    name: str
    said_by: str
    says: str
    confidence: float
    predicted: str
    probability: float


def report_models(moment: Moment, suggestions: Sequence[Suggestions]) -> list[ModelReport]:
    """How right each model is. A label of a node of which a model says nothing is not counted for it."""
    history, classes = moment.history, moment.history.classes
    labels, audited = moment.rules.told(history), moment.rules.audited(history)
    found = []
    for each in suggestions:
        said = each.resolved(classes)
        by_class = {
            classes.name(number): _share(said, {n: c for n, c in {**labels, **audited}.items() if c == number})
            for number in classes.numbers
        }
        found.append(
            ModelReport(
                each.name,
                int((said > 0).sum()),
                each.unnamed,
                _share(said, labels),
                _share(said, audited),
                {name: share for name, share in by_class.items() if share is not None},
            )
        )
    return found


def _share(said: npt.NDArray[np.int64], labels: Mapping[int, Answer]) -> Accuracy | None:
    judged = {node: number for node, number in labels.items() if said[node]}
    if not judged:
        return None
    return wilson(sum(int(said[node]) == number for node, number in judged.items()), len(judged))


def find_disagreements(
    moment: Moment, suggestions: Sequence[Suggestions], best: Sequence[str], sure: Sequence[float], most: int
) -> list[Disagreement]:
    """Nodes without a label of which a model says something else than the learner, the surest learner first.

    Args:
        best: the class that the learner predicts for each node. sure: how likely it takes that to be.
    """
    labelled, gone = moment.labels, moment.rules.gone
    found = [
        Disagreement(node, moment.contents.name_of(node), each.name, says, float(each.confidence[node]), best[node], p)
        for each in suggestions
        for node, (says, p) in enumerate(zip(each.labels(moment.history.classes), sure, strict=True))
        if says and says != best[node] and node not in labelled and node not in gone
    ]
    return sorted(found, key=lambda one: (-one.probability, one.node, one.said_by))[:most]
