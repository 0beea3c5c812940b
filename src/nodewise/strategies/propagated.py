"""Features propagated over the edges, made once for each graph: what several strategies measure distances in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator
from nodewise.ground.events import Reporter

__all__ = ["Propagated", "input_features", "propagated_features", "unit_rows"]

_MOST, _DIRECTIONS = 2**26, 512
"""Numbers above which features are mapped onto random directions, and how many of these there are.

Squared distances then differ from the true ones by about a sixteenth (Johnson & Lindenstrauss 1984)."""


def propagated_features(graph: GraphTensors, steps: int = 2) -> torch.Tensor:
    """Âᵏ X less its mean over the nodes, k steps with Â = D̃^-½ (A + I) D̃^-½: [node, width].

    What two layers of a GCN without weights make of the features, as the classifier is given them. It is kept with the
    graph. Where nodes times features are more than 2²⁶, X is first mapped onto 512 random directions.
    """
    points: torch.Tensor = graph.prepared_by(Propagated(steps))
    return points


@dataclass(frozen=True)
class Propagated:
    """How features are propagated: over so many steps."""

    steps: int = 2

    def identity(self) -> Mapping[str, Any]:
        """The number of steps."""
        return asdict(self)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> torch.Tensor:
        """Âᵏ X less its mean: [node, width]."""
        points = input_features(graph)[None]
        for _ in range(self.steps):
            points = graph.norm.mm(points)
        result: torch.Tensor = points[0] - points[0].mean(0)
        return result


def input_features(graph: GraphTensors) -> torch.Tensor:
    """The features as a dense matrix, mapped onto random directions where they are too many: [node, width]."""
    return graph.input_product(_directions(graph)[None])[0]


def unit_rows(rows: torch.Tensor) -> torch.Tensor:
    """Rows of length one; those of zeros stay so: [..., width]."""
    return rows / rows.square().sum(-1, keepdim=True).sqrt().clamp_min(1e-12)


def _directions(graph: GraphTensors) -> torch.Tensor:
    """What features are multiplied with: the identity, or random directions for too many of them: [feature, width]."""
    features = graph.num_features
    if graph.num_nodes * features <= _MOST or features <= _DIRECTIONS:
        return torch.eye(features, dtype=graph.dtype, device=graph.device)
    drawn = numpy_generator(0, "propagated features").standard_normal((features, _DIRECTIONS)) / _DIRECTIONS**0.5
    return torch.from_numpy(drawn).to(graph.device, graph.dtype)
