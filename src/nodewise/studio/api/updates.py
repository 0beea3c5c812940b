"""The websocket that tells pages when something has changed."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from nodewise.studio.guard.roles import EVERYBODY, permit
from nodewise.studio.work.updates import Listener, Updates

__all__ = ["router", "serve"]

router = APIRouter()


@router.websocket("/api/v1/updates")
@permit(*EVERYBODY)
async def updates(socket: WebSocket) -> None:
    """Tells what changes."""
    await serve(socket, socket.app.state.studio.updates, socket.query_params.get("session"))


async def serve(socket: WebSocket, hub: Updates, session: str | None) -> None:
    """Send to one page until it goes.

    Args:
        socket: the page's.
        hub: where the messages come from.
        session: whose messages it wants; None for all.
    """
    if hub.full:
        await socket.close(1013, "too many pages are open")
        return
    await socket.accept()
    with hub.listening(session) as listener:
        tasks = {asyncio.create_task(_hear(socket)), asyncio.create_task(_send_all(socket, listener))}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _send_all(socket: WebSocket, listener: Listener) -> None:
    while True:
        await socket.send_json(await listener.next())


async def _hear(socket: WebSocket) -> None:
    """Reads until the page goes; what it says is of no interest."""
    try:
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    except (WebSocketDisconnect, RuntimeError):
        return
