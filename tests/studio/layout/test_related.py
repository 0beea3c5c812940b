"""The neighbourhood by relation: who is shown, by which relation, what is hidden, and that it is the same each time."""

from __future__ import annotations

import numpy as np
import pytest

from nodewise.datasets.relational import directed_graph, library_graph
from nodewise.graph import NodeType, Relation
from nodewise.graph.relations import Relations
from nodewise.ground.errors import InputError
from nodewise.studio.layout.related import Related, RelatedNeighbourhood


def pairs(record: Relations) -> dict[tuple[int, int, int, int], set[int]]:
    """Type and node of a source and of a target, and by which relations they are joined."""
    index = {kind.name: at for at, kind in enumerate(record.types)}
    found: dict[tuple[int, int, int, int], set[int]] = {}
    for number, relation in enumerate(record.relations):
        for one, other in relation.edge_index.T.tolist():
            key = (index[relation.source], one, index[relation.target], other)
            found.setdefault(key, set()).add(number)
    return found


def steps(record: Relations, centre: int) -> dict[tuple[int, int], int]:
    """How many relations away each node is, up to two, by the plainest search there is."""
    kind = [each.name for each in record.types].index(record.labelled)
    far = {(kind, centre): 0}
    for reach in (1, 2):
        before = dict(far)
        for one_type, one, other_type, other in pairs(record):
            for start, end in (((one_type, one), (other_type, other)), ((other_type, other), (one_type, one))):
                if before.get(start) == reach - 1:
                    far.setdefault(end, reach)
    return far


def check(record: Relations, seen: RelatedNeighbourhood, centre: int, hops: int, limit: int) -> None:
    shown = list(zip(seen.types.tolist(), seen.nodes.tolist(), strict=True))
    far = steps(record, centre)
    assert len(set(shown)) == len(shown) <= limit
    assert shown[0][1] == centre
    assert seen.hop.tolist() == [far[node] for node in shown] == sorted(seen.hop.tolist())
    assert seen.exact
    assert seen.total == sum(reach <= hops for reach in far.values())
    assert len(shown) == min(limit, seen.total)
    joined = pairs(record)
    drawn = {(*shown[one], *shown[other], number) for one, other, number in seen.edges.tolist()}
    assert drawn == {(*key, number) for key, by in joined.items() if {key[:2], key[2:]} <= set(shown) for number in by}
    assert np.isfinite(seen.x).all() and np.abs(seen.x).max() <= 1 and (seen.x[0], seen.y[0]) == (0, 0)


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("limit", [5, 20, 400])
def test_what_relations_lead_to_is_shown_with_its_edges(hops: int, limit: int) -> None:
    record = library_graph(60).relations
    assert record is not None
    related = Related(record)
    for centre in (0, 17, 59):
        seen = related.around(centre, hops, limit, np.zeros(60, bool))
        check(record, seen, centre, hops, limit)
        again = related.around(centre, hops, limit, np.zeros(60, bool))
        assert again.nodes.tolist() == seen.nodes.tolist() and again.x.tolist() == seen.x.tolist()


def test_two_relations_of_the_same_pair_are_both_drawn() -> None:
    types = (NodeType("paper", 2), NodeType("person", 1))
    ends = np.array([[0, 1], [0, 0]])
    record = Relations(
        types, (Relation("written by", "paper", "person", ends), Relation("read by", "paper", "person", ends)), "paper"
    )
    seen = Related(record).around(0, 2, 10, np.zeros(2, bool))
    assert len(seen.nodes) == 3
    assert sorted(seen.edges[:, 2].tolist()) == [0, 0, 1, 1]


def test_edges_of_one_type_keep_their_direction() -> None:
    record = directed_graph(30, degree=2).relations
    assert record is not None
    seen = Related(record).around(3, 1, 100, np.zeros(30, bool))
    drawn = {(int(seen.nodes[one]), int(seen.nodes[other])) for one, other, _ in seen.edges.tolist()}
    wanted = {(one, other) for one, other in record.relations[0].edge_index.T.tolist()}
    assert drawn <= wanted
    assert {pair for pair in wanted if 3 in pair} <= drawn


def test_where_there_is_no_room_labelled_nodes_come_first_and_every_type_has_its_share() -> None:
    """A node of fifty tags and fifty friends, one of whom is labelled."""
    types = (NodeType("person", 51), NodeType("tag", 50))
    zeros, others = np.zeros(50, int), np.arange(50)
    relations = (
        Relation("has", "person", "tag", np.stack([zeros, others])),
        Relation("knows", "person", "person", np.stack([zeros, others + 1])),
    )
    labelled = np.zeros(51, bool)
    labelled[44] = True
    seen = Related(Relations(types, relations, "person")).around(0, 1, 11, labelled)
    assert np.bincount(seen.types[1:]).tolist() == [5, 5]
    assert 44 in seen.nodes[seen.types == 0].tolist()
    assert seen.hidden == 90


def test_a_node_that_there_is_not_is_refused() -> None:
    record = library_graph(60).relations
    assert record is not None
    with pytest.raises(InputError, match="no node 60"):
        Related(record).around(60, 1, 10, np.zeros(60, bool))


def test_relations_without_an_edge_leave_the_node_alone() -> None:
    record = Relations((NodeType("paper", 2), NodeType("author", 1)), (), "paper")
    seen = Related(record).around(1, 2, 10, np.zeros(2, bool))
    assert (seen.nodes.tolist(), seen.total, len(seen.edges)) == ([1], 1, 0)
