"""The posterior against scikit-learn, a dense Gaussian process, refits without each label, and itself by other ways."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct

from nodewise.classifiers.views import posterior as module
from nodewise.classifiers.views.construction import GraphViews
from nodewise.classifiers.views.posterior import RIDGES, Fit, Posterior
from tests.classifiers.views.plainly import fitted_plainly, random_views


def labels_of(count: int, classes: int, nodes: int = 60, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.permutation(nodes)[:count], rng.integers(0, classes, count)


def told(
    views: GraphViews,
    nodes: np.ndarray,
    labels: np.ndarray,
    classes: int,
    *,
    together: bool = True,
    room: int | None = None,
) -> Posterior:
    """One run that was told these labels, together or one after another."""
    posterior = Posterior(views, 1, classes, room or len(nodes))
    if together:
        posterior.add_many(torch.from_numpy(nodes)[None], torch.from_numpy(labels)[None])
    else:
        for node, label in zip(nodes.tolist(), labels.tolist(), strict=True):
            posterior.add(torch.tensor([node]), torch.tensor([label]))
    return posterior


def probabilities(posterior: Posterior) -> torch.Tensor:
    fit = posterior.fit()
    return torch.softmax(posterior.mean(fit) * fit.left_out.said[:, None, None], -1)[0]


def assert_same_fit(fit: Fit, expected: Fit, atol: float, rtol: float) -> None:
    for name in ("weights", "ridges", "stretch", "coefficients", "base"):
        torch.testing.assert_close(getattr(fit, name).cpu(), getattr(expected, name), atol=atol, rtol=rtol)
    for value, wanted in zip(fit.left_out, expected.left_out, strict=True):
        torch.testing.assert_close(value.cpu(), wanted, atol=atol, rtol=rtol)


@pytest.mark.parametrize(("count", "classes"), [(1, 3), (2, 2), (7, 3), (25, 4)])
@pytest.mark.parametrize("together", [True, False])
def test_mean_and_leave_one_out_are_those_of_ridge_regressions_refitted_without_each_label(
    count: int, classes: int, together: bool
) -> None:
    views = random_views()
    nodes, labels = labels_of(count, classes)
    plain = fitted_plainly(views, nodes, labels, classes)
    posterior = told(views, nodes, labels, classes, together=together)
    fit = posterior.fit()
    np.testing.assert_allclose(fit.weights[0], plain.weights.sum((0, 2)), atol=2e-5)
    np.testing.assert_allclose(fit.left_out.predictions[0], plain.left_out, atol=2e-5)
    np.testing.assert_allclose(posterior.mean(fit)[0], plain.mean, atol=2e-5)
    assert fit.ridges[0].tolist() == pytest.approx([RIDGES[index] for index in plain.weights.sum(0).argmax(1)])


@pytest.mark.slow
@pytest.mark.parametrize(("count", "models"), [(1, 1), (7, 1), (20, 2)])
@pytest.mark.parametrize("together", [True, False])
def test_a_centre_of_each_node_s_own_is_one_more_member_of_each_view_and_ridge(
    count: int, models: int, together: bool
) -> None:
    views, classes = random_views(), 3
    nodes, labels = labels_of(count, classes)
    own = np.random.default_rng(4).dirichlet(np.ones(classes), (models, 60))
    plain = fitted_plainly(views, nodes, labels, classes, own)
    posterior = told(views, nodes, labels, classes, together=together)
    posterior.set_centres(torch.from_numpy(own - 1 / classes).float())
    fit = posterior.fit()
    np.testing.assert_allclose(fit.weights[0], plain.weights.sum((0, 2)), atol=2e-5)
    assert fit.own is not None
    np.testing.assert_allclose(fit.own[:, 0], plain.weights[2:].sum((1, 2)), atol=2e-5)
    np.testing.assert_allclose(fit.left_out.predictions[0], plain.left_out, atol=2e-5)
    np.testing.assert_allclose(posterior.mean(fit)[0], plain.mean, atol=2e-5)
    posterior.set_centres(None)
    assert_same_fit(posterior.fit(), told(views, nodes, labels, classes, together=together).fit(), atol=0, rtol=0)


@pytest.mark.parametrize("ridge", RIDGES)
def test_the_covariance_is_a_gaussian_process_s(ridge: float) -> None:
    views = random_views(views=1)
    nodes, labels = labels_of(20, 2)
    z = views.columns[:, 0].double().numpy()
    process = GaussianProcessRegressor(DotProduct(sigma_0=0, sigma_0_bounds="fixed"), alpha=ridge, optimizer=None)
    mean, covariance = process.fit(z[nodes], labels - 0.5).predict(z, return_cov=True)
    matrix = told(views, nodes, labels, 2).covariances(torch.tensor([[ridge]]))[0, 0].double().numpy()
    np.testing.assert_allclose(z @ matrix @ z.T, covariance, atol=1e-5)
    # the same matrix gives the mean: M Zᵀ (y − p) / r
    np.testing.assert_allclose(z @ matrix @ z[nodes].T @ (labels - 0.5) / ridge, mean, atol=1e-5)


def test_the_mean_is_a_gaussian_process_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RIDGES", (0.3,))
    views = random_views(views=1)
    nodes = np.arange(20)
    labels = np.arange(20) % 2  # as many of each class: both centres are even
    z = views.columns[:, 0].double().numpy()
    process = GaussianProcessRegressor(DotProduct(sigma_0=0, sigma_0_bounds="fixed"), alpha=0.3, optimizer=None)
    mean = process.fit(z[nodes], labels - 0.5).predict(z)
    posterior = told(views, nodes, labels, 2)
    fit = posterior.fit()
    np.testing.assert_allclose(posterior.mean(fit)[0, :, 1], fit.stretch[0, 0].item() * mean, atol=1e-5)


@pytest.mark.parametrize("count", [1, 5, 40])
def test_one_by_one_is_all_at_once(count: int) -> None:
    views = random_views()
    nodes, labels = labels_of(count, 3)
    one, all_at_once = (told(views, nodes, labels, 3, together=together, room=50) for together in (False, True))
    assert torch.equal(one.nodes, all_at_once.nodes) and torch.equal(one.targets, all_at_once.targets)
    assert_same_fit(one.fit(), all_at_once.fit(), atol=1e-5, rtol=1e-5)
    ridges = one.fit().ridges
    torch.testing.assert_close(one.covariances(ridges), all_at_once.covariances(ridges), atol=1e-6, rtol=1e-5)


def test_with_more_labels_the_space_of_columns_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    views = random_views(nodes=400, columns=12)
    nodes, labels = labels_of(300, 3, nodes=400)
    by_columns = told(views, nodes, labels, 3)
    monkeypatch.setattr(module, "DUAL_LIMIT", 1000)
    by_labels = told(views, nodes, labels, 3, together=False)
    assert by_labels._inverse is not None and len(nodes) > views.columns.shape[2]
    torch.testing.assert_close(
        by_columns.fit().left_out.predictions, by_labels.fit().left_out.predictions, atol=1e-5, rtol=1e-4
    )
    torch.testing.assert_close(probabilities(by_columns), probabilities(by_labels), atol=1e-5, rtol=0)


def test_growing_past_the_limit_is_the_same_as_beginning_there() -> None:
    views = random_views(nodes=400, views=2)
    nodes, labels = labels_of(300, 3, nodes=400)
    growing = Posterior(views, 1, 3, 200)
    for node, label in zip(nodes.tolist(), labels.tolist(), strict=True):
        growing.reserve(1)
        growing.add(torch.tensor([node]), torch.tensor([label]))
    torch.testing.assert_close(probabilities(growing), probabilities(told(views, nodes, labels, 3)), atol=1e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [256, 1000])
def test_after_a_thousand_labels_updates_are_a_fresh_fit(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DUAL_LIMIT", limit)
    monkeypatch.setattr(module, "RIDGES", (0.1,))  # the weakest prior: its matrices are the worst to invert
    views = random_views(nodes=1200, views=2, columns=40)
    nodes, labels = labels_of(1000, 3, nodes=1200)
    updated, fresh = (told(views, nodes, labels, 3, together=together) for together in (False, True))
    assert (probabilities(updated) - probabilities(fresh)).abs().max() < 1e-4
    ridges = torch.full((1, 2), 0.1)
    assert (updated.covariances(ridges) - fresh.covariances(ridges)).abs().max() < 1e-4


def test_runs_do_not_touch_each_other() -> None:
    views = random_views()
    drawn = [labels_of(9, 3, seed=seed) for seed in range(3)]
    together = Posterior(views, 3, 3, 9)
    together.add_many(*(torch.from_numpy(np.stack(part)) for part in zip(*drawn, strict=True)))
    fit = together.fit()
    for run, (nodes, labels) in enumerate(drawn):
        torch.testing.assert_close(
            together.mean(fit)[run], (alone := told(views, nodes, labels, 3)).mean(alone.fit())[0], atol=1e-5, rtol=0
        )


def test_classes_in_another_order_are_the_same_classes() -> None:
    views = random_views()
    nodes, labels = labels_of(12, 4)
    order = np.array([2, 0, 3, 1])
    torch.testing.assert_close(
        probabilities(told(views, nodes, labels, 4)),
        probabilities(told(views, nodes, order[labels], 4))[:, order],
        atol=1e-4,
        rtol=0,
    )


def test_labels_in_another_order_are_the_same_labels() -> None:
    views = random_views()
    nodes, labels = labels_of(12, 3)
    torch.testing.assert_close(
        probabilities(told(views, nodes, labels, 3, together=False)),
        probabilities(told(views, nodes[::-1].copy(), labels[::-1].copy(), 3, together=False)),
        atol=1e-4,
        rtol=0,
    )


def test_nothing_changes_where_a_label_is_not_valid() -> None:
    views = random_views()
    nodes, labels = labels_of(5, 3)
    posterior = told(views, nodes, labels, 3, together=False, room=8)
    before = probabilities(posterior)
    posterior.add(torch.tensor([50]), torch.tensor([1]), valid=torch.tensor([False]))
    assert int(posterior.count) == 5 and torch.equal(probabilities(posterior), before)


def test_without_a_label_nothing_is_predicted_and_all_views_weigh_the_same() -> None:
    posterior = Posterior(random_views(), 2, 3, 4)
    fit = posterior.fit()
    assert posterior.mean(fit).abs().max() < 1e-6
    torch.testing.assert_close(fit.weights, torch.full((2, 3), 1 / 3))


def test_one_class_so_far_is_predicted_and_the_others_stay_possible() -> None:
    views = random_views()
    table = probabilities(told(views, np.arange(5), np.ones(5, np.int64), 3))
    assert torch.isfinite(table).all() and (table.argmax(1) == 1).all()
    assert table.min() > 0 and torch.allclose(table[:, 0], table[:, 2], atol=1e-6)


def test_a_class_that_comes_later_is_learned() -> None:
    views = random_views()
    nodes, labels = labels_of(10, 2)
    posterior = told(views, nodes, labels, 2, together=False, room=16)
    posterior.widen(3)
    assert posterior.fit().left_out.predictions.shape == (1, 10, 3)
    posterior.add(torch.tensor([59]), torch.tensor([2]))
    more = np.append(nodes, 59), np.append(labels, 2)
    torch.testing.assert_close(probabilities(posterior), probabilities(told(views, *more, 3)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_many_labels_are_solved_on_a_gpu_as_on_a_cpu(device: str) -> None:
    views = random_views(nodes=400, views=4, columns=20)
    nodes, labels = torch.arange(300).repeat(2, 1), torch.arange(300).remainder(3).repeat(2, 1)
    fits = []
    for place in ("cpu", device):
        made = Posterior(views.to(torch.device(place), torch.float32), 2, 3, 300)
        made.add_many(nodes.to(place), labels.to(place))
        fits.append(made.fit().coefficients.cpu())
    torch.testing.assert_close(fits[0], fits[1], atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize(("chosen", "usual"), [("temperature", 4.0), ("said", 2.0)])
def test_a_temperature_is_the_likeliest_of_its_grid_with_a_prior_of_five_labels(chosen: str, usual: float) -> None:
    nodes, labels = labels_of(14, 3)
    fit = told(random_views(), nodes, labels, 3).fit()
    out = fit.left_out.predictions[0].double().numpy()
    against = []
    for tried in module._TEMPERATURES:
        odds = np.exp(tried * out)
        chance = odds[np.arange(14), labels] / odds.sum(1)
        against.append(-np.log(chance).sum() + 5 * np.log(tried / usual) ** 2 / 2)
    assert float(getattr(fit.left_out, chosen)[0]) == module._TEMPERATURES[int(np.argmin(against))]
