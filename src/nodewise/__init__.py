"""Which nodes of a graph to label next, so that a graph neural network learns from as few labels as possible."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodewise.datasets import list_datasets, load_graph
    from nodewise.errors import NodewiseError
    from nodewise.evaluation.evaluate import evaluate
    from nodewise.graph import Graph
    from nodewise.policy import Policy
    from nodewise.session import Session
    from nodewise.training import train_policy

__version__ = "0.1.0"

__all__ = ["Graph", "NodewiseError", "Policy", "Session", "__version__", "evaluate", "list_datasets", "load_graph", "train_policy"]

# Where each public name lives. A room is imported when one of its names is first used, so that `import nodewise` stays light.
_HOMES = {
    "Graph": "nodewise.graph",
    "NodewiseError": "nodewise.errors",
    "Policy": "nodewise.policy",
    "Session": "nodewise.session",
    "evaluate": "nodewise.evaluation",
    "list_datasets": "nodewise.datasets",
    "load_graph": "nodewise.datasets",
    "train_policy": "nodewise.training",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'nodewise' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
