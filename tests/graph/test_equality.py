from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.graph.equality import differences, fingerprint

BASE = Graph.build(
    [[0], [1]], 3, x=np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]), y=[0, 1, -1], node_names="abc", attributes={"t": ["x", "y", "z"]},
    extra={"mask": np.array([1.0, np.nan])},
)  # fmt: skip


def test_same_values_are_equal_in_either_storage() -> None:
    assert BASE.equals(BASE)
    assert BASE.equals(replace(BASE, x=sp.csr_matrix(BASE.dense_features()), notes=("other",)))


def test_every_field_is_compared() -> None:
    changed = {
        "edge_index": np.array([[0], [2]]), "x": np.ones((3, 2)), "y": np.array([0, 1, 1]), "class_names": ("0", "2"), "node_names": ("a", "b", "d"),
        "name": "other", "x_offset": np.zeros(2), "features": "unit", "attributes": {"t": np.array(["x", "y", "w"])}, "extra": {"mask": np.array([1.0, 2.0])},
    }  # fmt: skip
    for field, value in changed.items():
        assert [found.partition("[")[0] for found in differences(BASE, replace(BASE, **{field: value}))] == [field]


def test_missing_and_added_parts_are_found() -> None:
    bare = Graph.build([[0], [1]], 3)
    assert set(differences(BASE, bare)) == {"x", "y", "class_names", "node_names", "attributes['t']", "extra['mask']"}
    assert set(differences(bare, BASE)) == set(differences(BASE, bare))
    assert "num_nodes" in differences(bare, Graph.build([[0], [1]], 4))


def test_the_fingerprint_sees_edges_features_and_labels_and_nothing_else() -> None:
    assert BASE.fingerprint == fingerprint(BASE) == fingerprint(replace(BASE, name="other", node_names=None, attributes={}, extra={}))
    changed = [replace(BASE, edge_index=np.array([[0], [2]])), replace(BASE, y=None), replace(BASE, x=np.ones((3, 2)))]
    assert len({graph.fingerprint for graph in [BASE, *changed]}) == 4


def test_the_fingerprint_is_the_digest_that_stored_results_hold() -> None:
    assert BASE.fingerprint == "f082ae3a6bf60874"
