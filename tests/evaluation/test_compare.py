"""Comparisons: the same scores as evaluate, in chunks that survive a kill, with nothing done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views import views
from nodewise.datasets import synthetic_graph
from nodewise.environment import SplitSizes
from nodewise.evaluation import ChunkStore, Contest, Method, compare, evaluate
from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Note, Progress
from nodewise.policy import Policy

KILLED_RUNS = 2000
"""Of a comparison that is killed twenty times: so many that a fast machine has not played them all by then."""


def small(seed: int = 3) -> Graph:
    return synthetic_graph(nodes=120, classes=3, mean_degree=6, features=8, seed=seed, name="small")


def contest(*strategies: str, runs: int = 12, budgets: tuple[int, ...] = (4, 7), graph: Graph | None = None) -> Contest:
    return Contest(
        "small", lambda: graph or small(), budgets, tuple(Method.of(s) for s in strategies), runs, ("gcn",), "raw"
    )


class Listener:
    def __init__(self) -> None:
        self.events: list[Progress] = []

    def __call__(self, event: Event, /) -> None:
        if isinstance(event, Progress):
            self.events.append(event)


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*.json"))}


@pytest.mark.slow
def test_scores_are_those_of_evaluate_whatever_else_is_compared() -> None:
    found = compare([contest("random", "anrmab", "centrality")], seed=5, device="cpu")
    assert [(s.graph, s.budget) for s in found.settings] == [("small", 4), ("small", 7)]
    for setting in found.settings:
        for name in ("random", "anrmab", "centrality"):
            alone = evaluate(
                small(), name, budget=setting.budget, runs=12, seed=5, device="cpu", classifier="gcn", features="raw"
            )
            np.testing.assert_array_equal(setting.outcomes[name].micro_f1, alone.micro_f1)
            np.testing.assert_array_equal(setting.outcomes[name].macro_f1, alone.macro_f1)
            np.testing.assert_array_equal(setting.outcomes[name].queries, alone.queries)


def test_a_second_call_does_nothing_again_and_more_runs_add_to_what_is_there(tmp_path: Path) -> None:
    first = compare([contest("random", runs=10)], device="cpu", store=ChunkStore(tmp_path))
    before = files(tmp_path)
    assert len(before) == 2  # one chunk of ten runs at each of two budgets
    again = compare([contest("random", runs=10)], device="cpu", store=ChunkStore(tmp_path))
    assert files(tmp_path) == before
    np.testing.assert_array_equal(
        first.settings[0].outcomes["random"].micro_f1, again.settings[0].outcomes["random"].micro_f1
    )
    more = compare([contest("random", runs=13, budgets=(4, 7, 9))], device="cpu", store=ChunkStore(tmp_path))
    after = files(tmp_path)
    assert {path: after[path] for path in before} == before and len(after) == 6
    np.testing.assert_array_equal(
        more.settings[0].outcomes["random"].micro_f1[:10], first.settings[0].outcomes["random"].micro_f1
    )


def test_what_changes_the_scores_changes_the_file(tmp_path: Path) -> None:
    def play(one: Contest, seed: int = 0) -> int:
        before = len(files(tmp_path))
        compare([one], seed=seed, device="cpu", store=ChunkStore(tmp_path))
        return len(files(tmp_path)) - before

    base = contest("random", runs=2, budgets=(4,))
    assert play(base) == 1
    assert play(base) == 0
    assert play(base, seed=1) == 1
    assert play(contest("random", runs=2, budgets=(4,), graph=small(seed=4))) == 1
    one, other = Method("policy", policy=Policy(seed=1)), Method("policy", policy=Policy(seed=2))
    for method, fresh in ((one, 1), (other, 1), (Method("policy", policy=Policy(seed=1), name="the same"), 0)):
        assert play(Contest("small", small, (4,), (method,), 2, ("gcn",), "raw")) == fresh
    for weights in ((0.2, 0.3, 0.5), (0.5, 0.3, 0.2), None):
        assert play(Contest("small", small, (4,), (Method("age", weights=weights),), 2, ("gcn",), "raw")) == 1
    assert play(Contest("small", small, (4,), (Method("random"),), 2, ("gcn",), "raw", splits=SplitSizes(10, 10))) == 1


def test_a_damaged_file_is_played_again(tmp_path: Path) -> None:
    first = compare([contest("random", runs=2, budgets=(4,))], device="cpu", store=ChunkStore(tmp_path))
    (path,) = tmp_path.rglob("*.json")
    path.write_text(path.read_text()[:100])
    again = compare([contest("random", runs=2, budgets=(4,))], device="cpu", store=ChunkStore(tmp_path))
    np.testing.assert_array_equal(
        first.settings[0].outcomes["random"].micro_f1, again.settings[0].outcomes["random"].micro_f1
    )
    assert json.loads(path.read_text())["schema"] == 1


@pytest.mark.slow
def test_a_kill_loses_at_most_the_chunk_in_progress(tmp_path: Path) -> None:
    code = (
        "from tests.evaluation.test_compare import contest\n"
        "from nodewise.evaluation import ChunkStore, compare\n"
        f"compare([contest('random', runs=2000, budgets=(4,))], device='cpu', store=ChunkStore({str(tmp_path)!r}))\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
    )
    while process.poll() is None and len(files(tmp_path)) < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = files(tmp_path)
    assert len(left) >= 3 and all(json.loads(Path(path).read_text())["schema"] == 1 for path in left)
    runs = 10 * (len(left) + 1)
    resumed = compare([contest("random", runs=runs, budgets=(4,))], device="cpu", store=ChunkStore(tmp_path))
    after = files(tmp_path)
    assert {path: after[path] for path in left} == left and len(after) == len(left) + 1
    undisturbed = compare([contest("random", runs=runs, budgets=(4,))], device="cpu")
    np.testing.assert_array_equal(
        resumed.settings[0].outcomes["random"].micro_f1, undisturbed.settings[0].outcomes["random"].micro_f1
    )


@pytest.mark.long
def test_twenty_kills_change_nothing_and_no_stored_chunk_is_done_twice(tmp_path: Path) -> None:
    root, kills = Path(__file__).parents[2], 20
    paths = os.pathsep.join([str(root), str(root / "src")])
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("killing.py")), str(tmp_path), str(kills)]
    subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": paths}, check=True)
    seen = json.loads((tmp_path / "seen").read_text())
    assert len(seen) == kills and len(seen[-1]) < 2 * KILLED_RUNS // 10  # the last kill hit it at work as well
    for before, after in pairwise(seen):
        assert len(after) > len(before) and {path: after[path] for path in before} == before
    wanted = contest("random", "centrality", runs=KILLED_RUNS, budgets=(4,))
    resumed = compare([wanted], device="cpu", store=ChunkStore(tmp_path))
    assert {path: when for path, when in files(tmp_path).items() if path in seen[-1]} == seen[-1]
    undisturbed = compare([wanted], device="cpu")
    for name in ("random", "centrality"):
        mine, theirs = resumed.settings[0].outcomes[name], undisturbed.settings[0].outcomes[name]
        np.testing.assert_array_equal(mine.micro_f1, theirs.micro_f1)
        np.testing.assert_array_equal(mine.queries, theirs.queries)


def test_progress_ends_at_its_total() -> None:
    listener = Listener()
    compare([contest("random", "centrality", runs=11)], device="cpu", reporter=listener)
    assert [event.done for event in listener.events] == [10, 11, 21, 22]
    assert {event.total for event in listener.events} == {22}


def test_several_graphs_are_loaded_one_after_another() -> None:
    loaded: list[str] = []

    def load(name: str) -> Graph:
        loaded.append(name)
        return small()

    contests = [Contest(name, lambda name=name: load(name), (4,), (Method("random"),), 2) for name in ("a", "b")]  # type: ignore[misc]
    assert loaded == []
    assert compare(contests, device="cpu").graphs == ["a", "b"]
    assert loaded == ["a", "b"]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="unknown engine 'rya'"):
        compare([contest("random")], engine="rya")
    with pytest.raises(InputError, match="each only once, got random, random"):
        contest("random", "random")
    with pytest.raises(InputError, match="at least 1, got 0"):
        contest("random", runs=0)
    with pytest.raises(InputError, match="budget of 500 queries is more than the pool's"):
        compare([contest("random", runs=2, budgets=(500,))], device="cpu")


def test_a_fingerprint_sees_edges_features_and_labels() -> None:
    graphs = [
        small(),
        small(seed=4),
        Graph.build(small().edge_index, x=small().x),
        Graph.build(small().edge_index, y=small().y),
    ]
    assert len({graph.fingerprint for graph in graphs}) == 4
    assert small().fingerprint == small().fingerprint


@pytest.mark.parametrize(
    ("text", "name", "strategy", "identity"),
    [
        ("random", "random", "random", {}),
        ("age", "age", "age", {"basef": 0.95}),
        ("age:0.2/0.3/0.5", "age 0.2/0.3/0.5", "age", {"weights": [0.2, 0.3, 0.5]}),
    ],
)
def test_methods_as_the_command_line_writes_them(
    text: str, name: str, strategy: str, identity: dict[str, object]
) -> None:
    method = Method.of(text)
    assert method.name == name
    assert (method.resolved.name, dict(method.resolved.identity())) == (strategy, identity)


@pytest.mark.parametrize("text", ["age:1/2", "age:a/b/c", "random:3", "policy:"])
def test_methods_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=text.split(":")[0]):
        Method.of(text)


def test_what_the_classifier_makes_first_is_told_before_and_only_where_there_is_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(views, "_LEAST_NODES", 10)
    monkeypatch.setattr("nodewise.classifiers.views.needs._WORTH_TELLING", 0.0)
    for told in (1, 0):
        events: list[Event] = []
        compare(
            small(),
            ["random"],
            budgets=4,
            runs=2,
            device="cpu",
            store=ChunkStore(tmp_path / "chunks"),
            reporter=events.append,
        )
        assert sum(isinstance(event, Note) and "views of 120 nodes" in event.message for event in events) == told
        assert any(isinstance(event, Progress) and "view" in event.task for event in events) == bool(told)
