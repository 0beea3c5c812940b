"""Questions that look for a class which nobody has named: when they come, about which row, and what comes of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from nodewise.classifiers import Gcn
from nodewise.ground.errors import InputError
from nodewise.session import Query, Session
from tests.session.jobs import small_job, texts_of_three_kinds

WHY = "unlike everything labelled so far: perhaps a class that nobody has named"


def job(folder: Path, labels: int = 24, **options: Any) -> tuple[Session, list[int]]:
    """Texts of two kinds that are declared and labelled, and a few of a third; which kind each is of."""
    graph, kinds = texts_of_three_kinds()
    settings = {"budget": 60, "classes": ["a", "b"], "look_for_classes": 3, "seed": 0, **options}
    session = Session.create(folder / "job.nodewise", graph, **settings)
    nodes = [node for node, kind in enumerate(kinds) if kind < 2 and node not in session.rules().audit][:labels]
    session.tell(nodes, ["ab"[kinds[node]] for node in nodes])
    return session, kinds


def answer(session: Session, query: Query, kinds: list[int]) -> None:
    session.tell(query.node, "abc"[kinds[query.node]], query.annotator, new_class=True)


def test_every_third_question_is_about_a_row_unlike_all_labelled_ones_and_says_so(tmp_path: Path) -> None:
    session, kinds = job(tmp_path)
    with session:
        asked = []
        for _ in range(6):
            listed = session.unlike_labels()
            query = session.ask()
            assert query.unlike == (query.node in listed and query.why[0] == WHY), query
            assert query.as_dict()["unlike"] is query.unlike
            assert session.ask() == query, "it waits for its answer"
            asked.append(query)
            answer(session, query, kinds)
        assert [query.unlike for query in asked] == [False, False, True, False, False, True]
        report = session.stop_report()
        assert report.looked_for is not None and report.looked_for.found == (), "the strategy met the class before"
        assert (report.looked_for.questions, report.looked_for.answered, report.looked_for.skipped) == (2, 2, 0)


def test_the_report_says_which_class_they_found(tmp_path: Path) -> None:
    session, kinds = job(tmp_path, look_for_classes=1)
    with session:
        query = session.ask()
        assert query.unlike and kinds[query.node] == 2, "what stands out is of the class that nobody named"
        answer(session, query, kinds)
        answer(session, session.ask(), kinds)
        report = session.stop_report()
        assert report.looked_for is not None and report.looked_for.found == ("c",)
        assert (
            "2 questions went to rows unlike everything labelled so far: 2 answered; they found c, which nobody had"
            " named before" in report.words
        )
        session.undo()
        session.undo()
        report = session.stop_report()
        assert report.looked_for is not None and (report.looked_for.answered, report.looked_for.found) == (0, ())


def test_without_the_setting_no_question_looks_for_a_class(tmp_path: Path) -> None:
    session, kinds = job(tmp_path, look_for_classes=0)
    with session:
        assert Session.create(tmp_path / "other.nodewise", "karate").settings.look_for_classes == 0
        for _ in range(6):
            query = session.ask()
            assert not query.unlike and WHY not in query.why
            answer(session, query, kinds)
        assert session.stop_report().looked_for is None


def test_of_the_listed_rows_the_one_among_most_of_them_is_asked(tmp_path: Path) -> None:
    session, _ = job(tmp_path, look_for_classes=1)
    with session:
        listed = session.unlike_labels()
        neighbours = session.graph.adjacency().toarray() > 0
        most = max(listed, key=lambda node: (neighbours[node, listed].sum(), -listed.index(node)))
        assert session.ask().node == most


def test_the_same_file_asks_the_same_whoever_opens_it(tmp_path: Path) -> None:
    session, kinds = job(tmp_path)
    with session:
        for _ in range(2):
            answer(session, session.ask(), kinds)
        session.backup(tmp_path / "copy.nodewise")
        here = session.ask()
    shutil.copy(tmp_path / "copy.nodewise", tmp_path / "again.nodewise")
    for name in ("copy", "again"):
        with Session.open(tmp_path / f"{name}.nodewise") as other:
            there = other.ask()
            assert there.unlike and (there.node, there.why, there.predicted) == (here.node, here.why, here.predicted)


def test_several_at_once_count_as_one_after_the_other(tmp_path: Path) -> None:
    session, _ = job(tmp_path)
    with session:
        batch = session.ask(7)
        assert [query.unlike for query in batch] == [False, False, True, False, False, True, False]
        assert len({query.node for query in batch}) == 7
        assert [query.unlike for query in session.ask(8)] == [*(query.unlike for query in batch), False]


def test_audit_second_opinions_and_known_rows_are_as_they_were(tmp_path: Path) -> None:
    session, kinds = job(tmp_path, look_for_classes=2, audit=10, redundancy=2, control=50)
    with session:
        free = [node for node in range(90, 120) if node not in session.rules().audit][:12]
        session.set_known({node: "ab"[kinds[node]] for node in free}, "olga", percent=50)
        kept = {*session.rules().audit, *session.rules().known}
        seen = {"audit": 0, "second": 0, "control": 0, "unlike": 0}
        order: list[bool] = []
        for turn in range(60):
            query = session.ask(annotator=("ada", "bo")[turn % 2])
            (body,) = [one.body for one in session.refresh().asked if one.event == query.event]
            if query.audit:
                seen["audit"] += 1
            elif "rank" not in body:
                seen["second"] += 1
            else:
                order.append(query.unlike)
                seen["control"] += "control" in body
                seen["unlike"] += query.unlike
            assert not (query.unlike and (query.node in kept or "control" in body))
            answer(session, query, kinds)
        assert all(seen.values()), seen
        assert not any(order[0::2]), "only every second one of the strategy's, known ones counted"


def test_skipped_rows_are_counted_and_found_nothing(tmp_path: Path) -> None:
    session, _ = job(tmp_path, look_for_classes=1)
    with session:
        session.skip(session.ask().node)
        looked = session.stop_report().looked_for
        assert looked is not None and (looked.answered, looked.skipped, looked.found) == (0, 1, ())
        assert "1 question went to a row unlike everything labelled so far: 0 answered, 1 skipped" in looked.words
        assert looked.words.endswith("they found no class that was new")
        assert session.ask().unlike and session.ask().node not in session.refresh().skipped["me"]


def test_a_job_is_refused_whose_classifier_cannot_tell_which_rows_are_unlike_the_others(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the classifier 'gcn' cannot tell which rows are unlike all labelled ones"):
        small_job(tmp_path / "gcn.nodewise", classifier="gcn", budget=40, look_for_classes=1)
    assert not list(tmp_path.iterdir())


def test_where_it_cannot_be_told_the_strategy_asks_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with job(tmp_path, 10, look_for_classes=1)[0] as session:
        assert not session.ask().unlike, "with so few labels everything is unlike them"
    with monkeypatch.context() as before:  # sessions were made so until it was refused
        before.setattr(Gcn, "capabilities", Gcn.capabilities | {"posterior"})
        small_job(tmp_path / "gcn.nodewise", classifier="gcn", budget=40, look_for_classes=1).close()
    with Session.open(tmp_path / "gcn.nodewise") as session:
        session.tell(list(range(25)), ["a", "b"] * 12 + ["a"])
        assert not session.ask().unlike
        assert any(
            "no question looks for a class" in line and "gcn cannot tell" in line
            for line in session.stop_report().words
        )


def test_a_closed_list_of_classes_leaves_nothing_to_look_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="so there is no other class to look for: leave look_for_classes"):
        job(tmp_path, closed_classes=True)
    assert not (tmp_path / "job.nodewise").exists()
