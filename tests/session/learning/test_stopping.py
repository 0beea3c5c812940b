"""When to stop: what the report says, and that its figures are what they claim to be."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers import Gcn
from nodewise.graph.tensors import GraphTensors
from nodewise.session import Session
from nodewise.session.learning.estimates import audit_accuracy, cross_validated, left_out_bias, wilson
from nodewise.session.meaning.rules import Label
from tests.session.jobs import small_job
from tests.small_graphs import block_graph


def test_wilsons_interval_by_hand() -> None:
    found = wilson(8, 10)  # Wilson 1927: 0.490 to 0.943
    assert (
        (found.mean, found.nodes) == (0.8, 10)
        and found.low == pytest.approx(0.4902, abs=1e-4)
        and found.high == pytest.approx(0.9433, abs=1e-4)
    )
    assert wilson(0, 5).low == 0.0 and wilson(5, 5).high == pytest.approx(1.0)


@pytest.mark.slow
def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    for share in (0.5, 0.8, 0.95):
        hits = [
            found.low <= share <= found.high
            for found in (wilson(int(right), 40) for right in rng.binomial(40, share, 2000))
        ]
        assert np.mean(hits) > 0.92


def test_accuracy_on_the_audit_counts_right_ones() -> None:
    best = np.array([0, 1, 1, 0])
    found = audit_accuracy(best + 1, {0: 1, 1: 1, 2: 2, 3: 3})
    assert found is not None and found.mean == 0.5 and found.nodes == 4
    assert audit_accuracy(best, {}) is None


@pytest.mark.slow
@pytest.mark.parametrize("classifier", ["views", "gcn"])
def test_the_report_of_a_whole_job(classifier: str, tmp_path: Path) -> None:
    graph = block_graph(120)
    assert graph.y is not None
    session = Session.create(tmp_path / "job", graph, budget=20, audit=30, strategy="age", classifier=classifier)
    empty = session.stop_report()
    assert empty.labels == 0 and empty.curve == () and "nobody has given a label" in empty.words[0]
    while not session.done:
        node = session.ask().node
        session.tell(node, graph.class_names[graph.y[node]])
    before = session.predict()
    report = session.stop_report()
    assert (
        report.labels == 20
        and len(report.curve) <= 8
        and report.curve[-1].labels == 20
        and report.curve[0].changed is None
    )
    truth = [before.names[node] == label for node, label in session.audit_labels.items()]
    assert report.audit is not None and report.audit.mean == pytest.approx(np.mean(truth)) and report.audit.nodes == 30
    judged, other = (
        (report.left_out, report.cross_validated)
        if classifier == "views"
        else (report.cross_validated, report.left_out)
    )
    assert judged is not None and judged.nodes == 20 and other is None
    assert report.change_rate is not None and report.next_change is not None and report.next_gain is not None
    assert 0 <= report.next_gain <= report.next_change <= 1
    assert any("biased, since they were chosen" in line for line in report.words) and any(
        "(unbiased)" in line for line in report.words
    )
    assert np.array_equal(session.predict().probabilities, before.probabilities)  # the report has changed nothing
    assert "ask" in session._learners and session._learners.get("ask", ()).count == 20
    assert report.as_dict()["curve"][-1]["labels"] == 20


def test_the_bias_that_is_told_beside_the_estimate_is_the_measured_one(tmp_path: Path) -> None:
    record = json.loads(
        (Path(__file__).parents[3] / "benchmarks" / "results" / "calibration.json").read_text(encoding="utf-8")
    )
    points = [row["leave_one_out_minus_true_points"][0] for row in record["rows"] if row["strategy"] == "gain"]
    bias = left_out_bias()
    assert (bias.low, bias.high, bias.graphs) == (min(points), max(points), len(points)) and bias.mean == pytest.approx(
        np.mean(points), abs=0.06
    )
    session = small_job(tmp_path / "job", budget=10)
    session.tell(list(range(8)), ["ab"[node % 2] for node in range(8)])
    report = session.stop_report()
    assert report.left_out_bias == bias and report.as_dict()["left_out_bias"]["graphs"] == bias.graphs
    whole = (Decimal(str(end)).quantize(Decimal(1), ROUND_HALF_UP) for end in (bias.low, bias.high))
    low, high = (f"{end:+}".replace("-", "−") for end in whole)
    assert any(f"on {bias.graphs} public graphs" in line and f"from {low} to {high}" in line for line in report.words)


def test_the_report_says_what_it_lacks(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell([1, 2], ["a", "b"])
    report = session.stop_report()
    assert (
        report.left_out is None and report.cross_validated is None and report.audit is None and report.next_gain is None
    )
    assert any("make a session with an audit" in line for line in report.words)


def test_changes_are_counted_against_the_point_before(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell(list(range(16)), ["ab"[n % 2] for n in range(16)])
    report = session.stop_report()
    assert [point.labels for point in report.curve] == [2, 4, 6, 8, 10, 12, 14, 16]
    names = []
    for count in (14, 16):
        fresh = small_job(tmp_path / str(count))
        fresh.tell(list(range(count)), ["ab"[n % 2] for n in range(count)])
        names.append(np.array(fresh.predict().names))
    assert report.curve[-1].changed == pytest.approx(float((names[0] != names[1]).mean()))
    assert report.change_rate == pytest.approx(report.curve[-1].changed / 2)


def test_cross_validation_leaves_every_label_out_once(tmp_path: Path) -> None:
    graph = block_graph(120, signal=4.0)
    assert graph.y is not None
    tensors = GraphTensors(graph)
    right = [Label(node, graph.class_names[graph.y[node]]) for node in range(33)]
    found = cross_validated(tensors, right, graph.class_names, Gcn(), 0)
    assert found is not None and found.nodes == 33 and found.mean > 0.7
    rng = np.random.default_rng(1)
    shuffled = [Label(label.node, graph.class_names[rng.integers(3)]) for label in right]
    noise = cross_validated(tensors, shuffled, graph.class_names, Gcn(), 0)
    assert noise is not None and noise.mean < 0.6  # a label that it had seen would be predicted
    assert cross_validated(tensors, right[:4], graph.class_names, Gcn(), 0) is None


@pytest.mark.slow
def test_labels_left_out_are_predicted_by_all_the_others(tmp_path: Path) -> None:
    """Each label's prediction is what a job without it predicts, but for weights and temperature, which hardly
    differ.
    """
    graph = block_graph(120, signal=4.0)
    assert graph.y is not None
    names = [graph.class_names[number] for number in graph.y]
    session = small_job(
        tmp_path / "job", graph=replace(graph, y=None, class_names=()), classes=list(graph.class_names), budget=60
    )
    session.tell(list(range(24)), names[:24])
    session.tell_bulk(list(range(24, 34)), names[24])
    report = session.stop_report()
    assert report.left_out is not None and report.left_out.nodes == 24  # bulk labels train and are not judged
    right = 0
    for node in range(24):
        other = small_job(
            tmp_path / str(node),
            graph=replace(graph, y=None, class_names=()),
            classes=list(graph.class_names),
            budget=60,
        )
        other.tell([one for one in range(24) if one != node], [names[one] for one in range(24) if one != node])
        other.tell_bulk(list(range(24, 34)), names[24])
        right += other.predict().names[node] == names[node]
    assert abs(right - 24 * report.left_out.mean) <= 1


def test_labels_that_mean_nothing_are_not_predicted(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=60)
    rng = np.random.default_rng(2)
    session.tell(list(range(50)), [["a", "b"][number] for number in rng.integers(0, 2, 50)])
    report = session.stop_report()
    assert report.left_out is not None and report.left_out.mean < 0.7  # a label that had been seen would be predicted


def test_leave_one_out_is_told_once_each_class_has_two_labels(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["a", "b", "c"])
    session.tell(list(range(5)), list("aaaab"))
    report = session.stop_report()
    lack = "an accuracy from the labels can be measured once each class has two labels: 1 of 3 has them"
    assert report.left_out is None and report.left_out_bias is None and report.left_out_lack == lack
    assert lack in report.words and not any("predicted from all the others" in line for line in report.words)
    assert report.as_dict()["left_out_lack"] == lack
    session.tell([5, 6, 7], list("bcc"))
    whole = session.stop_report()
    assert whole.left_out is not None and whole.left_out.nodes == 8 and whole.left_out_lack is None
    session.add_class("d")  # declared, and nobody has answered it
    assert "3 of 4 have them" in (session.stop_report().left_out_lack or "")
    session.merge_classes("d", "a")
    assert session.stop_report().left_out is not None


def test_leave_one_out_needs_two_classes_and_five_labels_told_one_by_one(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=None)
    session.tell(list(range(6)), ["a"] * 6)
    assert "there is one so far" in (session.stop_report().left_out_lack or "")
    session = small_job(tmp_path / "other")
    session.tell(list(range(4)), list("aabb"))
    session.tell_bulk(list(range(10, 20)), "a")
    assert "from 5 labels on that were given one by one: there are 4" in (session.stop_report().left_out_lack or "")


def test_cross_validation_of_a_trained_classifier_lacks_nothing(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classifier="gcn", classes=["a", "b", "c"])
    session.tell(list(range(6)), list("aaaaab"))
    report = session.stop_report()
    assert report.cross_validated is not None and report.left_out_lack is None and report.why_random is None


def test_the_report_says_that_the_next_question_is_random(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", strategy="gain", budget=40)
    rng = np.random.default_rng(5)
    session.tell(list(range(30)), [["a", "b"][number] for number in rng.integers(0, 2, 30)])
    report = session.stop_report()
    assert report.why_random is not None and "classes' shares" in report.why_random
    (line,) = (line for line in report.words if "the next question is a random one" in line)
    assert line.startswith(report.why_random)
    assert session.ask().random


@pytest.mark.parametrize("classifier", ["views", "gcn"])
def test_with_one_class_alone_nothing_is_known_yet(tmp_path: Path, classifier: str) -> None:
    with small_job(tmp_path / "job.nodewise", classifier=classifier) as session:
        session.tell([3, 4, 5, 6, 7, 8], ["a"] * 6)
        report = session.stop_report()
        assert {(point.confidence, point.changed) for point in report.curve} == {(None, None)}
        assert report.left_out is None and report.cross_validated is None and report.next_change is None
        assert report.words[-1].startswith("so far only a has labels, so nothing else can be predicted")
        assert not any("settled" in line or "100 %" in line for line in report.words)
        session.tell([40, 41], ["b", "b"])
        report = session.stop_report()
        assert [point.confidence is None for point in report.curve] == [True] * 6 + [False] * 2
        assert not any("so far only" in line for line in report.words)
