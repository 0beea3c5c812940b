"""Data sets: names to graphs. The paper's ten, further public ones, small ones that need no network, and generated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodewise.datasets.folder import data_folder
from nodewise.datasets.info import DatasetInfo
from nodewise.datasets.registry import dataset_info, default_features, list_datasets

if TYPE_CHECKING:
    from nodewise.datasets.budget import default_budget
    from nodewise.datasets.load import load_graph
    from nodewise.datasets.synthetic import SyntheticSettings, synthetic_graph

__all__ = [
    "DatasetInfo",
    "SyntheticSettings",
    "data_folder",
    "dataset_info",
    "default_budget",
    "default_features",
    "list_datasets",
    "load_graph",
    "synthetic_graph",
]

_HOME = {"SyntheticSettings": "synthetic", "default_budget": "budget", "load_graph": "load", "synthetic_graph": "synthetic"}


def __getattr__(name: str) -> Any:
    """Imports what needs numpy when it is first asked for: the shell's completion lists names without it."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
