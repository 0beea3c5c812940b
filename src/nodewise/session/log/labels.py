"""A label that counts."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Label"]


class Label(NamedTuple):
    """A node and the name of its class."""

    node: int
    label: str
