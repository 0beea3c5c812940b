"""The record of node types and relations: what it refuses, what it says of the labelled type."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from nodewise.graph.relations import LEADING, NodeType, Relation, Relations, direction_of
from nodewise.ground.errors import GraphError

PAPERS, AUTHORS, VENUES = NodeType("paper", 4), NodeType("author", 3), NodeType("venue", 2)
WRITTEN = Relation("written by", "paper", "author", np.array([[0, 0, 1, 2, 3], [0, 1, 1, 2, 2]]))
WORKS = Relation("visits", "venue", "author", np.array([[0, 1, 1], [0, 1, 2]]))


def record(*relations: Relation) -> Relations:
    return Relations((PAPERS, AUTHORS, VENUES), relations or (WRITTEN, WORKS), "paper")


def test_incidences_are_relations_first_and_then_paths_of_two() -> None:
    one, two = record().incidences
    assert (one.name, one.reaches) == ("written by", "author")
    assert (two.name, two.reaches, len(two.steps)) == ("written by, visits", "venue", 2)
    assert two.matrix.toarray().tolist() == [[1, 1], [0, 1], [0, 1], [0, 1]]
    assert two.spread() == 5


def test_a_relation_within_the_labelled_type_is_read_along_and_against() -> None:
    cites = Relation("cites", "paper", "paper", np.array([[0, 1], [1, 2]]))
    names = [incidence.name for incidence in record(cites, WRITTEN).incidences]
    assert names[0] == "written by"
    assert {"cites along", "cites against", "cites along, written by"} <= set(names)
    both = Relation("cites", "paper", "paper", np.array([[0, 1], [1, 0]]))
    assert [incidence.name for incidence in Relations((PAPERS,), (both,), "paper").incidences] == ["cites"]


def test_the_relations_that_lead_are_those_most_nodes_take_part_in() -> None:
    many = [Relation(f"r{i}", "paper", "author", np.array([range(i + 1), [0] * (i + 1)])) for i in range(4)]
    assert [one.name for one in record(*many).incidences[:LEADING]] == ["r3", "r2", "r1", "r0"]


def test_many_relations_need_a_matrix_each_and_not_one_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Relation(f"r{i}", "paper", "author", np.array([[0], [0]])) for i in range(5)]
    many += [Relation(f"s{i}", "author", "venue", np.array([[0], [0]])) for i in range(5)]
    made = []
    whole = Relation.matrix
    monkeypatch.setattr(Relation, "matrix", lambda self, *sizes: made.append(self.name) or whole(self, *sizes))
    assert [one.name for one in record(*many).incidences[4:7]] == ["r4", "r0, r1", "r0, r2"]
    assert len(made) <= 5 + 10  # once from either type


def test_edges_given_twice_are_one_and_their_weights_add_up() -> None:
    relation = Relation("r", "a", "b", np.array([[1, 0, 1], [0, 0, 0]]), np.array([1.0, 5.0, 2.0]))
    assert relation.edge_index.tolist() == [[0, 1], [0, 0]]
    assert relation.weight is not None
    assert relation.weight.tolist() == [5.0, 3.0]
    assert Relation("r", "a", "b", np.array([[0, 1], [0, 0]]), np.array([2.0, 2.0])).weight is None


def test_a_part_keeps_the_relations_of_its_nodes() -> None:
    part = record().part(np.array([1, 3]))
    assert part.labelled_type.count == 2
    assert part.relations[0].edge_index.tolist() == [[0, 1], [1, 2]]
    assert part.relations[1].edge_index.tolist() == WORKS.edge_index.tolist()


def test_a_copy_by_pickle_is_the_same() -> None:
    assert record().equals(pickle.loads(pickle.dumps(record())))
    assert not record().equals(record(WRITTEN))


def test_direction_is_kept_where_there_is_one() -> None:
    found = direction_of(np.array([[0, 1, 2], [1, 1, 0]]), 3)
    assert found is not None
    assert found.directed
    assert found.relations[0].edge_index.tolist() == [[0, 2], [1, 0]]
    assert direction_of(np.array([[0, 1], [1, 0]]), 2) is None


def test_what_a_node_shares_is_told_by_name() -> None:
    authors = NodeType("author", 3, attributes={"name": np.array(["Ann", "Bo", "Cy"])})
    found = Relations((PAPERS, authors, VENUES), (WRITTEN,), "paper")
    assert found.shared(0, [1, 2, 3]) == ("author", 1, ["Bo"])
    assert found.shared(0, [2, 3]) is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: record(Relation("r", "paper", "editor", np.zeros((2, 0), int))), "names the type 'editor', which is"),
        (
            lambda: record(Relation("r", "paper", "author", np.array([[0], [7]]))),
            "leads to node 7 of the type",
        ),
        (lambda: record(Relation("r", "paper", "author", np.array([[0], [-1]]))), "nodes are numbered from 0"),
        (lambda: Relations((PAPERS, PAPERS), (), "paper"), "two node types are called 'paper'"),
        (lambda: record(WRITTEN, WRITTEN), "two relations are called 'written by'"),
        (lambda: Relations((PAPERS,), (), "author"), "no node type carries the labels"),
        (lambda: Relations((), (), ""), "no node type carries the labels"),
        (lambda: Relation("r", "a", "b", np.array([[0], [0]]), np.array([0.0])), "is 0.0: weights must be positive"),
        (lambda: Relation("r", "a", "b", np.array([[0], [0]]), np.array([np.nan])), "is nan: weights must be positive"),
        (lambda: Relation("r", "a", "b", np.array([0, 1])), "of the shape [2, edges]"),
        (lambda: NodeType("paper", 0), "has 0 nodes: it needs a whole number, at least one"),
        (lambda: NodeType("paper", 2.5), "has 2.5 nodes: it needs a whole number"),  # type: ignore[arg-type]
        (lambda: Relation("r", "a", "b", [[0, 1], [0]]), "as many ends in row 0 as in row 1"),  # type: ignore[arg-type]
        (lambda: Relation("r", ["a"], "b", [[0], [0]]), "joins ['a'] and 'b': name the node types"),  # type: ignore[arg-type]
        (
            lambda: Relation("r", "a", "b", np.zeros((2, 2), int), np.array([3e38, 3e38])),
            "multiply all by one factor",
        ),
        (lambda: NodeType("paper", 2, names=("a", "a")), "the node type 'paper': the node name 'a' occurs twice"),
    ],
)
def test_bad_parts_are_refused_with_a_sentence(make: object, said: str) -> None:
    with pytest.raises(GraphError) as refused:
        make()  # type: ignore[operator]
    assert said in str(refused.value)
