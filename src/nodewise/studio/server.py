"""The studio as a server: a port that is free, uvicorn in this process, quiet."""

from __future__ import annotations

import errno
import html
import os
import socket
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nodewise.ground.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

    import uvicorn

    from nodewise.studio.guard.guard import Guard

__all__ = ["address", "bind", "entrance", "make_server", "open_browser", "require_extra"]

_TRIES = 100
_NEEDED = {
    "fastapi": "fastapi",
    "h11": "h11",
    "pydantic": "pydantic",
    "python_multipart": "python-multipart",
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "websockets": "websockets",
}


def require_extra() -> None:
    """Refuses to go on where something is missing that the studio needs.

    Raises:
        MissingExtraError: says what is missing and how to install it.
    """
    for module, package in _NEEDED.items():
        if find_spec(module) is None:
            raise MissingExtraError(package, "studio")


def address(host: str, port: int, token: str | None = None) -> str:
    """The address to open in a browser.

    Where the studio listens at every address of the machine, the one that others see.
    """
    name = host.strip("[]")
    if name in ("", "0.0.0.0", "::"):
        name = _outward()
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")


def bind(host: str, port: int, *, exactly: bool = True) -> socket.socket:
    """A socket that listens, so that nobody else gets the port between choosing and using it.

    Args:
        host: the address.
        port: the port; 0 for any.
        exactly: whether the port was asked for; else the next free one will do.

    Raises:
        InputError: the port is taken, or the address is not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port, port + (1 if exactly or port == 0 else _TRIES)):
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host.strip("[]"), number))
            listening.listen(128)
            return listening
        except OSError as error:
            listening.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise InputError(
                    f"the studio cannot listen at {host!r} ({error.strerror or error}): give an address of this machine"
                ) from error
            if number == port and exactly:
                what = "is taken" if error.errno == errno.EADDRINUSE else "may not be used"
                raise InputError(
                    f"port {port} of {host} {what}: give another one, or leave --port out to get a free one"
                ) from error
    raise InputError(f"the ports {port} to {port + _TRIES - 1} of {host} are all taken: give another one with --port")


def make_server(app: Guard) -> uvicorn.Server:
    """A server for an application of `create_app`; its `run` with a socket of `bind` runs it until Ctrl-C."""
    import uvicorn

    from nodewise.studio.guard.connections import bounded_http, most_connections, quiet_websocket

    settings = app.app.state.studio.settings  # type: ignore[attr-defined]
    http = bounded_http(most_connections(settings.connections), settings.head_seconds)

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Ends long work first, so that whoever waits for it has an answer and the connections can be closed."""
            app.app.state.studio.refuse()  # type: ignore[attr-defined]
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_max_size=2**16,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=30,
        lifespan="on",
        http=http,
        ws=quiet_websocket(),
        log_config=None,
        # as many are accepted before the bound is looked at: with many more, a burst takes all files that may be open
        backlog=64,
    )
    return Server(config)


def open_browser(server: uvicorn.Server, page: str) -> None:
    """Open a page of a server of `make_server` in a browser, once it answers.

    An address with a token is not given to the browser's command line, which every user of the machine can read.
    """
    import webbrowser

    while not server.started:
        if server.should_exit:
            return
        time.sleep(0.05)
    scratch: Path = server.config.app.app.state.studio.scratch  # type: ignore[union-attr]
    webbrowser.open(entrance(page, scratch) if "?token=" in page else page)


def entrance(page: str, folder: Path) -> str:
    """The address of a file that leads on to a page; its owner alone can read it."""
    file = folder / "open.html"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
        handle.write(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0;url={html.escape(page, quote=True)}"><title>nodewise</title>'
        )
    return file.as_uri()


def _outward() -> str:
    """The address of this machine that other machines see, as far as it knows one. Nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that is kept free for examples
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
