"""The sessions that the studio has open, by name: every page works on its own, whatever others open."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from nodewise.studio.settings import ENDING, StudioSettings
from nodewise.studio.work.errors import ConflictError, MissingError, NoSessionError
from nodewise.studio.work.jobs import ARCHIVE, check_free, move_job
from nodewise.studio.work.open_session import OpenSession, file_identity
from nodewise.studio.work.pictures import Pictures
from nodewise.studio.work.upload import check_job_name

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["SessionPool"]


class SessionPool:
    """Finds, opens and closes sessions. Everything here runs in the worker's thread.

    Args:
        settings: the studio's.
        publish: gets every message for the pages.
        give_way: called between the steps of long work.
        most: sessions that stay open at a time; beyond that those that nobody has used for longest are closed.
    """

    def __init__(
        self,
        settings: StudioSettings,
        publish: Callable[[dict[str, Any]], None],
        give_way: Callable[[], None],
        most: int = 8,
    ) -> None:
        self._settings, self._publish, self._give_way, self._most = settings, publish, give_way, most
        self._pictures = Pictures(settings.pictures)
        self._open: dict[str, OpenSession] = {}  # the one used last comes last
        self._first: str | None = None

    @property
    def default(self) -> str | None:
        """The session that is meant where none is named.

        The one that the studio was started with, else the first that was opened.
        """
        return self._first

    def names(self) -> list[str]:
        """The sessions that there are: those in the studio's folder, and the one that it was started with."""
        files = (
            path
            for path in self._settings.folder.glob(f"*{ENDING}")
            if not path.name.startswith(".") and path.is_file()
        )
        return sorted(
            {path.name.removesuffix(ENDING) for path in files} | ({self._first} if self._first is not None else set())
        )

    def get(self, name: str | None = None) -> OpenSession:
        """A session by its name, opened if need be; it is found in the list, never by a path.

        Raises:
            MissingError: there is none of that name.
            NoSessionError: none was named, and none is open.
        """
        if name is None:
            if self._first is None:
                raise NoSessionError
            name = self._first
        current = self._open.get(name)
        path = self._settings.folder / f"{name}{ENDING}"
        if current is not None and (current.in_place or file_identity(path) == (0, 0)):
            self._open[name] = self._open.pop(name)
            return current
        if name not in self.names() or not path.is_file():
            raise MissingError(
                f"there is no session {name[:100]!r} in the studio's folder: open one of those listed, or make a"
                " new one"
            )
        from nodewise.session import Session

        session = Session.open(path)
        try:
            return self.take(session)
        except BaseException:
            session.close()
            raise

    def take(self, session: Session) -> OpenSession:
        """Have this session among those that are open; one of the same name whose file was replaced is let go."""
        opened = OpenSession(session, self._pictures, self._publish, self._give_way)
        before = self._open.pop(opened.name, None)
        self._open[opened.name] = opened
        self._first = self._first or opened.name
        if before is not None:
            before.close()
        self._publish({"type": "session", "name": opened.name})
        return opened

    def duplicate(self, name: str, new_name: str) -> None:
        """Copy a session with all its labels, as it is at this moment.

        Raises:
            ConflictError: there is one of the new name.
        """
        check_job_name(new_name)
        path = self._settings.folder / f"{new_name}{ENDING}"
        if path.exists() or path.is_symlink():
            raise ConflictError(f"there is a session {new_name!r} already: give the copy another name")
        self.get(name).session.backup(path)

    def archive(self, name: str) -> None:
        """Close a session and move its file into the archive; nothing is deleted.

        Raises:
            ConflictError: one of that name is in the archive.
        """
        path = self.get(name).session.path
        target = self._settings.folder / ARCHIVE / path.name
        target.parent.mkdir(exist_ok=True)
        check_free(target)
        self._forget(name)
        move_job(path, target)

    def restore(self, name: str) -> None:
        """Bring a session back from the archive.

        Raises:
            MissingError: there is none of that name.
            ConflictError: there is one beside the others by now.
        """
        archived = {
            path.name.removesuffix(ENDING): path for path in (self._settings.folder / ARCHIVE).glob(f"*{ENDING}")
        }
        source = archived.get(name)  # found in the list, never by a path
        if source is None:
            raise MissingError(f"there is no session {name[:100]!r} in the archive: bring back one of those listed")
        move_job(source, self._settings.folder / source.name)

    def _forget(self, name: str) -> None:
        opened = self._open.pop(name, None)
        if opened is not None:
            opened.close()
        if self._first == name:
            self._first = next(iter(self._open), None)

    def close_unused(self, watched: Collection[str | None]) -> None:
        """Let go of the files of sessions that are too many, those used least lately first.

        Args:
            watched: sessions that a page is open of; they stay.
        """
        spare = [name for name in self._open if name not in watched and name != self._first]
        for name in spare[: max(0, len(self._open) - self._most)]:
            self._open.pop(name).close()

    @property
    def too_many(self) -> bool:
        """Whether there are more open than should stay so."""
        return len(self._open) > self._most

    def opened(self) -> list[OpenSession]:
        """Those that are open."""
        return list(self._open.values())

    def close(self) -> None:
        """Let go of all files."""
        opened, self._open = self._open, {}
        for session in opened.values():
            session.close()
