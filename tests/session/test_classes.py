"""Classes keep their numbers: declared, renamed, merged, described and put in order, by several people, with undo."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views.views import ViewsLearner
from nodewise.fitted.jobs import fit_session
from nodewise.graph import Graph
from nodewise.ground.errors import InputError, SessionError, UnknownNameError
from nodewise.session import Session
from nodewise.session.answers import Draft
from nodewise.session.log.log import Log
from tests.session.jobs import small_job


def numbered(session: Session) -> dict[int, str]:
    return {each.number: each.name for each in session.class_list}


def test_a_class_keeps_its_number_whoever_adds_others_and_whatever_is_taken_back(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["alpha", "beta", "gamma"])
    session.add_class("delta")
    session.add_class("eps")
    session.tell(1, "eps")
    assert numbered(session) == {1: "alpha", 2: "beta", 3: "gamma", 4: "delta", 5: "eps"}
    with Session.open(tmp_path / "job") as other:
        other.tell(2, "another of mine", "ada")
        assert (
            numbered(other)
            == numbered(session)
            == {
                1: "alpha",
                2: "beta",
                3: "gamma",
                4: "delta",
                5: "eps",
                6: "another of mine",
            }
        )
        other.undo()
    session.tell(3, "omega")
    assert numbered(session) == {
        1: "alpha",
        2: "beta",
        3: "gamma",
        4: "delta",
        5: "eps",
        7: "omega",
    }  # 6 is never given again
    session.tell(4, "another of mine")
    assert numbered(session)[6] == "another of mine"  # but to the class that had it
    assert (
        session.classes
        == ("alpha", "beta", "gamma", "delta", "eps", "another of mine", "omega")
        == session.predict().classes
    )


def test_a_rename_changes_no_prediction_and_no_query(tmp_path: Path) -> None:
    session, still = small_job(tmp_path / "one"), small_job(tmp_path / "two")
    for job in (session, still):
        job.tell([0, 1, 2, 3], ["a", "b", "c", "a"])
    query = session.ask()
    assert still.ask().node == query.node and "c" in query.predicted
    session.rename_class("c", "sea")
    session.rename_class("a", "bay")
    assert session.ask().predicted == {
        {"a": "bay", "c": "sea"}.get(name, name): chance for name, chance in query.predicted.items()
    }
    assert session.labels == {0: "bay", 1: "b", 2: "sea", 3: "bay"} and session.classes == ("bay", "b", "sea")
    assert session.history == [(0, "bay"), (1, "b"), (2, "sea"), (3, "bay")]
    for job, names in ((session, "bay b sea"), (still, "a b c")):
        job.tell(query.node, names.split()[0])
        job.tell(job.ask().node, names.split()[2])
        assert job.predict().classes == tuple(names.split())
    assert np.array_equal(session.predict().probabilities, still.predict().probabilities)
    reopened = Session.open(tmp_path / "one")
    assert reopened.ask().node == session.ask().node == still.ask().node
    assert np.array_equal(reopened.predict().probabilities, still.predict().probabilities)


def test_a_former_name_means_the_class_that_had_it_until_another_takes_it(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.rename_class("a", "bay")
    session.tell(1, "a")  # from a page that has not been told yet
    assert session.labels == {1: "bay"} and session.classes == ("bay", "b")
    session.add_class("a")
    session.tell(2, "a")
    assert session.labels == {1: "bay", 2: "a"} and numbered(session) == {1: "bay", 2: "b", 3: "a"}
    session.predict()  # two classes that began with one name are told apart
    with pytest.raises(SessionError, match="two classes would be called 'a'"):
        session.undo(1)
    with pytest.raises(InputError, match="to make one class of both, merge them"):
        session.rename_class("a", "bay")
    with pytest.raises(UnknownNameError, match="unknown class 'c'"):
        session.rename_class("c", "d")


@pytest.mark.parametrize("classifier", ["views", "gcn"])
@pytest.mark.parametrize(("merged_class", "into"), [("c", "b"), ("b", "c")])
def test_merged_classes_count_as_one_and_can_be_parted_again(
    tmp_path: Path, classifier: str, merged_class: str, into: str
) -> None:
    session, plain = (
        small_job(tmp_path / "job", classes=["a", "b", "c"], classifier=classifier),
        small_job(tmp_path / "plain", classes=["a", into], classifier=classifier),
    )
    session.tell([0, 1, 2, 3], ["a", "b", "c", "c"])
    before, report = session.predict(), session.stop_report()
    event = session.merge_classes(merged_class, into)
    assert session.labels == {0: "a", 1: into, 2: into, 3: into} and session.classes == ("a", into)
    session.tell(4, merged_class)  # told by its former name
    assert session.labels[4] == into and session.status().balance == {"a": 1, into: 4}
    merged = session.predict()
    assert merged.classes == ("a", into) and np.allclose(merged.probabilities.sum(1), 1, atol=1e-5)
    plain.tell([0, 1, 2, 3, 4], ["a", into, into, into, into])
    # as if there had never been another class: it is not one of those that a prediction is shared out among
    assert np.array_equal(merged.probabilities, plain.predict().probabilities)
    with Session.open(tmp_path / "job") as reopened:
        assert np.array_equal(reopened.predict().probabilities, merged.probabilities)
    assert set(session.ask().predicted) == {"a", into} and session.stop_report().labels == 5
    with pytest.raises(InputError, match="one class already"):
        session.merge_classes(merged_class, into)
    session.undo()
    session.undo(event)
    assert session.labels == {0: "a", 1: "b", 2: "c", 3: "c"} and np.array_equal(
        session.predict().probabilities, before.probabilities
    )
    assert session.stop_report().words == report.words


def test_a_class_of_the_start_may_be_merged_into_one_that_came_later(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["a", "b"], classifier="views")
    session.tell([0, 1, 2], ["a", "later", "b"])
    session.merge_classes("b", "later")
    plain = small_job(tmp_path / "plain", classes=["a", "later"], classifier="views")
    plain.tell([0, 1, 2], ["a", "later", "later"])
    assert session.predict().classes == ("a", "later")
    assert np.array_equal(session.predict().probabilities, plain.predict().probabilities)
    fitted = fit_session(session)
    assert np.allclose(fitted.predict().probabilities, session.predict().probabilities, atol=1e-6)


def test_merges_in_a_circle_by_undone_undos_end(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["a", "b"])
    session.tell([0, 1], ["a", "b"])
    first = session.merge_classes("a", "b")
    session.undo(first)
    undo = session.events[-1].id
    session.merge_classes("b", "a")
    session.undo(undo)  # the first counts again
    assert set(session.labels.values()) == {"b"} and session.classes == ("b",)
    session.predict()


def test_guidelines_order_and_notes(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["a", "b", "c"])
    session.describe_class("b", "  anything with a bell  ")
    session.set_guideline("label what you see")
    session.order_classes(["c", "a"])
    session.add_note(7, "blurred", "ada")
    session.add_note("7", "ask bob")
    with Session.open(tmp_path / "job") as again:
        assert [each.name for each in again.class_list.in_order] == ["c", "a", "b"] and again.classes == ("a", "b", "c")
        assert [each.description for each in again.class_list] == ["", "anything with a bell", ""]
        assert again.guideline == "label what you see" and [(note.annotator, note.text) for note in again.notes[7]] == [
            ("ada", "blurred"),
            ("me", "ask bob"),
        ]
        assert again.status().notes == 2
        assert again.undo().kind == "note" and len(again.notes[7]) == 1
        again.undo(3)
        assert [each.number for each in again.class_list.in_order] == [1, 2, 3]
    for wrong in (["a", "a"], "ab", ["a", "d"]):
        with pytest.raises(InputError):
            session.order_classes(wrong)
    with pytest.raises(InputError, match="at most 20,000"):
        session.add_note(1, "x" * 20_001)


def test_a_log_from_before_there_were_numbers_means_what_it_meant(tmp_path: Path) -> None:
    small_job(tmp_path / "job").close()
    with Log.open(tmp_path / "job") as log:
        log.append(
            [
                Draft("class", "me", {"name": "c"}),
                Draft("tell", "me", {"node": 1, "label": "d"}),
                Draft("tell", "me", {"node": 2, "label": "b"}),
            ]
        )
        log.append([Draft("undo", "me", {"event": 1}), Draft("tell", "me", {"node": 3, "label": "e"})])
    with Session.open(tmp_path / "job") as session:
        assert numbered(session) == {1: "a", 2: "b", 4: "d", 5: "e"} and session.labels == {1: "d", 2: "b", 3: "e"}
        session.tell(4, "f")
        session.rename_class("d", "dee")
        assert numbered(session) == {1: "a", 2: "b", 4: "dee", 5: "e", 6: "f"}
        assert session.predict().classes == ("a", "b", "dee", "e", "f")


def test_a_file_of_the_first_form_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """``first_form.nodewise.gz`` was written when classes had no numbers, by ten answers of two people."""
    path = tmp_path / "job"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("first_form.nodewise.gz").read_bytes()))
    with Session.open(path) as session:
        assert session.labels == {51: "a", 56: "c", 31: "b", 39: "c"} and session.history == [
            (51, "a"),
            (31, "b"),
            (39, "c"),
        ]
        assert (
            numbered(session) == {1: "a", 2: "b", 3: "c", 4: "extra"}
            and session.status().told == 3
            and session.rules().budget == 20
        )
        query = session.ask(annotator="bob")
        assert (query.node, query.event) == (39, 22)  # the query that was open
        expected = [0.8564112186431885, 0.9999966621398926, 0.9575515389442444, 0.9999971389770508, 0.9986240863800049]
        assert np.allclose(session.predict().confidence[:5], expected, atol=1e-5)
        assert int.from_bytes(path.read_bytes()[60:64], "big") == 1
        session.rename_class("c", "sea")
        session.tell_bulk([1, 2], "sea", "bob")
    with Session.open(path) as session:
        assert session.labels[56] == session.labels[1] == "sea" and int.from_bytes(path.read_bytes()[60:64], "big") == 2


def test_a_learner_that_miscounts_its_classes_is_told_by_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = small_job(tmp_path / "job", classifier="views")
    session.tell(0, "a")
    monkeypatch.setattr(ViewsLearner, "num_classes", 9)
    session.tell(0, "a")
    with pytest.raises(
        InputError, match=r"classifier 'views' has 9 classes where 2 are known: reset\(\) must forget those that came"
    ):
        session.predict()


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float32("nan"), "nan", "None", " "])
def test_what_means_unlabelled_is_not_told(tmp_path: Path, nothing: object) -> None:
    session = small_job(tmp_path / "job", classes=["1", "2"])
    with pytest.raises(InputError, match="means unlabelled|needs a name"):
        session.tell(0, nothing)
    with pytest.raises(InputError, match="means unlabelled|needs a name"):
        session.tell([0, 1], ["1", nothing])
    assert session.labels == {} and session.classes == ("1", "2")


@pytest.mark.parametrize("wrong", [True, np.bool_(False), b"1", {"label": "1"}, object])
def test_what_is_no_name_is_not_told(tmp_path: Path, wrong: object) -> None:
    session = small_job(tmp_path / "job", classes=["1", "2"])
    for tell in (session.tell, session.tell_bulk):
        with pytest.raises(TypeError, match="a class is named by a text or a whole number"):
            tell([0], [wrong])
    with pytest.raises(TypeError, match="a class is named by a text"):
        session.add_class(wrong)  # type: ignore[arg-type]
    assert session.labels == {} and session.classes == ("1", "2")


def test_a_number_is_the_class_of_its_digits_however_it_is_given(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=[1.0, np.int64(2)])
    session.tell(range(5), [1, 1.0, "1", "1.0", np.float32(2)])
    assert session.classes == ("1", "2") and list(session.labels.values()) == ["1"] * 4 + ["2"]
    with pytest.raises(TypeError, match="a class is named by"):
        small_job(tmp_path / "other", classes=[True, False])


def test_a_closed_list_of_classes_takes_no_other(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["spam", "fine"], closed_classes=True)
    session.tell(0, "spam")
    for label, new_class in (("spamm", False), ("spamm", True), ("other", True)):
        with pytest.raises(UnknownNameError, match="its list of classes is closed") as refused:
            session.tell(1, label, new_class=new_class)
        assert ("did you mean 'spam'" in str(refused.value)) == (label == "spamm")
        with pytest.raises(UnknownNameError, match="its list of classes is closed"):
            session.add_class(label, new_class=new_class)
        with pytest.raises(UnknownNameError, match="its list of classes is closed"):
            session.tell_bulk([1, 2], label, new_class=new_class)
    session.rename_class("spam", "junk")
    session.tell(1, "junk")
    session.tell(2, "spam")  # by its former name
    assert session.classes == ("junk", "fine")
    with Session.open(tmp_path / "job") as again, pytest.raises(UnknownNameError, match="closed"):
        again.tell(3, "third")


def test_a_closed_list_takes_no_other_from_answers_that_are_known_or_a_models(tmp_path: Path) -> None:
    with small_job(tmp_path / "job", classes=["spam", "fine"], closed_classes=True, control=10) as session:
        with pytest.raises(UnknownNameError, match="did you mean 'spam'.*its list of classes is closed"):
            session.set_known({0: "spamm", 1: "fine"})
        assert session.events == ()
        session.suggest("a model", {0: "spamm", 1: "fine", 2: "other"})
        assert session.classes == ("spam", "fine")
        assert [bool(said) for said in session.predict().suggestions["a model"][:3]] == [False, True, False]


def test_a_list_can_be_closed_only_where_it_holds_every_class(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="to be closed, but it is empty: name the classes"):
        small_job(tmp_path / "job", classes=None, closed_classes=True)
    graph = Graph.build([[0, 1, 2], [1, 2, 3]], 4, y=["spam", "fine", None, None])
    with pytest.raises(UnknownNameError, match="unknown class 'spam': did you mean 'spams'.*labels of it.*add it"):
        Session.create(tmp_path / "job", graph, budget=1, classes=["spams", "fine"], closed_classes=True)
    assert list(tmp_path.iterdir()) == []
    with Session.create(tmp_path / "job", graph, budget=1, closed_classes=True) as session:
        assert session.classes == ("fine", "spam")
