import numpy as np
import pytest

from nodewise.datasets import default_budget, load_graph
from nodewise.environment import SplitSizes
from nodewise.evaluation import evaluate
from nodewise.graph import Graph, write_graph
from nodewise.ground.errors import InputError


def small(name="mine"):
    return Graph.build([[0, 1, 2], [1, 2, 3]], x=np.eye(4, 3), y=["a", "b", "a", "b"], name=name)


def test_default_budget():
    budgets = {
        name: default_budget(name)
        for name in ("cora", "citeseer", "pubmed", "coauthor-physics", "coauthor-cs", "reddit4", "reddit-case-study")
    }
    assert list(budgets.values()) == [35, 30, 15, 25, 75, 50, 15]
    assert default_budget("digits") == 50
    assert default_budget("wine") == 15


def ring(nodes, classes, name="ring", labelled=None):
    y = [i % classes if i < (labelled or nodes) else -1 for i in range(nodes)]
    return Graph.build([range(nodes), [*range(1, nodes), 0]], nodes, y=y, name=name)


def test_five_a_class_are_at_most_half_the_pool():
    assert default_budget("karate") == default_budget(ring(34, 4)) == 9
    assert default_budget(ring(100, 4)) == 20
    assert default_budget(ring(2250, 200)) == 563
    assert default_budget(ring(2251, 200)) == 375
    assert default_budget(ring(2, 2)) == 1
    assert default_budget(ring(100, 4, labelled=20)) == 20  # a person can label the others
    assert default_budget(ring(100, 4, labelled=20), simulated=True) == 5


@pytest.mark.parametrize("nodes", [4, 7, 34, 2249, 2250, 2251, 5000])
def test_the_pool_is_that_of_the_protocol(nodes):
    sizes = SplitSizes.default(nodes)
    assert default_budget(ring(nodes, 1000 if nodes > 1000 else nodes)) == max(1, (nodes - sizes.test - sizes.validation) // 2)


def test_every_graph_that_needs_no_network_can_be_evaluated_with_its_default():
    graph = load_graph("karate")
    assert len(evaluate(graph, strategy="random", classifier="gcn", runs=2).micro_f1) == 2


def test_default_budget_of_a_graph(tmp_path):
    assert default_budget(small()) == 1
    assert default_budget(small("cora")) == 1  # somebody's own graph that happens to be called so
    assert default_budget(Graph.build([[0], [1]], 7, y=range(7), name="Cora")) == 35
    assert default_budget(small("reddit1401-graph1")) == 50
    write_graph(small(), tmp_path / "mine.npz")
    assert default_budget(tmp_path / "mine.npz") == 1
    assert default_budget("mine", data_dir=tmp_path) == 1
    with pytest.raises(InputError, match="has no classes.*give one"):
        default_budget(Graph.build([[0], [1]]))
