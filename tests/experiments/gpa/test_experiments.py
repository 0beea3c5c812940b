"""The records of the experiments and of the trainings that they need."""

from __future__ import annotations

import pytest

from nodewise.datasets import dataset_info, default_budget
from nodewise.experiments.gpa import EXPERIMENTS, TRAININGS, Part, Row, find_experiment, paper_statement, paper_tables
from nodewise.experiments.gpa.trainings import AGE_SOURCES, find_training, missing_command
from nodewise.ground.errors import UnknownNameError
from nodewise.policy.policy import PAPER_STATE_FEATURES
from nodewise.strategies import STRATEGIES

PARTS = [(experiment.name, part) for experiment in EXPERIMENTS.values() for part in experiment.parts]


def trainings(row: Row) -> list[str]:
    return [row.training] if isinstance(row.training, str) else [name for _, name in row.training or ()]


def test_every_experiment_is_there() -> None:
    assert set(EXPERIMENTS) == {
        "datasets",
        "same-domain",
        "cross-domain",
        "cross-domain-cora-pubmed",
        "cross-domain-citeseer-pubmed",
        "policy-architecture",
        "state-features",
        "budgets",
        "training-budget",
        "budgets-cora",
        "training-graphs",
        "case-study",
    }


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[f"{name}-{part.title}" for name, part in PARTS])
def test_a_part_names_known_graphs_strategies_and_rows_of_the_paper(name: str, part: Part) -> None:
    labels = [row.label for row in part.rows]
    assert len(set(labels)) == len(labels)
    assert part.against is None or part.against in labels
    for graph in part.graphs:
        assert dataset_info(graph).classes > 1
    for row in part.rows:
        assert row.strategy in STRATEGIES
        if isinstance(row.training, tuple):
            assert tuple(budget for budget, _ in row.training) == part.budgets
        if row.paper is not None and part.table is not None:
            assert row.paper in paper_tables()[part.table].scores
    if part.table is not None:  # nothing that the paper prints is left out
        table = paper_tables()[part.table]
        assert {row.paper for row in part.rows if row.paper} == set(table.scores)
        assert set(part.graphs) == {graph for graphs in table.scores.values() for graph in graphs}


def test_no_graph_is_tested_that_its_policy_was_trained_on() -> None:
    seen = [
        (name, row.label, graph)
        for name, part in PARTS
        for row in part.rows
        for training in trainings(row)
        for graph in part.graphs
        if graph in TRAININGS[training].sources
    ]
    assert not seen


def test_age_takes_its_weights_from_the_graphs_that_gpa_was_trained_on() -> None:
    for name, part in PARTS:
        sources = {
            TRAININGS[training].sources for row in part.rows if row.label == "GPA" for training in trainings(row)
        }
        for row in part.rows:
            if row.age_sources:
                assert sources == {row.age_sources}, name


def test_every_training_is_needed_and_every_one_needed_is_listed() -> None:
    used = {training for _, part in PARTS for row in part.rows for training in trainings(row)}
    assert used == set(TRAININGS) and len(TRAININGS) == 25
    assert {source for _, part in PARTS for row in part.rows for source in row.age_sources} == set(AGE_SOURCES)


def test_trainings_are_the_papers() -> None:
    for training in TRAININGS.values():
        assert training.episodes == paper_statement("policy.episodes") and training.batch == paper_statement(
            "policy.batch"
        )
    settings = find_training("cora+citeseer").settings(
        (default_budget("cora"), default_budget("citeseer")), ("raw", "row+center")
    )
    assert (
        settings.budgets == (35, 30)
        and settings.policy.state.features == PAPER_STATE_FEATURES
        and settings.policy.hidden == 8
    )
    assert find_training("cora+citeseer-mlp").settings((35, 30), ()).policy.architecture == "mlp"
    without = find_training("reddit1+2-without-kl").settings((50, 50), ()).policy.state.features
    assert without == ("entropy", "degree", "labelled")
    assert find_training("reddit1+2-budget10").settings((50, 50), ()).budgets == (10, 10)


def test_budgets_are_the_papers() -> None:
    assert list(EXPERIMENTS["budgets"].parts[0].budgets) == paper_statement("budgets.tested")
    assert list(EXPERIMENTS["budgets-cora"].parts[0].budgets) == paper_statement("budgets-cora.tested")
    rows = {row.label: row for row in EXPERIMENTS["budgets-cora"].parts[0].rows}
    assert (
        dict(rows["GPA"].training or ())[7] == "reddit1+2-budget10"
        and dict(rows["GPA"].training or ())[35] == "reddit1+2"
    )
    assert len(EXPERIMENTS["training-graphs"].parts[0].graphs) == paper_statement("training-graphs.rest")


def test_misspelt_names_are_told() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'case-study'"):
        find_experiment("casestudy")
    with pytest.raises(UnknownNameError, match="did you mean 'cora\\+citeseer'"):
        find_training("cora-citeseer")
    assert missing_command("reddit1", "there") == "nodewise reproduce trainings --only reddit1 --policies there"
