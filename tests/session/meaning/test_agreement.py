"""How far annotators agree, by hand and by scikit-learn."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from nodewise.session.meaning.agreement import cohen_kappa, fleiss_kappa, measure_agreement
from tests.session.jobs import small_job


def test_kappas_by_hand_and_by_scikit_learn() -> None:
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)  # p_o 0.7, p_e 0.5
    assert cohen_kappa(pairs) == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert cohen_kappa([("a", "a")] * 3) is None
    # Fleiss (1971), as Wikipedia works it out: ten nodes, fourteen votes each, five classes
    table = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    overall, classes = fleiss_kappa([Counter(dict(zip("abcde", row, strict=True))) for row in table])
    assert overall == pytest.approx(0.210, abs=5e-4) and set(classes) == set("abcde")
    assert measure_agreement({1: {"ada": "a"}}) is None


def test_kappa_of_each_class_for_two_people_by_hand(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job.nodewise", redundancy=2, classes=["a", "b", "c"])
    for node, (one, other) in enumerate(("aa", "aa", "bb", "ab")):
        session.tell(node, one, "ada")
        session.tell(node, other, "bob")
    kappa = session.status().kappa
    assert kappa is not None
    # a against the rest: both say yes twice, no once, they differ once: p_o = 3/4, p_e = 3/4 * 2/4 + 1/4 * 2/4 = 1/2
    (pair,) = kappa.as_dict()["cohen"]
    assert pair["kappa"] == pytest.approx(0.5) and pair["classes"] == {"a": pytest.approx(0.5), "b": pytest.approx(0.5)}


def test_thirty_thousand_voters_on_one_node_are_counted_and_not_compared_two_by_two() -> None:
    votes = {0: {f"p{number:05}": "ab"[number % 3 == 0] for number in range(30_000)}, 1: {"p00001": "a", "p00002": "b"}}
    found = measure_agreement(votes)
    assert found is not None and len(found.cohen) == 40 * 39 / 2
    assert found.cohen[0][:3] == ("p00000", "p00001", 1)
    assert ("p00001", "p00002", 2) in [pair[:3] for pair in found.cohen]
    same, every = 20_000 * 19_999 + 10_000 * 9_999, 30_000 * 29_999 + 2
    assert found.share == pytest.approx(same / every)


def test_sets_agree_class_by_class() -> None:
    from nodewise.session.meaning.agreement import measure_set_agreement

    votes = {0: {"ada": ["a", "b"], "bob": ["a"]}, 1: {"ada": [], "bob": []}, 2: {"ada": ["b"], "bob": ["b"]}}
    result = measure_set_agreement(votes)
    assert result is not None and result.nodes == 3
    assert result.share == pytest.approx(5 / 6)  # of three nodes and two classes, b at node 0 differs
    # a: both say yes once of three, no disagreement; b: ada twice, bob once
    assert result.classes["a"] == 1.0
    by_hand = 1 - (1 * 1) / (3 * 2 * (3 / 6) * (3 / 6))
    assert result.classes["b"] == pytest.approx(by_hand)
    (one,) = result.cohen
    expected = (1 / 3 * 1 / 3 + 2 / 3 * 2 / 3) + (2 / 3 * 1 / 3 + 1 / 3 * 2 / 3)
    assert one[:3] == ("ada", "bob", 3) and one[3] == pytest.approx((5 / 3 - expected) / (2 - expected))
    assert result.pair_classes[0]["a"] == 1.0
    assert measure_set_agreement({0: {"ada": ["a"]}}) is None
    nothing = measure_set_agreement({0: {"ada": [], "bob": []}})
    assert nothing is not None and nothing.share == 1.0 and nothing.fleiss is None and nothing.cohen[0][3] is None


def test_sets_of_one_class_agree_class_by_class_as_fleiss_says() -> None:
    from nodewise.session.meaning.agreement import measure_agreement, measure_set_agreement

    votes = {0: {"ada": "a", "bob": "b"}, 1: {"ada": "b", "bob": "b"}, 2: {"ada": "c", "bob": "c"}}
    one = measure_agreement(votes)
    sets = measure_set_agreement({node: {who: [said] for who, said in by.items()} for node, by in votes.items()})
    assert one is not None and sets is not None
    assert sets.fleiss == pytest.approx(one.fleiss) and sets.classes == pytest.approx(one.classes)
