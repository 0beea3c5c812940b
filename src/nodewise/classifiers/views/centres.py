"""What models say of the nodes as centres of the ridge: every node's own, in place of 1/C or the labels' shares."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

from nodewise.classifiers.views.products import Array, RowPropagation, diffuse, scipy_matrix, symmetric_propagation
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.shared_column import SharedColumn

__all__ = ["believed", "own_centres", "placed_centres", "said_temperature"]

_BELIEF = 0.9
"""How much of a node's own centre is the model's; the rest is 1/C."""

_DIFFUSION = (0.05, 20)
"""α and the number of steps with which answers are diffused along the edges, those of the view `far`."""

MODEL_LEAD, MODEL_LABELS = 3.0, 5.0
"""The logarithm by which the weight of a member with a model's centre is raised before the first label, and the labels
with which half of that is left, a fifth with twice as many: at first nothing else is known, later the labels decide.
"""

MODEL_PROOF, MODEL_DOUBT = 1.0, 3.0
"""Standard errors by which a model's centre should predict the labels better than 1/C and the classes' shares do, and
the logarithm by which each that is missing lowers the weight of its members. benchmarks/suggestions_belief.py says how
they were chosen.
"""


def own_centres(graph: GraphTensors, answers: Array) -> torch.Tensor:
    """Each model's answers as a centre for every node, less 1/C: [model, node, class].

    Answers are taken less the shares that the model gives the classes, since a model that names one class too often
    would else be believed in it everywhere, and diffused along the edges with P = D^-1/2 (A + I) D^-1/2. With several
    models their mean is one more centre, and the first.

    Args:
        answers: how sure each model is of each class, [model, node, class]: rows of zeros where it says nothing.
    """
    given = np.asarray(answers, np.float32)
    heard = given.sum(-1, keepdims=True)
    shares = given.sum(1, keepdims=True) / np.maximum(heard.sum(1, keepdims=True), 1e-9)
    count, nodes, classes = given.shape
    beside = np.ascontiguousarray((given - heard * shares).transpose(1, 0, 2)).reshape(nodes, count * classes)
    matrix = symmetric_propagation(scipy_matrix(graph.adjacency))
    (_, diffused), *_ = diffuse(matrix, beside, {"far": _DIFFUSION})
    centres = _BELIEF * torch.from_numpy(diffused).view(nodes, count, classes).transpose(0, 1).contiguous()
    if count > 1:
        centres = torch.cat([centres.mean(0, keepdim=True), centres])
    return centres.to(graph.device, graph.dtype)


def placed_centres(own: torch.Tensor, joined: sp.csr_matrix, degree: Array) -> torch.Tensor:
    """The centres of rows that were not in the graph, of which no model has said anything: those of the nodes that each
    is joined to, one step further (see `places`): [own, row, class].

    Args:
        own: the nodes', [own, node, class]. joined: how strongly each row is joined to each node, [row, node].
        degree: of the nodes, [node].
    """
    count, nodes, classes = own.shape
    flat = own.transpose(0, 1).reshape(nodes, count * classes).numpy()
    nothing = np.zeros((joined.shape[0], count * classes), np.float32)
    placed = RowPropagation(joined, degree)(flat, nothing, _DIFFUSION[0])
    return torch.from_numpy(placed).view(-1, count, classes).transpose(0, 1).contiguous()


def believed(
    own: torch.Tensor, shares: torch.Tensor, targets: torch.Tensor, scale: float, shared: SharedColumn | None = None
) -> torch.Tensor:
    """What speaks for each centre beside its members' loss, as logarithms: [centre, 1, 1, run].

    1/C and the shares have 0. A model's centre leads at first, and falls back by how far it is from predicting the
    labels better than both do, by `MODEL_PROOF` standard errors, as `Members.lead_over_shares` has them. Of the shares
    alone it would not be enough: where labels are even, each label's own class is the rarest among the others, so that
    a centre that says nothing predicts them better than the shares.

    Args:
        own: the labelled nodes' own centres: [own, run, class, label].
        shares: those of the classes without each label: [run, class, label].
        targets: one-hot, zero where there is no label: [run, class, label].
        scale: what centres are multiplied by before the softmax.
        shared: the column that stands for very many classes, where there is one.
    """
    there = targets.sum(1)
    count = there.sum(-1)  # [run]
    classes = shares.shape[-2] if shared is None else len(shared.column)
    chance = torch.log_softmax(scale * own, -2) if shared is None else shared.log_softmax(scale * own)
    lead = torch.full_like(chance[..., 0, 0], torch.inf)  # [own, run]
    for other in (shares, torch.full_like(shares, 1 / classes)):
        better = ((chance - other.log()) * targets).sum(-2)  # [own, run, label]
        mean = better.sum(-1, keepdim=True) / count.clamp_min(1)[:, None]
        error = (((better - mean).square() * there).sum(-1) + 1).sqrt()
        lead = torch.minimum(lead, better.sum(-1) / error)
    first = MODEL_LEAD / (1 + (count / MODEL_LABELS).square())
    of_own = first + MODEL_DOUBT * (lead - MODEL_PROOF).clamp_max(0) * (count > 0)
    return torch.cat([of_own.new_zeros(2, len(count)), of_own])[:, None, None]


def said_temperature(usual: float, weights: torch.Tensor, scale: float) -> torch.Tensor:
    """The usual temperature of probabilities that are said where models speak: [run].

    The usual one is for what few labels say. As far as a model is believed, the scale takes its place by which its
    centre is held against the labels: benchmarks/suggestions_sure.py says how that was chosen.

    Args:
        usual: where no model speaks. weights: of the members, [centre, view, ridge, run].
        scale: what centres are multiplied by before the softmax.
    """
    belief = weights[2:].sum((0, 1, 2))
    moved: torch.Tensor = usual ** (1 - belief) * scale**belief
    return moved
