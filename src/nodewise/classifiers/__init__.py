"""Node classifiers that train many independent runs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.classifiers.gcn.gcn import Gcn, GcnSettings
from nodewise.ground.errors import UnknownNameError

if TYPE_CHECKING:
    from nodewise.classifiers.gcn.cuda import GcnCuda
    from nodewise.graph.tensors import GraphTensors

__all__ = ["CLASSIFIERS", "Gcn", "GcnSettings", "make_classifier"]

CLASSIFIERS = ("gcn",)


def make_classifier(name: str, graph: GraphTensors, runs: int, settings: GcnSettings | None = None) -> Gcn | GcnCuda:
    """The classifier of that name for a batch of runs, on the graph's device.

    Raises:
        UnknownNameError: there is no such classifier.
    """
    if name not in CLASSIFIERS:
        raise UnknownNameError("classifier", name, CLASSIFIERS)
    if graph.device.type == "cuda":
        from nodewise.classifiers.gcn.cuda import GcnCuda

        return GcnCuda(graph, runs, settings)
    return Gcn(graph, runs, settings)
