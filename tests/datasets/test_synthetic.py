import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.datasets import SyntheticSettings, load_graph, synthetic, synthetic_graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress


@given(
    nodes=st.integers(2, 300),
    classes=st.integers(2, 6),
    degree=st.floats(0, 8),
    homophily=st.floats(0, 1),
    degrees=st.sampled_from(["poisson", "powerlaw"]),
    seed=st.integers(0, 2**40),
)
def test_has_the_edges_and_the_homophily_asked_for(nodes, classes, degree, homophily, degrees, seed):
    nodes = max(nodes, classes)
    settings = SyntheticSettings(nodes, classes, min(degree, nodes - 1), homophily, degrees, features=0, seed=seed)
    try:
        graph = synthetic_graph(settings)
    except InputError as error:
        assert "leave room for" in str(error)  # noqa: PT017
        return
    edges = round(nodes * settings.mean_degree / 2)
    assert graph.num_edges == edges
    assert graph.num_classes == classes
    assert set(graph.y.tolist()) == set(range(classes))
    if edges:
        assert graph.homophily == pytest.approx(round(homophily * edges) / edges)


def test_same_seed_same_graph_and_another_seed_another():
    for degrees in ("poisson", "powerlaw"):
        first = synthetic_graph(nodes=500, degrees=degrees)
        assert first.equals(synthetic_graph(nodes=500, degrees=degrees))
        assert not first.equals(synthetic_graph(nodes=500, degrees=degrees, seed=1))


def test_blocks_bound_what_is_drawn_at_once_and_change_nothing_asked_for(monkeypatch):
    monkeypatch.setattr(synthetic, "_BLOCK", 100)
    events = []
    graph = synthetic_graph(nodes=400, mean_degree=20, reporter=events.append)
    assert graph.num_edges == 4000
    assert graph.homophily == 0.8
    assert events[-1] == Progress("edges", 4000, 4000)
    assert [event.done for event in events] == sorted(event.done for event in events)


def test_degrees_of_a_random_graph():
    degree = synthetic_graph(nodes=20_000, mean_degree=10, features=0).degree
    assert degree.mean() == 10
    assert degree.var() == pytest.approx(10, rel=0.05)  # Poisson: the variance is the mean


def test_degrees_of_a_power_law():
    heavy, light = (
        synthetic_graph(nodes=20_000, mean_degree=10, features=0, degrees="powerlaw", exponent=e).degree
        for e in (2.2, 4.0)
    )
    assert heavy.mean() == light.mean() == 10
    top = [np.sort(degree)[-200:].mean() for degree in (heavy, light)]
    assert top[0] > 2 * top[1] > 60
    # The share above a bound falls as the bound to the power 1 - exponent: from 30 to 90 by 3 ** -1.5 at exponent 2.5.
    degree = synthetic_graph(nodes=50_000, mean_degree=10, features=0, degrees="powerlaw").degree
    assert (degree >= 90).mean() / (degree >= 30).mean() == pytest.approx(3**-1.5, rel=0.2)


def test_ends_are_spread_evenly_over_nodes_of_equal_weight():
    degree = synthetic_graph(nodes=1000, classes=4, mean_degree=40, homophily=0.25, features=0).degree
    halves = degree[:500].mean(), degree[500:].mean()
    assert halves[0] == pytest.approx(halves[1], rel=0.03)


def test_complete_graph():
    graph = synthetic_graph(
        nodes=40, classes=2, mean_degree=39, homophily=2 * 190 / 780, degrees="powerlaw", features=0
    )
    assert graph.num_edges == 780


def test_class_sizes():
    y = synthetic_graph(nodes=1000, classes=3, class_shares=(1, 2, 7)).y
    np.testing.assert_allclose(np.bincount(y), [100, 200, 700], atol=3)
    assert np.bincount(synthetic_graph(nodes=1000, classes=3, class_shares=(1, 1, 1e9), mean_degree=2).y).min() == 1


def test_signal_of_the_features():
    for signal in (0.0, 3.0):
        graph = synthetic_graph(nodes=20_000, classes=4, mean_degree=1, features=8, signal=signal)
        means = np.stack([graph.x[graph.y == c].mean(axis=0) for c in range(4)])
        np.testing.assert_allclose(np.linalg.norm(means, axis=1), signal, atol=0.1)
        noise = graph.x - means[graph.y]
        assert noise.std() == pytest.approx(1, abs=0.01)
    assert synthetic_graph(features=0).x is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes": 1}, "nodes .* must be 2 or more, received 1"),
        ({"classes": 0}, "classes .* must be from 1"),
        ({"mean_degree": 2000}, "mean_degree .* received 2000"),
        ({"homophily": 1.1}, "homophily .* from 0 to 1, received 1.1"),
        ({"degrees": "normal"}, "degrees .* 'poisson' or 'powerlaw'"),
        ({"exponent": 2}, "exponent .* above 2"),
        ({"class_shares": (1.0, 2.0)}, "class_shares .* one for each class"),
        ({"class_shares": (1.0, 2.0, 0.0, 1.0, 1.0)}, "class_shares .* above 0"),
        ({"features": -1}, "features .* 0 or more"),
        ({"signal": float("nan")}, "signal .* 0 or more"),
        ({"mean_degree": 1000}, "800,000 edges within classes, but 2,000 nodes in 5 classes leave room for 399,000"),
        ({"classes": 1}, "2,000 edges between classes, but 2,000 nodes in 1 classes leave room for 0"),
    ],
)
def test_settings_that_cannot_be(changes, message):
    with pytest.raises(InputError, match=message):
        synthetic_graph(**changes)


def test_settings_as_a_record():
    settings = SyntheticSettings(nodes=50, seed=3)
    assert synthetic_graph(settings, name="x").num_nodes == 50
    assert synthetic_graph(settings, classes=2).num_classes == 2


@pytest.mark.long
def test_a_million_nodes(tmp_path):
    graph = load_graph("sbm-1m", data_dir=tmp_path)
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (1_000_000, 10_000_000, 10)
    assert graph.homophily == 0.8
    assert graph.x.shape == (1_000_000, 128)
    means = np.stack(
        [graph.x[graph.y == kind].mean(0) for kind in range(10)]
    )  # the noise of a mean over 100,000 nodes is 0.003 a feature
    np.testing.assert_allclose(
        np.linalg.norm(means, axis=1), 1.0, atol=0.05
    )  # so the classes' means lie where the signal says
    degree = np.sort(graph.degree)[::-1]
    assert (
        degree[:10_000].sum() > 0.08 * degree.sum() and degree[-1] < 10 < degree[0] / 50
    )  # one node in a hundred has eight times its share of the edges
