"""A client that sends exactly the bytes that it is told to, as no decent library would."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reply:
    """A status (0: the connection was closed without a word), headers in lower case, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """A connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._left = b""

    def send(self, data: bytes) -> None:
        """Sends, unless the server has hung up already."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def reply(self) -> Reply:
        """The next reply; those without a length end with the connection."""
        head = self._until(b"\r\n\r\n")
        if not head:
            return Reply(0, {}, b"")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        status = int(first.split(" ")[1])
        length = headers.get("content-length")
        body = b"" if status in (101, 204, 304) else self._exactly(int(length)) if length else self._until(None)
        return Reply(status, headers, body)

    def reset(self) -> None:
        """Breaks off without a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def frame(self) -> Any:
        """The next message of a websocket, as JSON; None when it was closed."""
        start = self._exactly(2)
        if len(start) < 2 or start[0] & 0x0F == 8:
            return None
        length = start[1] & 0x7F
        if length == 126:
            length = struct.unpack(">H", self._exactly(2))[0]
        return json.loads(self._exactly(length))

    def _exactly(self, count: int) -> bytes:
        while len(self._left) < count and (more := self._more()):
            self._left += more
        found, self._left = self._left[:count], self._left[count:]
        return found

    def _until(self, mark: bytes | None) -> bytes:
        while (mark is None or mark not in self._left) and (more := self._more()):
            self._left += more
        if mark is None or mark not in self._left:
            found, self._left = self._left, b""
            return found
        found, _, self._left = self._left.partition(mark)
        return found

    def _more(self) -> bytes:
        try:
            return self.socket.recv(65536)
        except ConnectionResetError:
            return b""


@contextmanager
def wire(port: int) -> Iterator[Wire]:
    """A connection that ends with the block."""
    found = Wire(port)
    try:
        yield found
    finally:
        found.socket.close()


def request(
    method: str, target: str, *headers: tuple[str, str], body: bytes | None = None, version: str = "1.1"
) -> bytes:
    """The bytes of a request; a length is told where there is a body and no other is given."""
    lines = [f"{method} {target} HTTP/{version}", *(f"{name}: {value}" for name, value in headers)]
    told = {name.lower() for name, _ in headers}
    if body is not None and not told & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def exchange(port: int, data: bytes) -> Reply:
    """One request on a connection of its own."""
    with wire(port) as line:
        line.send(data)
        return line.reply()


def upgrade(target: str, *headers: tuple[str, str]) -> bytes:
    """The bytes that ask for a websocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    asked = (
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", key),
    )
    return request("GET", target, *headers, *asked)
