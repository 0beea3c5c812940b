"""nodewise behind the interfaces of other libraries: `PoolQuery` asks as scikit-activeml's pool-based strategies do."""

from __future__ import annotations

import hashlib
import operator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph import Graph, knn_graph
from nodewise.graph.nodes import Nodes, node_indices
from nodewise.ground.errors import InputError
from nodewise.ground.events import Silent
from nodewise.ground.files import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodewise.contracts import Classifier, Strategy
    from nodewise.graph.knn.neighbours import Metric
    from nodewise.policy import Policy

__all__ = ["PoolQuery"]


@dataclass
class PoolQuery:
    """Which rows of a table to label next, by ``query(X, y)``.

    The rows are joined to their nearest, and a session is asked.

    What comes is what `nodewise.Session` asks on ``knn_graph(X, k, metric)`` with the same labels given, batch,
    candidates, strategy and seed: each call makes such a session and throws it away. The graph is made once for each X.
    Every call fits the classifier anew, which takes as long as opening a session does.

    It is no drop-in for scikit-activeml: it is not derived from its classes and never imports them, chooses with a
    classifier of its own (a ``clf`` would not be asked), gives no utilities, and candidates are indices into X. Columns
    of X are used as they are: standardise measurements first.

    Attributes:
        k, metric: of the graph, as for `nodewise.knn_graph`. strategy, classifier: as for `nodewise.Session.create`; by
        default `gain` with `views`.
        classes: every class, where some have no label yet; those in y by default.
        missing_label: what stands in y for a row without a label.
        random_state: the seed.

    Example:
        >>> import numpy as np
        >>> from nodewise.adapters import PoolQuery
        >>> X = np.vstack([np.random.default_rng(0).normal(m, 0.1, (20, 2)) for m in ([0, 1], [1, 0], [1, 1])])
        >>> y = np.full(60, np.nan)
        >>> y[:2] = 0
        >>> chosen = PoolQuery(k=5).query(X, y, batch_size=2)
        >>> len(chosen), bool((chosen >= 20).all())
        (2, True)
    """

    k: int = 10
    metric: Metric = "cosine"
    strategy: str | Strategy | Policy | None = None
    classifier: str | Classifier | None = None
    classes: Sequence[Any] | None = None
    missing_label: Any = np.nan
    random_state: int = 0
    _made: tuple[tuple[Any, ...], Graph] | None = field(default=None, init=False, repr=False, compare=False)

    def query(self, X: Any, y: Any, candidates: Nodes | None = None, batch_size: int = 1) -> npt.NDArray[np.int64]:
        """The rows to label next, the most wanted first: int64 [batch_size].

        Args:
            X: numbers [row, column], dense or sparse; all rows, labelled or not.
            y: one label a row, `missing_label` where there is none.
            candidates: the rows that may be asked, by indices or a mask; those among them that have a label are not.
                None: all without a label.
            batch_size: how many.

        Raises:
            InputError: if y does not fit X, candidates are no rows, or fewer rows are left than asked for.
            GraphError: if X is no table of finite numbers.
        """
        from nodewise.session import Session

        graph = self._graph(X)
        labels = self._labels(y, graph.num_nodes)
        free = _free(candidates, graph, {row for row, label in enumerate(labels) if label is not None})
        wanted = _whole(batch_size)
        if not 1 <= wanted <= len(free):
            raise InputError(
                f"batch_size must be a whole number from 1 to {len(free)}, the rows that can be asked, received"
                f" {batch_size!r}"
            )
        names = list(self.classes) if self.classes is not None else []
        labelled = any(label is not None for label in labels)
        held = Graph.build(graph.edge_index, graph.num_nodes, y=labels) if labelled else None
        if held is not None:
            graph = replace(graph, y=held.y, class_names=held.class_names)
        with scratch_folder() as folder:
            session = Session.create(
                folder / "query.nodewise",
                graph,
                budget=wanted,
                classes=names or None,
                strategy=self.strategy,
                classifier=self.classifier,
                seed=self.random_state,
                candidates=free,
                use_labels=labelled,
                reporter=Silent(),
            )
            with session:
                return np.array([query.node for query in session.ask(wanted)], dtype=np.int64)

    def _graph(self, x: Any) -> Graph:
        sparse = bool(sp.issparse(x))
        rows: Any = x.tocsr() if sparse else np.asarray(x)
        parts = (rows.data, rows.indices, rows.indptr) if sparse else (rows,)
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
        key = (digest, rows.shape, str(rows.dtype), self.k, self.metric)
        if self._made is None or self._made[0] != key:
            self._made = (key, knn_graph(rows, self.k, self.metric, name="pool"))
        return self._made[1]

    def _labels(self, y: Any, rows: int) -> list[Any]:
        given = np.asarray(y, dtype=object).tolist()
        if not isinstance(given, list) or len(given) != rows or any(isinstance(label, list) for label in given):
            raise InputError(
                f"y needs one label for each of the {rows} rows of X, received {np.shape(y)}: mark those without by"
                f" {self.missing_label!r}"
            )
        return [None if self._is_missing(label) else label for label in given]

    def _is_missing(self, label: Any) -> bool:
        return label is None or bool(label != label) or bool(label == self.missing_label)


def _free(candidates: Nodes | None, graph: Graph, labelled: set[int]) -> list[int]:
    rows = range(graph.num_nodes) if candidates is None else node_indices(candidates, graph, "candidates").tolist()
    return [row for row in rows if row not in labelled]


def _whole(number: Any) -> int:
    try:
        return -1 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        return -1
