"""Every policy that the experiments need, by name: what it is trained on and how; and where the files lie."""

from __future__ import annotations

import atexit
import json
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from nodewise.datasets import default_budget
from nodewise.ground.errors import PolicyFileError, UnknownNameError
from nodewise.policy import Policy, PolicySettings, import_released, load_policy, shipped_policies
from nodewise.policy.policy import StateSettings
from nodewise.strategies import Age
from nodewise.training import TrainingSettings

__all__ = [
    "AGE_SOURCES",
    "TRAININGS",
    "WITHOUT",
    "AgeSettings",
    "Training",
    "age_budgets",
    "age_settings",
    "find_file",
    "find_trained",
    "find_training",
    "missing_command",
    "policies_folder",
    "released_policy",
]

WITHOUT = {
    "entropy": ("entropy",),
    "degree": ("degree",),
    "kl": ("kl_from_neighbours", "kl_to_neighbours"),
    "indicator": ("labelled",),
}
"""The paper's ablation: what is left out, the two divergences together."""


@dataclass(frozen=True)
class Training:
    """A training at the paper's full length.

    Attributes:
        name: also the policy file's.
        sources: graphs by name, each with the paper's features for it.
        budget: queries on every source graph; None: each graph's own.
        without: state features left out.
    """

    name: str
    sources: tuple[str, ...]
    budget: int | None = None
    architecture: Literal["gcn", "mlp"] = "gcn"
    without: tuple[str, ...] = ()
    episodes: int = 2000
    batch: int = 5
    seed: int = 0

    def settings(self, budgets: tuple[int, ...], features: tuple[str, ...]) -> TrainingSettings:
        """The training's settings, once the graphs' own budgets and features are known."""
        policy = PolicySettings(architecture=self.architecture, state=StateSettings().without(self.without))
        chosen = budgets if self.budget is None else (self.budget,) * len(budgets)
        return TrainingSettings(
            budgets=chosen, episodes=self.episodes, batch=self.batch, seed=self.seed, policy=policy, features=features
        )


def _reddit(last: int) -> tuple[str, ...]:
    return tuple(f"reddit{i}" for i in range(1, last + 1))


TRAININGS = {
    one.name: one
    for one in (
        Training("cora+citeseer", ("cora", "citeseer")),
        Training("cora+pubmed", ("cora", "pubmed")),
        Training("citeseer+pubmed", ("citeseer", "pubmed")),
        Training("cora+citeseer-mlp", ("cora", "citeseer"), architecture="mlp"),
        Training("twitch-de+engb", ("twitch-de", "twitch-engb")),
        Training("acmv9+citationv1", ("acmv9", "citationv1")),
        Training("acmv9+dblpv7", ("acmv9", "dblpv7")),
        Training("citationv1+dblpv7", ("citationv1", "dblpv7")),
        Training("reddit1+2", _reddit(2)),
        Training("reddit1+2-seed1", _reddit(2), seed=1),
        *(
            Training(f"reddit1+2-without-{name}{'-seed1' if seed else ''}", _reddit(2), without=without, seed=seed)
            for seed in (0, 1)
            for name, without in WITHOUT.items()
        ),
        *(Training(f"reddit1+2-budget{budget}", _reddit(2), budget=budget) for budget in (10, 20, 30, 100)),
        Training("reddit1", _reddit(1)),
        Training("reddit1+2+3", _reddit(3)),
        Training("reddit1+2+3+4", _reddit(4)),
    )
}
"""All trainings by name. At a budget of 50 on Reddit the policy is reddit1+2 itself."""

AGE_SOURCES = (
    "cora",
    "citeseer",
    "pubmed",
    "twitch-de",
    "twitch-engb",
    "acmv9",
    "citationv1",
    "dblpv7",
    "reddit1",
    "reddit2",
)
"""Graphs on which AGE's parameters are searched, since policies that AGE is set against are trained on them."""

REDDIT_BUDGETS = (10, 20, 30, 50, 100)
"""Labels with which policies are trained on Reddit 1 and 2 for the experiments on budgets."""


def age_budgets(source: str) -> tuple[int, ...]:
    """The budgets at which AGE's parameters are searched on a source graph.

    Those of the policies that are trained on it.
    """
    return REDDIT_BUDGETS if source in _reddit(2) else (default_budget(source),)


_SHIPPED = Path(__file__).parent / "policies.tar.gz"
"""What comes with nodewise; ``benchmarks/pack_policies.py`` makes it."""


def policies_folder(folder: str | Path | None = None) -> Path:
    """Where new policy files go: the folder given, else ``policies`` in the present one."""
    return Path("policies" if folder is None else folder)


