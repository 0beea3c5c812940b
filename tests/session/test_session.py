"""The session through its public methods."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.classifiers.gcn.learner import GcnLearner
from nodewise.contracts import Capability, Observation, Strategy
from nodewise.ground.errors import InputError, SessionError, UnknownNameError
from nodewise.session import Session
from nodewise.strategies import STRATEGIES
from tests.session.jobs import Clock, small_job, unlabelled
from tests.small_graphs import block_graph


def test_the_loop_of_the_readme(tmp_path: Path) -> None:
    graph = block_graph(90)
    assert graph.y is not None
    session = Session.create(tmp_path / "job", graph, budget=15)
    while not session.done:
        query = session.ask()
        session.tell(query.node, graph.class_names[graph.y[query.node]])
    assert len(session.labels) == 15
    prediction = session.predict()
    assert prediction.probabilities.shape == (90, 3) and np.allclose(prediction.probabilities.sum(1), 1, atol=1e-5)
    assert (prediction.best == graph.y).mean() > 0.6  # chance is a third
    again = Session.open(tmp_path / "job")
    assert again.labels == session.labels and again.done
    assert np.array_equal(again.predict().probabilities, prediction.probabilities)
    with pytest.raises(SessionError, match="budget of 15 labels is spent"):
        again.ask()
    again.set_budget(16)
    assert not again.done and again.ask().node not in again.labels


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_asks_the_same_after_reopening(strategy: str, tmp_path: Path) -> None:
    classifier = "gcn" if strategy == "bald-dropout" else "views"  # views has no hidden units to leave out
    session = small_job(tmp_path / "job", strategy=strategy, classifier=classifier)
    for step in range(5):
        session.tell(session.ask().node, "abc"[step % 3])
    session.backup(tmp_path / "copy")
    expected = session.ask().node
    for path in (tmp_path / "job", tmp_path / "copy"):
        assert Session.open(path).ask().node == expected


def test_a_query_says_why_and_what_is_predicted(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    first = session.ask()
    assert first.predicted == {} and first.guess is None and "nothing is labelled yet" in " ".join(first.why)
    session.tell(first.node, "a")
    query = session.ask()
    assert query.rank == 1 and query.candidates == 59 and query.node != first.node
    assert query.why[0] == "of the 59 nodes that could be asked, uncertainty puts it first"
    degree = int(session.graph.degree[query.node])
    assert f"it has {degree} neighbour" in query.why[1]
    assert set(query.features) == {"entropy", "degree", "kl_from_neighbours", "kl_to_neighbours", "labelled"}
    chances = list(query.predicted.values())
    assert (
        sum(chances) == pytest.approx(1, abs=1e-3)
        and chances == sorted(chances, reverse=True)
        and query.sure == chances[0]
    )


def test_an_open_query_is_given_again_and_kept_over_reopening(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    query = session.ask()
    assert session.ask() == query and Session.open(tmp_path / "job").ask() == query
    session.tell((query.node + 1) % 60, "a")  # a label that nobody asked for changes what is wanted, not what is open
    assert session.ask() == query


def test_a_batch_holds_different_nodes_and_starts_with_the_single_query(tmp_path: Path) -> None:
    session, single = small_job(tmp_path / "job"), small_job(tmp_path / "single")
    for job in (session, single):
        job.tell([0, 1, 2, 3], ["a", "b", "a", "b"])
    batch = session.ask(5)
    nodes = [query.node for query in batch]
    assert len(set(nodes)) == 5 and nodes[0] == single.ask().node
    assert [query.node for query in session.ask(3)] == nodes[:3]
    assert [query.node for query in session.ask(7)][:5] == nodes
    adjacency = session.graph.adjacency()
    assert adjacency[nodes][:, nodes].nnz == 0
    assert len({query.guess for query in batch}) == 2


def test_skipped_nodes_are_not_asked_again_and_cost_nothing(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=2)
    seen = []
    for _ in range(5):
        query = session.ask()
        seen.append(query.node)
        session.skip(query.node)
    assert len(set(seen)) == 5 and session.status().left == 2 and session.status().skipped == 5
    session.tell(seen[0], "a")  # now they can
    assert session.labels == {seen[0]: "a"} and session.status().skipped == 4
    with pytest.raises(InputError, match="undo that first"):
        session.skip(seen[0])


def test_undo_takes_back_anything_and_can_be_undone(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    query = session.ask()
    first = session.tell(query.node, "a")
    session.tell(query.node, "b")
    assert session.undo().body == {"node": query.node, "label": "b", "class": 2} and session.labels == {query.node: "a"}
    session.undo()
    assert session.labels == {} and session.ask() == query  # the query is open again
    session.skip(query.node)
    assert session.ask().node != query.node
    session.undo()
    assert session.ask().node == query.node
    session.add_class("c")
    assert session.classes == ("a", "b", "c")
    assert session.undo().kind == "class" and session.classes == ("a", "b")
    last = session._log.last
    with pytest.raises(SessionError, match="nothing to undo"):
        session.undo()
    with pytest.raises(InputError, match="undone already"):
        session.undo(first)
    undone = next(e.id for e in session._log.events if e.kind == "undo" and e.body["event"] == first)
    session.undo(undone)
    assert session.labels == {query.node: "a"} and session._log.last == last + 1
    for wrong in (0, 999, 1):
        with pytest.raises(InputError, match="no event|is a query"):
            session.undo(wrong)


def test_undo_by_one_annotator_leaves_the_others_alone(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell(1, "a", "ada")
    session.tell(2, "b", "bob")
    assert session.undo(annotator="ada").body["node"] == 1 and session.labels == {2: "b"}
    with pytest.raises(SessionError, match="nothing to undo of 'ada'"):
        session.undo(annotator="ada")


def test_open_queries_differ_between_annotators_and_are_released_after_a_time(tmp_path: Path) -> None:
    clock = Clock()
    session = small_job(tmp_path / "job", release_after=60, clock=clock)
    ada, bob = session.ask(annotator="ada"), session.ask(annotator="bob")
    assert ada.node != bob.node
    clock.now += 59
    assert session.ask(annotator="eve").node not in (ada.node, bob.node)
    clock.now += 2
    assert session.ask(annotator="dan").node == ada.node  # ada's is free again, and the most wanted
    assert session.ask(annotator="ada").node != ada.node  # which is with dan now


def test_the_last_queries_are_not_given_to_too_many(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=2)
    session.ask(2, annotator="ada")
    with pytest.raises(SessionError, match="out with ada"):
        session.ask(annotator="bob")


def test_redundancy_asks_several_about_the_same_node_and_the_majority_counts(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=2, redundancy=3)
    queries = {who: session.ask(annotator=who) for who in ("ada", "bob", "eve")}
    (node,) = {query.node for query in queries.values()}
    assert "another opinion" in queries["bob"].why[0] and queries["bob"].predicted == {}
    session.tell(node, "b", "ada")
    assert session.ask(annotator="ada").node != node  # has voted, so the next one
    session.tell(node, "a", "bob")
    assert session.labels == {node: "b"}  # between equals the first
    session.tell(node, "a", "eve")
    assert session.labels == {node: "a"} and session.history == [(node, "a")]
    status = session.status()
    assert status.agreement == pytest.approx(1 / 3) and status.disagreements == {
        str(node): {"ada": "b", "bob": "a", "eve": "a"}
    }
    assert status.told == 1 and status.annotators == {"ada": 1, "bob": 1, "eve": 1}


@pytest.mark.parametrize("number", [0, np.int64(2)])
def test_a_classs_number_in_place_of_its_name_makes_no_class(tmp_path: Path, number: int) -> None:
    session = small_job(tmp_path / "job", classes=["class_0", "class_1", "class_2"])
    with pytest.raises(UnknownNameError, match=f"'{number}'.*class_{number}.*by its name, not by its number"):
        session.tell(3, number)
    with pytest.raises(UnknownNameError, match="not by its number"):
        session.tell([3, 4], ["class_1", number])
    assert session.classes == ("class_0", "class_1", "class_2") and not session.labels
    session.tell(3, number, new_class=True)  # meant as a new class
    session.tell(4, 1)  # beside one that is called by a number
    assert session.labels == {3: str(number), 4: "1"}
    years = small_job(tmp_path / "years", classes=["before"])
    years.tell([1, 2], [2019, "3"])  # no number of a class; and a text is a name
    assert years.labels == {1: "2019", 2: "3"}


def test_labels_that_look_misspelt_are_refused_and_new_classes_taken(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["sports", "politics", "year 1"])
    for wrong in ("sport", "Sports", "politic"):
        with pytest.raises(UnknownNameError, match="did you mean"):
            session.tell(1, wrong)
    with pytest.raises(UnknownNameError, match="did you mean 'sports'"):
        session.tell([1, 2], ["politics", "sport"])
    assert session.labels == {}  # all or none
    session.tell([1, 2, 3], ["politics", "year 2", "weather"])
    assert session.classes == ("sports", "politics", "year 1", "year 2", "weather")
    session.tell(4, "sport", new_class=True)
    assert session.predict().classes == (*session.classes[:5], "sport")
    for wrong in ("", "  ", "\n\t", "x" * 300):
        with pytest.raises(InputError, match="a class needs a name"):
            session.tell(1, wrong)
    with pytest.raises(InputError, match="already"):
        session.add_class("sports")


def test_a_declared_class_waits_for_its_first_label(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell([0, 1], ["a", "b"])
    before = session.predict()
    session.add_class("c")
    after = session.predict()
    assert after.classes == ("a", "b", "c") and np.array_equal(after.probabilities[:, :2], before.probabilities)
    assert not after.probabilities[:, 2].any()
    session.tell(5, "c")
    assert session.predict().probabilities[:, 2].min() > 0


def test_classes_may_all_appear_on_the_way(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=None, budget=6)
    assert session.classes == ()
    with pytest.raises(SessionError, match="before the first label"):
        session.predict()
    for label in ("x", "y", "z"):
        session.tell(session.ask().node, label)
    assert session.predict().classes == ("x", "y", "z")
    with pytest.raises(InputError, match="no budget and no classes"):
        small_job(tmp_path / "other", classes=None, budget=None)


def test_nodes_are_told_by_name_where_they_have_names(tmp_path: Path) -> None:
    named = replace(unlabelled(block_graph(60)), node_names=tuple(f"n{i}" for i in range(60)))
    session = small_job(tmp_path / "job", graph=named)
    session.tell("n7", "a")
    session.tell(8, "b")
    assert session.labels == {7: "a", 8: "b"} and session.ask().name.startswith("n")
    with pytest.raises(InputError, match="no node named 'n700': did you mean 'n"):
        session.tell("n700", "a")
    plain = small_job(tmp_path / "plain")
    plain.tell("7", "a")
    for wrong in ("seven", "-1", 60, -1, 1.5, True):
        with pytest.raises(InputError, match="node"):
            plain.tell(wrong, "a")  # type: ignore[arg-type]
    assert plain.labels == {7: "a"}


def test_labels_in_a_partly_labelled_graph_count_from_the_start(tmp_path: Path) -> None:
    whole = block_graph(60)
    assert whole.y is not None
    partly = replace(whole, y=np.where(np.arange(60) < 12, whole.y, -1))
    session = Session.create(tmp_path / "job", partly, budget=5, strategy="uncertainty")
    status = session.status()
    assert status.given == 12 and status.told == 0 and status.left == 5 and len(session.labels) == 12
    assert (session.predict().best[12:] == whole.y[12:]).mean() > 0.5
    assert session.ask().node >= 12
    session.tell(3, whole.class_names[(whole.y[3] + 1) % 3])  # wrong all along: changed in its place
    assert session.labels[3] == whole.class_names[(whole.y[3] + 1) % 3] and session.status().told == 0
    reopened = Session.open(tmp_path / "job")
    assert np.array_equal(reopened.predict().probabilities, session.predict().probabilities)
    hidden = Session.create(tmp_path / "hidden", partly, budget=5, strategy="uncertainty", use_labels=False)
    assert hidden.labels == {}


class Odd(Strategy):
    """Gives what the test asks for."""

    name, stateless = "odd", True
    capabilities = frozenset[Capability]({"several-queries"})

    def __init__(self, gives: str) -> None:
        self.gives = gives

    def scores(self, observation: Observation) -> Any:
        noise = observation.noise
        return {"nan": noise * torch.nan, "flat": noise[0], "nothing": None}.get(self.gives, noise)

    def batch(self, observation: Observation, count: int) -> torch.Tensor | None:
        return {"twice": torch.tensor([[1, 1]]), "outside": torch.tensor([[1, 10**6]])}.get(self.gives)


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        ("nan", "'odd' gave scores that are not numbers"),
        ("flat", r"'odd' gave scores of shape \[60\]"),
        ("nothing", "'odd' gave scores as NoneType"),
        ("twice", r"'odd' gave a batch that cannot be asked: \[1, 1\]"),
        ("outside", r"'odd' gave a batch that cannot be asked: \[1, 1000000\]"),
    ],
)
def test_what_a_strategy_gives_that_cannot_be_asked_is_told(tmp_path: Path, gives: str, said: str) -> None:
    with small_job(tmp_path / "job", strategy=Odd(gives)) as session, pytest.raises(InputError, match=said):
        session.ask(2)


def test_predictions_that_are_no_numbers_are_told_and_leave_the_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_job(tmp_path / "job", classifier="gcn", strategy="random") as session:
        session.tell(0, "a")
        right = GcnLearner.logits
        monkeypatch.setattr(GcnLearner, "logits", lambda learner: right(learner) * torch.nan)
        with pytest.raises(InputError, match="GcnLearner gave logits that are not numbers"):
            session.ask()
        with pytest.raises(InputError, match="GcnLearner gave logits that are not numbers"):
            session.predict()
        monkeypatch.undo()
    with Session.open(tmp_path / "job") as again:
        assert again.history == [(0, "a")] and again.ask().node >= 0


def test_an_event_that_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_job(tmp_path / "job", strategy="random") as session:
        module = import_module("nodewise.session.job")
        drafts = module.draft_queries

        def spoilt(*arguments: Any) -> Any:
            new, lack = drafts(*arguments)
            return [replace(draft, body={**draft.body, "score": "high"}) for draft in new], lack

        monkeypatch.setattr(module, "draft_queries", spoilt)
        with pytest.raises(
            SessionError,
            match="nothing was written to the session 'job': what was to be could not be read again, its score",
        ):
            session.ask()
        monkeypatch.undo()
        assert session.ask().node >= 0
    Session.open(tmp_path / "job").close()


def test_an_audit_keeps_pace_and_trains_nothing(tmp_path: Path) -> None:
    session, plain = small_job(tmp_path / "job", budget=8, audit=4), small_job(tmp_path / "plain", budget=8)
    kinds = []
    while not session.done:
        query = session.ask()
        kinds.append(query.audit)
        assert not query.audit or (query.predicted == {} and "at random" in query.why[0])
        session.tell(query.node, "ab"[query.node % 2])
    assert kinds.count(True) == 4 and kinds.count(False) == 8 and not kinds[0] and kinds[1]
    assert session.status().audit == (4, 4) and session.status().told == 8 and len(session.audit_labels) == 4
    for node, label in session.history:
        plain.tell(node, label)
    assert np.array_equal(plain.predict().probabilities, session.predict().probabilities)
    with pytest.raises(InputError, match="more than the 60 nodes"):
        small_job(tmp_path / "more", budget=40, audit=21)


def test_a_session_and_what_it_gives_show_themselves_in_a_line_and_in_notebooks(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job.nodewise", classes=["<b>", "fine"], audit=2, budget=3)
    session.tell(session.ask().node, "<b>")
    shown = (session, session.status(), session.stop_report(), session.predict())
    for thing in shown:
        assert len(repr(thing)) <= 120 and "\n" not in repr(thing) and "0x" not in repr(thing)
        assert thing._repr_html_().startswith("<table>") and "<b>" not in thing._repr_html_()
    assert "1 of 3 labels" in repr(session) and "0 of 2 of the audit" in repr(shown[1])
    assert repr(shown[3]) == "Prediction(60 nodes, 2 classes, from 1 label)"
    session.close()
    assert "1 of 3 labels" in repr(session), "also when it is closed"


def test_a_report_on_a_small_audit_tells_no_percentage_and_one_just_begun_tells_that(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", audit=2, budget=3)
    session.tell(session.ask().node, "a")
    assert "none of the 2 nodes of the audit is labelled yet" in " ".join(session.stop_report().words)
    query = session.ask()
    assert query.audit
    session.tell(query.node, "a")
    said = " ".join(session.stop_report().words)
    assert "of 1 node drawn at random" in said and "too few to tell an accuracy" in said and "100" not in said
    assert "make a session with an audit" not in said


def test_before_any_label_a_query_shows_no_rounding_as_a_feature(tmp_path: Path) -> None:
    features = small_job(tmp_path / "job").ask().features
    assert (features["entropy"], features["kl_from_neighbours"], features["kl_to_neighbours"]) == (1, 0, 0)


@pytest.mark.slow
def test_without_a_reporter_words_go_to_a_logger_that_is_silent_by_default(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level("INFO", logger="nodewise"):
        small_job(tmp_path / "job").close()
    assert "strategy uncertainty: chosen by hand" in caplog.text
    code = "import sys, nodewise as nw; nw.Session.create(sys.argv[1], 'karate', budget=2).close()"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "other")], check=True)
    assert capfd.readouterr() == ("", "")


def test_a_path_given_to_the_class_is_told_how_it_is_opened() -> None:
    with pytest.raises(InputError, match=r"opened with Session.open\('job.nodewise'\)"):
        Session("job.nodewise")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"received Graph: a session is made with Session.create\(path, graph, …\)"):
        Session(block_graph())  # type: ignore[arg-type]
