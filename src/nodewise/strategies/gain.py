"""Gain: the node whose label makes the most undecided nodes more certain, summed over the whole graph.

Nothing is trained.
"""

from __future__ import annotations

from typing import cast

import torch

from nodewise.classifiers.views.construction import leading_columns
from nodewise.classifiers.views.graph_views import BLOCK, GRAM_NODES, WIDE_BLOCK, paired_gain, variance_gain
from nodewise.classifiers.views.views import Views, ViewsLearner
from nodewise.contracts import Capability, Observation, SharesPosterior, Strategy, can
from nodewise.environment.runs import break_ties
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import in_blocks
from nodewise.ground.shared_column import MANY_CLASSES, SharedColumn
from nodewise.strategies.sampled import Sight, labelled_sample, sample

__all__ = ["LARGE_POOL", "Gain"]

LARGE_POOL = 200_000
"""Nodes from which queries are chosen from a sample, on the CPU.

A GPU scores all nodes of a million in a few milliseconds.
"""

_VIEWS, _LEAST_WEIGHT = 4, 0.01
"""Views that count in each run: the four with most weight, none below a hundredth."""

_EARLY, _CANDIDATES, _LOOKED_AT = 2, 8, 2048
"""After the first, in the first two queries a class the expected error decides among the eight best.

It is looked at on 2,048 evenly spaced nodes at least, on all where there are not twice as many: with 512 the choices
were worse by half a point at one and two labels a class."""

_FEW_CLASSES = 32
"""Classes up to which the expected error is looked at: it costs candidates × classes × nodes."""

GATE = 1.5
"""Standard errors by which labels must be better predicted by each other than by the classes' shares alone.

As long as they are not, from one label a class on, the next question is a random one; a label that is alone of its
class says nothing of it. Where nothing can be learned, or nothing yet, nodes that stand out would misrepresent the
classes' shares, which are then all there is to learn."""

_FIRST = 32
"""The first question is drawn among so many best nodes.

Before any label the best nodes hardly differ, and where little can be learned the answer to the first one decides what
is predicted: were it the same one in all runs, these would share its luck."""

_SHARING = 4
"""Runs from which products of columns are kept, on the CPU."""

_TEMPERATURE = 6.0
_ERROR_BLOCK = 2**16  # as `BLOCK` where the expected error goes over a tensor a dozen times: what stays near is faster


class Gain(Strategy):
    """The node that shrinks the posterior variance most, summed over all nodes, each weighted by how undecided its
    prediction is.

    Where a node may have several classes it is undecided by Σ p (1 − p) over them, and the expected error is not looked
    at. Else a node is undecided by (1 − margin)², its margin the difference of the two largest probabilities that the
    closed form (`views`) gives it. The four views with most weight count, each gain divided by its largest and times
    the view's weight. The posterior is the classifier's own where that is `views`, else one that is kept beside it, so
    the queries do not depend on the classifier. What models say of the nodes is not looked at. The first question is
    drawn among the 32 best; then, while labels are few, two a class, the expected error decides among the eight best.
    The variance does not depend on the answers: in a batch each further node is chosen as if those before it had been
    answered, so that the batch is diverse by itself. Equal scores are settled at random. From one label a class on a
    question is a random one as long as the labels do not show that anything can be learned (`GATE`).
    """

    name = "gain"
    version = 5
    recordable = True
    reads_budget = False
    stateless = True
    capabilities = frozenset[Capability]({"several-queries", "random-questions", "several-labels"})

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """What a block of nodes needs."""
        return 4 * min(graph.num_nodes * 3 * leading_columns(graph.num_classes), BLOCK)

    def begin(self, observation: Observation) -> None:
        """A posterior that is kept beside another classifier forgets the episode before."""
        if "learner" in observation.memory:
            observation.memory["learner"].reset(0)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The weighted sum of the views' gains, each divided by its largest."""
        sight = _sight(observation)
        if not _is_large(observation):
            return _all_scores(sight)
        nodes, part = sample(sight)
        scores = _all_scores(part)
        return scores.new_full(observation.pool.shape, -torch.inf).index_copy_(1, nodes, scores)

    def batch(self, observation: Observation, count: int) -> torch.Tensor:
        """Nodes to be asked together, each chosen as if those before it had been answered: int64 [run, count].

        The first is the one that is asked alone.

        Nodes that count as labelled and whose labels are not known yet, since somebody is being asked, are taken for
        answered as well.
        """
        sight = _sight(observation)
        if not _is_large(observation):
            return _diverse(sight, count)
        nodes, part = labelled_sample(sight)
        return nodes[_diverse(part, count)]

    def why_random(self, observation: Observation) -> str | None:
        """What is said where the gate is closed, see `GATE`: the next question, or batch, is then a random one."""
        distrusted = _distrusted(_sight(observation))
        if distrusted is None or not bool(distrusted[0]):
            return None
        return "the labels so far do not show that anything but the classes' shares can be learned"


