"""Who is let in: one decision for every request, HTTP or websocket, made before anything else sees it.

It knows nothing of the server and sends nothing; `guard` does what it says. The order matters: a page of another origin
is told the same whether or not it happens to carry the token.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from nodewise.studio.guard.origins import API, GuardRules
from nodewise.studio.guard.roles import EVERYBODY, Visitor

__all__ = ["Refusal", "Welcome", "admit", "right_cookies", "visitor_of", "wrong_tokens"]

METHODS = ("GET", "HEAD", "POST")
_ONCE = frozenset(
    b"host origin authorization content-length content-type content-encoding transfer-encoding referer upgrade"
    b" sec-fetch-site sec-fetch-mode sec-fetch-dest".split()
)
_BAD_PATH = re.compile(r"[\x00-\x1f\x7f\\]|//|/\.{1,2}(?:/|$)")


@dataclass(frozen=True)
class Refusal:
    """Why a request goes no further.

    Attributes:
        status: the HTTP status.
        error: one sentence: what is wrong, what to do.
        headers: further headers of the answer.
        ask_again: whether a browser shall load the page once more by itself. It leaves cookies of ours at home where
            the link was on another site's page; from our own page it brings them.
        page: whether a person is waiting for a page, and not a program for JSON.
        wrong_tokens: the tokens that were brought where none was right.
    """

    status: int
    error: str
    headers: Sequence[tuple[bytes, bytes]] = ()
    ask_again: bool = False
    page: bool = False
    wrong_tokens: Sequence[str] = field(default=(), repr=False)


@dataclass(frozen=True)
class Welcome:
    """The request brought the token in its address: keep it in a cookie and go to ``location``, the address without it.

    Attributes:
        location: path and the rest of the query.
        cookie: the token.
        from_elsewhere: whether a link on another site's page led here.
        encrypted: whether the address can only be reached by https, so that the cookie need never travel otherwise.
    """

    location: str
    cookie: str = field(repr=False)
    from_elsewhere: bool
    encrypted: bool


def admit(
    scope: Mapping[str, Any], rules: GuardRules, guesses: bool = True, opened: Container[str] = ()
) -> Refusal | Welcome | None:
    """What becomes of a request: None where it may go on.

    Args:
        scope: the ASGI scope, of type ``http`` or ``websocket``.
        rules: what is ours.
        guesses: whether a token may be tried; if not, the cookie of a page that is open already is the only way.
        opened: the cookies of those pages. Each holds a word of its own, so that a guess of the token is none of them.
    """
    headers = _Headers(scope["headers"])
    page = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"} and rules.is_page(scope["path"])
    refusal = (
        _malformed(scope, headers)
        or _wrong_host(scope, headers, rules)
        or _from_elsewhere(scope, headers, rules, page)
        or _wrong_method(scope, headers, rules)
    )
    return refusal or _without_token(scope, headers, rules, page, guesses, opened)


def right_cookies(scope: Mapping[str, Any], rules: GuardRules) -> list[str]:
    """The cookies of a request that hold a token and a page's word, each whole."""
    cookies = _cookies(_Headers(scope["headers"]), rules)
    return [cookie for cookie in cookies if ":" in cookie and rules.knows(_token_in(cookie))]


def visitor_of(
    scope: Mapping[str, Any], rules: GuardRules, guesses: bool = True, opened: Container[str] = ()
) -> Visitor | None:
    """Whose token a request has brought, in a header or a cookie; None where it has brought none that is right.

    Of several the one that may do most: a token that somebody has planted in a browser takes nothing from whoever uses
    it. Where the studio has no token, whoever brings none is the owner. The arguments are those of `admit`.
    """
    headers = _Headers(scope["headers"])
    kept = [_token_in(cookie) for cookie in _cookies(headers, rules) if guesses or cookie in opened]
    tokens = [*(_bearer(headers) if guesses else ()), *kept]
    found = [visitor for token in tokens if (visitor := rules.visitor(token)) is not None]
    if not found:
        return Visitor("owner") if rules.token is None else None
    return min(found, key=lambda visitor: EVERYBODY.index(visitor.role))


def wrong_tokens(scope: Mapping[str, Any], rules: GuardRules) -> list[str]:
    """The tokens in a request's header and cookies that are nobody's: guesses, also beside one that is right."""
    headers = _Headers(scope["headers"])
    tokens = (*_bearer(headers), *map(_token_in, _cookies(headers, rules)))
    return [token for token in tokens if not rules.knows(token)]


class _Headers:
    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self.pairs = [(bytes(name).lower(), bytes(value).decode("latin-1").strip(" \t")) for name, value in pairs]

    def all(self, name: bytes) -> list[str]:
        return [value for key, value in self.pairs if key == name]

    def one(self, name: bytes) -> str | None:
        return next(iter(self.all(name)), None)

    def repeated(self) -> str | None:
        seen: set[bytes] = set()
        for name, _ in self.pairs:
            if name in seen and name in _ONCE:
                return name.decode("latin-1")
            seen.add(name)
        return None


def _malformed(scope: Mapping[str, Any], headers: _Headers) -> Refusal | None:
    path = str(scope["path"])
    raw = bytes(scope.get("raw_path") or b"/")
    if not path.startswith("/") or not raw.startswith(b"/") or _BAD_PATH.search(path):
        return _ending("the request's path cannot be used: give it as it is in the API's description")
    if (twice := headers.repeated()) is not None:
        return _ending(f"the header {twice} was sent twice: send it once")
    length = headers.one(b"content-length")
    if length is not None and not re.fullmatch(r"[0-9]{1,18}", length):
        return _ending(f"Content-Length must be a number of bytes, got {length[:30]!r}")
    if headers.one(b"transfer-encoding") is not None and length is not None:
        return _ending("the request tells its length in two ways: send either Content-Length or Transfer-Encoding")
    return None


