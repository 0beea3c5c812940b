"""Training a policy: it learns what is known to be best, follows its seed, refuses what cannot work; its sampling, and
its arithmetic by hand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation
from nodewise.datasets import library_graph
from nodewise.environment import Environment, draw_splits, f1_scores, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.events import Event, Note, Progress
from nodewise.policy import Policy, PolicySettings, load_policy
from nodewise.policy.policy import StateSettings, state
from nodewise.training import RunningScale, TrainingSettings, policy_loss, stepwise_returns, train_policy
from nodewise.training.reinforce import Explorer, _play, _Source, _update
from tests.environment.fixed import environment_of
from tests.learners import learner
from tests.small_graphs import random_graph
from tests.training.toy import chance_of_members, communities_and_loners

SHORT: dict[str, Any] = {"episodes": 14, "batch": 3, "classifier": Gcn(closing_epochs=2), "device": "cpu"}


def same_weights(one: Policy, other: Policy) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["trajectory", "stepwise"])
@pytest.mark.parametrize("architecture", ["gcn", "mlp"])
def test_the_best_nodes_of_a_toy_are_learned(architecture: str, reward: str) -> None:
    graph, settings = communities_and_loners(), PolicySettings(architecture)  # type: ignore[arg-type]
    fresh = Policy(settings, derive_seed(1, "policy"))
    assert 0.4 < chance_of_members(fresh, graph) < 0.6
    trained = train_policy(
        [graph],
        budgets=(3,),
        episodes=100,
        batch=10,
        classifier=Gcn(closing_epochs=8),
        seed=1,
        device="cpu",
        policy=settings,
        reward=reward,
    )
    assert chance_of_members(trained, graph) > 0.9
    assert chance_of_members(trained, communities_and_loners(seed=5)) > 0.9  # on a graph that it has never seen


@pytest.mark.gpu
def test_the_toy_is_learned_on_a_gpu() -> None:
    graph = communities_and_loners()
    trained = train_policy(
        [graph], budgets=(3,), episodes=150, batch=10, classifier=Gcn(closing_epochs=8), seed=1, device="cuda"
    )
    assert chance_of_members(trained.cpu(), graph) > 0.9


@pytest.mark.slow
def test_the_same_seed_gives_the_same_policy_to_the_bit_and_another_one_another() -> None:
    graphs = [communities_and_loners(), random_graph("offset")]
    logs: list[list[dict[str, Any]]] = [[], [], []]
    one, same, other = (
        train_policy(graphs, budgets=(3, 4), seed=seed, each_episode=log.append, **SHORT)
        for seed, log in zip((5, 5, 6), logs, strict=True)
    )
    assert same_weights(one, same) and logs[0] == logs[1]
    assert not same_weights(one, other) and logs[0] != logs[2]


def test_it_is_said_that_a_policy_is_trained_on_the_union_of_relations() -> None:
    said: list[Event] = []
    train_policy([library_graph(40)], budgets=(3,), **{**SHORT, "episodes": 1}, reporter=said.append)
    assert [event.message for event in said if isinstance(event, Note)] == [
        "'library' has relations: gcn cannot tell them apart, and is given the union of the paths as plain edges",
        "'library' has no features: gcn is given numbers made of its edges (degree, clustering, PageRank …) instead",
    ]


def test_nothing_is_learned_before_the_eleventh_episode() -> None:
    before, after = (
        train_policy([random_graph()], budgets=(2,), **{**SHORT, "episodes": episodes}) for episodes in (10, 11)
    )
    fresh = Policy(seed=derive_seed(0, "policy"))
    assert same_weights(before, fresh)
    assert not same_weights(after, fresh)


def test_a_gradient_over_all_steps_at_once_is_the_sum_over_steps() -> None:
    """One Adam step after a graph, against autograd through one step of the episode after another."""
    graph = random_graph()
    settings = TrainingSettings(budgets=(4,), batch=3, classifier=Gcn(closing_epochs=2))
    policy = Policy(seed=3)
    source = _Source(graph, 4, settings, torch.device("cpu"), policy)
    seen: list[torch.Tensor] = []
    inner = source.explorer.scores

    def watched(observation: Observation) -> torch.Tensor:
        seen.append(state(observation, StateSettings()).clone())
        return inner(observation)

    source.explorer.scores = watched  # type: ignore[method-assign]
    _, advantages = _play(source, 0, 0, settings)
    twin = Policy(seed=3)
    total = torch.zeros(())
    pool = source.environment.splits.pool
    nodes = source.environment.queries
    for step, states in enumerate(seen):
        log_p = torch.log_softmax(twin(source.tensors, states).masked_fill(~pool, -torch.inf), 1)
        total = total - (log_p.gather(1, nodes[:, step : step + 1])[:, 0] * advantages[0]).mean()
        pool = pool & (torch.arange(graph.num_nodes) != nodes[:, step : step + 1])
    expected = torch.autograd.grad(total, list(twin.parameters()))
    _update(policy, torch.optim.Adam(policy.parameters(), lr=0.01), source, advantages)
    assert len(seen) == 4 and advantages.shape == (1, 3)
    for parameter, gradient in zip(policy.parameters(), expected, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-6)


def test_the_reward_is_the_validation_score_after_the_last_epoch() -> None:
    settings = TrainingSettings(budgets=(4,), batch=3, classifier=Gcn(closing_epochs=2))
    source = _Source(random_graph(), 4, settings, torch.device("cpu"), Policy(seed=3))
    reward, _ = _play(source, 0, 7, settings)
    environment = source.environment
    guess = environment.learner.logits().argmax(-1).gather(1, environment.splits.validation)
    right = guess == environment.graph.y[environment.splits.validation]
    assert reward == pytest.approx(float(right.float().mean()))


def test_graphs_have_budgets_and_scales_of_their_own() -> None:
    graphs = [random_graph(), communities_and_loners()]
    lines: list[dict[str, Any]] = []
    policy = train_policy(graphs, budgets=(2, 5), each_episode=lines.append, **{**SHORT, "episodes": 3})
    assert [source["budget"] for source in policy.origin["source_graphs"]] == [2, 5]
    assert all(set(line["rewards"]) == {"random sparse", "toy"} for line in lines)
    for line in lines:
        assert all(0 <= reward <= 1 for reward in line["rewards"].values())


def test_the_scale_of_a_graph_s_returns_is_its_own() -> None:
    settings = TrainingSettings(budgets=(2, 2), batch=3, classifier=Gcn(closing_epochs=1))
    policy = Policy()
    one, other = (
        _Source(graph, 2, settings, torch.device("cpu"), policy) for graph in (random_graph(), communities_and_loners())
    )
    reward, _ = _play(one, 0, 0, settings)
    assert one.scale.mean is not None and float(one.scale.mean) == pytest.approx(reward)
    assert other.scale.mean is None


def test_a_graph_given_twice_has_two_rewards() -> None:
    lines: list[dict[str, Any]] = []
    train_policy([random_graph()] * 2, budgets=(2, 2), each_episode=lines.append, **{**SHORT, "episodes": 1})
    assert len(lines[0]["rewards"]) == 2


def test_progress_tells_the_reward_of_every_graph() -> None:
    told: list[Event] = []
    lines: list[dict[str, Any]] = []
    train_policy(
        [random_graph()], budgets=(2,), reporter=told.append, each_episode=lines.append, **{**SHORT, "episodes": 3}
    )
    assert [event.done for event in told if isinstance(event, Progress)] == [1, 2, 3]
    last = told[-1]
    assert isinstance(last, Progress) and last.total == 3
    assert last.values["random sparse"] == lines[-1]["rewards"]["random sparse"]
    assert last.values["mean of last 100"] == pytest.approx(
        np.mean([line["rewards"]["random sparse"] for line in lines])
    )


def test_the_policy_says_where_it_comes_from(tmp_path: Path) -> None:
    train_policy(
        [communities_and_loners()], budgets=(3,), seed=9, out=tmp_path / "p.safetensors", features=("raw",), **SHORT
    )
    origin = load_policy(tmp_path / "p.safetensors").origin
    (source,) = origin["source_graphs"]
    graph = communities_and_loners()
    assert source == {
        "name": "toy",
        "nodes": 80,
        "edges": graph.num_edges,
        "classes": 2,
        "average_degree": pytest.approx(2 * graph.num_edges / 80, abs=1e-4),
        "budget": 3,
    }
    assert (origin["training"]["seed"], origin["training"]["episodes"], origin["training"]["features"]) == (
        9,
        14,
        ["raw"],
    )
    assert (
        TrainingSettings(
            budgets=(3,), episodes=14, batch=3, classifier=Gcn(closing_epochs=2), seed=9, features=("raw",)
        ).as_dict()
        == origin["training"]
    )
    json.dumps(origin, allow_nan=False)


def test_budgets_are_five_a_class_by_default() -> None:
    policy = train_policy([random_graph(classes=2)], **{**SHORT, "episodes": 1})
    assert policy.origin["training"]["budgets"] == [10]


def test_training_touches_no_global_randomness() -> None:
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    train_policy([random_graph()], budgets=(2,), **{**SHORT, "episodes": 12})
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


@pytest.mark.parametrize(
    ("graphs", "options", "said"),
    [
        (list, {}, "no source graph was given"),
        (lambda: [Graph.build([[0], [1]], 50, name="bare")], {}, "source graph 'bare' has no labels"),
        (
            lambda: [Graph.build([[0], [1]], 50, y=[-1] * 50, class_names=["a"], name="bare")],
            {},
            "source graph 'bare' has no labels",
        ),
        (lambda: [random_graph()], {"budgets": (3, 4)}, "1 source graphs but 2 budgets"),
        (lambda: [random_graph()], {"budgets": (21,)}, "a budget of 21 queries is more than the pool's 20 nodes"),
        (lambda: [random_graph()], {"budgets": (0,)}, "budgets must be at least 1"),
        (lambda: [random_graph()], {"episodes": 0}, "episodes, batch and budgets must be at least 1"),
        (lambda: [random_graph()], {"batch": 0}, "episodes, batch and budgets must be at least 1"),
        (lambda: [random_graph()], {"reward": "gain"}, "unknown reward 'gain'"),
        (lambda: [random_graph()], {"learning_rate": 0.0}, "learning_rate"),
        (lambda: [random_graph()], {"classifier": "gnc"}, "unknown classifier 'gnc'"),
        (lambda: [random_graph()], {"device": "tpu"}, "unknown device 'tpu'"),
        (lambda: [random_graph()], {"settings": TrainingSettings(budgets=(2,), episodes=1), "batch": 3}, "not both"),
        (lambda: [random_graph()], {"out": "policy.pt"}, "a policy file ends with .safetensors, got 'policy.pt'"),
        (lambda: [random_graph()], {"out": "no/such/p.safetensors"}, "there is no folder 'no/such'"),
    ],
)
def test_what_cannot_work_is_refused_and_leaves_nothing(
    graphs: Callable[[], list[Graph]],
    options: dict[str, Any],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        train_policy(
            graphs(),
            **{
                "out": "p.safetensors",
                "device": "cpu",
                **({} if "settings" in options else {"episodes": 1}),
                **options,
            },
        )
    assert said in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_setting_that_there_is_not_is_a_mistake_of_the_caller() -> None:
    with pytest.raises((TypeError, UnknownNameError), match="episode"):
        train_policy([random_graph()], episode=3)


def sharp_policy() -> Policy:
    """One whose probabilities differ much: score = 3 entropy + 20 degree (which is at most 3/20 here)."""
    settings = PolicySettings("mlp", hidden=1, layers=1, state=StateSettings(("entropy", "degree", "labelled")))
    policy = Policy(settings)
    with torch.no_grad():
        policy.weights[0].copy_(torch.tensor([[3.0], [20.0], [0.0]]))
        policy.output.fill_(1)
    return policy.double()


def test_nodes_are_sampled_from_the_softmax_over_the_pool() -> None:
    runs = 4000
    predicted = [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.9, 0.1], [0.5, 0.5]]
    environment = environment_of([(0, 1), (1, 2), (1, 3), (0, 3)], [predicted] * runs, budget=2)
    environment.splits.pool[:, 4] = False
    policy = sharp_policy()
    explorer = Explorer(policy, environment)
    asked = rollout(environment, explorer, environment.splits, seed=1)
    scores = policy(environment.graph, explorer.states[:1, 0])[0].detach()
    p = torch.softmax(scores[:4], 0)
    assert p.max() < 0.9 and p.min() > 0.01 and p.max() > 2 * p.min()
    counts = torch.bincount(asked[:, 0], minlength=5)
    assert counts[4] == 0
    error = (runs * p * (1 - p)).sqrt()
    assert ((counts[:4] - runs * p).abs() < 4.5 * error).all()
    second = asked[asked[:, 0] == 1, 1]  # after node 1: over what is left, with the state of that moment
    scores = policy(environment.graph, explorer.states[asked[:, 0] == 1][:1, 1])[0].detach()
    p = torch.softmax(scores[torch.tensor([0, 2, 3])], 0)
    shares = torch.bincount(second, minlength=5)[torch.tensor([0, 2, 3])] / len(second)
    assert ((shares - p).abs() < 4.5 * (p * (1 - p) / len(second)).sqrt()).all()


def test_states_and_scores_of_every_step_are_kept() -> None:
    graph = GraphTensors(random_graph())
    environment = Environment(graph, learner("gcn", graph, 3, Gcn(closing_epochs=1)), 3, 4)
    splits = draw_splits(graph, 3, 0)
    seen: list[torch.Tensor] = []
    before: list[torch.Tensor] = []

    class Watching(Explorer):
        def scores(self, observation: Observation) -> torch.Tensor:
            seen.append(state(observation, StateSettings()).clone())
            guess = observation.logits.argmax(-1).gather(1, splits.validation)
            before.append(f1_scores(guess, graph.y[splits.validation], graph.num_classes).micro)
            return super().scores(observation)

    explorer = Watching(Policy(seed=1), environment, keep_scores=True)
    for episode in range(2):  # the second overwrites the first
        seen.clear()
        before.clear()
        splits = draw_splits(graph, 3, episode)
        rollout(environment, explorer, splits, seed=episode)
        assert torch.equal(explorer.states, torch.stack(seen, 1))
        torch.testing.assert_close(explorer.before, torch.stack(before, 1))


def test_the_running_scale_starts_from_the_first_batch() -> None:
    scale = RunningScale(rate=0.05)
    # mean 0.5, what is left ±0.2 and ±0.1, its mean square (0.04 + 0.01) / 2
    got = scale(torch.tensor([[0.3, 0.7, 0.4, 0.6]], dtype=torch.float64))
    root = math.sqrt(0.025)
    assert got[0].tolist() == pytest.approx([-0.2 / root, 0.2 / root, -0.1 / root, 0.1 / root])
    assert scale.mean is not None and scale.mean.tolist() == pytest.approx([0.5])


def test_the_running_scale_takes_in_a_batch_before_it_is_used() -> None:
    scale = RunningScale(rate=0.05)
    scale(torch.tensor([[0.3, 0.7, 0.4, 0.6]], dtype=torch.float64))
    got = scale(torch.tensor([[0.7, 0.9]], dtype=torch.float64))
    mean = 0.95 * 0.5 + 0.05 * 0.8  # 0.515
    left = [0.7 - mean, 0.9 - mean]
    square = 0.95 * 0.025 + 0.05 * (left[0] ** 2 + left[1] ** 2) / 2
    assert got[0].tolist() == pytest.approx([value / math.sqrt(square) for value in left])
    assert scale.square is not None and scale.square.tolist() == pytest.approx([square])


def test_every_step_can_have_a_scale_of_its_own() -> None:
    scale = RunningScale()
    got = scale(torch.tensor([[0.0, 2.0], [10.0, 30.0]], dtype=torch.float64))
    assert got.tolist() == [pytest.approx([-1, 1]), pytest.approx([-1, 1])]


def test_equal_returns_teach_nothing() -> None:
    scale = RunningScale()
    for _ in range(3):
        assert scale(torch.full((1, 4), 0.625)).abs().max() == 0


def test_stepwise_returns_are_what_is_still_to_be_gained() -> None:
    before = torch.tensor([[0.2, 0.5, 0.4], [0.1, 0.1, 0.6]], dtype=torch.float64)
    final = torch.tensor([0.7, 0.5], dtype=torch.float64)
    # gains of the first run: +0.3, −0.1, +0.3 (the last with the closing epochs); from each step on they add up to 0.5,
    # 0.2, 0.3
    expected = [pytest.approx([0.5, 0.4]), pytest.approx([0.2, 0.4]), pytest.approx([0.3, -0.1])]
    assert stepwise_returns(before, final).tolist() == expected


def test_the_loss_by_hand() -> None:
    """Two runs of two steps on four nodes; a node leaves the softmax once it was asked, and was never in it outside the
    pool.
    """
    log = math.log
    scores = torch.tensor(
        [
            [[log(1), log(2), log(3), 9.0], [log(4), 7.0, log(1), 9.0]],  # pool 0 1 2; asks 1: 2/6, then 2: 1/5
            [[5.0, log(1), log(1), log(2)], [5.0, log(6), 7.0, log(2)]],  # pool 1 2 3; asks 2: 1/4, then 3: 2/8
        ],
        dtype=torch.float64,
    )
    pool = torch.tensor([[True, True, True, False], [False, True, True, True]])
    nodes = torch.tensor([[1, 2], [2, 3]])
    shared = torch.tensor([[2.0, -1.0]], dtype=torch.float64)
    one = 2.0 * (log(2 / 6) + log(1 / 5))
    other = -1.0 * (log(1 / 4) + log(2 / 8))
    assert policy_loss(scores, pool, nodes, shared).item() == pytest.approx(-(one + other) / 2)
    own = torch.tensor([[2.0, -1.0], [0.5, 3.0]], dtype=torch.float64)  # [step, run]
    one = 2.0 * log(2 / 6) + 0.5 * log(1 / 5)
    other = -1.0 * log(1 / 4) + 3.0 * log(2 / 8)
    assert policy_loss(scores, pool, nodes, own).item() == pytest.approx(-(one + other) / 2)


def test_the_gradient_of_the_loss_is_that_of_one_step_after_another() -> None:
    generator = torch.Generator().manual_seed(0)
    runs, steps, nodes = 3, 4, 9
    scores = torch.randn(runs, steps, nodes, generator=generator, dtype=torch.float64, requires_grad=True)
    pool = torch.rand(runs, nodes, generator=generator) < 0.8
    asked = torch.stack(
        [torch.nonzero(row)[torch.randperm(int(row.sum()), generator=generator)[:steps], 0] for row in pool]
    )
    advantages = torch.randn(steps, runs, generator=generator, dtype=torch.float64)
    (got,) = torch.autograd.grad(policy_loss(scores, pool, asked, advantages), scores)
    total = torch.zeros((), dtype=torch.float64)
    for run in range(runs):
        left = pool[run]
        for step in range(steps):
            p = torch.softmax(scores[run, step][left], 0)
            place = int(left[: asked[run, step]].sum())
            total = total - torch.log(p[place]) * advantages[step, run] / runs
            left = left & (torch.arange(nodes) != asked[run, step])
    (expected,) = torch.autograd.grad(total, scores)
    torch.testing.assert_close(got, expected)


def test_the_loss_finds_the_best_of_many_arms() -> None:
    """A bandit: one step, ten nodes, node 7 pays most; sampling, scale and loss are those of the training."""
    pays = torch.linspace(0, 0.5, 10)
    pays[7] = 1.0
    wanted = torch.zeros(10, requires_grad=True)
    adam = torch.optim.Adam([wanted], lr=0.1)
    scale, generator = RunningScale(), torch.Generator().manual_seed(0)
    pool = torch.ones(5, 10, dtype=torch.bool)
    for _ in range(150):
        noise = torch.rand(5, 10, generator=generator).clamp(1e-7, 1 - 6e-8)
        asked = (wanted.detach() - torch.log(-torch.log(noise))).argmax(1)
        returns = pays[asked] + 0.1 * torch.randn(5, generator=generator)
        loss = policy_loss(wanted.expand(5, 1, 10), pool, asked[:, None], scale(returns[None]))
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert torch.softmax(wanted.detach(), 0)[7] > 0.9
