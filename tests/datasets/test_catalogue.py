import pytest

from nodewise.datasets import load_graph
from nodewise.datasets.catalogue import CATALOGUE
from nodewise.datasets.folder import find_local
from nodewise.datasets.included import _LOADERS
from nodewise.datasets.sources import SOURCES
from nodewise.datasets.synthetic import NAMED


def test_no_name_alias_or_file_stands_for_two_data_sets():
    every = [name for info in CATALOGUE for name in (info.name, *info.aliases, *info.files)]
    assert len(set(every)) == len(every)


def test_every_entry_can_be_made_and_says_where_it_comes_from():
    for info in CATALOGUE:
        assert info.description
        assert info.source
        loaders = {"download": SOURCES, "included": _LOADERS, "generated": _LOADERS, "folder": {}}[info.origin]
        assert info.origin == "folder" or info.loader[0] in loaders, info.name
        assert info.origin != "generated" or info.name in (*NAMED, "overlapping", "library", "cyclic")
        assert info.citation or info.origin == "generated"


def test_local_files_are_as_the_catalogue_tells(data_folder):
    told, found = {}, {}
    for info in CATALOGUE:
        if find_local(data_folder, (info.name, *info.files)) is not None:
            graph = load_graph(info.name, data_dir=data_folder)
            bare = (
                info.paper and info.name.startswith("reddit") and graph.x is None
            )  # copies without the texts are about
            features = 0 if bare else info.features
            told[info.name] = (info.name, info.nodes, info.edges, features, info.classes)
            found[info.name] = (graph.name, graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    if not told:
        pytest.skip("needs graphs that have a name in the data folder")
    assert found == told
