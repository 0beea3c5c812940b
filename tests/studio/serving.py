"""A real studio in this process: uvicorn in a thread on a free port, and a client that talks to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from pydantic import BaseModel
from websockets.sync.client import ClientConnection, connect

from nodewise.session import Session
from nodewise.studio import StudioSettings, bind, create_app, make_server
from nodewise.studio.work.studio import Studio

API = "/api/v1"
PATIENCE = 300
"""Seconds that an answer may take: against hangs, not against slowness."""


class Client(httpx.Client):
    """Talks to the API, and holds every answer to its documented form."""

    app: FastAPI
    studio: Studio

    @property
    def scratch_files(self) -> list[str]:
        """What lies in the studio's own folder beside the file that says that it is in use."""
        return sorted(each.name for each in self.studio.scratch.iterdir() if each.name != "in-use")

    def look(self, path: str, form: type[BaseModel] | None = None, **query: Any) -> Any:
        answer = self.get(API + path, params=query)
        assert answer.status_code == 200, answer.text
        return checked(answer.json(), form)

    def say(self, path: str, form: type[BaseModel] | None = None, **body: Any) -> Any:
        answer = self.post(API + path, json=body)
        assert answer.status_code == 200, answer.text
        return checked(answer.json(), form)

    def refused(self, status: int, method: str, path: str, **options: Any) -> str:
        """The sentence that a request is refused with."""
        answer = self.request(method, API + path, **options)
        assert answer.status_code == status, (answer.status_code, answer.text)
        assert set(answer.json()) <= {"error", "suggestion"}
        said = str(answer.json()["error"])
        assert said and "\n" not in said
        return said


def hear(address: str, **options: Any) -> ClientConnection:
    """A websocket that is as patient as the client: websockets' own ten seconds are few on a busy machine."""
    return connect(address, **{"open_timeout": PATIENCE, "ping_interval": None, **options})


def checked(found: Any, form: type[BaseModel] | None) -> Any:
    if form is not None:
        form.model_validate(found)
    return found


@contextmanager
def running(folder: Path, session: Session | None = None, **settings: Any) -> Iterator[Client]:
    """A studio that ends with the block; it closes the session."""
    listening = bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = create_app(StudioSettings(port=port, folder=folder, **settings), session)
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="uvicorn of a test")
    thread.start()
    try:
        with Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, verify=False) as client:  # there is no TLS
            client.app = app.app  # type: ignore[assignment]
            client.studio = client.app.state.studio
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
