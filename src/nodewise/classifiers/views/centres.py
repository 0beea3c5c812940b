"""What models say of the nodes as centres of the ridge: every node's own, in place of 1/C or the labels' shares."""

from __future__ import annotations

import numpy as np
import torch

from nodewise.classifiers.views.products import Array, diffuse, scipy_matrix, symmetric_propagation
from nodewise.graph.tensors import GraphTensors

__all__ = ["own_centres"]

_BELIEF = 0.9
"""How much of a node's own centre is the model's; the rest is 1/C."""

_DIFFUSION = (0.05, 20)
"""α and the number of steps with which answers are diffused along the edges, those of the view `far`."""


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
    models, nodes, classes = given.shape
    beside = np.ascontiguousarray((given - heard * shares).transpose(1, 0, 2)).reshape(nodes, models * classes)
    matrix = symmetric_propagation(scipy_matrix(graph.adjacency))
    (_, diffused), *_ = diffuse(matrix, beside, {"far": _DIFFUSION})
    centres = _BELIEF * torch.from_numpy(diffused).view(nodes, models, classes).transpose(0, 1).contiguous()
    if models > 1:
        centres = torch.cat([centres.mean(0, keepdim=True), centres])
    return centres.to(graph.device, graph.dtype)
