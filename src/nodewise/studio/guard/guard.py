"""The one safety layer: everything that reaches the studio goes through here, HTTP and websocket alike.

It checks where a request goes to, where it comes from and whether it brings the token (`admission`), counts its body as
it arrives, and puts the headers on every answer that keep a browser from running, framing or storing what it should
not.

Why not Starlette's TrustedHost and CORS middleware: put in its place they pass 40 of the guard's 172 tests; they refuse
no foreign page's request, only its reading of the answer, know no websockets, ports, tokens or bodies.
"""

from __future__ import annotations

import asyncio
import html
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from functools import partial
from typing import Any

from nodewise.studio.guard.admission import Refusal, Welcome, admit, right_cookies, visitor_of, wrong_tokens
from nodewise.studio.guard.origins import GuardRules
from nodewise.studio.guard.roles import VISITOR, Role, Visitor
from nodewise.studio.guard.tokens import WrongTokens

__all__ = ["CONTENT_POLICY", "ROLE", "STILL_WELCOME", "Guard"]

ROLE = "nodewise.role"
"""Where a request's scope tells the role of whoever sent it."""
STILL_WELCOME = "nodewise.still_welcome"
"""Where it has a function that says whether their token is still right, for connections that stay."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src"
    " 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_MAY: dict[Role, str] = {
    "annotator": "annotators may label, skip, write notes and look around",
    "reviewer": "reviewers may read, settle, write notes and export",
    "onlooker": "onlookers may look around, and change nothing",
}
_ASSETS = "/page/"
_PAGES = 1000
"""Cookies of open pages that are remembered."""
_POLITE_BYTES, _POLITE_SECONDS = 64 * 2**20, 10.0


class Guard:
    """The outermost layer around the studio's app.

    Args:
        app: what is guarded.
        rules: what is ours, see `GuardRules.for_address`.
        permits: whether a role may send the request of a scope; None: whoever is let in may.
    """

    def __init__(self, app: App, rules: GuardRules, permits: Callable[[Role, Scope], bool] | None = None) -> None:
        self.app, self.rules, self._permits = app, rules, permits
        self._wrong_tokens = WrongTokens()
        self._opened: dict[str, None] = {}  # cookies that were right, the one used last comes last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, one websocket, or the server's start and end."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            refusal = self._admit(scope)
            if isinstance(refusal, Refusal):
                await _close(refusal, scope, receive, send)
            else:
                await self.app(scope, receive, send)
        elif scope["type"] == "http":
            guarded = _with_headers(send, scope["path"])
            verdict = self._admit(scope)
            if isinstance(verdict, Refusal):
                await _refuse(verdict, guarded)
            elif isinstance(verdict, Welcome):
                await _welcome(verdict, self.rules, guarded)
            else:
                await self._counted(scope, receive, guarded)

    def _admit(self, scope: Scope) -> Refusal | Welcome | None:
        """What becomes of a request; an address that has tried many wrong tokens waits, but a page that is open from
        there goes on.
        """
        address = str((scope.get("client") or ("",))[0])
        guesses = not self._wrong_tokens.too_many(address)
        verdict = admit(scope, self.rules, guesses, self._opened)
        if isinstance(verdict, Refusal):
            for token in verdict.wrong_tokens:
                self._wrong_tokens.count(address, token)
        if verdict is not None:
            return verdict
        for token in wrong_tokens(scope, self.rules) if self.rules.token is not None else ():
            self._wrong_tokens.count(address, token)
        for cookie in right_cookies(scope, self.rules) if guesses else ():
            self._opened[cookie] = self._opened.pop(cookie, None)
            if len(self._opened) > _PAGES:
                del self._opened[next(iter(self._opened))]
        visitor = visitor_of(scope, self.rules, guesses, self._opened)
        if visitor is None:  # their link was taken away at this very moment
            return Refusal(401, "your link does not work any more: ask the studio's owner for another")
        scope[ROLE] = visitor.role
        scope[STILL_WELCOME] = partial(self._is_still, scope, visitor)
        VISITOR.set(visitor)
        if self._permits is None or self._permits(visitor.role, scope):
            return None
        may = _MAY.get(visitor.role, "")
        return Refusal(403, f"{may}; this is for the session's owner: use the owner's token, or ask them")

    def _is_still(self, scope: Scope, visitor: Visitor) -> bool:
        return visitor_of(scope, self.rules) == visitor

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the app on a body of bounded size that arrives in bounded time.

        Else the answer is ours, whatever the app makes of it.
        """
        path, patience = scope["path"], self.rules.patience
        limit, whole = self.rules.limit(path), self.rules.body_time(path)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + whole
        too_large = Refusal(
            413, f"the request is too large: at most {limit} bytes are taken here", [(b"connection", b"close")]
        )
        if int(next((value for name, value in scope["headers"] if name.lower() == b"content-length"), b"0")) > limit:
            await _read_on(receive)
            await _refuse(too_large, send)
            return
        arrived, complete = 0, False
        verdict: Refusal | None = None
        begun = answered = False

        async def counting() -> Message:
            nonlocal arrived, complete, verdict
            if verdict is not None:
                return {"type": "http.disconnect"}
            if complete:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(0.0, min(patience, deadline - loop.time())))
            except TimeoutError:
                slow = (
                    f"the request took longer than {whole:g} seconds to arrive"
                    if loop.time() >= deadline
                    else f"nothing arrived for {patience:g} seconds"
                )
                verdict = Refusal(408, f"{slow}: send the request again", [(b"connection", b"close")])
                return {"type": "http.disconnect"}
            arrived += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if arrived > limit:
                verdict = too_large
                return {"type": "http.disconnect"}
            return message

        async def end(refusal: Refusal) -> None:
            if refusal is too_large and not complete:
                await _read_on(receive)
            await _refuse(refusal, send)

        async def answering(message: Message) -> None:
            nonlocal begun, answered
            if verdict is not None and not begun:
                if not answered:
                    answered = True
                    await end(verdict)
                return
            begun = True
            await send(message)

        try:
            await self.app(scope, counting, answering)
        except Exception:
            if verdict is None or begun:
                raise
        if verdict is not None and not begun and not answered:  # the app gave up, as it does when a client has gone
            await end(verdict)


