"""How a graph shows itself: one line, and a table in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.events import count, html_table, percent

if TYPE_CHECKING:
    from nodewise.graph.graph import Graph

__all__ = ["as_html", "as_line", "facts"]


def facts(graph: Graph) -> dict[str, str]:
    """What there is to know about a graph at a glance, in words."""
    degree = graph.degree
    isolated = int((degree == 0).sum())
    lines = {
        "nodes": f"{graph.num_nodes:,}" + (f" ({isolated:,} isolated)" if isolated else ""),
        "edges": f"{graph.num_edges:,} (degree {degree.mean():.1f} on average, {int(degree.max()):,} at most)",
        "weights": "" if graph.edge_weight is None else _weights_in_words(graph.edge_weight),
        "features": _features_in_words(graph),
        "classes": (
            f"{graph.num_classes}: " + ", ".join(graph.class_names[:12]) + (" …" if graph.num_classes > 12 else "")
        ),
        "labelled": _labelled_in_words(graph),
        "homophily": "" if graph.homophily is None else f"{graph.homophily:.3f}",
        "names": (
            "" if graph.node_names is None else ", ".join(graph.node_names[:3]) + (" …" if graph.num_nodes > 3 else "")
        ),
        "attributes": ", ".join(graph.attributes),
        "further fields": ", ".join(graph.extra),
        "notes": "; ".join(graph.notes),
    }
    if not graph.num_classes:
        lines["classes"] = ""
    return {key: value for key, value in lines.items() if value}


def as_line(graph: Graph) -> str:
    """``Graph('cora': 2,708 nodes, 5,278 edges, 1,433 sparse features, 7 classes)``."""
    parts = [
        count(graph.num_nodes, "node"),
        count(graph.num_edges, "edge" if graph.edge_weight is None else "weighted edge"),
    ]
    if graph.x is not None:
        parts.append(
            count(graph.num_features, f"{'sparse' if sp.issparse(graph.x) else 'dense'} feature") + _done(graph)
        )
    if graph.num_classes:
        parts.append(count(graph.num_classes, "class", "classes"))
    if graph.y_sets is not None:
        parts.append("several a node")
    if (graph.y is not None or graph.several) and (unlabelled := int((~graph.labelled).sum())):
        parts.append(f"{unlabelled:,} unlabelled")
    return f"Graph({graph.name!r}: {', '.join(parts)})"


def as_html(graph: Graph) -> str:
    """A small table for Jupyter; whatever comes from the data is escaped."""
    return html_table(graph.name, facts(graph))


def _labelled_in_words(graph: Graph) -> str:
    if graph.y is None and graph.y_sets is None:
        return "none"
    labelled = int(graph.labelled.sum())
    if graph.y_sets is None or not labelled:
        return f"{labelled:,}"
    held = graph.y_sets[graph.labelled].sum(1)
    none = f", {int((held == 0).sum()):,} with none" if (held == 0).any() else ""
    return f"{labelled:,}, with {held.mean():.2f} classes each{none}"


def _features_in_words(graph: Graph) -> str:
    if graph.x is None:
        return "none (views looks at the edges alone; other classifiers are given structural features)"
    size = max(1, graph.num_nodes * graph.num_features)
    stored = "dense" if isinstance(graph.x, np.ndarray) else f"sparse, {percent(graph.x.nnz / size, 2)} non-zero"
    return f"{graph.num_features:,} ({stored}{', centred' if graph.x_offset is not None else ''}){_done(graph)}"


def _weights_in_words(weights: npt.NDArray[np.float32]) -> str:
    return f"{weights.min():.4g} to {weights.max():.4g}, {weights.mean(dtype=np.float64):.4g} on average"


def _done(graph: Graph) -> str:
    """What was done to the features, where anything was."""
    return "" if graph.features == "raw" else f" after {graph.features}"
