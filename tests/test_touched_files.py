"""How many files a new strategy, classifier, data set … is written into: the table of docs/architecture.md is true."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import nodewise as nw
from nodewise.classifiers import CLASSIFIERS
from nodewise.cli import main
from nodewise.contracts import Classifier, Learner
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import policy, register_state_feature
from nodewise.session.settings import NewSettings, settings_of
from nodewise.strategies import STRATEGIES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "nodewise"
GOALS = {
    "strategy": 2,
    "classifier": 2,
    "data set": 1,
    "view": 1,
    "state feature": 1,
    "session setting": 2,
    "studio panel": 4,
    "HTTP route": 2,
}


def rows() -> dict[str, tuple[list[str], str]]:
    """By kind: the files, and the example as the table has it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("<!-- touched -->")[2].partition("<!-- /touched -->")[0]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.strip().splitlines()[2:]]
    return {kind: (re.findall(r"`([\w/.]+)`", files), example) for kind, files, example in cells}


def naming(name: str) -> set[str]:
    """The files of the package that hold a name, the paper's experiments aside."""
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    files = [path for ending in ("py", "js", "css", "html", "json") for path in PACKAGE.rglob(f"*.{ending}")]
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in files
        if "experiments" not in path.parts and word.search(path.read_text(encoding="utf-8"))
    }


def test_every_kind_is_on_the_page_with_at_most_as_many_files_as_is_wanted() -> None:
    assert {kind: len(files) <= GOALS[kind] for kind, (files, _) in rows().items()} == dict.fromkeys(GOALS, True)


@pytest.mark.parametrize("kind", [kind for kind in GOALS if kind != "classifier"])
def test_an_example_is_named_in_the_files_of_the_table_and_nowhere_else(kind: str) -> None:
    files, example = rows()[kind]
    (name,) = re.findall(r"^`(.+)`$", example)
    style = {file for file in files if file.endswith(".css")}  # it knows the panel's class, not the function
    assert naming(name) == set(files) - style
    assert all((PACKAGE / file).is_file() for file in files)


def test_the_registered_name_of_a_strategy_stands_in_one_file_more_which_has_its_words_for_the_form() -> None:
    files, example = rows()["strategy"]
    (name,) = [name for name, made in STRATEGIES.items() if example == f"`{made.__name__}`"]
    assert naming(name) == {*files, "session/settings.py"}


@dataclass(frozen=True)
class Guess(Classifier):
    """A classifier that predicts the first class, as a new one would be written."""

    name = "guess"
    trained = False

    def start(self, graph: GraphTensors, prepared: object, runs: int, classes: int, budget: int) -> Learner:
        """Runs that learn nothing."""
        return GuessLearner(graph, runs, classes)


class GuessLearner(Learner):
    """Runs that predict the first class."""

    def __init__(self, graph: GraphTensors, runs: int, classes: int) -> None:
        self.graph, self.runs, self.num_classes = graph, runs, max(1, classes)

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Nothing to learn."""

    def fit(self) -> None:
        """Nothing to learn."""

    def logits(self) -> torch.Tensor:
        """The first class for every node: [run, node, class]."""
        scores = torch.zeros(self.runs, self.graph.num_nodes, self.num_classes, device=self.graph.device)
        scores[..., 0] = 1.0
        return scores


def test_a_classifier_that_its_room_lists_is_known_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """One entry in `CLASSIFIERS`, beside its own file, is all: simulation, session, command line and form know it."""
    monkeypatch.setitem(CLASSIFIERS, "guess", Guess)
    assert nw.evaluate("wine", "random", classifier="guess", budget=5, runs=2).classifier == "guess"
    with nw.Session.create(tmp_path / "job.nodewise", "wine", budget=2, classifier="guess", use_labels=False) as job:
        job.tell(job.ask().node, "class_1")
        assert job.settings.classifier == "guess" and job.predict().probabilities.argmax(1).max() == 0
    assert main(["evaluate", "wine", "--strategy", "random", "--classifier", "guess", "--runs", "2"]) == 0
    assert (
        main(["session", "new", str(tmp_path / "other.nodewise"), "wine", "--budget", "2", "--classifier", "guess"])
        == 0
    )
    (setting,) = [one for one in settings_of(NewSettings) if one.name == "classifier"]
    assert "guess" in setting.choices()
    capfd.readouterr()


def test_a_state_feature_that_is_registered_is_known_to_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "STATE_FEATURES", dict(policy.STATE_FEATURES))
    register_state_feature("one")(lambda observation, settings: torch.ones(()))
    own = policy.Policy(policy.PolicySettings(state=policy.StateSettings(features=("entropy", "one"))), seed=0)
    assert nw.evaluate("wine", own, budget=3, runs=2).runs == 2
