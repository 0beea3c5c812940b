"""Why the studio does not do what it was asked; the API gives each kind its status."""

from __future__ import annotations

from collections.abc import Sequence

from nodewise.ground.errors import NodewiseError

__all__ = [
    "BusyError",
    "CancelledWorkError",
    "ConflictError",
    "ForbiddenError",
    "MissingError",
    "NoSessionError",
    "StoppedError",
    "TypoError",
]


class MissingError(NodewiseError):
    """There is no such node, session or file."""


class ForbiddenError(NodewiseError):
    """It is for the session's owner."""


class BusyError(NodewiseError):
    """So many jobs wait that another one is refused."""


class StoppedError(NodewiseError):
    """The studio is being shut down."""


class ConflictError(NodewiseError):
    """It cannot be done as things stand."""


class CancelledWorkError(ConflictError):
    """Somebody has cancelled the work."""


class NoSessionError(ConflictError):
    """No session is open."""

    def __init__(self) -> None:
        super().__init__("no session is open: open one of those in the studio's folder, or make one from a table")


class TypoError(ConflictError):
    """A label that looks like a misspelt class.

    Args:
        label: what was given.
        near: the classes that were probably meant, the nearest first.
    """

    def __init__(self, label: str, near: Sequence[str]) -> None:
        self.suggestion = near[0]
        super().__init__(
            f"{label!r} looks like the class {near[0]!r} misspelt: use {near[0]!r}, or say that it is a new class"
        )
