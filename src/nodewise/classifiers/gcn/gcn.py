"""The paper's classifier, a two-layer GCN: its name, what it can do, and which learner runs it on a device."""

from __future__ import annotations

from dataclasses import dataclass

from nodewise.classifiers.gcn.learner import GcnLearner, GcnSettings
from nodewise.contracts import Capability, Classifier, Learner
from nodewise.graph import Graph
from nodewise.graph.features import gcn_features
from nodewise.graph.tensors import GraphTensors

__all__ = ["Gcn"]


@dataclass(frozen=True)
class Gcn(GcnSettings, Classifier):
    """The paper's classifier; its settings are those of `GcnSettings`."""

    name = "gcn"
    version = 1
    trained = True
    capabilities = frozenset[Capability]({"grow-classes", "weights", "from-embedding"})

    def default_features(self, graph: Graph) -> str:
        """What the paper did with its own graphs; elsewhere rows of unit length."""
        return gcn_features(graph)

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Hidden layers and what their gradients need, weights with what Adam keeps of them, and the propagation's
        entries.
        """
        return 4 * (4 * self.hidden * (graph.num_nodes + graph.num_features) + 4 * graph.norm.entries)

    def start(self, graph: GraphTensors, prepared: None, runs: int, classes: int, budget: int) -> Learner:
        """Runs with weights of their own, by hand-written gradients on the CPU and by kernels on a GPU."""
        if graph.device.type == "cuda":
            from nodewise.classifiers.gcn.cuda import GcnCudaLearner

            return GcnCudaLearner(graph, runs, self, classes, budget)
        return GcnLearner(graph, runs, self, classes)
