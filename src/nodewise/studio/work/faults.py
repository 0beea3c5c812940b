"""What goes wrong in work that nobody waits for: it is logged, once and not at every beat."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from nodewise.ground.errors import NodewiseError
from nodewise.studio.work.errors import StoppedError

__all__ = ["Faults"]

_LOGGER = logging.getLogger("nodewise.studio")


class Faults:
    """Failures of what the studio does by itself; the same one is logged again only after the work has succeeded."""

    def __init__(self) -> None:
        self._logged: dict[str, str] = {}

    @contextmanager
    def logged(self, work: str) -> Iterator[None]:
        """Logs a failure of the block, and goes on after it; the end of the studio is none.

        Args:
            work: what is being done, in words: a failure is known by it.
        """
        try:
            yield
        except StoppedError:
            return
        except Exception as error:
            said = f"{type(error).__name__}: {' '.join(str(error).split())}"
            if self._logged.get(work) != said:
                self._logged[work] = said
                _LOGGER.warning("%s failed: %s", work, said, exc_info=not isinstance(error, NodewiseError))
        else:
            self._logged.pop(work, None)
