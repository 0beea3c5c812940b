"""Graphs from and to PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from nodewise.graph.convert.matrices import of_both_ways, warn_of_dropped
from nodewise.graph.graph import Graph
from nodewise.graph.tables.table import dropped_of_edges
from nodewise.ground.errors import GraphError, WrongTypeError
from nodewise.ground.events import listed

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["feature_rows", "from_pyg", "to_pyg"]

_PARTS = {
    "x",
    "edge_index",
    "adj_t",
    "y",
    "num_nodes",
    "name",
    "class_names",
    "node_names",
    "attributes",
    "x_offset",
    "feature_preprocessing",
}


def from_pyg(data: Data, name: str | None = None, *, directed: bool = False) -> Graph:
    """The graph of a PyTorch Geometric `Data`.

    `x`, `edge_index` (or `adj_t`) and `y` are understood, and, as `to_pyg` writes them, `name`, `class_names`,
    `node_names`, `attributes`, `x_offset`, `feature_preprocessing` (a text such as "unit"). Other tensors, such as
    masks, become `Graph.extra`. `edge_weight`, else an `edge_attr` of one positive number an edge, else the values of
    `adj_t` are the edges' weights; those of both directions add up where they differ. `y` of zeros and ones [node,
    class] means several classes a node.

    Args:
        data: of one kind of nodes and edges; features dense or sparse; on any device.
        name: what the graph is called; by default `data.name`, else "graph".
        directed: whether an edge leads from its first end to its second alone; else its direction is dropped, and noted
            where there is one.

    Raises:
        GraphError: if it has several kinds of nodes, no edges field, or its parts do not fit together.
    """
    import torch

    if not hasattr(data, "edge_index") or not hasattr(data, "to_dict"):
        raise WrongTypeError(
            f"from_pyg takes a torch_geometric.data.Data with one kind of nodes, received {type(data).__name__}: "
            "pass dataset[0]; a HeteroData becomes a graph with RelationalGraph.from_pyg(data)"
        )
    fields = data.to_dict()
    edges, matrix, on_edges, weights = fields.get("edge_index"), fields.get("adj_t"), list[str](), None
    if edges is None and matrix is not None:
        whole = None if hasattr(matrix, "coo") else matrix.to_sparse_coo().coalesce()
        *ends, weights = matrix.coo() if whole is None else (*whole.indices(), whole.values())
        edges = torch.stack(ends)
    if edges is None:
        raise GraphError(
            f"the Data has neither edge_index nor adj_t, only {listed(fields)}: set data.edge_index to a tensor [2,"
            " edges]"
        )
    y = (
        None
        if fields.get("y") is None
        else np.asarray(fields["y"].cpu().numpy() if torch.is_tensor(fields["y"]) else fields["y"])
    )
    heavy = _weight_field(fields)
    weights = fields[heavy] if heavy is not None else weights
    extra, dropped = {}, []
    for key, value in fields.items():
        if key in _PARTS or key == heavy or value is None:
            continue
        if torch.is_tensor(value) and value.layout == torch.strided and not data.is_edge_attr(key):
            extra[key] = value.detach().cpu().numpy()
        elif data.is_edge_attr(key):
            on_edges.append(key)
        else:
            dropped.append(key)
    notes = [f"the fields {listed(dropped)} were dropped: they are no tensors"] if dropped else []
    return of_both_ways(
        edges.cpu().numpy(),
        None if weights is None else weights.detach().cpu().reshape(-1).numpy(),
        directed=directed,
        num_nodes=fields.get("num_nodes"),
        x=feature_rows(fields.get("x")),
        y=y,
        class_names=fields.get("class_names"),
        node_names=fields.get("node_names"),
        attributes=fields.get("attributes"),
        name=name or str(fields.get("name") or "graph"),
        extra=extra,
        x_offset=None if fields.get("x_offset") is None else fields["x_offset"].cpu().numpy(),
        features=str(fields.get("feature_preprocessing") or "raw"),
        notes=notes + dropped_of_edges(on_edges),
    )


def to_pyg(graph: Graph, *, sparse: bool = False) -> Data:
    """A PyTorch Geometric `Data`: `x`, `edge_index` with every edge in both directions, `edge_weight` where there are
    weights, `y`, names and attributes.

    `RelationalGraph.of(graph).to_pyg()` keeps relations and the direction of edges, as a `HeteroData`.

    Args:
        graph: any graph.
        sparse: keep sparse features as a sparse COO tensor, with `x_offset` beside it where they are centred. By
            default `x` is the dense float32 tensor [node, feature] of the features that count.

    Warns:
        UserWarning: the edges' direction, or node types and relations, were dropped.
    """
    import torch
    from torch_geometric.data import Data

    warn_of_dropped(graph, "RelationalGraph.of(graph).to_pyg() keeps that, as a HeteroData")
    both = np.concatenate([graph.edge_index, graph.edge_index[::-1]], axis=1)
    data = Data(edge_index=torch.from_numpy(both), num_nodes=graph.num_nodes, name=graph.name)
    if graph.edge_weight is not None:
        data.edge_weight = torch.from_numpy(np.concatenate([graph.edge_weight, graph.edge_weight]))
    if graph.x is not None and sparse and not isinstance(graph.x, np.ndarray):
        matrix = graph.x.tocoo()
        indices = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
        data.x = torch.sparse_coo_tensor(
            indices, torch.from_numpy(matrix.data.copy()), size=graph.x.shape, is_coalesced=True, check_invariants=False
        )
        if graph.x_offset is not None:
            data.x_offset = torch.from_numpy(graph.x_offset.copy())
    elif graph.x is not None:
        data.x = torch.from_numpy(graph.dense_features())
    if graph.features != "raw":
        data.feature_preprocessing = graph.features
    if graph.y is not None:
        data.y = torch.from_numpy(graph.y.copy())
    if graph.y_sets is not None:
        data.y = torch.from_numpy(graph.y_sets.astype(np.float32))
    if graph.class_names:
        data.class_names = list(graph.class_names)
    if graph.node_names is not None:
        data.node_names = list(graph.node_names)
    if graph.attributes:
        data.attributes = {key: values.tolist() for key, values in graph.attributes.items()}
    for key, value in graph.extra.items():
        data[key] = torch.from_numpy(value.copy()) if value.dtype.kind in "biuf" else value.tolist()
    return data


def _weight_field(fields: Mapping[str, Any]) -> str | None:
    """The field that holds the edges' weights: `edge_weight`, else an `edge_attr` of one positive number an edge."""
    import torch

    if torch.is_tensor(fields.get("edge_weight")):
        return "edge_weight"
    one = fields.get("edge_attr")
    if not torch.is_tensor(one) or one.layout != torch.strided or one.dtype == torch.bool:
        return None
    single = one.ndim == 1 or (one.ndim == 2 and one.shape[1] == 1)
    return "edge_attr" if single and bool((one.isfinite() & (one > 0)).all()) else None


def feature_rows(x: Any) -> Any:
    """Features as numpy or scipy hold them."""
    import torch

    if x is None or not (torch.is_tensor(x) or hasattr(x, "to_scipy")):
        return x
    if not torch.is_tensor(x):
        return x.to_scipy(layout="csr")
    x = x.detach().cpu()
    if x.layout == torch.strided:
        return (x[:, None] if x.ndim == 1 else x).float().numpy()
    coo = x.to_sparse_coo().coalesce()
    row, column = coo.indices().numpy()
    return sp.csr_matrix((coo.values().float().numpy(), (row, column)), shape=tuple(x.shape))
