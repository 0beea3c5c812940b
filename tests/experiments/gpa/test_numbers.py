"""The paper as data, against numbers copied by hand from its pages."""

from __future__ import annotations

import pytest

from nodewise.datasets import dataset_info
from nodewise.experiments.gpa.numbers import dataset_rows, paper_statement, paper_statements, paper_table, paper_tables
from nodewise.ground.errors import UnknownNameError


@pytest.mark.parametrize(
    ("table", "method", "graph", "micro", "macro"),
    [
        ("same-domain", "Random", "reddit3", 88.21, 87.30),
        ("same-domain", "Uncertainty", "reddit5", 73.27, 63.67),
        ("same-domain", "Centrality", "reddit4", 83.43, 75.96),
        ("same-domain", "Coreset", "reddit3", 78.34, 76.11),
        ("same-domain", "AGE", "reddit4", 87.55, 84.39),
        ("same-domain", "ANRMAB", "reddit5", 83.65, 79.99),
        ("same-domain", "GPA", "reddit3", 92.85, 92.53),
        ("same-domain", "GPA", "reddit5", 91.60, 91.38),
        ("cross-domain", "Random", "pubmed", 68.35, 67.57),
        ("cross-domain", "Random", "coauthor-physics", 82.03, 70.77),
        ("cross-domain", "Random", "coauthor-cs", 84.70, 70.57),
        ("cross-domain", "AGE", "pubmed", 74.78, 73.26),
        ("cross-domain", "AGE", "coauthor-physics", 84.68, 77.25),
        ("cross-domain", "AGE", "coauthor-cs", 86.33, 80.63),
        ("cross-domain", "ANRMAB", "coauthor-cs", 86.63, 79.00),
        ("cross-domain", "ANRMAB", "reddit1", 81.25, 79.43),
        ("cross-domain", "GPA", "pubmed", 77.80, 75.66),
        ("cross-domain", "GPA", "coauthor-physics", 88.08, 82.82),
        ("cross-domain", "GPA", "coauthor-cs", 87.90, 84.99),
        ("policy-architecture", "GCN", "reddit2", 95.19, 95.00),
        ("policy-architecture", "MLP", "pubmed", 70.49, 70.08),
        ("policy-architecture", "MLP", "coauthor-cs", 88.53, 85.91),
        ("state-features", "full", "reddit4", 91.57, 89.46),
        ("state-features", "without entropy", "reddit4", 90.12, 86.94),
        ("state-features", "without degree", "reddit4", 91.48, 89.55),
        ("state-features", "without kl", "reddit3", 92.76, 92.47),
        ("state-features", "without indicator", "reddit5", 90.72, 90.41),
        ("cross-domain-cora-pubmed", "Random", "coauthor-physics", 84.81, 71.49),
        ("cross-domain-cora-pubmed", "Random", "citeseer", 59.74, 52.71),
        ("cross-domain-cora-pubmed", "AGE", "citeseer", 65.60, 58.43),
        ("cross-domain-cora-pubmed", "ANRMAB", "citeseer", 62.87, 55.90),
        ("cross-domain-cora-pubmed", "GPA", "coauthor-cs", 88.15, 85.24),
        ("cross-domain-citeseer-pubmed", "Random", "cora", 66.85, 60.95),
        ("cross-domain-citeseer-pubmed", "AGE", "cora", 70.08, 66.94),
        ("cross-domain-citeseer-pubmed", "ANRMAB", "cora", 68.50, 63.07),
        ("cross-domain-citeseer-pubmed", "GPA", "cora", 73.40, 71.22),
        ("cross-domain-citeseer-pubmed", "GPA", "coauthor-physics", 87.06, 81.20),
    ],
)
def test_scores_are_those_of_the_page(table: str, method: str, graph: str, micro: float, macro: float) -> None:
    assert (paper_table(table).score(method, graph), paper_table(table).score(method, graph, "macro_f1")) == (
        micro,
        macro,
    )