async def _read_on(receive: Receive) -> None:
    """Reads what a client is still sending, up to a bound.

    One that is cut off while it sends does not get to read why.
    """

    async def rest() -> None:
        left, more = _POLITE_BYTES, True
        while more and left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)

    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(rest(), _POLITE_SECONDS)


def _with_headers(send: Send, path: str) -> Send:
    storing = b"private, no-cache" if path.startswith(_ASSETS) else b"no-store"
    ours = (*_HEADERS, (b"cache-control", storing))
    names = {name for name, _ in ours}

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            theirs = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in names]
            message = {**message, "headers": [*theirs, *ours]}
        await send(message)

    return guarded


async def _answer(send: Send, status: int, kind: bytes, body: bytes, headers: Any = (), prefix: str = "http") -> None:
    length = (b"content-length", str(len(body)).encode())
    await send(
        {"type": f"{prefix}.response.start", "status": status, "headers": [(b"content-type", kind), length, *headers]}
    )
    await send({"type": f"{prefix}.response.body", "body": body})


async def _refuse(refusal: Refusal, send: Send) -> None:
    if refusal.page:
        await _answer(send, refusal.status, b"text/html; charset=utf-8", _token_page(refusal), refusal.headers)
    else:
        await _answer(
            send, refusal.status, b"application/json", json.dumps({"error": refusal.error}).encode(), refusal.headers
        )


async def _close(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Refuses a websocket before it is one."""
    await receive()  # the request to connect
    if "websocket.http.response" in (scope.get("extensions") or {}):
        body = json.dumps({"error": refusal.error}).encode()
        await _answer(send, refusal.status, b"application/json", body, (*refusal.headers, *_HEADERS), "websocket.http")
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": ""})


async def _welcome(welcome: Welcome, rules: GuardRules, send: Send) -> None:
    """Keeps the token in a cookie, with a word of its own, and leads on to the address without it.

    A browser that was led here by a link on another site's page follows a redirect without the cookie that it has just
    been given; a page of our own that leads on is not another site's.
    """
    secure = "; Secure" if welcome.encrypted else ""
    kept = f"{welcome.cookie}:{secrets.token_urlsafe(16)}"
    cookie = f"{rules.cookie}={kept}; HttpOnly; SameSite=Strict; Path=/{secure}".encode()
    if welcome.from_elsewhere:
        target = html.escape(welcome.location, quote=True)
        body = (
            '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh"'
            f' content="0;url={target}"><title>nodewise</title>'
        )
        await _answer(send, 200, b"text/html; charset=utf-8", body.encode(), [(b"set-cookie", cookie)])
    else:
        await _answer(
            send, 303, b"text/plain", b"", [(b"set-cookie", cookie), (b"location", welcome.location.encode("latin-1"))]
        )


def _token_page(refusal: Refusal) -> bytes:
    again = '<meta http-equiv="refresh" content="0">' if refusal.ask_again else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport"'
        f' content="width=device-width">{again}<title>nodewise: token needed</title></head><body><h1>This studio needs'
        f' its token</h1><p>{html.escape(refusal.error)}.</p><form action="/" method="get"'
        ' autocomplete="off"><label>Token <input name="token" type="password" required autofocus></label>'
        " <button>Open</button></form></body></html>"
    ).encode()
