"""What a command says whose room is not built yet."""

from __future__ import annotations

from nodewise.cli.screen import Screen
from nodewise.errors import InputError

__all__ = ["refuse_until_built"]


def refuse_until_built(screen: Screen, room: str) -> None:
    """Refuses the command because the part of nodewise that would do it is not there yet.

    Raises:
        InputError: always.
    """
    raise InputError(f"this version of nodewise has no {room} yet, so the command cannot run: see CHANGELOG.md for what is there")
