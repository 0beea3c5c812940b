"""Labels that are likely mistakes, and sessions in which labels that may be wrong count less."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.contracts import Observation, Strategy
from nodewise.ground.errors import InputError
from nodewise.session.learning.mistakes import find_mistakes
from nodewise.session.meaning.trust import label_trust


class Remembering(Strategy):
    """Wants what was surest over all steps that it has seen."""

    name = "remembering"

    def begin(self, observation: Observation) -> None:
        observation.memory["sum"] = torch.zeros_like(observation.noise)

    def scores(self, observation: Observation) -> torch.Tensor:
        observation.memory["sum"] = observation.memory["sum"] + observation.probabilities.amax(-1)
        return cast(torch.Tensor, observation.memory["sum"])


def job(path: Path, **settings: object) -> tuple[nw.Session, list[int]]:
    """A job with 40 labels, of which the first 4 are wrong."""
    graph = nw.load_graph("wine")
    assert graph.y is not None
    session = nw.Session.create(path, graph, budget=60, use_labels=False, classes=["0", "1", "2"], **settings)  # type: ignore[arg-type]
    nodes = np.random.default_rng(0).permutation(graph.num_nodes)[:40].tolist()
    session.tell(nodes, [str((graph.y[node] + (place < 4)) % 3) for place, node in enumerate(nodes)])
    return session, nodes


@pytest.mark.parametrize("trust", [False, True])
def test_wrong_labels_lead_the_list_the_least_trusted_first(tmp_path: Path, trust: bool) -> None:
    session, nodes = job(tmp_path / "job.nodewise", trust=trust)
    with session:
        found = session.likely_mistakes()
        assert [one.trust for one in found] == sorted(one.trust for one in found)
        assert {one.node for one in found[:4]} == set(nodes[:4])
        first = found[0]
        assert first.label == session.labels[first.node] != first.instead
        assert first.chance < first.probability <= 1 and first.name == session.name_of(first.node)
        before = dict(session.labels)
        session.tell(first.node, first.label, overrule=True)
        assert first.node not in {one.node for one in session.likely_mistakes()}
        assert session.labels == before and len(session.likely_mistakes(1)) == 1


def test_doubt_is_kept_in_the_file_and_changes_predictions_alone(tmp_path: Path) -> None:
    plain, _ = job(tmp_path / "plain.nodewise")
    doubting, _ = job(tmp_path / "doubting.nodewise", trust=True)
    with plain, doubting:
        assert plain.labels == doubting.labels
        assert not np.array_equal(plain.predict().probabilities, doubting.predict().probabilities)
        kept = doubting.predict().probabilities
        assert doubting.ask().node not in doubting.labels
    with nw.Session.open(tmp_path / "doubting.nodewise") as again:
        assert again.settings.trust
        np.testing.assert_array_equal(again.predict().probabilities, kept)


def test_predictions_follow_when_a_vote_changes_how_far_a_label_is_trusted(tmp_path: Path) -> None:
    session, nodes = job(tmp_path / "job.nodewise", trust=True, redundancy=2)
    with session:
        before, label = session.predict().probabilities.copy(), session.labels[nodes[0]]
        session.tell(nodes[0], label, "another")
        assert session.labels[nodes[0]] == label
        assert not np.array_equal(session.predict().probabilities, before)


def test_a_strategy_that_carries_something_sees_the_same_steps_when_the_job_is_reopened(tmp_path: Path) -> None:
    session, nodes = job(tmp_path / "job.nodewise", trust=True, redundancy=2, strategy=Remembering())
    with session:
        before = session.follow(session.refresh()).scores().clone()
        session.tell(nodes[0], session.labels[nodes[0]], "another")
        live = session.follow(session.refresh()).scores().clone()
        assert not np.array_equal(before, live)
    with nw.Session.open(tmp_path / "job.nodewise", strategy=Remembering()) as again:
        np.testing.assert_array_equal(live, again.follow(again.refresh()).scores())


def test_who_gave_a_label_and_what_others_say_of_it_are_multiplied_without_trust(tmp_path: Path) -> None:
    session, nodes = job(tmp_path / "job.nodewise", redundancy=2)
    with session:
        history = session.refresh()
        learner, whole = session.follow(history), label_trust(history, session.graph.num_nodes)
        half = whole._replace(trust=whole.trust / 2)
        by_node = {one.node: one.trust for one in find_mistakes(session.moment(), learner, whole, 50)}
        assert 0 < by_node[nodes[0]] < 0.5
        halved = {one.node: one.trust for one in find_mistakes(session.moment(), learner, half, 50)}
        assert halved == pytest.approx({node: trust / 2 for node, trust in by_node.items()})


def test_a_classifier_that_cannot_doubt_is_refused_when_the_job_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot let labels that may be wrong count less"):
        nw.Session.create(tmp_path / "job.nodewise", "wine", classifier="gcn", trust=True)
    with nw.Session.create(tmp_path / "gcn.nodewise", "wine", classifier="gcn", budget=5, use_labels=False) as session:
        session.tell(0, "class_0")
        assert session.likely_mistakes() == []
