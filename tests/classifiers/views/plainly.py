"""The posterior written plainly: scikit-learn's ridge regression, refitted without each label, one member after
another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from sklearn.linear_model import Ridge

from nodewise.classifiers.views.construction import GraphViews
from nodewise.classifiers.views.posterior import RIDGES


class Plain(NamedTuple):
    weights: np.ndarray  # [centre, view, ridge]
    left_out: np.ndarray  # [label, class], less 1/C
    mean: np.ndarray  # [node, class], less 1/C


def random_views(nodes: int = 60, views: int = 3, columns: int = 7, seed: int = 0) -> GraphViews:
    """Rows of unit length in a few views, one of them narrower than the others."""
    z = np.random.default_rng(seed).normal(size=(nodes, views, columns))
    z[:, -1, 4:] = 0
    z /= np.linalg.norm(z, axis=2, keepdims=True)
    return GraphViews(tuple("abcdefghij"[:views]), torch.from_numpy(z.astype(np.float32)))


def fitted_plainly(
    views: GraphViews, nodes: np.ndarray, labels: np.ndarray, classes: int, own: np.ndarray | None = None
) -> Plain:
    """The rule as the documentation states it, with a refit for each label left out.

    Args:
        own: every node's own centre, one or more of them: [own, node, class].
    """
    z = views.columns.double().numpy()
    count, targets = len(nodes), np.eye(classes)[labels]
    losses, outs, means = [], [], []
    for shares in (False, True):
        for view in range(z.shape[1]):
            for ridge in RIDGES:
                x = z[:, view]
                left_out = np.stack(
                    [
                        _predict(x, np.delete(nodes, i), np.delete(targets, i, 0), nodes[i], ridge, shares)
                        for i in range(count)
                    ]
                )
                centres = np.stack([_centre(np.delete(targets, i, 0), shares) for i in range(count)])
                out, wanted = left_out - centres, targets - centres
                scale = np.clip((out * wanted).sum() / max((out**2).sum(), 1e-6), 0.2, 8)
                scale = 1 + (scale - 1) * count / (count + 10)
                predicted = centres - 1 / classes + scale * out
                losses.append(_loss((2.5 + np.log(max(1, classes - 1))) * predicted, labels))
                outs.append(predicted)
                centre = _centre(targets, shares)
                means.append(
                    centre - 1 / classes + scale * (_predict(x, nodes, targets, slice(None), ridge, shares) - centre)
                )
    centres = [] if own is None else list(own)
    for each in centres:
        for view in range(z.shape[1]):
            for ridge in RIDGES:
                x, wanted = z[:, view], targets - each[nodes]
                out = np.stack(
                    [
                        _ridge(x, np.delete(nodes, i), np.delete(wanted, i, 0), ridge, x[nodes[i]][None])[0]
                        for i in range(count)
                    ]
                )
                scale = np.clip((out * wanted).sum() / max((out**2).sum(), 1e-6), 0.2, 8)
                scale = 1 + (scale - 1) * count / (count + 10)
                predicted = each[nodes] - 1 / classes + scale * out
                losses.append(_loss((2.5 + np.log(max(1, classes - 1))) * predicted, labels))
                outs.append(predicted)
                means.append(each - 1 / classes + scale * _ridge(x, nodes, wanted, ridge, x))
    table, sharpness = np.array(losses), 8 * min(1, count / 10)  # [member, label]
    beliefs = [0.0, 0.0, *(_belief(each[nodes], targets, labels) for each in centres)]
    belief = np.repeat(beliefs, z.shape[1] * len(RIDGES))
    weights = _softmax(belief - sharpness * table.mean(1))
    without = (table.sum(1, keepdims=True) - table) / max(1, count - 1)
    left_out = np.einsum("ml,mlc->lc", _softmax(belief[:, None] - sharpness * without), np.array(outs))
    return Plain(weights.reshape(len(beliefs), z.shape[1], -1), left_out, np.tensordot(weights, np.array(means), 1))


def _belief(own: np.ndarray, targets: np.ndarray, labels: np.ndarray) -> float:
    """What speaks for a model beside the losses: 3 at first, and 3 less for each standard error that is missing."""
    count, classes = targets.shape
    shares = np.stack([_centre(np.delete(targets, i, 0), True) for i in range(count)])
    leads = []
    for other in (shares[np.arange(count), labels], np.full(count, 1 / classes)):  # it must be better than both
        better = -_loss((2.5 + np.log(max(1, classes - 1))) * own, labels) - np.log(other)
        leads.append(better.sum() / np.sqrt(((better - better.mean()) ** 2).sum() + 1))
    return float(3 / (1 + (count / 5) ** 2) + 3 * min(0, min(leads) - 1))


def _ridge(x: np.ndarray, nodes: np.ndarray, wanted: np.ndarray, ridge: float, at: np.ndarray) -> np.ndarray:
    if not len(nodes):
        return np.zeros((len(at), wanted.shape[1]))
    return Ridge(alpha=ridge, fit_intercept=False).fit(x[nodes], wanted).predict(at).reshape(len(at), -1)


def _centre(targets: np.ndarray, shares: bool) -> np.ndarray:
    classes = targets.shape[1]
    return (targets.sum(0) + 1) / (len(targets) + classes) if shares else np.full(classes, 1 / classes)


def _predict(
    x: np.ndarray, nodes: np.ndarray, targets: np.ndarray, at: int | slice, ridge: float, shares: bool
) -> np.ndarray:
    centre = _centre(targets, shares)
    if not len(nodes):
        return centre
    model = Ridge(alpha=ridge, fit_intercept=False).fit(x[nodes], targets - centre)
    predicted = model.predict(np.atleast_2d(x[at])).reshape(-1, targets.shape[1]) + centre
    return predicted if isinstance(at, slice) else predicted[0]


def _softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(0))
    return powers / powers.sum(0)


def _loss(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    log_sum = np.log(np.exp(logits).sum(1))
    return log_sum - logits[np.arange(len(labels)), labels]
