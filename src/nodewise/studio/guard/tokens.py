"""The token's file, and how often a wrong one may be tried."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable
from pathlib import Path

from nodewise.ground.errors import InputError

__all__ = ["WrongTokens", "new_token", "token_from_file"]

_BYTES = 4096


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


def token_from_file(path: Path) -> str:
    """The token in a file that its owner alone can read; where there is no such file, it is made with a new token.

    Raises:
        InputError: others can read it, it is no plain file, or it cannot be read or made.
    """
    try:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return _read(path)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            token = new_token()
            file.write(token + "\n")
        return token
    except OSError as error:
        raise InputError(
            f"the token file {str(path)!r} cannot be used ({error.strerror or error}): give another one"
        ) from error


def _read(path: Path) -> str:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise InputError(f"the token file {str(path)!r} is no plain file: give one that is, or a name that is free")
        if os.name == "posix" and facts.st_mode & 0o077:
            raise InputError(
                f"the token file {str(path)!r} can be read by others (mode {stat.S_IMODE(facts.st_mode):o}): chmod 600"
                f" {str(path)!r}"
            )
        text = file.read(_BYTES).decode("ascii", "replace").strip()
    if not text:
        raise InputError(f"the token file {str(path)!r} is empty: write a token into it, or remove it, and one is made")
    return text


class WrongTokens:
    """Counts wrong tokens by the address that they come from; the same one again is no further guess.

    Args:
        most: how many an address may try within a while.
        seconds: that while.
        clock: tells seconds.
    """

    def __init__(self, most: int = 20, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._tries: dict[str, dict[bytes, float]] = {}

    def count(self, address: str, token: str) -> None:
        """A wrong token came from this address."""
        tries = self._tries.pop(address, {})
        tries.setdefault(hashlib.sha256(token.encode("utf-8", "replace")).digest(), self._clock())
        if len(tries) > self._most:
            del tries[next(iter(tries))]
        self._tries[address] = tries
        if len(self._tries) > 1000:
            del self._tries[next(iter(self._tries))]

    def too_many(self, address: str) -> bool:
        """Whether this address has tried so often that it has to wait."""
        tries = self._tries.get(address, {})
        return len(tries) == self._most and self._clock() - next(iter(tries.values())) < self._seconds
