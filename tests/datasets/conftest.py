"""A web server on this machine that stands for the sources of data sets, and a graph for it to give."""

from __future__ import annotations

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from nodewise.datasets import synthetic_graph


class Source:
    """What the server gives: path -> content; `cut` paths break off in the middle."""

    def __init__(self, address):
        self.address, self.files, self.cut, self.asked = address, {}, set(), []


@pytest.fixture
def source():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.lstrip("/")
            held.asked.append(path)
            content = held.files.get(path)
            self.send_response(404 if content is None else 200)
            content = content or b""
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if path in held.cut else content)

        do_HEAD = do_GET

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    held = Source(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield held
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def small():
    """A graph with 0/1 features; every class and feature occurs."""
    drawn = synthetic_graph(nodes=120, classes=3, mean_degree=4, features=12)
    x = (drawn.x > 0.8).astype(np.float32)
    x[~x.any(axis=1), 0] = 1
    return replace(drawn, x=x, class_names=("0", "1", "2"))
