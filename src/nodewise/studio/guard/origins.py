"""Which addresses the studio answers to, and what a visitor must bring: the rules that `guard` holds everybody to."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from nodewise.ground.errors import InputError
from nodewise.studio.guard.people import People
from nodewise.studio.guard.roles import Visitor

__all__ = ["API", "PAGES", "SESSION_PAGE", "UPLOADS", "GuardRules", "is_loopback"]

API = "/api/"
PAGES = frozenset({"/", "/new", "/api/docs"})
"""What a person may be led to from elsewhere, and where ``?token=`` is taken; nothing here changes anything."""
SESSION_PAGE = "/s/"
"""What the address of a session's page begins with; its name follows. A person may be led there as well."""
UPLOADS = frozenset(
    f"/api/v1/{path}"
    for path in (
        "preview",
        "session",
        "session/backup",
        "rows",
        "rows/change",
        "rows/preview",
        "suggestions/bring",
        "suggestions/preview",
        "rows/predict",
        "join",
        "join/preview",
    )
)
"""Where files arrive, and so where a body may be large."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_TOKEN = re.compile(r"[A-Za-z0-9._~-]{12,200}")


@dataclass(frozen=True)
class GuardRules:
    """What `guard.Guard` lets through. Made by `for_address`, which refuses what would be unsafe.

    Attributes:
        origins: the addresses that are ours, each as a browser writes an origin: ``http://127.0.0.1:8080``, a default
            port left out.
        port: where the studio listens.
        arrival: whether the number of the address that a connection arrived at is ours as well. A name can be made to
            point here by anybody who owns one, a number cannot.
        token: what everybody has to know; None lets everybody in who is on this machine.
        annotator_token: another one, by which people may label and look, and nothing else; None: there is none.
        people: those who have tokens of their own; None: nobody.
        pages: paths that a link from elsewhere may lead to.
        uploads: paths whose bodies may have `upload_limit` bytes.
        upload_limit: bytes of an upload, all its files together.
        body_limit: bytes of any other request.
        patience: seconds to wait for the next piece of a body.
        body_seconds: seconds that a whole body may take; an upload ten times as many.
    """

    origins: frozenset[str]
    port: int
    arrival: bool = False
    token: str | None = field(default=None, repr=False)
    annotator_token: str | None = field(default=None, repr=False)
    pages: frozenset[str] = PAGES
    uploads: frozenset[str] = UPLOADS
    upload_limit: int = 256 * 2**20
    body_limit: int = 2**20
    patience: float = 60.0
    body_seconds: float = 120.0
    people: People | None = field(default=None, repr=False)

    @classmethod
    def for_address(
        cls,
        host: str,
        port: int,
        *,
        token: str | None = None,
        annotator_token: str | None = None,
        allow_hosts: Iterable[str] = (),
        upload_limit: int = 256 * 2**20,
        body_limit: int = 2**20,
        patience: float = 60.0,
        people: People | None = None,
    ) -> GuardRules:
        """The rules for a server bound to ``host`` and ``port``.

        Args:
            host: the address or name it is bound to; ``0.0.0.0`` and ``::`` are every address of the machine.
            port: the port it listens on, the real one, not 0.
            token: what everybody has to know.
            annotator_token: what those have to know who may label and look, and nothing else.
            allow_hosts: further names under which it is reached, ``NAME``, ``NAME:PORT`` or ``https://NAME``: of a
                proxy or a tunnel. A name alone stands for that name at our own port, and at the default ports of http
                and https.
            upload_limit, body_limit, patience, people: as in the class.

        Raises:
            InputError: the address can be reached by others and there is no token, or a name or the token cannot be
                used.
        """
        for one in (token, annotator_token):
            if one is not None and not _TOKEN.fullmatch(one):
                raise InputError(
                    f"a token must be 12 to 200 letters, digits or . _ ~ -, got {len(one)} characters: leave --token"
                    " out, and one is made"
                )
        if annotator_token is not None and (token is None or token == annotator_token):
            raise InputError(
                "the annotators' token needs another one for the owner beside it: give --token T or --token-file FILE"
                " as well"
            )
        loopback = is_loopback(host)
        bound = host.strip("[]")
        wildcard = bound in {"", "0.0.0.0", "::"}
        named = {"localhost", "127.0.0.1", "[::1]"} if loopback or wildcard else set()
        if not wildcard:
            named.add(_canonical_host(bound))
        origins = {_origin("http", name, port) for name in named}
        for text in allow_hosts:
            allowed = _allowed(text, port)
            loopback = loopback and all(is_loopback(_split(origin.partition("://")[2])[0]) for origin in allowed)
            origins |= allowed
        if token is None and not loopback:
            raise InputError(
                f"others can reach the studio at {host!r} with {sorted(origins)}, and it has no token: give --token T,"
                " or keep to 127.0.0.1"
            )
        return cls(
            frozenset(origins),
            port,
            arrival=not is_loopback(host),
            token=token,
            annotator_token=annotator_token,
            upload_limit=upload_limit,
            body_limit=body_limit,
            patience=patience,
            people=people,
        )

    @property
    def cookie(self) -> str:
        """The cookie's name. Cookies know no ports, so two studios on one machine need two names."""
        return f"nodewise_token_{self.port}"

    def origins_of(self, host: str, arrived: str | None) -> frozenset[str]:
        """The origins of ours that a request to ``host`` (its header) may come from.

        None where that is not our address.
        """
        asked = host.lower()
        ours = {origin for origin in self.origins if _authority_matches(origin, asked)}
        if self.arrival and arrived is not None and _is_number(arrived):
            origin = _origin("http", _canonical_host(arrived), self.port)
            ours |= {origin} if _authority_matches(origin, asked) else set()
        return frozenset(ours)

    def visitor(self, token: str) -> Visitor | None:
        """Whose token this is, or None; the time that it takes tells nothing of how near it was."""
        digests = [
            hashlib.sha256((text or "").encode("utf-8", "replace")).digest()
            for text in (token, self.token, self.annotator_token)
        ]
        owner = hmac.compare_digest(digests[0], digests[1]) and self.token is not None
        annotator = hmac.compare_digest(digests[0], digests[2]) and self.annotator_token is not None
        person = None if self.people is None else self.people.find(token)
        if owner:
            return Visitor("owner")
        if annotator:
            return Visitor("annotator") if self.people is None else Visitor("annotator", None, self.people.has_name)
        return None if person is None else Visitor(person.role, person.name)

    def knows(self, token: str) -> bool:
        """Whether this is a token."""
        return self.visitor(token) is not None

    def is_page(self, path: str) -> bool:
        """Whether a person may be led to ``path`` from elsewhere."""
        return path in self.pages or (path.startswith(SESSION_PAGE) and "/" not in path[len(SESSION_PAGE) :])

    def body_time(self, path: str) -> float:
        """Seconds that the body of a request to ``path`` may take to arrive."""
        return 10 * self.body_seconds if path in self.uploads else self.body_seconds

    def limit(self, path: str) -> int:
        """Bytes that the body of a request to ``path`` may have."""
        return self.upload_limit if path in self.uploads else self.body_limit


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to ``host``."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _canonical_host(host: str) -> str:
    """A host as a browser writes it: lower case, addresses in their shortest form, IPv6 in brackets."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        name = host.lower()
        if not _NAME.fullmatch(name):
            raise InputError(
                f"{host!r} is no name or address of a host: give one such as label.example.org or 192.168.0.5"
            ) from None
        return name
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    if mapped is not None or isinstance(address, ipaddress.IPv4Address):
        return str(mapped or address)
    return f"[{address}]"


def _origin(scheme: str, name: str, port: int) -> str:
    return f"{scheme}://{name}" if _DEFAULT_PORTS[scheme] == port else f"{scheme}://{name}:{port}"


def _split(authority: str) -> tuple[str, int | None]:
    """Name and port of ``name:port``, ``[::1]:port`` or a bare IPv6 address."""
    parts = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::(\d{1,5}))?", authority)
    if parts is None:  # an IPv6 address without brackets, or nonsense that `_canonical_host` refuses
        return authority, None
    return parts[1], None if parts[2] is None else int(parts[2])


def _allowed(text: str, port: int) -> set[str]:
    scheme, mark, rest = text.partition("://")
    if not mark:
        scheme, rest = "", text
    schemes = [scheme.lower()] if mark else ["http", "https"]
    name, given = _split(rest.rstrip("/"))
    if not set(schemes) <= set(_DEFAULT_PORTS) or (given is not None and not 0 < given < 2**16):
        raise InputError(f"an allowed host is NAME, NAME:PORT, http://NAME or https://NAME, got {text!r}")
    plain = _canonical_host(name.strip("[]"))
    if given is not None:
        return {_origin(one, plain, given) for one in schemes}
    return {_origin(one, plain, at) for one in schemes for at in (_DEFAULT_PORTS[one], *(() if mark else (port,)))}


def _authority_matches(origin: str, host: str) -> bool:
    scheme, _, authority = origin.partition("://")
    name, port = _split(authority)
    return host == authority or (port is None and host == f"{name}:{_DEFAULT_PORTS[scheme]}")
