from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from nodewise.strategies import kmeans
from nodewise.strategies.kmeans import Clusters, add_cluster, lloyd, seed_clusters, squared_distances


def noise(seed: int, runs: int, nodes: int):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    return lambda number: torch.from_numpy(rng.random((runs, nodes), dtype=np.float32))


def blobs(runs: int = 3, each: int = 30, seed: int = 0) -> torch.Tensor:
    """Four groups, far apart from each other, at other places in every run: [run, node, 2]."""
    rng = np.random.default_rng(seed)
    middles = np.array([[0, 0], [30, 0], [0, 30], [30, 30]]) + rng.normal(size=(runs, 1, 1))
    points = np.repeat(middles, each, axis=1) + rng.normal(size=(runs, 4 * each, 2))
    return torch.from_numpy(points.astype(np.float32)) + 100.0


def test_distances_worked_out_by_hand() -> None:
    points, centres = torch.tensor([[[0.0, 0.0], [3.0, 4.0]]]), torch.tensor([[[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]])
    assert squared_distances(points, centres).tolist() == [[[0.0, 25.0], [9.0, 16.0], [16.0, 9.0]]]


def test_a_toy_worked_out_by_hand() -> None:
    points = torch.tensor([[[0.0], [1.0], [10.0], [11.0]], [[0.0], [4.0], [5.0], [6.0]]])
    found = lloyd(points, torch.tensor([[0, 1, 1, 1], [0, 0, 1, 1]]), 2, 3)
    assert found.members.tolist() == [[0, 0, 1, 1], [0, 1, 1, 1]]
    assert torch.allclose(found.centres, torch.tensor([[[0.5], [10.5]], [[0.0], [5.0]]]))
    assert torch.allclose(found.distance, torch.tensor([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 1.0]]), atol=1e-5)


def test_an_empty_cluster_takes_the_farthest_node() -> None:
    points = torch.tensor([[[0.0], [1.0], [2.0], [50.0]]])
    once = lloyd(points, torch.zeros(1, 4, dtype=torch.int64), 2, 1)
    assert once.members.tolist() == [[0, 0, 0, 1]]
    assert once.centres[0, 1].isnan() and not once.centres[0, 0].isnan()
    twice = lloyd(points, torch.zeros(1, 4, dtype=torch.int64), 2, 2)
    assert torch.allclose(twice.centres, torch.tensor([[[1.0], [50.0]]]))


def test_more_clusters_than_different_points() -> None:
    points = torch.ones(2, 5, 3)
    members = seed_clusters(points, 4, noise(0, 2, 5))
    found = lloyd(points, members, 4, 5)
    assert found.distance.abs().max() == 0
    assert torch.isfinite(found.centres).any(1).all()


def test_groups_that_lie_apart_are_found() -> None:
    points = blobs()
    found = lloyd(points, seed_clusters(points, 4, noise(1, 3, 120)), 4, 10)
    for run in range(3):
        groups = found.members[run].view(4, 30)
        assert (groups == groups[:, :1]).all() and len(groups[:, 0].unique()) == 4
        theirs = KMeans(4, n_init=1, init=np.asarray(points[run].view(4, 30, 2).mean(1)), random_state=0).fit(
            points[run].numpy()
        )
        assert found.distance[run].sum().item() == pytest.approx(theirs.inertia_, rel=1e-3)


def test_seeds_are_different_points_if_there_are_any() -> None:
    points = torch.tensor([[[0.0], [0.0], [0.0], [1.0], [2.0]]])
    for seed in range(20):
        members = seed_clusters(points, 3, noise(seed, 1, 5))[0]
        assert members[0] == members[1] == members[2] and len(members.unique()) == 3


def test_a_cluster_is_added_where_the_distance_is() -> None:
    clusters = Clusters(
        torch.zeros(1, 4, dtype=torch.int64), torch.tensor([[0.0, 0.0, 7.0, 0.0]]), torch.zeros(1, 1, 2)
    )
    assert add_cluster(clusters, 1, torch.full((1, 4), 0.5)).tolist() == [[0, 0, 1, 0]]


def test_blocks_of_nodes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    points = blobs()
    members = seed_clusters(points, 4, noise(1, 3, 120))
    whole = lloyd(points, members, 4, 3)
    monkeypatch.setattr(kmeans, "_ROOM", 3 * 4 * 7)
    parts = lloyd(points, members, 4, 3)
    assert torch.equal(parts.members, whole.members)
    assert torch.allclose(parts.centres, whole.centres) and torch.allclose(parts.distance, whole.distance, atol=1e-3)


def test_runs_are_clustered_alone() -> None:
    points = blobs()
    members = seed_clusters(points, 4, noise(1, 3, 120))
    together = lloyd(points, members, 4, 2)
    alone = lloyd(points[1:2], members[1:2], 4, 2)
    assert torch.equal(together.members[1], alone.members[0])


@pytest.mark.gpu
def test_the_same_on_a_gpu() -> None:
    points = blobs(each=500)
    draws = noise(1, 3, 2000)
    kept = [draws(number) for number in range(4)]
    here = seed_clusters(points, 4, lambda number: kept[number])
    there = seed_clusters(points.cuda(), 4, lambda number: kept[number].cuda())
    assert torch.equal(here, there.cpu())
    ours, theirs = lloyd(points, here, 4, 3), lloyd(points.cuda(), there, 4, 3)
    assert torch.equal(ours.members, theirs.members.cpu())
    assert torch.allclose(ours.centres, theirs.centres.cpu(), atol=1e-3) and torch.allclose(
        ours.distance, theirs.distance.cpu(), atol=1e-2
    )
