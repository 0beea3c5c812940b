"""The classifier is a pure function of the effective history: to the bit, whatever was told, changed, skipped and
undone on the way.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewise.ground.errors import NodewiseError
from nodewise.session import Session
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import KINDS, block_graph, random_graph

nodes, people = st.integers(0, 11), st.sampled_from(["ada", "bob", "eve"])
steps = st.one_of(
    st.tuples(st.just("tell"), nodes, st.sampled_from(["a", "b", "c", "d"]), people),
    st.tuples(st.just("answer"), st.sampled_from(["a", "b", "c", "d"]), people),
    st.tuples(st.just("skip"), nodes, people),
    st.tuples(st.just("undo")),
    st.tuples(st.just("undo one"), st.integers(1, 30)),
    st.tuples(st.just("class"), st.sampled_from(["c", "d", "e"])),
    st.tuples(st.just("look")),
)


def play(session: Session, sequence: list[tuple[Any, ...]]) -> None:
    """Do the steps; what the session refuses is passed over."""
    for step in sequence:
        try:
            if step[0] == "tell":
                session.tell(step[1], step[2], step[3], new_class=True)
            elif step[0] == "answer":
                session.tell(session.ask(annotator=step[2]).node, step[1], step[2], new_class=True)
            elif step[0] == "skip":
                session.skip(step[1], step[2])
            elif step[0] == "undo":
                session.undo()
            elif step[0] == "undo one":
                session.undo(step[1])
            elif step[0] == "class":
                session.add_class(step[1])
            else:
                session.predict()
        except NodewiseError:
            pass


def same(one: Session, other: Session) -> None:
    """The same classes, probabilities and scores, to the bit."""
    first, second = one.follow(one.refresh()), other.follow(other.refresh())
    assert first.classes == second.classes
    assert np.array_equal(first.probabilities().numpy(), second.probabilities().numpy())
    assert np.array_equal(first.scores().numpy(), second.scores().numpy(), equal_nan=True)
    if first.count:
        assert np.array_equal(first.closed().numpy(), second.closed().numpy())


JOBS: list[dict[str, Any]] = [
    {},
    {"classes": None},
    {"redundancy": 2, "strategy": "kcenter"},
    {"strategy": "anrmab"},
    {"audit": 3},
    {"strategy": "policy"},
]
MEMORY = Path(
    "/dev/shm"
)  # what is shown here has nothing to do with the disk, and its syncs would take most of the time


@pytest.mark.slow
@pytest.mark.parametrize("options", JOBS)
@settings(max_examples=20)
@given(sequence=st.lists(steps, max_size=25))
def test_reopened_and_given_the_effective_history_alone_it_is_the_same_to_the_bit(
    options: dict[str, Any], sequence: list[tuple[Any, ...]]
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        session = small_job(Path(folder) / "job", **options)
        play(session, sequence)
        with Session.open(Path(folder) / "job") as reopened, small_job(Path(folder) / "fresh", **options) as fresh:
            same(session, reopened)
            history = session.history
            if history:
                fresh.tell([node for node, _ in history], [label for _, label in history], new_class=True)
            same(session, fresh)
            assert reopened.labels == session.labels
        session.close()


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_features_gives_the_same_to_the_bit(kind: Any, tmp_path: Path) -> None:
    graph = unlabelled(random_graph(kind, nodes=40))
    session = small_job(tmp_path / "job", graph=graph)
    for number in range(12):
        session.tell(session.ask().node, "abcd"[number % 4])
        session.predict()
    session.tell(session.history[4][0], "d")
    session.tell(session.history[0][0], "e")
    session.undo()
    fresh = small_job(tmp_path / "fresh", graph=graph)
    fresh.tell([node for node, _ in session.history], [label for _, label in session.history])
    same(session, fresh)
    same(session, Session.open(tmp_path / "job"))


@pytest.mark.slow
def test_snapshots_are_only_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, slow = small_job(tmp_path / "job"), small_job(tmp_path / "slow")
    monkeypatch.setattr("nodewise.session.learning.learner._SNAPSHOT_BYTES", {"ask": 1})  # so that eight are kept
    for number in range(20):
        node = session.ask().node
        assert slow.ask().node == node
        for job in (session, slow):
            job.tell(node, "abc"[number % 3])
        slow.follow(slow.refresh())._snapshots.clear()
    assert len(session.follow(session.refresh())._snapshots) <= 8
    for place in (17, 9, 2):
        for job in (session, slow):
            job.tell(session.history[place][0], "d")
        same(session, slow)


def test_a_changed_label_stays_in_its_place(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", redundancy=3)
    session.tell([4, 5, 6], ["a", "b", "a"])
    session.tell(4, "b")
    assert session.history == [(4, "b"), (5, "b"), (6, "a")]
    session.tell(5, "a", "ada")
    session.tell(5, "a", "bob")
    assert session.history == [(4, "b"), (5, "a"), (6, "a")]


def test_other_labels_and_other_seeds_give_other_probabilities(tmp_path: Path) -> None:
    tables = []
    for number, (labels, seed) in enumerate([("ab", 3), ("ba", 3), ("ab", 4)]):
        session = small_job(
            tmp_path / str(number), graph=unlabelled(block_graph(60)), seed=seed, classifier="gcn"
        )  # views leaves nothing to a seed
        session.tell([1, 2], list(labels))
        tables.append(session.predict().probabilities)
    assert not np.array_equal(tables[0], tables[1]) and not np.array_equal(tables[0], tables[2])
