"""The studio as an ASGI application: the API, the page, and the guard around both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from nodewise import __version__
from nodewise.studio.api import documentation, files, labelling, sessions, showing, updates
from nodewise.studio.api.failures import Json, answer_failures
from nodewise.studio.guard.guard import Guard
from nodewise.studio.guard.origins import SESSION_PAGE
from nodewise.studio.settings import StudioSettings
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["create_app"]

_PAGE = Path(__file__).parent / "page"


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
    for router in (sessions.router, sessions.forms, labelling.router, showing.router, files.router, updates.router):
        app.include_router(router)
    _add_pages(app, studio)
    return Guard(app, settings.rules())


def _add_pages(app: FastAPI, studio: Studio) -> None:
    @app.get("/", include_in_schema=False)
    async def start_page() -> Response:
        name = await studio.worker.run(Priority.READ, lambda: studio.sessions.default)
        return RedirectResponse("/new" if name is None else f"{SESSION_PAGE}{quote(name, safe='')}", 303)

    @app.get(f"{SESSION_PAGE}{{name}}", include_in_schema=False)
    async def work_page(name: str) -> Response:
        known = await studio.worker.run(Priority.READ, lambda: name in studio.sessions.names())
        return FileResponse(_PAGE / "work.html") if known else RedirectResponse("/new", 303)

    @app.get("/new", include_in_schema=False)
    async def new_page() -> Response:
        return FileResponse(_PAGE / "new.html")

    @app.get("/api/openapi.json", include_in_schema=False)
    async def description() -> Response:
        return Json(documentation.describe(app))

    @app.get("/api/docs", include_in_schema=False)
    async def documents() -> Response:
        return HTMLResponse(documentation.page(documentation.describe(app)))

    app.mount("/page", StaticFiles(directory=_PAGE))
