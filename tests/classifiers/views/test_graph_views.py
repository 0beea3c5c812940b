"""Views as the posterior and gain look at them: the same columns, whichever way they are asked for."""

from __future__ import annotations

import pytest
import torch

from nodewise.classifiers.views import graph_views
from nodewise.classifiers.views.graph_views import GraphViews, first_gains, variance_gain


def some(nodes: int = 50, views: int = 3, columns: int = 8, leading: int = 5) -> GraphViews:
    table = torch.randn(nodes, views, columns, generator=torch.Generator().manual_seed(4))
    return GraphViews(tuple("abc"[:views]), table, leading)


def test_leading_columns_are_the_same_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_views, "_TURNED", 16)  # blocks that do not divide the nodes
    views = some()
    wanted = views.columns[:, :, :5]
    assert torch.equal(views.leading, wanted.transpose(0, 1)) and torch.equal(views.across, wanted.permute(1, 2, 0))
    for view in range(3):
        assert torch.equal(views.turned(view, 3), wanted[:, view].T)
    nodes = torch.tensor([[7, 3], [49, 7]])
    assert torch.equal(views.leading_rows(nodes), wanted[nodes].movedim(-2, 0))
    assert torch.equal(views.spaced(4), wanted[::4].permute(1, 2, 0).flatten(0, 1))
    assert torch.equal(views.part(nodes[0]).columns, views.columns[[7, 3]])


def test_products_of_columns_are_kept_unless_they_take_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    views = some()
    row, column = torch.triu_indices(5, 5)
    assert views.pairs is not None
    assert torch.equal(views.pairs, views.across[:, row] * views.across[:, column])
    monkeypatch.setattr(graph_views, "_KEPT", 3 * 15 * 50 - 1)
    assert some().pairs is None


def test_a_sample_stands_for_very_many_nodes_and_is_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = some()
    assert whole.sample[1] is whole and whole.sampled.tolist() == list(range(50))
    monkeypatch.setattr(graph_views, "SAMPLED", 20)
    nodes, part = some().sample
    assert len(nodes) == 20 and nodes.tolist() == sorted(set(nodes.tolist())) == some().sampled.tolist()
    assert torch.equal(part.columns, some().columns[nodes])


def test_before_any_label_gains_are_those_of_a_covariance_of_one() -> None:
    views = some()
    gains = first_gains(views, 0.3)
    for view in range(3):
        start = torch.eye(5)[None], torch.ones(1, 50), torch.tensor([0.3])
        assert torch.equal(gains[view], variance_gain(views.turned(view, 3), *start)[0])
        z = views.columns[:, view, :5]
        by_hand = (z @ z.T).square().sum(1) / (z.square().sum(1) + 0.3)
        torch.testing.assert_close(gains[view], by_hand)


def test_before_any_label_views_narrower_than_the_leading_columns_have_gains_as_well() -> None:
    views = some(columns=4, leading=5)
    for view, gains in enumerate(first_gains(views, 0.3)):
        z = views.columns[:, view]
        torch.testing.assert_close(gains, (z @ z.T).square().sum(1) / (z.square().sum(1) + 0.3))
