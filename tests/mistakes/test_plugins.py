"""Mistakes in strategies and classifiers of one's own, and in wrapping those of others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

import nodewise as nw
from nodewise.classifiers import Committee, Gcn, SklearnClassifier, TorchClassifier
from nodewise.contracts import Learner
from tests.mistakes.telling import GRAPH, KARATE, Mistake, World, is_refused, message


class Flat(nw.Strategy):
    name = "flat"

    def scores(self, observation: Any) -> torch.Tensor:
        return torch.zeros(observation.pool.shape)


class NotNumbers(nw.Strategy):
    name = "not-numbers"

    def scores(self, observation: Any) -> torch.Tensor:
        return torch.full(observation.pool.shape, torch.nan)


class WrongShape(nw.Strategy):
    name = "wrong-shape"

    def scores(self, observation: Any) -> torch.Tensor:
        return torch.zeros(3)


def test_scores_that_are_no_numbers_or_have_another_shape() -> None:
    assert "'not-numbers' gave scores that are not numbers" in message(
        lambda: nw.evaluate(GRAPH, NotNumbers(), budget=3, runs=1)
    )
    assert "'wrong-shape' gave scores of shape [3]" in message(
        lambda: nw.evaluate(GRAPH, WrongShape(), budget=3, runs=1)
    )


class NoTensor(nw.Strategy):
    name = "no-tensor"

    def scores(self, observation: Any) -> Any:
        return observation.noise.numpy()


@dataclass(frozen=True)
class Odd(nw.Classifier):
    """A classifier whose learners give whatever it is made with instead of logits."""

    name, trained = "odd", False
    gives: str = "logits"

    def start(self, graph: Any, prepared: Any, runs: int, classes: int, budget: int) -> Any:
        return OddLearner(self.gives, torch.zeros(runs, graph.num_nodes, classes))


class OddLearner(Learner):
    def __init__(self, gives: str, zeros: torch.Tensor) -> None:
        self.gives, self.zeros = gives, zeros

    def reset(self, seed: int) -> None:
        self.num_classes = self.zeros.shape[-1]

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        pass

    def fit(self) -> None:
        pass

    def logits(self) -> Any:
        if self.gives == "more classes":
            return torch.cat([self.zeros, self.zeros], -1)
        return {
            "logits": self.zeros,
            "nan": self.zeros + torch.nan,
            "array": self.zeros.numpy(),
            "one run": self.zeros[0],
        }[self.gives]


def test_what_a_strategy_or_learner_gives_that_is_none_is_told_and_not_scored() -> None:
    assert "'no-tensor' gave scores as ndarray" in message(lambda: nw.evaluate(GRAPH, NoTensor(), budget=3, runs=1))
    shape = [1, GRAPH.num_nodes, GRAPH.num_classes]
    assert nw.evaluate(GRAPH, "random", classifier=Odd(), budget=3, runs=1).classifier == "odd"
    for gives, said in (
        ("nan", "OddLearner gave logits that are not numbers"),
        ("array", f"gave logits as ndarray: they must be a tensor [run, node, class], here {shape}"),
        ("one run", f"gave logits of shape {shape[1:]}: they must be"),
        ("more classes", f"gave logits of shape {[*shape[:2], 2 * shape[2]]}: they must be"),
    ):
        assert said in message(
            lambda gives=gives: nw.evaluate(GRAPH, "random", classifier=Odd(gives), budget=3, runs=1)
        )


def test_a_class_that_cannot_be_made_and_a_file_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Needy(Flat):
        def __init__(self, weight: float) -> None:
            self.weight = weight

    assert "the strategy 'Needy' could not be made with {}" in message(lambda: nw.evaluate(GRAPH, Needy))  # type: ignore[arg-type]
    (tmp_path / "half_written.py").write_text("\nundefined_name\n")
    info = tmp_path / "half-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[nodewise.strategies]\nhalf = half_written:Half\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("half_written:Half", "half"):
        said = message(lambda name=name: nw.evaluate(GRAPH, name))
        assert (
            f"the strategy {name!r}" in said
            and "(NameError: name 'undefined_name' is not defined, half_written.py line 2): mend" in said
        )


def test_two_classifiers_of_one_name_are_told_apart_by_their_settings() -> None:
    several = [Gcn(hidden=4), Gcn(hidden=5), Odd()]
    table = nw.compare(GRAPH, "random", classifiers=several, budgets=2, runs=1)
    names = [setting.classifier for setting in table.settings]
    assert len(set(names)) == 3 and "hidden=4" in names[0] and "hidden=5" in names[1] and names[2] == "odd"
    assert "each classifier only once, got gcn, gcn" in message(
        lambda: nw.compare(GRAPH, "random", classifiers=["gcn", Gcn()], budgets=2, runs=1)
    )
    assert "Method(strategy, name=…)" in message(lambda: nw.compare(GRAPH, [Flat(), Flat()]))


def test_flat_scores_are_warned_of_once_and_noise_mends_them() -> None:
    class Mended(Flat):
        def scores(self, observation: Any) -> torch.Tensor:
            return super().scores(observation) + observation.noise

    with pytest.warns(UserWarning, match="'flat' asked nodes in the order of their numbers.*observation.noise"):
        nw.evaluate(GRAPH, Flat(), budget=6, runs=2)
    with pytest.warns(UserWarning, match="'flat' asked nodes in the order of their numbers"):
        nw.compare(GRAPH, ["random", Flat()], budgets=6, runs=2)
    nw.evaluate(GRAPH, Mended(), budget=6, runs=2)


class Nameless(nw.Strategy):
    def scores(self, observation: Any) -> torch.Tensor:
        return observation.noise


class NamelessClassifier(nw.Classifier):
    def start(self, graph: Any, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        raise NotImplementedError


MISTAKES: list[Mistake] = [
    (
        "a strategy without a name",
        lambda w: nw.evaluate(KARATE, Nameless()),
        ValueError,
        "the strategy Nameless has no name: write one in its class, such as nam",
    ),
    (
        "a classifier without a name",
        lambda w: nw.evaluate(KARATE, classifier=NamelessClassifier()),
        ValueError,
        "the classifier NamelessClassifier has no name: write one in its class,",
    ),
    (
        "no estimator in a wrapped classifier",
        lambda w: SklearnClassifier("logistic"),
        ValueError,
        "'logistic' is no estimator as scikit-learn has them: give an object wi",
    ),
    (
        "no network in a wrapped classifier",
        lambda w: nw.evaluate(KARATE, "random", classifier=TorchClassifier(3), budget=3, runs=1),
        ValueError,
        "3 is no network: give one, or a class or function that makes one of th",
    ),
    (
        "a committee of nobody",
        lambda w: Committee([]),
        ValueError,
        "a committee has a member at least: give a classifier and a size, or se",
    ),
    (
        "names in place of a committee's members",
        lambda w: Committee(["viws"]),
        ValueError,
        "a committee's members are classifiers, got ['viws']",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_python_is_told(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(mistake, world, monkeypatch)
