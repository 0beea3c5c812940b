"""How counts and lists are said in messages."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["count", "listed"]


def count(number: int, thing: str, things: str = "") -> str:
    """``"1 edge"``, ``"12,345 edges"``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def listed(names: Iterable[object], most: int = 8) -> str:
    """The names, quoted, with commas; beyond `most` only their number is told."""
    every = list(names)
    shown = ", ".join(repr(str(name)) for name in every[:most])
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")
