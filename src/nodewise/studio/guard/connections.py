"""Connections are few and do not wait for ever.

Uvicorn's protocols with a bound on how many there are and on how long a head may take.

Where there are more than the bound, the connection that has waited longest without a complete request goes, never one
that is being answered: a thousand half-sent requests cost whoever sent them their connections, and nobody else
anything.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["bounded_http", "most_connections", "quiet_websocket"]


def most_connections(wanted: int) -> int:
    """The bound on connections: what is wanted, but at most half of the files that this process may have open."""
    try:
        import resource
    except ImportError:  # a system without such limits
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else max(8, min(wanted, soft // 2))


def bounded_http(most: int, head_seconds: float) -> type[H11Protocol]:
    """uvicorn's protocol for HTTP with bounds.

    Args:
        most: connections at a time.
        head_seconds: how long a request's head may take to arrive, counted from the connection or from its first byte.
    """
    waiting: dict[Any, None] = {}  # connections without a complete head, the oldest first
    resting: dict[Any, None] = {}  # those that are kept alive after an answer

    class BoundedHttp(H11Protocol):
        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            waiting[self] = None
            self._late = self.loop.call_later(head_seconds, self._drop)
            if len(self.connections) > most:
                next(iter(waiting if len(waiting) > 1 else resting or waiting))._drop()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            in_head = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
            if not in_head:
                self._arrived()
            elif self._late is None:  # the head of a further request on this connection
                resting.pop(self, None)
                waiting[self] = None
                self._late = self.loop.call_later(head_seconds, self._drop)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if not self.transport.is_closing():
                resting[self] = None

        def connection_lost(self, exc: Exception | None) -> None:
            self._arrived()
            super().connection_lost(exc)

        def _arrived(self) -> None:
            waiting.pop(self, None)
            resting.pop(self, None)
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _drop(self) -> None:
            self._arrived()
            self.connections.discard(self)
            self.transport.abort()

    return BoundedHttp


class _NoTraceOfNonsense(logging.Filter):
    """What a client sends that is no websocket frame ends its connection.

    It is nothing to tell whoever runs the studio.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record down."""
        return record.exc_info is None or not isinstance(record.exc_info[1], UnicodeError)


def quiet_websocket() -> type[WebSocketsSansIOProtocol]:
    """uvicorn's protocol for websockets, which leaves no traceback of malformed frames."""
    logger = logging.getLogger("uvicorn.error.websocket")
    if not any(isinstance(each, _NoTraceOfNonsense) for each in logger.filters):
        logger.addFilter(_NoTraceOfNonsense())

    class QuietWebsocket(WebSocketsSansIOProtocol):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.logger = logger

        def data_received(self, data: bytes) -> None:
            try:
                super().data_received(data)
            except Exception:  # whatever the bytes were, they were the client's
                self.transport.abort()

    return QuietWebsocket
