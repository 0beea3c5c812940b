"""Learners that keep their labels and compute nothing until somebody looks."""

from __future__ import annotations

import hashlib
import pickle
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from inspect import isfunction, ismethod
from typing import Any

import torch

from nodewise.contracts import Learner
from nodewise.ground.errors import InputError

__all__ = ["LabelKeeper", "library_version", "plain", "qualified"]


class LabelKeeper(Learner):
    """Runs that keep their labels, sorted by node, so that predictions do not depend on the order of labels.

    `compute` is called when predictions are first looked at after a label came: what nobody looks at costs nothing.

    Attributes:
        seed: of the present episode. nodes, labels: int64 [run, label].
    """

    def __init__(self, runs: int, num_nodes: int, classes: int, dtype: torch.dtype, device: torch.device) -> None:
        self.runs, self.num_nodes, self.dtype, self.device = runs, num_nodes, dtype, device
        self._first = self._known = classes
        self.reset(0)

    @property
    def num_classes(self) -> int:  # type: ignore[override]
        """How many classes there are; 1 where none is known yet."""
        return max(1, self._known)

    @abstractmethod
    def compute(self) -> torch.Tensor:
        """The logits from the labels, of which there is one at least: [run, node, class]."""

    def reset(self, seed: int) -> None:
        """Forget all labels, and all classes but those of the start."""
        self.seed, self._known = seed, self._first
        self.nodes, self.labels = torch.zeros(2, self.runs, 0, dtype=torch.int64, device=self.device)
        self._logits: torch.Tensor | None = None

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """More labels: int64 [run, k] each."""
        together = torch.cat([self.nodes, nodes], 1)
        order = together.argsort(dim=1, stable=True)
        self.nodes, self.labels = together.gather(1, order), torch.cat([self.labels, labels], 1).gather(1, order)
        self._logits = None

    def fit(self) -> None:
        """Nothing to do: what is needed is computed when it is asked for."""

    def logits(self) -> torch.Tensor:
        """What `compute` gave; zeros before the first label."""
        if self._logits is None:
            if self.nodes.shape[1]:
                with torch.enable_grad():
                    self._logits = self.compute().detach()
            else:
                shape = (self.runs, self.num_nodes, self.num_classes)
                self._logits = torch.zeros(shape, dtype=self.dtype, device=self.device)
        return self._logits

    def widen(self, names: Sequence[str]) -> None:
        """More classes, behind those there are."""
        self._known += len(names)
        self._logits = None


def qualified(thing: Any) -> str:
    """A class or function by its module and name."""
    return f"{thing.__module__}.{thing.__qualname__}"


def plain(value: Any) -> Any:
    """A setting as JSON holds it: functions and classes by name, other objects by their class and a digest.

    Raises:
        InputError: neither its name nor its contents say what it is.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, partial):
        return [plain(value.func), plain(value.args), plain(value.keywords)]
    if isinstance(value, type) or isfunction(value) or ismethod(value) or hasattr(value, "__qualname__"):
        return qualified(value)
    if hasattr(value, "get_params"):  # its parameters stand beside it, by its name
        return qualified(type(value))
    try:
        contents = pickle.dumps(value)
    except Exception as error:
        raise InputError(
            f"{value!r} cannot be distinguished from another of its kind ({error}): give numbers, texts, classes or"
            " functions of a module as settings"
        ) from None
    return f"{qualified(type(value))} {hashlib.blake2b(contents, digest_size=8).hexdigest()}"


def library_version(kind: Any) -> str | None:
    """The installed package that a class or function comes from, with its version; None for somebody's own."""
    top = str(kind.__module__).partition(".")[0]
    names = packages_distributions().get(top, [])
    try:
        return f"{names[0]} {version(names[0])}" if names else None
    except PackageNotFoundError:
        return None
