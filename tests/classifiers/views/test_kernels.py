"""The posterior's GPU kernels, against the posterior on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.classifiers.views.posterior import Posterior
from tests.classifiers.views.plainly import random_views
from tests.classifiers.views.test_posterior import assert_same_fit
from tests.kernel_devices import KERNEL_DEVICES

pytestmark = pytest.mark.parametrize("device", KERNEL_DEVICES)


def both(
    device: str, runs: int, classes: int, room: int, columns: int = 7, views: int = 2
) -> tuple[Posterior, Posterior]:
    """A posterior on the CPU, and one by kernels."""
    from nodewise.classifiers.views.cuda import CudaPosterior

    made = random_views(nodes=60, views=views, columns=columns)
    return Posterior(made, runs, classes, room), CudaPosterior(
        made.to(torch.device(device), torch.float32), runs, classes, room
    )


def assert_same(there: Posterior, expected: Posterior) -> None:
    fit, wanted = there.fit(), expected.fit()
    count = max(1, int(expected.count))
    assert int(there.count) == int(expected.count)
    predictions = fit.left_out.predictions
    fit.__dict__["left_out"] = fit.left_out._replace(predictions=predictions[:, :count])
    assert_same_fit(fit, wanted, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(there.mean(fit).cpu(), expected.mean(wanted), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(
        there.covariances(fit.ridges).cpu(), expected.covariances(wanted.ridges), atol=1e-6, rtol=1e-6
    )


def some_labels(posterior: Posterior, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Nodes, and classes that the first view's columns tell, with more noise from run to run: int64 [run, label]."""
    rng = np.random.default_rng(0)
    nodes = torch.from_numpy(np.stack([rng.permutation(60)[:count] for _ in range(posterior.runs)]))
    votes = posterior.views.columns[nodes, 0, : posterior.classes]
    noise = torch.from_numpy(rng.normal(size=votes.shape)) * posterior.views.columns.std()
    return nodes, (votes + noise * torch.arange(posterior.runs).view(-1, 1, 1)).argmax(-1)


def tell(posteriors: tuple[Posterior, ...], nodes: torch.Tensor, labels: torch.Tensor) -> None:
    for posterior in posteriors:
        place = posterior.count.device
        for node, label in zip(nodes.T, labels.T, strict=True):
            posterior.add(node.to(place), label.to(place))


def assert_same_lead(there: Posterior, expected: Posterior) -> None:
    from nodewise.classifiers.views.cuda import CudaPosterior

    assert isinstance(there, CudaPosterior)
    fit, wanted = there.fit(), expected.fit().lead_over_shares
    torch.testing.assert_close(there.lead_over_shares().cpu(), wanted, atol=2e-5, rtol=1e-4)
    torch.testing.assert_close(fit.members().lead_over_shares().cpu(), wanted, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("runs", "classes", "columns", "views"), [(1, 1, 7, 3), (2, 4, 40, 2), (2, 3, 5, 1), (1, 2, 5, 13)]
)
def test_label_by_label_everything_is_the_cpu_s(runs: int, classes: int, columns: int, views: int, device: str) -> None:
    expected, there = both(device, runs, classes, 4, columns, views)
    rng = np.random.default_rng(0)
    assert_same(there, expected)
    for _ in range(2):  # a second episode in the same buffers
        for nodes in np.stack([rng.permutation(60)[:4] for _ in range(runs)], 1):
            labels = torch.from_numpy(rng.integers(0, classes, runs))
            for posterior in (expected, there):
                place = posterior.count.device
                posterior.add(torch.from_numpy(nodes).to(place), labels.to(place))
            assert_same(there, expected)
        expected.reset()
        there.reset()
        assert_same(there, expected)


def test_a_label_that_is_not_valid_and_a_class_that_comes_later(device: str) -> None:
    expected, there = both(device, 2, 2, 8)
    for posterior in (expected, there):
        place = posterior.count.device
        for node in range(4):
            posterior.add(torch.tensor([node, node + 20], device=place), torch.tensor([node % 2, 1], device=place))
        posterior.add(
            torch.tensor([9, 9], device=place),
            torch.tensor([1, 1], device=place),
            valid=torch.tensor([False], device=place),
        )
        posterior.widen(3)
    assert_same(there, expected)
    for posterior in (expected, there):
        place = posterior.count.device
        posterior.add(torch.tensor([30, 31], device=place), torch.tensor([2, 0], device=place))
    assert_same(there, expected)


def test_more_labels_than_are_worked_on_at_once(device: str) -> None:
    expected, there = both(device, 1, 3, 20, views=1)
    for node in np.random.default_rng(0).permutation(60)[:18].tolist():
        for posterior in (expected, there):
            place = posterior.count.device
            posterior.add(torch.tensor([node], device=place), torch.tensor([node % 3], device=place))
    assert_same(there, expected)


def test_labels_that_follow_each_other_at_once_give_the_same_to_the_bit(device: str) -> None:
    fits = []
    for pause in (True, *[False] * (8 if device == "cuda" else 1)):
        _, there = both(device, 3, 4, 12, columns=40)
        for node in range(12):
            there.add(
                torch.tensor([node, node + 20, node + 40], device=device),
                torch.tensor([node % 4, 1, node % 3], device=device),
            )
            if pause and device == "cuda":
                torch.cuda.synchronize()
        fits.append([part.cpu().clone() for part in (there._loss, there._scale, there.fit().coefficients)])
    for fit in fits[1:]:
        assert all(torch.equal(part, wanted) for part, wanted in zip(fit, fits[0], strict=True))


@pytest.mark.parametrize(
    ("count", "classes", "runs", "room"),
    [
        (0, 3, 2, 4),
        (1, 1, 1, 1),
        (1, 7, 2, 3),
        (2, 2, 3, 2),
        (9, 1, 1, 9),
        (9, 7, 2, 16),
        (35, 2, 1, 40),
        (35, 7, 1, 35),
    ],
)
def test_the_lead_over_the_shares_is_the_cpu_s(count: int, classes: int, runs: int, room: int, device: str) -> None:
    expected, there = both(device, runs, classes, room)
    labels = some_labels(expected, count)
    tell((expected, there), *labels)
    assert_same_lead(there, expected)
    expected.reset()
    there.reset()
    tell((expected, there), labels[0][:, :1], labels[1][:, :1])  # fewer labels in the same buffers
    assert_same_lead(there, expected)


def test_the_lead_over_the_shares_after_a_class_that_comes_later(device: str) -> None:
    expected, there = both(device, 2, 2, 6)
    nodes, labels = some_labels(expected, 4)
    tell((expected, there), nodes, labels)
    for classes in (5, 17):  # with 17, more than fit into the smallest block of classes
        expected.widen(classes)
        there.widen(classes)
        assert_same_lead(there, expected)
        tell((expected, there), torch.tensor([[50 + classes % 5], [40]]), torch.tensor([[classes - 1], [0]]))
        assert_same_lead(there, expected)
