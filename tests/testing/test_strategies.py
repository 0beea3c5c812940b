"""The suite of strategies: what keeps the contract passes, and each broken promise is told by its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.contracts import Capability, Observation, Strategy
from nodewise.testing import ContractError, check_strategy


class Margin(Strategy):
    """A strategy that keeps every promise: the smallest gap between the two likeliest classes first."""

    name = "margin"
    recordable = True
    reads_budget = False
    stateless = True

    def scores(self, observation: Observation) -> torch.Tensor:
        best = observation.probabilities.topk(min(2, observation.num_classes), -1).values
        return 1e-6 * observation.noise - (best[..., 0] - best[..., -1])


class Unpicklable(Margin):
    def __reduce__(self) -> str:
        raise TypeError("no copies")


class Unspeakable(Margin):
    def identity(self) -> Mapping[str, Any]:
        return {"weights": torch.zeros(2)}


class Transposed(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return super().scores(observation).T


class Nowhere(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return super().scores(observation) * torch.nan


class Global(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return torch.rand(observation.pool.shape)


class Numpy(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return torch.from_numpy(np.random.rand(*observation.pool.shape))  # noqa: NPY002


class Remembering(Margin):
    """Keeps its state in itself, where a second episode finds it."""

    stateless = False
    recordable = False
    reads_budget = True

    def begin(self, observation: Observation) -> None:
        self.calls = 0

    def scores(self, observation: Observation) -> torch.Tensor:
        self.calls += 1
        return (
            -(torch.arange(observation.graph.num_nodes).float() - 7 * self.calls).abs().expand(observation.pool.shape)
        )


class Together(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return super().scores(observation) * observation.pool.float().mean(0)


class Training(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        scores = super().scores(observation)
        if bool(observation.labelled.any()):
            observation.learner.fit()
        return scores


class Counting(Margin):
    recordable = True

    def scores(self, observation: Observation) -> torch.Tensor:
        return super().scores(observation) * (1 + observation.step_number)


class Spending(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return observation.noise if observation.budget < 5 else super().scores(observation)


class First(Margin):
    """Prefers nodes that come first in the file."""

    def scores(self, observation: Observation) -> torch.Tensor:
        return -torch.arange(observation.graph.num_nodes).float().expand(observation.pool.shape)


class Doubled(Margin):
    capabilities = frozenset[Capability]({"several-queries"})

    def batch(self, observation: Observation, count: int) -> torch.Tensor | None:
        return (
            self.scores(observation)
            .masked_fill(~observation.pool, -torch.inf)
            .argmax(1, keepdim=True)
            .expand(-1, count)
        )


class Secret(Margin):
    """Has what nobody will call."""

    def batch(self, observation: Observation, count: int) -> torch.Tensor | None:
        return None


class Boastful(Margin):
    capabilities = frozenset[Capability]({"several-queries"})


class Mumbling(Margin):
    capabilities = frozenset[Capability]({"random-questions"})

    def why_random(self, observation: Observation) -> str | None:
        return ""


class Misnamed(Margin):
    capabilities = frozenset[Capability]({"own-classifier"})

    def own_classifier(self) -> tuple[str, dict[str, int]]:
        return "gcn", {"hiden": 8}


class Shrinking(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        observation.labelled[:, -1] = True
        return super().scores(observation)


class Counted(Margin):
    """Changes the degrees that every other strategy reads."""

    def begin(self, observation: Observation) -> None:
        observation.graph.degree += 1


class Vague(Margin):
    stateless = "yes"  # type: ignore[assignment]


class Peeking(Margin):
    def scores(self, observation: Observation) -> torch.Tensor:
        return super().scores(observation) + observation.graph.y


@pytest.mark.slow
def test_what_keeps_the_contract_passes() -> None:
    check_strategy(Margin())
    check_strategy("random")
    check_strategy(First(), node_order=False)


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        (Unpicklable, "it can be pickled.*no copies"),
        (Unspeakable, r"identity\(\) gives what JSON can hold"),
        (Transposed, r"scores\(\) is \[run, node\]; got \[60, 3\], not \[3, 60\]"),
        (Nowhere, "a number for every node of the pool"),
        (Global, "global random states"),
        (Numpy, "global random states"),
        (Remembering, "two episodes at the same time do not disturb each other"),
        (Together, "a run asks the same nodes whatever happens in other runs"),
        (Training, "leaves the learner's predictions as they are|disturb|same seed|does not keep"),
        (Counting, "reads observation.step, a tensor, and not step_number"),
        (Spending, "with reads_budget = False"),
        (First, "another order"),
        (Doubled, r"batch\(\) gives different nodes"),
        (Secret, r"add 'several-queries' to capabilities, or call it otherwise; Secret has batch\(\)"),
        (Boastful, r"with the capability 'several-queries' come its methods; Boastful has no batch\(\)"),
        (Mumbling, r"why_random\(\) gives a main clause without a full stop, or None; got ''"),
        (Misnamed, r"own_classifier\(\) names a classifier and its settings; .*hiden"),
        (Shrinking, "changes nothing that it is given, here labelled"),
        (Counted, "changes nothing that it is given, here graph.degree"),
        (Vague, "stateless is True or False; got 'yes'"),
        (Peeking, "it raised AttributeError"),
    ],
)
def test_a_broken_promise_is_told(strategy: type[Strategy], said: str) -> None:
    with pytest.raises(ContractError, match=f"the strategy 'margin' does not keep its contract: .*({said})"):
        check_strategy(strategy())