def _is_large(observation: Observation) -> bool:
    """Whether the graph is so large that queries are chosen from a sample."""
    return observation.graph.device.type == "cpu" and observation.graph.num_nodes >= LARGE_POOL


def _sight(observation: Observation) -> Sight:
    """What is looked at, all nodes of the graph."""
    return Sight(
        _posterior(observation).for_one_question(),
        observation.pool,
        observation.labelled,
        observation.noise,
        observation.step,
        observation.num_classes,
    )


def _all_scores(sight: Sight) -> torch.Tensor:
    """What is asked next has the largest: `gain`'s own scores, or random numbers in runs where these are not to be
    trusted: [run, node].
    """
    scores, distrusted = _settled_scores(sight), _distrusted(sight)
    return scores if distrusted is None else torch.where(distrusted[:, None], sight.noise, scores)


def _distrusted(sight: Sight) -> torch.Tensor | None:
    """In which runs the labels do not show that anything can be learned beside the classes' shares: bool [run].

    None where that is not asked yet.
    """
    enough = sight.step >= sight.num_classes
    if enough.device.type == "cpu" and not bool(enough):
        return None
    return enough & (sight.learner.solution().lead_over_shares < GATE)


def _settled_scores(sight: Sight) -> torch.Tensor:
    """The scores with ties settled; in front the drawn node of the first question, and then, while labels are few, the
    node of the least expected error: [run, node].
    """
    learner = sight.learner
    if learner.posterior.by_kernels:
        return _scores_on_gpu(sight)
    covariances = learner.covariances()
    undecided = _undecided_nodes(learner)
    scores = break_ties(_scores(learner, covariances, undecided), sight)
    on_cpu = scores.device.type == "cpu"  # elsewhere a recorded step may not branch
    by_error = sight.num_classes <= _FEW_CLASSES and not learner.several
    first, early = sight.step < 1, sight.step < (_EARLY * sight.num_classes if by_error else 1)
    if on_cpu and not bool(early):
        return scores
    usable = scores.masked_fill(~sight.pool, -torch.inf)
    best = _drawn(usable, sight.noise)
    if by_error and not (on_cpu and bool(first)):
        best = torch.where(first, best, _least_error(learner, covariances, usable)[:, None])
    return torch.where(early, scores.scatter(1, best, scores.amax(1, keepdim=True) + 1), scores)


