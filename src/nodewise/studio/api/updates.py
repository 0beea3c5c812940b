"""The websocket that tells pages when something has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from nodewise.studio.guard.guard import STILL_WELCOME
from nodewise.studio.guard.roles import EVERYBODY, permit
from nodewise.studio.work.updates import Listener, Updates

__all__ = ["router", "serve"]

_LOOK = 0.5
"""Seconds between two looks whether a link was taken away."""

router = APIRouter()


@router.websocket("/api/v1/updates")
@permit(*EVERYBODY)
async def updates(socket: WebSocket) -> None:
    """Tells what changes."""
    welcome = socket.scope.get(STILL_WELCOME, lambda: True)
    await serve(socket, socket.app.state.studio.updates, socket.query_params.get("session"), welcome)


async def serve(
    socket: WebSocket, hub: Updates, session: str | None, welcome: Callable[[], bool] = lambda: True
) -> None:
    """Send to one page until it goes.

    Args:
        socket: the page's.
        hub: where the messages come from.
        session: whose messages it wants; None for all.
        welcome: whether whoever opened it may still hear; else nothing more is sent, and it is closed.
    """
    if hub.full:
        await socket.close(1013, "too many pages are open")
        return
    await socket.accept()
    with hub.listening(session) as listener:
        tasks = {
            asyncio.create_task(_hear(socket)),
            asyncio.create_task(_send_all(socket, listener, welcome)),
            asyncio.create_task(_unwelcome(welcome)),
        }
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    if not welcome():
        with suppress(RuntimeError):  # it has gone by itself
            await socket.close(1008, "your link does not work any more")


async def _send_all(socket: WebSocket, listener: Listener, welcome: Callable[[], bool]) -> None:
    while True:
        message = await listener.next()
        if not welcome():
            return
        await socket.send_json(message)


async def _unwelcome(welcome: Callable[[], bool]) -> None:
    """Waits until whoever listens is not welcome any more."""
    while welcome():
        await asyncio.sleep(_LOOK)


async def _hear(socket: WebSocket) -> None:
    """Reads until the page goes; what it says is of no interest."""
    try:
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    except (WebSocketDisconnect, RuntimeError):
        return
