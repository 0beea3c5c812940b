"""Connections are few and do not wait for ever.

Uvicorn's protocols with a bound on how many there are and on how long a head may take.

Where there are more than the bound, one goes that has sent no whole request, the oldest first, never one that is being
answered: a thousand half-sent requests, heads or bodies, cost whoever sent them their connections, and nobody else
anything. Who has been answered, refused perhaps, and goes on sending is heard no longer than a head may take.
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
    # Connections by what they do, the oldest first; one that is being answered is in none.
    waiting: dict[Any, None] = {}  # no complete head yet
    sending: dict[Any, None] = {}  # a body is on its way
    answered: dict[Any, None] = {}  # a body is still on its way after the answer, such as a refusal, was sent
    resting: dict[Any, None] = {}  # kept alive after an answer

    class BoundedHttp(H11Protocol):
        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._turn(waiting, limited=True)
            if len(self.connections) > most:
                others = waiting if len(waiting) > 1 else None
                next(iter(answered or others or resting or sending or waiting))._drop()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._place()

        def send_400_response(self, msg: str) -> None:
            """Ends a connection on which something came that is no HTTP.

            Behind a request that is being answered nothing more can be said, and who answers is told that nobody
            listens: else the answer would fail, with a traceback for whoever runs the studio.
            """
            answering = self.cycle is not None and not self.cycle.response_complete
            if answering:
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            try:
                if not answering or not self.cycle.response_started:
                    super().send_400_response(msg)
            except h11.LocalProtocolError:  # the answer to a HEAD has no room for words
                pass
            finally:
                self.transport.close()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._place()

        def connection_lost(self, exc: Exception | None) -> None:
            self._turn(None)
            super().connection_lost(exc)

        def _place(self) -> None:
            """Be where the connection belongs by what has arrived and what was answered."""
            theirs, to = self.conn.their_state, None
            if self.transport.is_closing() or self not in self.connections:  # it may be a websocket by now
                pass
            elif theirs is h11.SEND_BODY:
                to = answered if self.conn.our_state is h11.DONE else sending
            elif theirs is h11.IDLE:
                to = waiting if self in waiting or self.conn.trailing_data[0] else resting
            if to is None or self not in to:
                self._turn(to, limited=to is waiting or to is answered)

        def _turn(self, to: dict[Any, None] | None, limited: bool = False) -> None:
            """Be among others from now on; ``limited``: for so long as a head may take."""
            for those in (waiting, sending, answered, resting):
                those.pop(self, None)
            if self._late is not None:
                self._late.cancel()
                self._late = None
            if to is not None:
                to[self] = None
            if limited:
                self._late = self.loop.call_later(head_seconds, self._drop)

        def _drop(self) -> None:
            self._turn(None)
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
