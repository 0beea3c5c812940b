"""What a session's file holds beside its events: settings, graph, and the nodes that may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewise.graph import Graph
from nodewise.ground.compute import numpy_generator
from nodewise.session.files.graph_store import fetch_graph
from nodewise.session.log.log import Log
from nodewise.session.settings import SessionSettings

__all__ = ["Contents"]


@dataclass(frozen=True, eq=False)
class Contents:
    """A session's file without its events; none of it ever changes.

    Attributes:
        settings: what the session was made with.
        graph: the graph.
        given: node -> the label that it had before the session.
        candidates: the nodes that may be asked, [node].
        free: the candidates without a given label, [node].
        audit: the nodes of the audit, in the order drawn.
        policy: the policy's file, or None.
    """

    settings: SessionSettings
    graph: Graph
    given: Mapping[int, str]
    candidates: npt.NDArray[np.bool_]
    free: npt.NDArray[np.bool_]
    audit: tuple[int, ...]
    policy: bytes | None

    @classmethod
    def read(cls, log: Log) -> Contents:
        """Read them from an open file.

        Raises:
            SessionFileError: they cannot be used, or the graph is gone or has changed.
        """
        settings = SessionSettings.from_dict(log.settings.get("settings", {}))
        graph = fetch_graph(log)
        packed = log.part("candidates")
        count = graph.num_nodes
        candidates = np.ones(count, bool) if packed is None else np.unpackbits(np.frombuffer(packed, np.uint8), count=count).astype(bool)
        given: dict[int, str] = {}
        if settings.use_labels and graph.y is not None:
            given = {int(node): graph.class_names[graph.y[node]] for node in np.flatnonzero(graph.y >= 0)}
        free = candidates.copy()
        free[list(given)] = False
        nodes = np.flatnonzero(free).tolist()
        drawn = numpy_generator(settings.seed, "audit").permutation(len(nodes))[: settings.audit]
        return cls(settings, graph, given, candidates, free, tuple(nodes[index] for index in drawn), log.part("policy"))