def find_file(name: str, folder: str | Path | None = None) -> Path | None:
    """The file of that name: from the folder given.

    If none is given, from ``policies`` in the present one, else as it comes with nodewise.
    """
    own = policies_folder(folder) / name
    shipped = _unpacked() / name if folder is None and not own.is_file() else own
    return shipped if shipped.is_file() else None


@cache
def _unpacked() -> Path:
    """A folder, for as long as the process runs, with the files that come with nodewise."""
    folder = Path(tempfile.mkdtemp(prefix="nodewise-policies-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(_SHIPPED) as archive:
        for entry in archive:
            content = archive.extractfile(entry)
            assert content is not None, "the archive holds files alone"
            (folder / entry.name).write_bytes(content.read())
    return folder


def find_training(name: str) -> Training:
    """The training of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in TRAININGS:
        raise UnknownNameError("training", name, TRAININGS)
    return TRAININGS[name]


def find_trained(name: str, folder: str | Path | None = None) -> Policy | None:
    """The trained policy: from the folder, else the shipped one that was trained on the same graphs in the same way.

    None if there is neither.
    """
    training = find_training(name)
    path = find_file(f"{name}.safetensors", folder)
    if path is not None:
        return load_policy(path)
    shipped = shipped_policies().get(name)
    policy = None if shipped is None else load_policy(shipped)
    return policy if policy is not None and _fits(policy, training) else None


def _fits(policy: Policy, training: Training) -> bool:
    """Whether a policy was trained as the training says; its seed and batch may be others."""
    sources, settings = policy.origin.get("source_graphs", []), policy.origin.get("training", {})
    names = tuple(source.get("name") for source in sources)
    wanted = training.settings(tuple(source.get("budget", 1) for source in sources) or (1,), ()).policy
    whole = settings.get("episodes", 0) >= training.episodes and settings.get("reward", "trajectory") == "trajectory"
    return names == training.sources and policy.settings == wanted and whole


def missing_command(names: str, folder: str | Path | None = None) -> str:
    """The command that makes what is missing."""
    return f"nodewise reproduce trainings --only {names}" + ("" if folder is None else f" --policies {folder}")


def released_policy(name: str, folder: Path) -> Policy | None:
    """The authors' policy of that name, or None if the folder does not hold its state dict, ``pretrain_NAME.pkl``."""
    path = folder / f"pretrain_{name}.pkl"
    return import_released(path) if path.is_file() else None


@dataclass(frozen=True)
class AgeSettings:
    """AGE's setting for transfer.

    Attributes:
        settings: ``weights`` or ``basef``, as the strategy takes it.
        searched: whether it was found on the source graphs at the budget that was asked for. If not, fixed weights are
            those of another budget, and ``basef`` is its authors' 0.95.
    """

    settings: dict[str, Any]
    searched: bool


def age_settings(
    sources: tuple[str, ...], fixed: bool, budget: int | None = None, folder: str | Path | None = None
) -> AgeSettings | None:
    """AGE's setting for transfer: the mean of what was found best on each source graph (section 4.1).

    Args:
        sources: the source graphs.
        fixed: whether the weights are fixed, as the paper words it, or change by ``basef``, as in the released program.
        budget: labels on the source graphs; each graph's own by default.
        folder: of the files; None: ``policies`` in the present one, else those that come with nodewise.

    Returns:
        None if fixed weights were not searched on one of them.

    Raises:
        PolicyFileError: a file of weights cannot be read.
    """
    settings: list[Any] = []
    searched = True
    for source in sources:
        path = find_file(f"age-{source}.json", folder)
        if path is None and fixed:
            return None
        try:
            entries = {} if path is None else json.loads(path.read_text(encoding="utf-8"))["budgets"]
            own, wanted = str(default_budget(source)), str(budget or default_budget(source))
            entry = entries.get(wanted) or entries.get(own) or {}
            searched &= wanted in entries and (fixed or "basef" in entry)
            settings.append(
                [float(weight) for weight in entry["weights"]]
                if fixed
                else [float(entry.get("basef", Age.AUTHORS_BASEF))]
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise PolicyFileError(
                f"{str(path)!r} does not hold AGE's weights ({error}): delete it, and run"
                f" {missing_command(f'age-{source}')}"
            ) from None
    means = [round(sum(column) / len(settings), 6) for column in zip(*settings, strict=True)]
    if fixed:
        entropy, centrality, density = means
        return AgeSettings({"weights": (entropy, centrality, density)}, searched)
    return AgeSettings({"basef": means[0]}, searched)
