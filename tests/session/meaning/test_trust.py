"""How far annotators and their labels are trusted, from the votes alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.session.meaning.trust import annotator_trust, label_trust
from nodewise.testing.promises import small_graph


def test_who_has_few_nodes_in_common_with_others_is_trusted_whole() -> None:
    votes = {0: {"a": "x", "b": "y"}, 1: {"a": "x"}, 2: {"c": "x"}}
    assert annotator_trust(votes) == {"a": 1.0, "b": 1.0, "c": 1.0}


def test_who_contradicts_the_others_more_often_than_they_each_other_is_trusted_less() -> None:
    votes = {node: {"a": "x", "b": "x", "c": "y" if node % 2 else "x"} for node in range(60)}
    trust = annotator_trust(votes)
    assert trust["a"] == trust["b"] == 1.0
    assert 0.2 < trust["c"] < 0.8


def test_two_people_alone_cannot_tell_which_of_them_is_wrong() -> None:
    trust = annotator_trust({node: {"a": "x", "b": "y" if node % 3 else "x"} for node in range(60)})
    assert trust == {"a": 1.0, "b": 1.0}


def test_a_label_is_trusted_by_its_voters_and_confirmed_by_two_or_by_a_decision(tmp_path: Path) -> None:
    with nw.Session.create(
        tmp_path / "job.nodewise", "wine", budget=100, redundancy=3, use_labels=False, classes=["x", "y"]
    ) as session:
        for node in range(30):
            session.tell(node, "x", "a")
            session.tell(node, "x", "b")
            session.tell(node, "y" if node % 2 else "x", "c")
        session.tell(40, "x", "c")
        session.tell(41, "x", "a")
        session.tell(42, "x", "c", overrule=True)
        found = label_trust(session.refresh(), session.graph.num_nodes)
    assert found.trust[40] == pytest.approx(annotator_trust(session._history.votes)["c"]) and found.trust[40] < 1
    assert found.trust[41] == found.trust[0] == found.trust[100] == 1
    assert found.confirmed[0] and found.confirmed[42] and not found.confirmed[[40, 41, 100]].any()


def test_a_bad_annotator_is_found_out_and_does_less_harm(tmp_path: Path) -> None:
    """Five simulated people share 30 nodes; four are right nine times in ten, the fifth says red, here and alone."""
    graph = small_graph(nodes=300)
    assert graph.y is not None
    rng = np.random.default_rng(0)
    names = ["red", "green", "blue"]

    def says(node: int, right: float) -> str:
        guess = int(rng.integers(3)) if right else 0
        return names[int(graph.y[node]) if rng.random() < right else guess]  # type: ignore[index]

    order = rng.permutation(300).tolist()
    together, by_good, by_bad = order[:30], order[30:40], order[40:80]
    people = {"ada": 0.9, "bob": 0.9, "dan": 0.9, "eve": 0.9, "cy": 0.0}
    told = [(node, says(node, share), who) for node in together for who, share in people.items()]
    told += [(node, says(node, 0.9), "ada") for node in by_good] + [(node, says(node, 0), "cy") for node in by_bad]
    right: dict[bool, float] = {}
    for trust in (False, True):
        options = {"budget": 200, "redundancy": 5, "classes": names, "use_labels": False, "trust": trust}
        with nw.Session.create(tmp_path / f"{trust}.nodewise", graph, **options) as session:
            for node, label, who in told:
                session.tell(node, label, who)
            found = annotator_trust(session.refresh().votes)
            hits = [names.index(session.predict().names[node]) == graph.y[node] for node in order[160:]]
            right[trust] = float(np.mean(hits))
            listed = {each.node for each in session.likely_mistakes(30)}
    assert all(found[who] == 1 for who in people if who != "cy") and found["cy"] < 0.5, found
    assert right[True] > right[False] + 0.2, right
    wrong = {node for node, label, who in told if who == "cy" and label != names[int(graph.y[node])]}
    assert len(listed & wrong & set(by_bad)) >= 20
