"""What must be the same on every machine, so that a task gives there what it gives here."""

from __future__ import annotations

import platform
from dataclasses import dataclass

__all__ = ["Versions"]


@dataclass(frozen=True)
class Versions:
    """The versions that one process runs.

    Attributes:
        python: such as ``"3.11"``: what one version pickles another may not read.
        nodewise: the package's version.
        parts: the versions of what results depend on, which are raised between releases as well.
    """

    python: str
    nodewise: str
    parts: str

    @classmethod
    def here(cls) -> Versions:
        """This process's."""
        from nodewise import __version__
        from nodewise.evaluation.versions import built_in_versions

        parts = ", ".join(f"{name} {version}" for name, version in sorted(built_in_versions().items()))
        return cls(".".join(platform.python_version_tuple()[:2]), __version__, parts)

    def difference(self, other: Versions, who: str) -> str | None:
        """A sentence on how another process differs, or None.

        Args:
            who: the other, as in ``"the worker on node1"``.
        """
        if self.python != other.python:
            return f"{who} runs Python {other.python}, this machine {self.python}: use the same on both"
        if self.nodewise != other.nodewise:
            return (
                f"{who} has nodewise {other.nodewise}, this machine {self.nodewise}: install the same version on both"
            )
        if self.parts != other.parts:
            return (
                f"{who} has another state of nodewise {other.nodewise} ({_beyond(other.parts, self.parts)}) than this"
                f" machine ({_beyond(self.parts, other.parts)}): install the same commit on both, and start the workers"
                " anew"
            )
        return None


def _beyond(parts: str, others: str) -> str:
    return ", ".join(part for part in parts.split(", ") if part not in others.split(", ")) or "nothing more"
