"""Graphs in the forms in which their sources publish them, as path -> content."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nodewise.datasets import load
from nodewise.datasets.load import find_info

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own: it compiles with what torch is about to drop
    import torch_geometric.datasets as pyg  # noqa: F401


def archive(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def both_ways(graph):
    return np.concatenate([graph.edge_index, graph.edge_index[::-1]], axis=1)


def lines(rows, heading=""):
    return (heading + "".join(f"{row}\n" for row in rows)).encode()


def planetoid(graph, name, test, missing=(), train=20):
    """Pickles by part of the graph; nodes from the first test node on are in the order of `test`. Some edges come
    twice, some nodes link to themselves.
    """
    x, labels = sp.csr_matrix(graph.x), np.eye(graph.num_classes, dtype=np.int32)[graph.y]
    first = min(test)
    links = {node: [] for node in range(graph.num_nodes)}
    for one, other in graph.edge_index.T.tolist():
        links[one] += [other, other]
        links[other].append(one)
    links[0].append(0)
    parts = {
        "x": x[:train],
        "y": labels[:train],
        "allx": x[:first],
        "ally": labels[:first],
        "tx": x[test],
        "ty": labels[test],
        "graph": links,
    }
    files = {f"ind.{name}.{part}": pickle.dumps(content) for part, content in parts.items()}
    assert sorted([*test, *missing]) == list(range(first, graph.num_nodes))
    return {**files, f"ind.{name}.test.index": lines(test)}


def benchmark(graph):
    """The npz of gnn-benchmark and graph2gauss."""
    low, high = graph.edge_index
    fields = {"labels": graph.y, "adj_shape": (graph.num_nodes,) * 2, "attr_shape": graph.x.shape}
    adjacency = sp.csr_matrix((np.ones(graph.num_edges), (high, low)), shape=fields["adj_shape"])
    for name, matrix in (("adj", adjacency), ("attr", sp.csr_matrix(graph.x))):
        fields |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
    return archive(**fields, idx_to_node=np.array({0: "a"}, dtype=object))


def heterophilous(graph):
    masks = np.ones((10, graph.num_nodes), dtype=bool)
    return archive(
        node_features=_dense(graph),
        node_labels=graph.y,
        edges=graph.edge_index.T,
        train_masks=masks,
        val_masks=masks,
        test_masks=masks,
    )


def musae(graph):
    return archive(features=_dense(graph), target=graph.y, edges=both_ways(graph).T)


def airports(graph, name):
    ids = [1000 + 7 * node for node in range(graph.num_nodes)]
    flights = [f"{ids[one]} {ids[other]}" for one, other in graph.edge_index.T.tolist()]
    labels = [f"{identity} {label}" for identity, label in zip(ids, graph.y.tolist(), strict=True)]
    return {f"{name}-airports.edgelist": lines(flights), f"labels-{name}-airports.txt": lines(labels, "node label\n")}


def webkb(graph, name):
    rows = [
        f"{node}\t{','.join(str(int(value)) for value in values)}\t{label}"
        for node, (values, label) in enumerate(zip(_dense(graph), graph.y, strict=True))
    ]
    masks = dict.fromkeys(("train_mask", "val_mask", "test_mask"), np.ones(graph.num_nodes, dtype=np.int8))
    splits = {f"splits/{name}_split_0.6_0.2_{i}.npz": archive(**masks) for i in range(10)}
    edges = [f"{one}\t{other}" for one, other in graph.edge_index.T.tolist()]
    files = {
        "out1_node_feature_label.txt": lines(rows, "id\tfeature\tlabel\n"),
        "out1_graph_edges.txt": lines(edges, "one\tother\n"),
    }
    return {**{f"new_data/{name}/{key}": content for key, content in files.items()}, **splits}


def actor(graph):
    rows = [
        f"{node}\t{','.join(map(str, np.flatnonzero(values)))}\t{label}"
        for node, (values, label) in enumerate(zip(_dense(graph), graph.y, strict=True))
    ]
    files = webkb(graph, "film")
    files["new_data/film/out1_node_feature_label.txt"] = lines(rows, "id\tfeature\tlabel\n")
    return files


def wikics(graph):
    links = [[] for _ in range(graph.num_nodes)]
    for one, other in graph.edge_index.T.tolist():
        links[one].append(other)
    one, many = [True] * graph.num_nodes, [[True] * graph.num_nodes] * 2
    masks = {"train_masks": many, "val_masks": many, "stopping_masks": many, "test_mask": one}
    return json.dumps(
        {"features": _dense(graph).tolist(), "labels": graph.y.tolist(), "links": links, **masks}
    ).encode()


def polblogs(graph):
    buffer = io.BytesIO()
    tables = {
        "adjacency.tsv": [f"{one}\t{other}\t1" for one, other in graph.edge_index.T.tolist()],
        "labels.tsv": graph.y.tolist(),
    }
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, rows in tables.items():
            member = tarfile.TarInfo(f"polblogs/{name}")
            content = lines(rows)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def ogb(graph, name):
    """The zip of the Open Graph Benchmark."""
    import zipfile

    def table(values):
        return gzip.compress(lines(",".join(map(str, row)) for row in values))

    files = {
        "raw/edge.csv.gz": table(graph.edge_index.T.tolist()),
        "raw/node-feat.csv.gz": table(_dense(graph).tolist()),
        "raw/node-label.csv.gz": table(graph.y[:, None].tolist()),
        "raw/num-node-list.csv.gz": table([[graph.num_nodes]]),
        "raw/num-edge-list.csv.gz": table([[graph.num_edges]]),
        "raw/node_year.csv.gz": table([[2000]] * graph.num_nodes),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{name}/processed/", b"")
        for path, content in files.items():
            archive.writestr(f"{name}/{path}", content)
    return buffer.getvalue()


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")) if folder.exists() else None


def as_published(name, graph, monkeypatch):
    """Makes the catalogue expect a data set to be of the size of `graph`."""
    info = find_info(name)
    features = graph.num_features if info.features else 0
    info = replace(info, nodes=graph.num_nodes, edges=graph.num_edges, features=features, classes=graph.num_classes)
    monkeypatch.setitem(load._BY_NAME, name, info)
    return info


def _dense(graph):
    return graph.x.toarray() if sp.issparse(graph.x) else np.asarray(graph.x)
