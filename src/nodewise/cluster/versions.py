"""What must be the same on every machine, so that a task gives there what it gives here."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Versions"]


@dataclass(frozen=True)
class Versions:
    """The versions that one process runs.

    Attributes:
        python: such as ``"3.11"``: what one version pickles another may not read.
        nodewise: the package's version.
        code: a digest of its source, for what was changed without a new version.
    """

    python: str
    nodewise: str
    code: str

    @classmethod
    def here(cls) -> Versions:
        """This process's."""
        from nodewise import __version__

        return cls(".".join(platform.python_version_tuple()[:2]), __version__, _code())

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
        if self.code != other.code:
            return (
                f"{who} has nodewise {other.nodewise} with other source files ({other.code}) than this machine"
                f" ({self.code}): install the same commit on both, and start the workers anew"
            )
        return None


@cache
def _code() -> str:
    package = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
