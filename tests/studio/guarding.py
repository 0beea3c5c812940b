"""One request through the guard, and what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

from nodewise.studio.guard.guard import Guard
from nodewise.studio.guard.origins import GuardRules

HOST = ("host", "127.0.0.1:8080")
OURS = ("origin", "http://127.0.0.1:8080")
JSON = ("content-type", "application/json")
TOKEN = "a-long.token_1~"
LOCAL = GuardRules.for_address("127.0.0.1", 8080)
LOCKED = GuardRules.for_address("127.0.0.1", 8080, token=TOKEN)


class Answer:
    """What came back, and what the app behind the guard got to see."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.body = b""
        self.reached: list[dict[str, Any]] = []
        self.read = b""

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


def ask(
    rules: GuardRules,
    *headers: tuple[str, str],
    method: str = "GET",
    path: str = "/api/v1/status",
    query: str = "",
    kind: str = "http",
    pieces: Iterable[bytes] = (b"",),
    server: tuple[str, int | None] = ("127.0.0.1", 8080),
    app: Callable[..., Any] | None = None,
    extensions: dict[str, Any] | None = None,
    raw_path: bytes | None = None,
) -> Answer:
    """One request through the guard."""
    answer = Answer()

    async def reads_all(scope: Any, receive: Any, send: Any) -> None:
        answer.reached.append(scope)
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            return
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            answer.read += message.get("body", b"")
            more = message.get("more_body", False)
        theirs = [(b"content-type", b"text/plain"), (b"Content-Security-Policy", b"default-src *")]
        await send({"type": "http.response.start", "status": 200, "headers": theirs})
        await send({"type": "http.response.body", "body": b"secret"})

    waiting = list(pieces)

    async def receive() -> dict[str, Any]:
        if kind == "websocket":
            return {"type": "websocket.connect"}
        if not waiting:
            await asyncio.sleep(3600)
        piece = waiting.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(waiting) or piece == b"..."}

    async def send(message: dict[str, Any]) -> None:
        if message["type"].endswith("response.start"):
            assert not answer.status, "two answers to one request"
            answer.status = message["status"]
            answer.headers = [(name.decode().lower(), value.decode()) for name, value in message["headers"]]
        elif message["type"].endswith("response.body"):
            answer.body += message["body"]
        elif message["type"] == "websocket.accept":
            answer.status = 101
        elif message["type"] == "websocket.close":
            answer.status = 403

    scope = {
        "type": kind,
        "path": path,
        "raw_path": raw_path or path.encode(),
        "query_string": query.encode(),
        "server": server,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        "extensions": extensions,
    }
    if kind == "http":
        scope["method"] = method
    asyncio.run(Guard(app or reads_all, rules)(scope, receive, send))
    return answer
