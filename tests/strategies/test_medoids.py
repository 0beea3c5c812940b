from __future__ import annotations

import torch

from nodewise.strategies.medoids import cluster_order, cluster_shared

POINTS = torch.tensor([[-5.0, 0.0], [-4.0, 0.0], [-3.0, 0.0], [3.0, 0.0], [4.5, 0.0], [4.5, 0.0]])


def uniform(runs: int, seed: int = 0) -> object:
    generator = torch.Generator().manual_seed(seed)
    return lambda number: torch.rand(runs, len(POINTS), generator=generator)


def test_two_clear_clusters_whatever_the_draws() -> None:
    clusters = cluster_shared(POINTS, 2, uniform(20))  # type: ignore[arg-type]
    assert (clusters.members[:, 0] != clusters.members[:, 5]).all()
    left = clusters.members == clusters.members[:, :1]
    assert torch.equal(left, torch.tensor([[True] * 3 + [False] * 3]).expand(20, -1))
    middles = clusters.centres[..., 0].sort(1).values
    assert torch.allclose(middles, torch.tensor([-4.0, 4.0]).expand(20, 2))
    assert torch.allclose(clusters.distance[0], torch.tensor([1.0, 0.0, 1.0, 1.0, 0.25, 0.25]))


def test_only_the_nodes_that_count_make_centres() -> None:
    counts = torch.tensor([[True, True, False, True, True, False]]).expand(5, -1)
    clusters = cluster_shared(POINTS, 2, uniform(5), counts)  # type: ignore[arg-type]
    assert torch.allclose(clusters.centres[..., 0].sort(1).values, torch.tensor([-4.5, 3.75]).expand(5, 2))


def test_a_run_has_the_same_clusters_in_any_company() -> None:
    drawn = [torch.rand(3, len(POINTS), generator=torch.Generator().manual_seed(n)) for n in range(3)]
    together = cluster_shared(POINTS, 3, lambda number: drawn[number])
    alone = cluster_shared(POINTS, 3, lambda number: drawn[number][:1])
    assert torch.equal(together.members[:1], alone.members)


def test_as_many_centres_as_there_are_points_and_points_that_are_equal() -> None:
    clusters = cluster_shared(POINTS, 6, uniform(2))  # type: ignore[arg-type]
    assert torch.allclose(clusters.distance, torch.zeros(2, 6))  # two points are equal: one of the six stays empty


def test_each_cluster_gives_one_before_any_gives_its_second() -> None:
    members = torch.tensor([[0, 0, 0, 1, 1, 2]])
    pool = torch.tensor([[True, True, False, True, True, True]])
    wanted = torch.tensor([[1.0, 2.0, 9.0, 5.0, 4.0, 0.0]])  # node 2 is not in the pool
    scores = cluster_order(members, torch.tensor([[3.0, 2.0, 1.0]]), wanted, pool, torch.rand(1, 6))
    assert scores.masked_fill(~pool, -99).argsort(dim=1, descending=True).tolist()[0][:5] == [1, 3, 5, 0, 4]
