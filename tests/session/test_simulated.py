"""Simulated people on real graphs: a session reaches what `evaluate` reaches."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nodewise.datasets import load_graph
from nodewise.environment import draw_splits
from nodewise.evaluation import confidence_interval, evaluate
from nodewise.graph.tensors import GraphTensors
from nodewise.session import Session


@pytest.mark.long
def test_thirty_sessions_on_cora_are_as_accurate_as_evaluate(data_folder: Path, tmp_path: Path) -> None:
    graph = load_graph("cora", features="paper", data_dir=data_folder)
    assert graph.y is not None
    runs = 30
    splits = draw_splits(GraphTensors(graph), runs, seed=0)
    scores = []
    for run in range(runs):
        pool = np.flatnonzero(splits.pool[run].numpy()).tolist()
        with Session.create(tmp_path / str(run), graph, budget=35, seed=run, candidates=pool) as session:
            while not session.done:
                node = session.ask().node
                session.tell(node, graph.class_names[graph.y[node]])
            assert set(session.labels) <= set(pool)
            test = splits.test[run].numpy()
            scores.append(100 * float((session.predict().best[test] == graph.y[test]).mean()))
    ours = confidence_interval(scores)
    theirs = evaluate(graph, budget=35, runs=runs, seed=0, device="cpu").micro
    assert abs(ours.mean - theirs.mean) <= math.hypot(ours.half_width, theirs.half_width), (
        f"sessions {ours}, evaluate {theirs}"
    )
