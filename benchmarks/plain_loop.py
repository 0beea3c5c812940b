"""The yardstick: one run after another with PyTorch Geometric's layers and autograd, as one would write it first."""

from __future__ import annotations

import math

import numpy as np
import torch
from sklearn.metrics import f1_score
from torch_geometric.nn import GCNConv
from torch_geometric.utils import degree, scatter

from nodewise.graph import Graph
from nodewise.ground.compute import numpy_generator
from nodewise.policy import Policy
from nodewise.policy.policy import StateSettings


class _Gcn(torch.nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = GCNConv(features, 64, cached=True, bias=False)
        self.second = GCNConv(64, classes, cached=True, bias=False)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        h = torch.dropout(x, 0.2, self.training)
        h = torch.dropout(self.first(h, edges).relu(), 0.2, self.training)
        return self.second(h, edges)


class PlainLoop:
    """Runs of the protocol on one graph with dense features, one after another."""

    def __init__(self, graph: Graph, policy: Policy, runs: int, budget: int) -> None:
        self.runs, self.budget = runs, budget
        data = graph.to_pyg()
        self.x = torch.from_numpy(graph.dense_features())
        self.y, self.edges, self.classes = data.y, data.edge_index, graph.num_classes
        self.degree = degree(self.edges[0], graph.num_nodes)
        assert policy.settings.state == StateSettings()
        self.policy = policy
        # the released form adds the bias before the propagation, Â(hW + b): a column of ones does that
        self.layers = [GCNConv(w.shape[0] + 1, w.shape[1], cached=True, bias=False) for w in policy.weights]
        for layer, weight, bias in zip(self.layers, policy.weights, policy.biases, strict=True):
            layer.lin.weight.data = torch.cat([weight, bias[None]]).detach().T.contiguous()

    def __call__(self, turn: int) -> float:
        return float(np.mean([self._run(turn * self.runs + run) for run in range(self.runs)]))

    def _run(self, number: int) -> float:
        torch.manual_seed(number)
        nodes = len(self.y)
        order = torch.from_numpy(numpy_generator(0, "split", number).permutation(nodes))
        test, pool = order[:1000], torch.ones(nodes, dtype=torch.bool)
        pool[order[:1500]] = False
        classifier = _Gcn(self.x.shape[1], self.classes)
        for layer in (classifier.first, classifier.second):
            bound = 1 / math.sqrt(layer.lin.weight.shape[0])
            torch.nn.init.uniform_(layer.lin.weight, -bound, bound)
        adam = torch.optim.Adam(classifier.parameters(), lr=0.03, weight_decay=5e-4)
        labelled: list[int] = []
        for _ in range(self.budget):
            with torch.no_grad():
                classifier.eval()
                scores = self._scores(classifier(self.x, self.edges), labelled)
            labelled.append(int(scores.masked_fill(~pool, -torch.inf).argmax()))
            pool[labelled[-1]] = False
            self._epoch(classifier, adam, labelled)
        for _ in range(35):
            self._epoch(classifier, adam, labelled)
        classifier.eval()
        with torch.no_grad():
            guess = classifier(self.x, self.edges).argmax(1)[test]
        f1_score(self.y[test], guess, average="macro")
        return 100 * float(f1_score(self.y[test], guess, average="micro"))

    def _epoch(self, classifier: _Gcn, adam: torch.optim.Adam, labelled: list[int]) -> None:
        classifier.train()
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(classifier(self.x, self.edges)[labelled], self.y[labelled])
        (loss * min(len(labelled), 10) / 10).backward()
        adam.step()

    def _scores(self, logits: torch.Tensor, labelled: list[int]) -> torch.Tensor:
        p = logits.softmax(1)
        log_p = p.clamp_min(1e-10).log()
        source, target = self.edges
        to_neighbour = (p[source] * (log_p[source] - log_p[target])).sum(1)
        from_neighbour = (p[target] * (log_p[target] - log_p[source])).sum(1)
        means = [scatter(values, source, dim_size=len(p), reduce="mean") for values in (from_neighbour, to_neighbour)]
        indicator = torch.zeros(len(p))
        indicator[labelled] = 1
        entropy = -(p * log_p).sum(1) / math.log(self.classes)
        columns = [entropy, (self.degree / 20).clamp_max(1), *(m / m.max().clamp_min(1e-12) for m in means), indicator]
        h = torch.stack(columns, 1)
        for layer in self.layers:
            h = layer(torch.cat([h, torch.ones(len(h), 1)], 1), self.edges).relu()
        return (h @ self.policy.output.T).squeeze(1)
