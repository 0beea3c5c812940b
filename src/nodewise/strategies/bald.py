"""BALD: the node about which draws from a posterior disagree most, each of them being sure (Houlsby et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

import torch

from nodewise.contracts import CAPABILITIES, HasMembers, Observation, PredictsFromEmbedding, Strategy, can
from nodewise.environment.runs import break_ties
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.strategies.propagated import propagated_features, unit_rows

__all__ = ["Bald", "Marginals", "mutual_information", "posterior_marginals"]


def mutual_information(probabilities: torch.Tensor) -> torch.Tensor:
    """What the answer would tell of which member is right, in nats: H(mean of p) − mean of H(p): [..., member, class]
    to [...].
    """
    together = probabilities.mean(-2)
    alone = torch.xlogy(probabilities, probabilities).sum(-1).mean(-1)
    return alone - torch.xlogy(together, together).sum(-1)


class Marginals(NamedTuple):
    """What ridge regression says of each node.

    Attributes:
        mean: [run, node, class].
        deviation: the standard deviation, the same for all classes: [run, node].
    """

    mean: torch.Tensor
    deviation: torch.Tensor


def posterior_marginals(labelled: torch.Tensor, targets: torch.Tensor, rows: torch.Tensor, ridge: float) -> Marginals:
    """With labelled rows Z and Q = (Z Zᵀ + r I)⁻¹: the mean xᵀ Zᵀ Q Y and the variance xᵀ x − xᵀ Zᵀ Q Z x.

    Args:
        labelled: [run, label, width]. targets: [run, label, class]. rows: of all nodes, [node, width].
        ridge: r.
    """
    runs, labels, _ = labelled.shape
    products = (rows @ labelled.flatten(0, 1).T).view(len(rows), runs, labels).transpose(0, 1)  # [run, node, label]
    gram = labelled @ labelled.mT
    gram.diagonal(dim1=-2, dim2=-1).add_(ridge)
    along = products @ torch.linalg.inv(gram)
    variance = rows.square().sum(-1) - (along * products).sum(-1)
    return Marginals(along @ targets, variance.clamp_min(0).sqrt())


@dataclass(frozen=True)
class Bald(Strategy):
    """The largest mutual information between a node's answer and the classifier that is right.

    Houlsby, Huszár, Ghahramani & Lengyel, "Bayesian active learning for classification and preference learning" (2011):
    arg max H(1/M Σ_m p_m) − 1/M Σ_m H(p_m), p_1 … p_M the predictions of classifiers drawn from the posterior.

    Departures: the classifier is the strategy's own, whatever learns beside it: Bayesian ridge regression on propagated
    features Z = Â² X, centred and of unit length, p = softmax(T · f). Its posterior is Gaussian at every node, in
    closed form, where the paper approximates that of a Gaussian process; the members are M draws of it, f = mean +
    deviation · normal, with the same normal numbers for all nodes, drawn anew for each query. The first query is
    random.

    With ``dropout`` the members are passes of the classifier that learns, each with hidden units left out at random, as
    Gal, Islam & Ghahramani, "Deep Bayesian active learning with image data" (ICML 2017), draw them; units of the hidden
    layer alone, where they are left out in every layer that was trained so. It needs a classifier that can predict from
    an embedding: `gcn`. Where a committee learns, its members are those of the committee.

    Attributes:
        members: M. ridge: r, the strength of the prior. temperature: T.
        dropout: the share of hidden units that are left out; None: members of the strategy's own.
    """

    name = "bald"
    version = 1
    recordable = False  # the number of labels, and with it the work, grows
    reads_budget = False
    stateless = True

    members: int = 16
    ridge: float = 0.3
    temperature: float = 2.0
    dropout: float | None = None

    def __post_init__(self) -> None:
        if self.members < 2 or not (self.ridge > 0 and self.temperature > 0):
            raise InputError(f"BALD has two members at least, and its other numbers lie above 0, got {self}")
        if self.dropout is not None:
            if not 0 < self.dropout < 1:
                raise InputError(f"BALD leaves out a share between 0 and 1, got {self.dropout}")
            object.__setattr__(self, "name", "bald-dropout")
            object.__setattr__(self, "needs", frozenset({"from-embedding"}))

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """The members' predictions of all nodes, a few times, and all nodes' products with the labels."""
        return 4 * graph.num_nodes * (4 * self.members * max(1, graph.num_classes) + 3 * budget + 256)

    def begin(self, observation: Observation) -> None:
        """Refuse a classifier that has no passes with dropout."""
        if self.dropout is not None and not can(observation.learner, "from-embedding"):
            info = CAPABILITIES["from-embedding"]
            raise InputError(f"bald-dropout needs a classifier that can {info.ability}: {info.instead}")

    def scores(self, observation: Observation) -> torch.Tensor:
        """The mutual information of every node."""
        if self.dropout is not None:
            return break_ties(mutual_information(_passes(observation, self.members, self.dropout)), observation)
        answered, filled, classes = observation.queried, observation.step_number, observation.num_classes
        if not filled:  # all nodes are alike but for rounding
            return observation.noise
        if can(observation.learner, "members"):
            members = cast(HasMembers, observation.learner).member_probabilities()
            return break_ties(mutual_information(members), observation)
        rows = unit_rows(propagated_features(observation.graph))
        targets = torch.nn.functional.one_hot(answered.labels[:, :filled], classes).to(rows.dtype) - 1 / classes
        found = posterior_marginals(rows[answered.nodes[:, :filled]], targets, rows, self.ridge)
        drawn = observation.uniform("bald", observation.runs, self.members, classes).clamp(2**-24, 1 - 2**-24)
        normal = torch.special.ndtri(drawn)[:, None]  # [run, 1, member, class]
        members = torch.addcmul(found.mean[:, :, None], found.deviation[..., None, None], normal)
        return break_ties(mutual_information(torch.softmax(self.temperature * members, -1)), observation)


def _passes(observation: Observation, members: int, rate: float) -> torch.Tensor:
    """Predictions with hidden units left out: [run, node, member, class]."""
    learner, hidden = cast(PredictsFromEmbedding, observation.learner), observation.embedding
    runs, nodes, width = hidden.shape
    passes = []
    for number in range(members):
        drawn = observation.uniform(f"bald {number}", runs, width, nodes).mT  # the nodes' own, whatever their order
        passes.append(learner.logits_from(hidden * (drawn >= rate) / (1 - rate)).softmax(-1))
    return torch.stack(passes, 2)
