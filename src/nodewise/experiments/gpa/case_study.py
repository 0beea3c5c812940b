"""The case study: which node is asked at which step, read off all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.evaluation.results.comparison import Setting
from nodewise.experiments.gpa.numbers import paper_statement
from nodewise.graph import Graph

__all__ = ["case_study_record", "consecutive_share", "usual_sequence"]

_PAPER = {
    "random": "case-study.random",
    "centrality": "case-study.centrality",
    "AGE": "case-study.age",
    "AGE, fixed weights": "case-study.age",
    "GPA": "case-study.gpa",
    "GPA, authors' policy": "case-study.gpa",
}


def usual_sequence(queries: npt.NDArray[np.int64], nodes: int) -> list[int]:
    """At each step the node that was chosen in most runs, of those that are not in the sequence yet.

    The smaller of equals.

    Every run has a split of its own, so a node that one run asks early another cannot ask at all; without the condition
    some nodes would stand in the sequence twice.

    Args:
        queries: [run, step].
        nodes: how many there are.
    """
    taken: list[int] = []
    for step in range(queries.shape[1]):
        counts = np.bincount(queries[:, step], minlength=nodes)
        counts[taken] = -1
        taken.append(int(counts.argmax()))
    return taken


def consecutive_share(labels: npt.NDArray[np.int64]) -> float:
    """The share of consecutive queries of one class, over all runs: labels [run, step], or [step] for one sequence."""
    table = np.atleast_2d(labels)
    return float((table[:, 1:] == table[:, :-1]).mean()) if table.shape[1] > 1 else 0.0


def case_study_record(setting: Setting, graph: Graph, others: Sequence[Setting] = ()) -> list[dict[str, Any]]:
    """For every method: its usual sequence, the classes in it, and how often it asks for one class twice in a row.

    Args:
        setting: what the methods asked.
        graph: the graph itself.
        others: the same from other seeds: how much of the usual sequence is chance.
    """
    assert graph.y is not None
    sequences = []
    for name, outcome in setting.outcomes.items():
        sequence = usual_sequence(outcome.queries, graph.num_nodes)
        sequences.append(
            {
                "name": name,
                "sequence": sequence,
                "classes": [graph.class_names[label] for label in graph.y[sequence]],
                "distinct_classes": len(set(graph.y[sequence].tolist())),
                "same_class_in_sequence": consecutive_share(graph.y[sequence]),
                "same_class_in_other_sequences": [
                    consecutive_share(graph.y[usual_sequence(other.outcomes[name].queries, graph.num_nodes)])
                    for other in others
                ],
                "same_class_in_runs": consecutive_share(graph.y[outcome.queries]),
                "paper_micro_f1": paper_statement(_PAPER[name]) if name in _PAPER else None,
            }
        )
    return sequences
