"""The versions that a person raises when results change."""

from __future__ import annotations

from nodewise.classifiers import CLASSIFIERS
from nodewise.classifiers.views.views import VIEWS_VERSION
from nodewise.environment import Environment
from nodewise.strategies import STRATEGIES, Learned

__all__ = ["built_in_versions"]


def built_in_versions() -> dict[str, int]:
    """Everything of ours that results depend on, by what carries the version."""
    kinds = [make for make in (*CLASSIFIERS.values(), *STRATEGIES.values()) if isinstance(make, type)]
    versions = {kind.__name__: int(kind.version) for kind in (Environment, *kinds, Learned)}  # type: ignore[attr-defined]
    return {**versions, "VIEWS_VERSION": VIEWS_VERSION}
