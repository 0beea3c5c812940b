"""The studio as a server: a port that is free, uvicorn in this process, quiet."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING, Any

from nodewise.errors import InputError

if TYPE_CHECKING:
    import uvicorn

__all__ = ["bind", "make_server"]

_TRIES = 100


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
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host.strip("[]"), number))
            found.listen(128)
            return found
        except OSError as error:
            found.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise InputError(
                    f"the studio cannot listen at {host!r} ({error.strerror or error}): give an address of this machine"
                ) from error
            if number == port and exactly:
                what = "is taken" if error.errno == errno.EADDRINUSE else "may not be used"
                raise InputError(f"port {port} of {host} {what}: give another one, or leave --port out to get a free one") from error
    raise InputError(f"the ports {port} to {port + _TRIES - 1} of {host} are all taken: give another one with --port")


def make_server(app: Any) -> uvicorn.Server:
    """A server for the application; `uvicorn.Server.run` with a socket of `bind` runs it until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, proxy_headers=False, server_header=False, ws_max_size=2**16, timeout_graceful_shutdown=5,
        timeout_keep_alive=30, lifespan="on",
    )  # fmt: skip
    return uvicorn.Server(config)
