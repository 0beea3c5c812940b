"""Names that are imported when they are first used, so that a package's front door costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """A package's ``__getattr__``: each name comes from its module, which is imported when the name is first asked for.

    Args:
        package: the package's ``__name__``.
        homes: name -> the module that has it, dotted, without the package's own name.
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        thing = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(import_module(package), name, thing)  # from now on it is the package's own
        return thing

    return get
