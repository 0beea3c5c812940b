"""The people who have links of their own: a token each, of which a file beside the sessions keeps a digest.

The tokens are 192 random bits, so that a plain digest is as hard to turn back as a slow one. The file is looked at with
every request: whoever is added or loses their link, here or by another process, is so at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_args

from nodewise.ground.errors import InputError
from nodewise.ground.files import whole_file
from nodewise.ground.locks import held
from nodewise.session.answers import valid_person
from nodewise.studio.guard.roles import Role
from nodewise.studio.guard.tokens import new_token

__all__ = ["PEOPLE_FILE", "People", "Person"]

PEOPLE_FILE = "nodewise-people.json"
"""The name of the file in the folder of the sessions."""

_BYTES = 2**22
_MOST = 10_000


@dataclass(frozen=True)
class Person:
    """Somebody with a link.

    Attributes:
        name: as it is kept with every label; nobody else has it, in whatever case.
        role: what they may do.
        digest: of their token, as hexadecimal digits.
        added: when, in seconds since 1970.
        revoked: when their link was taken away; None: it works.
    """

    name: str
    role: Role
    digest: str
    added: float
    revoked: float | None = None


class People:
    """Those who have links to the studio of a folder.

    Args:
        folder: where the sessions lie.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / PEOPLE_FILE
        self._seen: tuple[int, ...] | None = None
        self._people: tuple[Person, ...] = ()
        self._by_digest: dict[str, Person] = {}
        self._names: frozenset[str] = frozenset()

    def all(self) -> tuple[Person, ...]:
        """Everybody, those whose link was taken away among them, in the order added.

        Raises:
            InputError: the file cannot be used.
        """
        self._read()
        return self._people

    def find(self, token: str) -> Person | None:
        """Whose token this is; None where it is nobody's, was taken away, or the file cannot be used."""
        try:
            self._read()
        except InputError:  # the owner, who has another token, is told when they look at the list
            return None
        person = self._by_digest.get(_digest(token))
        return None if person is None or person.revoked is not None else person

    def has_name(self, name: str) -> bool:
        """Whether somebody with a link is called so, or was."""
        try:
            self._read()
        except InputError:
            return True
        return name.strip().casefold() in self._names

    def add(self, name: str, role: Role) -> str:
        """Give somebody a link; gives their token, which is kept nowhere.

        Raises:
            InputError: there is somebody of that name, or the name or the role cannot be used.
        """
        name = valid_person(name)
        if role not in get_args(Role):
            raise InputError(f"a role is one of {', '.join(get_args(Role))}, got {str(role)[:40]!r}")
        if _is_owners(name) and role != "owner":
            raise InputError("'me' is what an owner is called who gives no name: give the person's own")
        token = new_token()
        with self._changing() as people:
            before = next((each for each in people if each.name.casefold() == name.casefold()), None)
            if before is not None and before.revoked is None:
                raise InputError(
                    f"{before.name!r} has a link already, as {before.role}: take it away first ('Take away' in the list"
                    " of links, or nodewise people revoke), or choose another name"
                )
            if before is not None:  # the same person again: a new token, perhaps another role
                people.remove(before)
            if len(people) >= _MOST:
                raise InputError(f"at most {_MOST} people can have links here")
            people.append(Person(before.name if before else name, role, _digest(token), time.time()))
        return token

    def revoke(self, name: str) -> Person:
        """Take somebody's link away: it works no more from the next request on.

        Raises:
            InputError: nobody of that name has one.
        """
        with self._changing() as people:
            for index, each in enumerate(people):
                if each.name.casefold() == name.strip().casefold() and each.revoked is None:
                    people[index] = replace(each, revoked=time.time())
                    return people[index]
            raise InputError(f"nobody called {name[:100]!r} has a link: see `nodewise people list`")

    @contextmanager
    def _changing(self) -> Iterator[list[Person]]:
        """The people, to be changed; written whole and readable by their owner alone where nothing is raised."""
        try:
            with held(self.path.with_name(f".{PEOPLE_FILE}.lock")):
                self._read()
                people = list(self._people)
                yield people
                listed = [asdict(each) for each in people]
                content = {"schema": 2, "people": listed, "digest": _digest(json.dumps(listed))}
                with whole_file(self.path) as file:
                    if hasattr(os, "fchmod"):
                        os.fchmod(file.fileno(), 0o600)
                    file.write(json.dumps(content, indent=1).encode())
        except OSError as error:
            raise InputError(
                f"the list of people {str(self.path)!r} cannot be written ({error.strerror or error}): check the folder"
            ) from error

    def _read(self) -> None:
        try:
            facts = self.path.stat()
        except OSError:
            seen: tuple[int, ...] = ()
        else:
            seen = (facts.st_dev, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size)
        if seen == self._seen:
            return
        self._seen, self._people, self._by_digest, self._names = None, (), {}, frozenset()
        people = _people_in(self.path) if seen else ()
        self._people, self._by_digest = people, {each.digest: each for each in people}
        self._names, self._seen = frozenset(each.name.casefold() for each in people), seen


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _people_in(path: Path) -> tuple[Person, ...]:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InputError(f"the list of people {str(path)!r} is no plain file: remove it")
            if os.name == "posix" and (facts.st_mode & 0o022 or facts.st_uid not in (os.geteuid(), 0)):
                raise InputError(
                    f"the list of people {str(path)!r} can be changed by others: it must be yours, and chmod 600"
                )
            content = json.loads(file.read(_BYTES))
        if not isinstance(content, dict) or content.get("schema") not in (1, 2):
            raise ValueError("no list of people, or one of a newer version")
        if content["schema"] == 2 and content["digest"] != _digest(json.dumps(content["people"])):
            raise ValueError("it was damaged, or changed by hand")
        return tuple(_person(each) for each in content["people"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"the list of people {str(path)!r} cannot be read ({error}): nobody's link works until it is mended or"
            " removed"
        ) from error


def _person(found: Any) -> Person:
    person = Person(**found)
    if (
        person.role not in get_args(Role)
        or valid_person(person.name) != person.name
        or not isinstance(person.digest, str)
        or not isinstance(person.added, (int, float))
        or not isinstance(person.revoked, (int, float, type(None)))
    ):
        raise ValueError(f"an entry is not as it should be: {str(found)[:80]}")
    if _is_owners(person.name) and person.role != "owner" and person.revoked is None:
        return replace(person, revoked=person.added)  # from before such a name was refused: it would read as the owner
    return person


def _is_owners(name: str) -> bool:
    """Whether it is what an owner is called who gives no name."""
    return name.casefold() == "me"
