import numpy as np
import pytest

from nodewise.datasets import default_budget
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


def test_default_budget_of_a_graph(tmp_path):
    assert default_budget(small()) == 10
    assert default_budget(small("cora")) == 10  # somebody's own graph that happens to be called so
    assert default_budget(Graph.build([[0], [1]], 7, y=range(7), name="Cora")) == 35
    assert default_budget(small("reddit1401-graph1")) == 50
    write_graph(small(), tmp_path / "mine.npz")
    assert default_budget(tmp_path / "mine.npz") == 10
    assert default_budget("mine", data_dir=tmp_path) == 10
    with pytest.raises(InputError, match="has no classes.*give one"):
        default_budget(Graph.build([[0], [1]]))
