"""Several people on one session: votes that are repeated, overruled and given in bulk; queries of those who left; how
far they agree.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.ground.errors import AlreadyLabelledError, InputError, SessionError
from nodewise.session import Session
from nodewise.session.answers import Draft
from nodewise.session.log.log import Log
from tests.session.jobs import Clock, small_job


def test_repeating_a_vote_never_changes_the_result(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", redundancy=2)
    session.tell(1, "a", "ada")
    session.tell(1, "b", "bob")
    assert session.labels == {1: "a"}
    session.tell(1, "a", "ada")
    assert session.labels == {1: "a"}
    session.tell(1, "b", "ada")
    session.tell(1, "a", "ada")
    assert session.labels == {1: "b"}  # a change of mind, even there and back, is a later vote


def test_whoever_changes_anothers_label_is_told_and_may_overrule_it_knowingly(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell(1, "a", "ada")
    session.tell(1, "a", "bob")  # the same is no contradiction
    with pytest.raises(
        AlreadyLabelledError, match="node '1' was labelled 'a' by 'ada': nothing was changed; to overrule"
    ) as caught:
        session.tell([2, 1], ["b", "b"], "eve")
    assert (caught.value.node, caught.value.label, caught.value.annotator) == ("1", "a", "ada")
    assert session.labels == {1: "a"} and isinstance(caught.value, SessionError)
    event = session.tell(1, "b", "eve", overrule=True)
    assert session.labels == {1: "b"} and session.history == [(1, "b")]
    session.tell(1, "c", "eve")  # it is eve's label now
    assert session.labels == {1: "c"}
    with pytest.raises(AlreadyLabelledError, match="by 'eve'"):
        session.tell(1, "a", "ada")
    assert Session.open(tmp_path / "job").labels == {1: "c"}
    session.undo()
    session.undo(event)  # type: ignore[arg-type]
    assert session.labels == {1: "a"}
    with pytest.raises(AlreadyLabelledError, match="by 'bob'"):  # who has said the same as ada did
        session.tell(1, "b", "ada")
    session.tell(2, "a", "ada")
    session.tell(2, "b", "ada")  # one's own
    assert session.labels == {1: "a", 2: "b"}


def test_an_overruling_vote_settles_a_disagreement(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", redundancy=3, budget=1)
    session.tell(1, "a", "ada")
    session.tell(1, "a", "bob")
    assert not session.done
    session.tell(1, "b", "eve", overrule=True)
    assert (
        session.labels == {1: "b"}
        and session.done
        and session.status().disagreements == {"1": {"ada": "a", "bob": "a", "eve": "b"}}
    )


def test_bulk_answers_train_spend_nothing_and_are_taken_back_as_one(tmp_path: Path) -> None:
    session, plain = small_job(tmp_path / "job", budget=4, audit=3), small_job(tmp_path / "plain", budget=4, audit=3)
    audit = session.rules().audit[0]
    nodes = [node for node in range(60) if node not in session.rules().audit][:12]
    for job in (session, plain):
        job.tell(nodes[:2], ["a", "b"])
    event = session.tell_bulk([*nodes[2:], audit], "a", "ada")
    plain.tell(nodes[2:], ["a"] * 10, "ada")
    status = session.status()
    assert status.told == 2 and status.bulk == 11 and status.left == 2 and len(session.labels) == 13
    assert (session.predict().probabilities == plain.predict().probabilities).all()
    assert audit not in session.audit_labels and session.status().audit == (0, 3) and audit not in dict(session.history)
    report = session.stop_report()
    assert (
        report.labels == 12 and report.cross_validated is None and report.audit is None
    )  # two labels that were told one by one are too few
    assert [kind.kind for kind in session.events].count("bulk") == 1
    assert session.undo().id == event and len(session.labels) == 2
    session.undo(session.events[-1].id)
    assert len(session.labels) == 13
    session.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().count(",bulk,") == 11
    asked = []
    while not session.done:  # the audit is asked all the same
        query = session.ask()
        asked.append(query.node)
        session.tell(query.node, "a")
    assert set(session.rules().audit) <= set(asked) and session.status().told == 4
    with pytest.raises(AlreadyLabelledError):
        session.tell_bulk([50, nodes[0]], ["a", "b"], "ada")
    with pytest.raises(InputError, match="at least one"):
        session.tell_bulk([], "a")
    with pytest.raises(InputError, match="2 nodes but 1 label"):
        session.tell_bulk([1, 2], ["a"])


def test_a_bulk_answer_that_is_given_one_by_one_afterwards_is_an_answer(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.tell_bulk([1, 2, 3], ["a", "b", "new one"])
    session.tell(1, "a")
    assert session.status().told == 1 and session.status().bulk == 2 and session.classes == ("a", "b", "new one")
    session.tell_bulk([1], "a")
    assert session.status().told == 1


def test_queries_of_somebody_who_left_are_free_at_once(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", budget=2)
    nodes = [query.node for query in session.ask(2, "me")]
    with pytest.raises(SessionError, match="out with me"):
        session.ask(annotator="ada")
    assert session.release("me", by="ada") == 2 and session.release("me") == 0
    assert session.ask(annotator="ada").node == nodes[0] and session.status().open == {"ada": [str(nodes[0])]}
    while not session.done:
        session.tell(session.ask(annotator="ada").node, "a", "ada")
    with pytest.raises(InputError, match="freed queries"):
        session.undo(next(event.id for event in session.events if event.kind == "release"))


def test_a_clock_that_was_set_back_keeps_nothing_reserved(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = 100_000.0
    session = small_job(tmp_path / "job", release_after=60, clock=clock)
    first = session.ask(annotator="ada").node
    clock.now -= 200
    assert session.ask(annotator="bob").node != first  # the clocks of two machines may differ a little
    clock.now -= 50_000
    assert session.ask(annotator="eve").node == first


def test_with_everything_skipped_there_is_nothing_left_and_the_loop_ends(tmp_path: Path) -> None:
    for audit in (0, 3):
        session = small_job(tmp_path / f"job{audit}", candidates=range(10), budget=5, audit=audit)
        steps = 0
        while not session.done:
            query = session.ask()
            if steps % 4 == 3:
                session.tell(query.node, "a")
            else:
                session.skip(query.node)
            steps += 1
        assert steps == 10 and session.status().done
        assert session.ask(annotator="ada").node < 10  # somebody else may know


BODIES = [
    ("tell", {"node": -1, "label": "a"}),
    ("tell", {"node": 60, "label": "a"}),
    ("tell", {"node": "1", "label": "a"}),
    ("tell", {"node": 1}),
    ("tell", {"node": True, "label": "a"}),
    ("tell", {"node": 1, "label": ["a"]}),
    ("tell", {"node": 1, "label": "a", "class": -2}),
    ("tell", {"node": 1, "label": "a", "overrule": 7}),
    ("undo", {"event": 999}),
    ("undo", {"event": 0}),
    ("undo", {}),
    ("skip", {"node": 1e9}),
    ("budget", {"budget": 0}),
    ("budget", {"budget": "all"}),
    ("class", {"name": ""}),
    ("class", {"name": 3}),
    ("ask", {"node": 1, "why": "because"}),
    ("ask", {"node": 1, "predicted": [["a"]]}),
    ("ask", {"node": 1, "predicted": {"a": 1}}),
    ("ask", {"node": 1, "rank": 10**400}),
    ("ask", {"node": 1, "features": {"degree": "x"}}),
    ("ask", {"node": 1, "score": float("nan")}),
    ("frob", {}),
    ("rename", {"class": "a", "name": "b"}),
    ("merge", {"class": 1}),
    ("bulk", {"nodes": [1, 2], "labels": ["a"], "classes": [1]}),
    ("bulk", {"nodes": [99], "labels": ["a"], "classes": [1]}),
    ("describe", {"class": 1, "text": 5}),
    ("order", {"classes": "ab"}),
    ("note", {"node": 1}),
    ("release", {}),
    ("describe", {"text": "t"}),
]


@pytest.mark.parametrize(("kind", "body"), BODIES)
def test_events_that_nodewise_does_not_write_are_refused_in_words(
    kind: str, body: dict[str, object], tmp_path: Path
) -> None:
    small_job(tmp_path / "job").close()
    with Log.open(tmp_path / "job") as log:
        log.append([Draft(kind, "me", body)])
    with pytest.raises(SessionError, match="event 1 is not one that nodewise writes: it"):
        Session.open(tmp_path / "job")


def test_references_to_classes_that_are_not_there_do_no_harm(tmp_path: Path) -> None:
    small_job(tmp_path / "job").close()
    with Log.open(tmp_path / "job") as log:
        log.append(
            [
                Draft("rename", "me", {"class": 9, "name": "x"}),
                Draft("merge", "me", {"class": 9, "into": 1}),
                Draft("order", "me", {"classes": [9, 2, 2]}),
            ]
        )
        log.append(
            [
                Draft("tell", "me", {"node": 1, "label": "x", "class": 10**9}),
                Draft("tell", "me", {"node": 2, "label": "x"}),
            ]
        )
    with Session.open(tmp_path / "job") as session:
        assert session.labels == {1: "x", 2: "x"}
        session.predict()
        with pytest.raises(SessionError, match="none can be added"):
            session.tell(3, "y")
