"""A small server on this machine that speaks the chat-completions protocol, well or badly."""

from __future__ import annotations

import json
import threading
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
    """Keeps what came in, and answers by a list: a code, a text, or None to hang up."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.bodies: list[bytes] = []
        self.keys: list[str | None] = []
        self.script: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/chat/completions"


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        endpoint = self.server
        assert isinstance(endpoint, Endpoint)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        endpoint.bodies.append(body)
        endpoint.keys.append(self.headers.get("Authorization"))
        said = endpoint.script.pop(0) if endpoint.script else "spam"
        if said is None:
            self.connection.close()
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

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""