def test_every_cell_of_every_table_is_there() -> None:
    sizes = {
        name: sum(len(metrics) for graphs in t.scores.values() for metrics in graphs.values())
        for name, t in paper_tables().items()
    }
    assert sizes == {
        "same-domain": 7 * 3 * 2,
        "cross-domain": 4 * 8 * 2,
        "policy-architecture": 2 * 8 * 2,
        "state-features": 5 * 3 * 2,
        "cross-domain-cora-pubmed": 4 * 8 * 2,
        "cross-domain-citeseer-pubmed": 4 * 8 * 2,
    }
    assert sorted(table.number for table in paper_tables().values()) == [1, 2, 3, 4, 6, 7]


def test_what_the_paper_repeats_is_the_same_here() -> None:
    gpa, gcn = paper_table("cross-domain").scores["GPA"], paper_table("policy-architecture").scores["GCN"]
    assert gpa == gcn
    assert paper_table("same-domain").scores["GPA"] == paper_table("state-features").scores["full"]
    for graph in ("reddit1", "coauthor-physics", "coauthor-cs"):
        assert (
            paper_table("cross-domain-cora-pubmed").scores["Random"][graph]
            == paper_table("cross-domain-citeseer-pubmed").scores["Random"][graph]
        )


def test_gpa_is_the_best_everywhere_but_on_citeseers_macro_f1() -> None:
    beaten = []
    for name in ("same-domain", "cross-domain", "cross-domain-cora-pubmed", "cross-domain-citeseer-pubmed"):
        table = paper_table(name)
        for graph in table.scores["GPA"]:
            for metric in ("micro_f1", "macro_f1"):
                best = max(table.scores, key=lambda method: table.scores[method][graph][metric])
                if best != "GPA":
                    beaten.append((name, graph, metric, best))
    assert beaten == [("cross-domain-cora-pubmed", "citeseer", "macro_f1", "AGE")]


def test_statements_of_the_text() -> None:
    assert [paper_statement(f"case-study.{name}") for name in ("gpa", "centrality", "age", "random")] == [
        90.41,
        84.13,
        86.35,
        84.74,
    ]
    assert (paper_statement("budgets.random-at-100"), paper_statement("budgets.gpa-as-random-at-100")) == (90.0, 30)
    assert (paper_statement("budgets.age-at-100"), paper_statement("budgets.gpa-as-age-at-100")) == (91.7, 50)
    assert paper_statement("budgets.tested") == [10, 20, 30, 50, 100] and paper_statement("budgets-cora.tested") == [
        7,
        14,
        21,
        35,
        70,
    ]
    assert all(one.place and one.what for one in paper_statements().values())
    with pytest.raises(UnknownNameError, match="did you mean"):
        paper_statement("budgets.random-at-10")


def test_the_table_of_graphs() -> None:
    rows = {row.graph: row for row in dataset_rows()}
    assert (rows["citeseer"].nodes, rows["citeseer"].edges) == (3327, 4676)
    assert (rows["pubmed"].nodes, rows["pubmed"].edges) == (19718, 44327)
    assert (rows["reddit"].nodes, rows["reddit"].edges, rows["reddit"].budget) == (4017.6, 28697.6, 50)
    for name, row in rows.items():
        if name != "reddit":
            assert dataset_info(name).budget == row.budget and dataset_info(name).classes == row.classes


def test_reddits_means_are_those_of_its_five_graphs() -> None:
    five = [dataset_info(f"reddit{i}") for i in range(1, 6)]
    assert sum(one.nodes or 0 for one in five) / 5 == pytest.approx(paper_statement("reddit.nodes"))
    assert sum(one.edges or 0 for one in five) / 5 == pytest.approx(paper_statement("reddit.edges"))


def test_an_unknown_table_is_told() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'cross-domain'"):
        paper_table("crossdomain")
