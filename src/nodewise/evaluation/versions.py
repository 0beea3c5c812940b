"""The versions that a person raises when results change."""

from __future__ import annotations

from nodewise.classifiers import CLASSIFIERS
from nodewise.classifiers.views.views import VIEWS_VERSION
from nodewise.environment import Environment
from nodewise.graph.relations import RELATIONS_VERSION
from nodewise.strategies import STRATEGIES, Learned

__all__ = ["built_in_versions"]


def built_in_versions() -> dict[str, int]:
    """Everything of ours that results depend on, by what carries the version."""
    made = (*CLASSIFIERS.values(), *STRATEGIES.values())
    kinds = [Environment, *(kind for kind in made if isinstance(kind, type)), Learned]
    versions = {kind.__name__: version for kind in kinds if (version := getattr(kind, "version", None)) is not None}
    return {**versions, "VIEWS_VERSION": VIEWS_VERSION, "RELATIONS_VERSION": RELATIONS_VERSION}