def _ending(error: str) -> Refusal:
    """A refusal after which nothing more is read: where a request is malformed, nobody knows where the next begins."""
    return Refusal(400, error, [(b"connection", b"close")])


def _arrived(scope: Mapping[str, Any]) -> str | None:
    server = scope.get("server")
    # no port: a unix socket, whose path is no address
    return str(server[0]) if server and server[1] is not None else None


def _wrong_host(scope: Mapping[str, Any], headers: _Headers, rules: GuardRules) -> Refusal | None:
    host = headers.one(b"host")
    if host is not None and rules.origins_of(host, _arrived(scope)):
        return None
    return Refusal(
        403,
        "this is not an address of the studio: open the one that it printed, or start it with --allow-host and the name"
        " that you use",
    )


def _from_elsewhere(scope: Mapping[str, Any], headers: _Headers, rules: GuardRules, page: bool) -> Refusal | None:
    refused = Refusal(
        403,
        "the studio takes no requests from pages of another origin: use its own page, or a program that is no browser",
    )
    ours = rules.origins_of(headers.one(b"host") or "", _arrived(scope))
    origin = headers.one(b"origin")
    if origin is not None and origin.lower() not in ours:
        return refused
    site = headers.one(b"sec-fetch-site")
    if site in {None, "same-origin", "none"}:
        referer = headers.one(b"referer")  # only for browsers that tell nothing else
        if (
            site is None
            and origin is None
            and referer
            and scope["type"] == "http"
            and scope["method"] not in {"GET", "HEAD"}
        ):
            return None if any(referer.lower().startswith(f"{one}/") for one in ours) else refused
        return None
    led = headers.one(b"sec-fetch-mode") == "navigate" and headers.one(b"sec-fetch-dest") == "document"
    return None if page and led and origin is None and scope["method"] == "GET" else refused


def _wrong_method(scope: Mapping[str, Any], headers: _Headers, rules: GuardRules) -> Refusal | None:
    if scope["type"] != "http":
        return None
    method, path = scope["method"], scope["path"]
    if method not in METHODS:
        return Refusal(405, f"{str(method)[:20]} is not used here: use GET or POST", [(b"allow", b"GET, HEAD, POST")])
    if method != "POST" or not path.startswith(API):
        return None
    kind = (headers.one(b"content-type") or "").partition(";")[0].strip().lower()
    wanted = "multipart/form-data" if path in rules.uploads else "application/json"
    if kind != wanted:  # what a foreign page may send without asking first is never taken for JSON
        return Refusal(
            415, f"the body must be {wanted}, got {kind[:60] or 'no Content-Type'}: set the header Content-Type"
        )
    return None


def _without_token(
    scope: Mapping[str, Any],
    headers: _Headers,
    rules: GuardRules,
    page: bool,
    guesses: bool,
    opened: Container[str],
) -> Refusal | Welcome | None:
    led = headers.one(b"sec-fetch-site") in {"cross-site", "same-site"}
    query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True) if page else []
    cookies = _cookies(headers, rules)
    looked_at = [_token_in(cookie) for cookie in cookies if guesses or cookie in opened]
    kept = next((token for token in looked_at if rules.knows(token)), None)
    known = kept is not None
    named = [value for name, value in query if name == "token"]
    brought = [*_bearer(headers), *named, *map(_token_in, cookies)]
    if brought and not guesses and not known and rules.token is not None:
        error = (
            "too many wrong tokens came from this address: wait a minute, then open the address that the studio printed"
        )
        return Refusal(429, error, [(b"retry-after", b"60")], page=page)
    known = known or any(rules.knows(token) for token in _bearer(headers))
    if scope["type"] == "http" and scope["method"] == "GET" and named:
        typed = next((value for value in named if rules.knows(value)), None)
        if typed is not None or known:
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            ours = rules.origins_of(headers.one(b"host") or "", _arrived(scope))
            encrypted = all(origin.startswith("https:") for origin in ours)
            cookie = typed or kept or next(token for token in _bearer(headers) if rules.knows(token))
            return Welcome(quote(scope["path"]) + (f"?{rest}" if rest else ""), cookie, led, encrypted)
    if known or rules.token is None:
        return None
    error = (
        "the studio needs its token: open the address that it printed, or send the header Authorization: Bearer TOKEN"
    )
    return Refusal(
        401, error, [(b"www-authenticate", b"Bearer")], ask_again=led and page, page=page, wrong_tokens=brought
    )


def _bearer(headers: _Headers) -> list[str]:
    """The token in the header Authorization."""
    scheme, _, value = (headers.one(b"authorization") or "").partition(" ")
    return [value.strip(" ")] if scheme.lower() == "bearer" else []


def _token_in(cookie: str) -> str:
    """The token that a cookie holds, before the word of its page."""
    return cookie.partition(":")[0]


def _cookies(headers: _Headers, rules: GuardRules) -> list[str]:
    """Every cookie with a token. A neighbour may plant cookies of our name; a wrong one does not hide the right one."""
    cookies = []
    for line in headers.all(b"cookie"):
        for part in line.split(";"):
            name, _, value = part.strip(" \t").partition("=")
            if name in {rules.cookie, "nodewise_token"}:
                cookies.append(value.strip('"'))
    return cookies
