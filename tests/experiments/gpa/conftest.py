"""A data folder of small generated graphs under the names of the paper's, and policies that nobody trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.datasets import synthetic_graph
from nodewise.experiments.gpa import EXPERIMENTS, TRAININGS
from nodewise.experiments.gpa.trainings import AGE_SOURCES, age_budgets
from nodewise.graph import write_graph
from nodewise.policy import Policy, save_policy


@pytest.fixture(scope="session")
def small_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every graph of the experiments, 260 nodes each, and the case study with 85."""
    folder = tmp_path_factory.mktemp("data")
    names = {graph for experiment in EXPERIMENTS.values() for part in experiment.parts for graph in part.graphs}
    sources = {source for training in TRAININGS.values() for source in training.sources}
    for seed, name in enumerate(sorted(names | sources)):
        nodes = 85 if name == "reddit-case-study" else 260
        graph = synthetic_graph(nodes=nodes, classes=3, mean_degree=4, features=6, seed=seed, name=name)
        write_graph(graph, folder / f"{name}.npz")
    return folder


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for every policy and for AGE's weights on every source graph."""
    folder = tmp_path_factory.mktemp("policies")
    for seed, (name, training) in enumerate(TRAININGS.items()):
        save_policy(Policy(training.settings((5,), ("raw",)).policy, seed=seed), folder / f"{name}.safetensors")
    for place, source in enumerate(AGE_SOURCES):
        found = {"weights": [0.1 * place, 0.5, 1.0], "basef": 0.9 + 0.01 * place}
        (folder / f"age-{source}.json").write_text(
            json.dumps({"budgets": {str(budget): found for budget in age_budgets(source)}})
        )
    return folder
