"""Committees."""

from __future__ import annotations

import dataclasses
from functools import partial

import pytest
import torch
from sklearn.tree import DecisionTreeClassifier
from torch_geometric.nn import GCN

import nodewise as nw
from nodewise.classifiers import Committee, Gcn, SklearnClassifier, TorchClassifier, Views
from nodewise.contracts import can
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.plugins import identity_of
from nodewise.testing import check_classifier

TREE = SklearnClassifier(DecisionTreeClassifier(max_features=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "members", [TREE, [Views(), TREE], [Gcn(hidden=8), Gcn(hidden=8)]], ids=["trees", "both", "gcn"]
)
def test_committees_keep_the_contract(members: object) -> None:
    check_classifier(Committee(members, size=2), node_order=False)  # type: ignore[arg-type]


def test_members_differ_and_the_mean_of_their_probabilities_counts() -> None:
    graph = GraphTensors(nw.load_graph("wine"))
    committee = Committee(TREE, size=4)
    learner = committee.start(graph, committee.prepare(graph), 1, 3, 6)
    learner.reset(3)
    learner.add(torch.tensor([[0, 5, 70, 80, 160, 170]]), torch.tensor([[0, 0, 1, 1, 2, 2]]))
    alone = learner.member_probabilities()  # type: ignore[attr-defined]
    assert alone.shape == (1, 178, 4, 3) and not torch.equal(alone[:, :, 0], alone[:, :, 1])
    torch.testing.assert_close(learner.logits().softmax(-1), alone.mean(2), atol=1e-5, rtol=1e-4)


def test_bald_asks_where_the_members_disagree() -> None:
    result = nw.evaluate("wine", "bald", classifier=Committee(TREE, size=3), budget=6, runs=2)
    beside = nw.evaluate("wine", "bald", classifier=TREE, budget=6, runs=2)
    assert result.queries.tolist() != beside.queries.tolist(), "beside a single one bald draws members of its own"


def test_it_can_do_what_all_members_can_and_is_called_by_them() -> None:
    network = TorchClassifier(partial(GCN, hidden_channels=4, num_layers=2), epochs=2, anew=False)
    mixed = Committee([TREE, network])
    assert mixed.name == "DecisionTreeClassifier + GCN" and mixed.trained and not can(mixed, "grow-classes")
    assert can(Committee(TREE), "grow-classes") and Committee(TREE).name == "5 x DecisionTreeClassifier"
    assert identity_of(mixed).storable
    with pytest.raises(InputError, match="a committee has a member at least"):
        Committee([])
    with pytest.raises(InputError, match="members are classifiers, received 'views': give one"):
        Committee("views")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"a whole number, received 2\.5"):
        Committee(TREE, size=2.5)  # type: ignore[arg-type]


def test_members_that_read_weights_are_given_them() -> None:
    committee = Committee(Views(), size=2)
    assert can(committee, "weights") and not can(
        Committee([Views(), TorchClassifier(torch.nn.Linear(2, 2))]), "weights"
    )
    graph = nw.load_graph("sbm-weighted")
    plain = dataclasses.replace(graph, edge_weight=None)
    found = [nw.evaluate(one, "random", classifier=committee, budget=12, runs=1).micro_f1 for one in (graph, plain)]
    assert found[0] > found[1] + 20
