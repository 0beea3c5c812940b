"""A small server on this machine that speaks the chat-completions protocol, well or badly."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


@contextmanager
def serving() -> Iterator[Endpoint]:
    """The server, until the block ends."""
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Endpoint(HTTPServer):
    """Keeps what came in, and answers by a list.

    A code, a text, None to hang up, "cut" to stop in the middle, "drip" to send a byte now and then for ever, bytes to
    send just these.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.bodies: list[bytes] = []
        self.keys: list[str | None] = []
        self.script: list[Any] = []
        self.seconds: list[float] = []
        """How long it thinks about each request."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/chat/completions"


DRIPPING = {"drip": b"HTTP/1.0 200 OK\r\nX: ", "drip body": b'HTTP/1.0 200 OK\r\n\r\n{"choices": "'}
"""Replies that do not end: in their head, in their body."""


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        endpoint = self.server
        assert isinstance(endpoint, Endpoint)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        endpoint.bodies.append(body)
        endpoint.keys.append(self.headers.get("Authorization"))
        said = endpoint.script.pop(0) if endpoint.script else "spam"
        time.sleep(endpoint.seconds.pop(0) if endpoint.seconds else 0)
        if said is None:
            self.connection.close()
            return
        if isinstance(said, str) and said in DRIPPING:
            self.drip(DRIPPING[said])
            return
        if isinstance(said, bytes):
            with contextlib.suppress(OSError):
                self.wfile.write(said)
            return
        message = said if isinstance(said, dict) else {"content": said}
        reply = {"choices": [{"message": message}], "usage": {"total_tokens": 10}}
        content = json.dumps(reply).encode() if not isinstance(said, int) else b"trouble"
        self.send_response(said if isinstance(said, int) else 200)
        if said == 429:
            self.send_header("Retry-After", "7")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content if said != "cut" else content[:20])

    def drip(self, begin: bytes) -> None:
        """Send something, then a byte now and then, until nobody listens any more."""
        self.wfile.write(begin)
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"x")
                time.sleep(0.02)

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""