def _drawn(usable: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """One of the nodes with the best scores, that with most noise: [run, node] each to int64 [run, 1]."""
    best = usable.topk(min(_FIRST, usable.shape[1]), 1)
    chance = noise.gather(1, best.indices).masked_fill(best.values.isinf(), -1.0)  # a small pool may have fewer
    return best.indices.gather(1, chance.argmax(1, keepdim=True))


def _diverse(sight: Sight, count: int) -> torch.Tensor:
    """Nodes to be asked together: int64 [run, count]."""
    learner, pool = sight.learner, sight.pool.clone()
    ridges = learner.solution().ridges
    covariances, undecided = learner.covariances(), _undecided_nodes(learner)
    known = learner.posterior.nodes[:, : int(learner.posterior.count)]
    waiting = torch.nonzero(sight.labelled.scatter(1, known, False).all(0))[:, 0]
    for node in waiting.tolist():
        covariances = _with(covariances, learner.views.leading_rows(torch.tensor([node] * len(pool))), ridges)
    chosen: list[torch.Tensor] = []
    distrusted = _distrusted(sight)
    for _ in range(min(count, int(pool.sum(1).min()))):
        alone = not chosen and not len(waiting)
        scores = _settled_scores(sight) if alone else _scores(learner, covariances, undecided)
        if distrusted is not None:
            scores = torch.where(distrusted[:, None], sight.noise, scores)
        chosen.append(scores.masked_fill(~pool, -torch.inf).argmax(1))
        pool.scatter_(1, chosen[-1][:, None], False)
        covariances = _with(covariances, learner.views.leading_rows(chosen[-1]), ridges)
    return torch.stack(chosen, 1)


def _with(covariances: torch.Tensor, z: torch.Tensor, ridges: torch.Tensor) -> torch.Tensor:
    """The covariances after one more label, whatever it is: M − M z zᵀ M / (zᵀ M z + r), with z [view, run, column]."""
    along = torch.einsum("vkij,vkj->vki", covariances, z)
    scale = 1 / ((along * z).sum(-1) + ridges.T)
    return covariances - (scale[..., None] * along)[..., None] * along[..., None, :]


def _posterior(observation: Observation) -> ViewsLearner:
    """The classifier's own posterior, or one kept beside another classifier and brought to the labels there are."""
    if can(observation.learner, "posterior"):
        shared: ViewsLearner = cast(SharesPosterior, observation.learner).ridge_posterior()
        return shared.for_asking()
    memory = observation.memory
    learner: ViewsLearner | None = memory.get("learner")
    if learner is None or learner.runs != observation.runs or learner.num_classes != observation.num_classes:
        views = observation.graph.prepared_by(Views())
        start = Views().start_several if observation.several else Views().start
        learner = memory["learner"] = start(
            observation.graph, views, observation.runs, observation.num_classes, observation.budget
        )
    learner.take(observation.queried, observation.step)
    return learner


def _undecided_nodes(learner: ViewsLearner) -> torch.Tensor:
    """How undecided each node is: [run, node]."""
    if learner.several:
        chance = torch.sigmoid(learner.logits())
        return (chance * (1 - chance)).sum(-1)
    return _undecided(learner.mean())


def _undecided(mean: torch.Tensor) -> torch.Tensor:
    """(1 − margin)², the margin that of softmax(6 · mean): [run, node, class] to [run, node]."""
    if mean.shape[-1] == 1:
        return torch.ones_like(mean[..., 0])
    shared = SharedColumn.found_in(mean) if mean.shape[-1] >= MANY_CLASSES else None
    mean = mean if shared is None else shared.narrow(mean)
    first = mean.max(-1, keepdim=True)
    odds = torch.exp(_TEMPERATURE * (mean - first.values))  # of every class against the likeliest, which has 1
    second = odds.scatter(-1, first.indices, 0).amax(-1)
    return (1 - (1 - second) / (odds if shared is None else odds * shared.times).sum(-1)).square()


def _scores(learner: ViewsLearner, covariances: torch.Tensor, undecided: torch.Tensor) -> torch.Tensor:
    """The weighted sum of the views' gains, each divided by its largest: [run, node]."""
    weights, ridges = learner.solution().weights, learner.solution().ridges
    least = weights.topk(min(_VIEWS, weights.shape[1]), 1).values[:, -1:].clamp_min(_LEAST_WEIGHT)
    weights = torch.where(
        weights >= 0.999 * least, weights, 0
    )  # rounding does not decide between equal ones, as all are at first
    if undecided.device.type != "cpu":  # a recorded step does the same work whatever the weights, all views at once
        gain = variance_gain(learner.views.across, covariances, undecided, ridges.T)
        return torch.einsum("vkn,kv->kn", gain / gain.amax(-1, keepdim=True).clamp_min(1e-12), weights)
    known = _first_gains(learner, covariances, undecided)
    counting = torch.nonzero(weights.any(0))[:, 0].tolist()
    parts: dict[int, tuple[torch.Tensor | slice, torch.Tensor]] = {}

    def score(first: int, end: int) -> None:
        for number in counting[first:end]:
            rows = slice(None) if len(weights) == 1 else torch.nonzero(weights[:, number])[:, 0]
            of_runs = covariances[number][rows], undecided[rows], ridges[rows, number]
            pairs = learner.views.pairs if len(of_runs[0]) >= _SHARING else None
            if known is not None:
                gain = known[number][None]
            elif pairs is None:
                gain = variance_gain(learner.views.turned(number, len(counting)), *of_runs)
            else:
                gain = paired_gain(pairs[number], *of_runs)
            parts[number] = rows, weights[rows, number, None] * gain / gain.amax(1, keepdim=True).clamp_min(1e-12)

    in_blocks(
        len(counting), 1 if len(weights) == 1 else len(counting), score
    )  # one run is shared out among cores by views, many by nodes
    total = torch.zeros_like(undecided)
    for number in counting:
        rows, part = parts[number]
        total[rows] += part
    return total


def _first_gains(learner: ViewsLearner, covariances: torch.Tensor, undecided: torch.Tensor) -> torch.Tensor | None:
    """The views' gains as they are kept with large views: before any label, of a question that is asked alone, while
    all nodes are alike undecided; else None.
    """
    kept = learner.views.first_gains
    if kept is None or len(undecided) > 1 or int(learner.posterior.count) or covariances is not learner.covariances():
        return None
    return kept if bool((undecided == 1).all()) else None


def _scores_on_gpu(sight: Sight) -> torch.Tensor:
    """The scores by a GPU's kernels, all runs, views and candidates at once."""
    from nodewise.classifiers.views.cuda import CudaPosterior
    from nodewise.strategies.gain_kernels import gain_scores

    learner = sight.learner
    posterior, fit = cast(CudaPosterior, learner.posterior), learner.solution()  # as `by_kernels` says
    return gain_scores(
        learner.views.leading,
        posterior.mean(fit).transpose(0, 1),
        fit.weights,
        fit.stretch,
        posterior.chosen,
        fit.ridges,
        posterior.covariance,
        sight.pool,
        sight.noise,
        sight.step,
        counting=(_VIEWS, _LEAST_WEIGHT),
        first=_FIRST,
        early=_EARLY * sight.num_classes,
        candidates=_CANDIDATES,
        looked_at=_LOOKED_AT,
        gram_nodes=GRAM_NODES,
        temperature=_TEMPERATURE,
    )


def _least_error(learner: ViewsLearner, covariances: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Of the eight nodes with the best scores the one after whose answer the fewest nodes are expected to be predicted
    wrong: int64 [run].

    Asked c and answered a, the mean of node x moves by δ_x (e_a − 1/C − μ_c), δ_x = Σ_v s_v cov_v(x, c) / (var_v(c) +
    r_v), s_v how far view v's labels move the mean. Every answer is tried, weighted by how likely it is; errors are 1 −
    max softmax(6 μ). Only class a's odds depend on the answer, by the factor exp(6 δ_x), so one softmax of a node and a
    candidate serves all answers.
    """
    solution, stride = learner.solution(), max(1, scores.shape[1] // _LOOKED_AT)
    mean, classes = learner.mean(), learner.num_classes
    candidates = scores.topk(min(_CANDIDATES, scores.shape[1]), 1).indices  # [run, candidate]
    rows = learner.views.leading_rows(candidates)  # [view, run, candidate, column]
    moved = rows @ covariances
    variance = (moved * rows).sum(-1)
    factor = solution.stretch.T[..., None] / (variance + solution.ridges.T[..., None])  # [view, run, candidate]
    directions = (factor[..., None] * moved).permute(1, 2, 0, 3).flatten(2)  # [run, candidate, view × column]
    shift = (directions @ learner.views.spaced(stride))[:, :, None]  # [run, candidate, 1, node]
    own = mean.gather(1, candidates[..., None].expand(-1, -1, classes))[..., None]  # [run, candidate, class, 1]
    around = mean[:, ::stride].transpose(1, 2)[:, None].contiguous()  # [run, 1, class, node]
    size = max(1, (_ERROR_BLOCK if mean.device.type == "cpu" else WIDE_BLOCK) // around.numel())  # candidates at once
    errors = []
    for begin in range(0, candidates.shape[1], size):
        some = slice(begin, begin + size)
        logits = torch.addcmul(around, shift[:, some], own[:, some] + 1 / classes, value=-1).mul_(_TEMPERATURE)
        first = logits.max(2, keepdim=True)
        odds = logits.sub_(first.values).exp_()  # of every class against the likeliest, before class a's rise
        others = odds.scatter(2, first.indices, 0)
        left = 1 + others.sum(2, keepdim=True) - odds  # what all classes but a have together
        rival = torch.ones_like(odds).scatter_(
            2, first.indices, others.amax(2, keepdim=True)
        )  # and the likeliest of them
        risen = odds * torch.exp(_TEMPERATURE * shift[:, some])
        sure = torch.maximum(rival, risen).div_(left.add_(risen)).clamp_max_(1)
        errors.append((torch.softmax(_TEMPERATURE * own[:, some], 2)[..., 0] * (1 - sure.mean(-1))).sum(-1))
    usable = torch.isfinite(scores.gather(1, candidates))  # a small pool may have fewer than eight
    least = torch.cat(errors, 1).masked_fill(~usable, torch.inf).argmin(1, keepdim=True)
    return candidates.gather(1, least)[:, 0]
