"""Which nodes of a graph to label next, so that a graph neural network learns from as few labels as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.datasets import list_datasets, load_graph
    from nodewise.evaluation.compare import compare
    from nodewise.evaluation.evaluate import evaluate
    from nodewise.graph import Graph
    from nodewise.ground.errors import NodewiseError
    from nodewise.policy import Policy
    from nodewise.session import Session
    from nodewise.training import train_policy

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "NodewiseError",
    "Policy",
    "Session",
    "__version__",
    "compare",
    "evaluate",
    "list_datasets",
    "load_graph",
    "train_policy",
]

# A room is imported when one of its names is first used, so that `import nodewise` stays light.
__getattr__ = lazy_names(
    __name__,
    {
        "Graph": "graph",
        "NodewiseError": "ground.errors",
        "Policy": "policy",
        "Session": "session",
        "compare": "evaluation",
        "evaluate": "evaluation",
        "list_datasets": "datasets",
        "load_graph": "datasets",
        "train_policy": "training",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
