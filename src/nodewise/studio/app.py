"""The studio as an ASGI application: the API, the page, and the guard around both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI

from nodewise import __version__
from nodewise.studio.api import desk, files, labelling, pages, people, rows, sessions, showing, suggestions, updates
from nodewise.studio.api.failures import answer_failures
from nodewise.studio.guard.guard import Guard
from nodewise.studio.guard.roles import Permissions
from nodewise.studio.settings import StudioSettings
from nodewise.studio.work.studio import Studio

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["create_app"]

_ROUTERS = (
    sessions.router,
    sessions.forms,
    labelling.router,
    showing.router,
    desk.router,
    rows.router,
    rows.forms,
    suggestions.router,
    suggestions.forms,
    files.router,
    people.router,
    updates.router,
    pages.router,
)


def create_app(settings: StudioSettings, session: Session | None = None) -> Guard:
    """The studio.

    Args:
        settings: where it listens and whom it lets in.
        session: the session to begin with; it is closed when the application ends.
    """
    studio = Studio(settings, session)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await studio.start()
        try:
            yield
        finally:
            await studio.stop()

    app = FastAPI(
        title="nodewise studio", version=__version__, openapi_url=None, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.studio = studio
    answer_failures(app)
    for router in _ROUTERS:
        app.include_router(router)
    app.router.routes.append(pages.assets)
    permissions = Permissions([*(route for router in _ROUTERS for route in router.routes), pages.assets])
    app.state.permissions = permissions
    return Guard(app, settings.rules(), permissions)
