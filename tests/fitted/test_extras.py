"""What a learner has beside its labels: models' answers and trust, as a session has them, and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nodewise as nw
from nodewise.fitted.extras import Extras
from nodewise.ground.errors import FittedFileError, InputError
from nodewise.session.meaning import given
from nodewise.session.meaning.trust import LabelTrust
from tests.fitted.test_file import rewritten
from tests.fitted.test_fitted import clouds

CLASSES = ["c0", "c1", "c2"]


def job() -> tuple[nw.Graph, np.ndarray, list[str | None]]:
    """A graph of three clouds, their classes, and a model that is right about most and silent about some."""
    x, y = clouds()
    answers: list[str | None] = [f"c{one}" if i % 7 else "c1" for i, one in enumerate(y)]
    answers[3] = answers[10] = None
    return nw.knn_graph(x, 5), y, answers


def test_models_are_heard_and_labels_doubted_as_in_a_session(tmp_path: Path) -> None:
    graph, y, answers = job()
    labels = {i: f"c{y[i]}" for i in range(12)} | {11: "c0"}
    sure = np.linspace(0.2, 1, 60)
    with nw.Session.create(
        tmp_path / "s.nodewise", graph, budget=20, classes=CLASSES, trust=True, suggestions={"m": (answers, sure)}
    ) as session:
        before = nw.fit(graph, {}, classes=CLASSES, suggestions={"m": (answers, sure)})
        np.testing.assert_allclose(session.predict().probabilities, before.probabilities, atol=1e-6)
        for node, label in labels.items():
            session.tell(node, label)
        fitted = nw.fit(graph, labels, classes=CLASSES, suggestions={"m": (answers, sure)}, trust=True)
        np.testing.assert_allclose(session.predict().probabilities, fitted.probabilities, atol=1e-6)
    assert fitted.label_trust[11] < min(fitted.label_trust[:11]), "the wrong label is trusted least"
    plain = nw.fit(graph, labels, classes=CLASSES)
    assert not np.allclose(plain.probabilities, fitted.probabilities, atol=1e-3)
    assert len(set(fitted.ask(3)) - set(labels)) == 3


def test_before_any_label_a_model_predicts_and_its_classes_are_the_learners() -> None:
    graph, y, answers = job()
    fitted = nw.fit(graph, {}, suggestions={"m": answers})
    assert fitted.classes == ("c0", "c1", "c2") and "with what m said" in repr(fitted)
    assert repr(fitted.extras) == "Extras(58 answers of m; labels count whole)"
    np.testing.assert_array_equal(fitted.probabilities, nw.fit(graph, None, suggestions={"m": answers}).probabilities)
    right = np.mean([label == f"c{one}" for label, one in zip(fitted.predict().labels, y, strict=True)])
    assert right > 0.95, "diffused along the edges it is right about more than it said"
    new, wanted = clouds(30, seed=1)
    assert list(fitted.predict(new).labels) == [f"c{one}" for one in wanted], "rows that no model has seen"
    assert fitted.explain(0) == [] and fitted.leave_one_out is None and len(fitted.label_trust) == 0


def test_answers_that_name_no_class_are_left_out_and_counted() -> None:
    graph, _, answers = job()
    fitted = nw.fit(graph, {0: "c0", 1: "c1"}, classes=["c0", "c1"], suggestions={"m": answers})
    assert fitted.extras.unnamed == (sum(answer == "c2" for answer in answers),)
    with pytest.raises(InputError, match=r"no answer of 'm' names one of the classes \(a\)"):
        nw.fit(graph, {}, classes=["a"], suggestions={"m": answers})


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    graph, y, answers = job()
    trust = {0: 0.25, 1: 1.0}
    fitted = nw.fit(
        graph, {i: f"c{y[i]}" for i in range(5)}, suggestions={"m": (answers, 0.5), "n": {4: "c0"}}, trust=trust
    )
    fitted.save(tmp_path / "m.fitted")
    again = nw.load_fitted(tmp_path / "m.fitted")
    np.testing.assert_array_equal(again.probabilities, fitted.probabilities)
    np.testing.assert_array_equal(again.label_trust, fitted.label_trust)
    assert again.extras.names == ("m", "n") and again.extras.trust is not None
    assert again.extras.trust.trust[:2].tolist() == [0.25, 1.0] and again.ask(2) == fitted.ask(2)
    new = clouds(9, seed=3)[0]
    np.testing.assert_array_equal(again.predict(new).probabilities, fitted.predict(new).probabilities)


def test_a_file_of_the_first_form_is_read(tmp_path: Path) -> None:
    graph, y, _ = job()
    fitted = nw.fit(graph, {i: f"c{y[i]}" for i in range(5)})
    fitted.save(tmp_path / "old.fitted")

    def first_form(told: dict[str, Any]) -> None:
        told["schema"] = 1
        del told["extras"], told["several"]

    rewritten(tmp_path / "old.fitted", first_form)
    np.testing.assert_array_equal(nw.load_fitted(tmp_path / "old.fitted").probabilities, fitted.probabilities)


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["extras"].update(names=["m", "n"]),
        lambda told: told["extras"].update(names=[]),
        lambda told: told["extras"].update(unnamed=[]),
        lambda told: told["extras"].update(unnamed=["x"]),
        lambda told: told.update(extras=[]),
        lambda told: told.update(extras=None),
        lambda told: told.update(several=True),
        lambda told: told["learner"].update(several=True),
        lambda told: told.update(classes=["c0"]),
        lambda told: told.update(labels=[[0, [0]]]),
    ],
)
def test_extras_that_do_not_fit_are_refused_in_a_sentence(tmp_path: Path, change: Any) -> None:
    graph, y, answers = job()
    fitted = nw.fit(graph, {i: f"c{y[i]}" for i in range(3)}, suggestions={"m": answers}, trust=True)
    path = tmp_path / "m.fitted"
    fitted.save(path)
    rewritten(path, change)
    with pytest.raises(FittedFileError, match=r"m\.fitted"):
        nw.load_fitted(path)


def arrays(**changed: Any) -> dict[str, np.ndarray]:
    """Arrays of one model and two nodes."""
    whole = {
        "answers": np.array([[0, -1]], np.int32),
        "confidence": np.ones((1, 2), np.float32),
        "trust": np.ones(2, np.float32),
        "confirmed": np.zeros(2, bool),
    }
    names = {"answers": "model answers", "confidence": "model confidence"}
    names |= {"trust": "label trust", "confirmed": "label confirmed"}
    return {names[key]: np.asarray(value) for key, value in (whole | changed).items()}


TOLD = {"names": ["m"], "unnamed": [0], "trust": True}


@pytest.mark.parametrize(
    "changed",
    [
        {"answers": np.array([[0, 7]], np.int32)},
        {"confidence": np.array([[0.5, np.nan]], np.float32)},
        {"answers": np.array([[0, -2]], np.int32)},
        {"answers": np.array([[0, 1]], np.int64)},
        {"answers": np.array([[0]], np.int32)},
        {"confidence": np.full((1, 2), 2, np.float32)},
        {"confidence": np.ones((2, 2), np.float32)},
        {"trust": np.full(2, -1, np.float32)},
        {"trust": np.full(2, np.nan, np.float32)},
        {"trust": np.ones(3, np.float32)},
        {"trust": np.ones(2)},
        {"confirmed": np.zeros(2, np.int8)},
    ],
)
def test_arrays_of_another_kind_are_refused(changed: dict[str, Any]) -> None:
    assert Extras.unpacked(arrays(), TOLD, 2, 2).names == ("m",)
    with pytest.raises(InputError):
        Extras.unpacked(arrays(**changed), TOLD, 2, 2)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"suggestions": ["c0"] * 60}, "suggestions are a dictionary"),
        ({"suggestions": {"": {0: "c0"}}}, "a model needs a name"),
        ({"suggestions": {"m": {99: "c0"}}}, "no node 99"),
        ({"suggestions": {"m": ({0: "c0"}, 3)}}, "a confidence of 'm' must be a number from 0 to 1, got 3"),
        ({"suggestions": {"m": {0: "c0"}}, "classifier": "gcn"}, "cannot begin with what models say"),
        ({"trust": {0: 2}}, "how far a label is trusted must be a number from 0 to 1, got 2"),
        ({"trust": {0: "much"}}, "trust must be True, a number a node"),
        ({"trust": [1, 1]}, "trust needs a number for each of the 60 nodes"),
        ({"trust": {99: 1}}, "no node 99"),
        ({"trust": True, "classifier": "gcn"}, "cannot let labels that may be wrong count less"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        nw.fit(job()[0], {0: "c0", 1: "c1"}, **given)


def test_a_small_file_of_many_classes_is_refused_before_their_table_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model, a node and a class there is a number each, of which the file spells out none."""
    graph, _, answers = job()
    path = tmp_path / "m.fitted"
    nw.fit(graph, {0: "c0", 30: "c1"}, classes=CLASSES, suggestions={"m": answers}).save(path)
    rewritten(path, lambda told: told["classes"].extend(["x"] * 200_000))
    monkeypatch.setattr(given, "free_memory", lambda: 2**24)
    with pytest.raises(FittedFileError, match="what 1 model may say of 60 nodes and 200,003 classes takes 0.0 GB"):
        nw.load_fitted(path)
    with nw.Session.create(
        tmp_path / "job", graph, budget=5, classes=[f"c{number}" for number in range(100)], suggestions={"m": answers}
    ) as session:
        monkeypatch.setattr(given, "free_memory", lambda: 1000)
        with pytest.raises(InputError, match="GB are free: leave out models, or merge classes"):
            session.ask()


def test_trust_comes_in_every_form() -> None:
    graph, y, _ = job()
    labels, half = {i: f"c{y[i]}" for i in range(9)}, np.ones(60, np.float32)
    half[2] = 0.5
    first = nw.fit(graph, labels, trust={2: 0.5}).probabilities
    for form in (half, half.tolist(), LabelTrust(half, np.zeros(60, bool))):
        np.testing.assert_array_equal(nw.fit(graph, labels, trust=form).probabilities, first)
    assert not np.array_equal(nw.fit(graph, labels).probabilities, first)
