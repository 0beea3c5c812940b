"""Generated graphs of several types and with a direction: what they hold, and that views read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.datasets import RelationSettings, dataset_info, directed_graph, library_graph, relational_graph
from nodewise.graph import RelationalGraph, read_graph, write_graph
from nodewise.ground.errors import InputError

WRITTEN = RelationSettings("written by", "paper", "author", degree=3, signal=0.9)


def test_edges_lead_to_the_same_class_as_often_as_was_asked() -> None:
    """Authors' classes are not told: they are read off the papers of a graph without noise."""
    drawn = relational_graph({"paper": 2000, "author": 400}, [replace(WRITTEN, signal=1.0)], classes=4, seed=2)
    paper, author = drawn.relations[0].edge_index
    classes = np.full(400, -1)
    classes[author] = drawn.y[paper]
    assert (classes[author] == drawn.y[paper]).all()
    assert len(paper) == pytest.approx(6000, rel=0.05)
    noisy = relational_graph({"paper": 2000, "author": 400}, [replace(WRITTEN, signal=0.6)], classes=4, seed=2)
    paper, author = noisy.relations[0].edge_index
    known = classes[author] >= 0
    assert (classes[author] == noisy.y[paper])[known].mean() == pytest.approx(0.6 + 0.4 / 4, abs=0.05)


def test_the_same_seed_gives_the_same_graph_and_another_one_another() -> None:
    one, same, other = (relational_graph({"paper": 60, "author": 30}, [WRITTEN], seed=seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
    assert library_graph(60).equals(library_graph(60))


def test_features_tell_of_the_classes_as_much_as_was_asked() -> None:
    drawn = relational_graph({"paper": 3000, "author": 30}, [WRITTEN], 3, features={"paper": (5, 2.0)})
    x = drawn.types[0].x
    assert isinstance(x, np.ndarray)
    means = np.stack([x[drawn.y == kind].mean(0) for kind in range(3)])
    assert np.linalg.norm(means, axis=1) == pytest.approx([2, 2, 2], abs=0.2)
    assert drawn.types[1].x is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (({"paper": 9}, [WRITTEN]), "no type 'author'"),
        (({"paper": 9, "author": 1}, [WRITTEN]), "classes must be from 2"),
        (({}, []), "classes must be from 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: tuple, said: str) -> None:
    with pytest.raises(InputError, match=said):
        relational_graph(*arguments)
    for degree, signal in ((0.5, 0.5), (2, 1.5), (float("nan"), 0.5)):
        with pytest.raises(InputError, match="needs a degree"):
            replace(WRITTEN, degree=degree, signal=signal)
    with pytest.raises(InputError, match="at least 30 papers"):
        library_graph(5)
    with pytest.raises(InputError, match="classes must be"):
        directed_graph(5, 9)


def test_the_data_sets_come_by_name_and_are_described() -> None:
    library, cyclic = nw.load_graph("library"), nw.load_graph("cyclic")
    assert library.relations is not None and cyclic.relations is not None
    for name, graph in (("library", library), ("cyclic", cyclic)):
        info = dataset_info(name)
        told = (info.nodes, info.edges, info.features, info.classes)
        assert told == (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    told = dataset_info("library").holds[0]
    for kind in library.relations.types:
        assert f"{kind.count} {kind.name}" in told
    for relation in library.relations.relations:
        assert f"{relation.name} ({relation.edge_index.shape[1]})" in told
    assert len(set(library.relations.by_name["author"].names or ())) == 200


def test_a_file_in_the_data_folder_is_described_by_what_it_holds(tmp_path: Path) -> None:
    write_graph(library_graph(60), tmp_path / "mine.npz")
    write_graph(directed_graph(60), tmp_path / "way.npz")
    assert dataset_info("mine", tmp_path).holds[0].startswith("relations: 60 paper, 40 author, 12 venue; written by (")
    assert dataset_info("way", tmp_path).holds == ("direction",)


def test_only_the_direction_tells_the_classes_of_cyclic() -> None:
    graph = nw.load_graph("cyclic")
    directed, plain = (
        nw.evaluate(one, "random", runs=4, budget=15).micro.mean for one in (graph, replace(graph, relations=None))
    )
    assert directed > 80
    assert plain < 50


def test_the_library_survives_its_folder(tmp_path: Path) -> None:
    graph = library_graph(60)
    write_graph(graph, tmp_path / "library")
    assert RelationalGraph.of(read_graph(tmp_path / "library")).equals(RelationalGraph.of(graph))
