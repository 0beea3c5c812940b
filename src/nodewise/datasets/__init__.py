"""Data sets: names to graphs.

The paper's ten, further public ones, small ones that need no network, and generated ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.datasets.folder import data_folder
from nodewise.datasets.info import DatasetInfo
from nodewise.datasets.load import as_graph, dataset_info, default_budget, default_features, list_datasets, load_graph
from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.datasets.overlapping import overlapping_graph
    from nodewise.datasets.relational import RelationSettings, directed_graph, library_graph, relational_graph
    from nodewise.datasets.synthetic import SyntheticSettings, synthetic_graph

__all__ = [
    "DatasetInfo",
    "RelationSettings",
    "SyntheticSettings",
    "as_graph",
    "data_folder",
    "dataset_info",
    "default_budget",
    "default_features",
    "directed_graph",
    "library_graph",
    "list_datasets",
    "load_graph",
    "overlapping_graph",
    "relational_graph",
    "synthetic_graph",
]

# the shell's completion lists names without numpy
__getattr__ = lazy_names(
    __name__,
    {
        "SyntheticSettings": "synthetic",
        "synthetic_graph": "synthetic",
        "overlapping_graph": "overlapping",
        "RelationSettings": "relational",
        "directed_graph": "relational",
        "library_graph": "relational",
        "relational_graph": "relational",
    },
)
