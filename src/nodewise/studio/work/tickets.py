"""Long work that somebody may no longer want: it is known by a ticket of whoever asked for it."""

from __future__ import annotations

from nodewise.studio.work.errors import CancelledWorkError

__all__ = ["Tickets"]

_KEPT = 1000


class Tickets:
    """The tickets that were cancelled.

    A ticket may be cancelled before its work has arrived, since an upload may take longer than a click.
    """

    def __init__(self) -> None:
        self._cancelled: dict[str, None] = {}

    def cancel(self, ticket: str) -> None:
        """Have the work of this ticket end at its next step, or not begin."""
        self._cancelled[ticket] = None
        while len(self._cancelled) > _KEPT:
            del self._cancelled[next(iter(self._cancelled))]

    def check(self, ticket: str | None, what: str) -> None:
        """Called between two steps of the work.

        Raises:
            CancelledWorkError: it is no longer wanted.
        """
        if ticket is not None and ticket in self._cancelled:
            raise CancelledWorkError(f"{what} was cancelled: nothing is left of it")
