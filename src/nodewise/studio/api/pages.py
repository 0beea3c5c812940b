"""Routes of the pages: the studio's own, and the API's description."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from nodewise.studio.api import documentation
from nodewise.studio.api.failures import Json
from nodewise.studio.api.routing import CurrentStudio
from nodewise.studio.guard.origins import SESSION_PAGE
from nodewise.studio.guard.roles import EVERYBODY, permit
from nodewise.studio.work.worker import Priority

__all__ = ["assets", "router"]

_PAGE = Path(__file__).parents[1] / "page"

router = APIRouter(include_in_schema=False)
assets = Mount("/page", permit(*EVERYBODY)(StaticFiles(directory=_PAGE)))
"""The files of the page: scripts, styles, the icon."""


@router.get("/")
@permit(*EVERYBODY)
async def start_page(studio: CurrentStudio) -> Response:
    """Leads to the session that the studio was started with, else to where one is made."""
    name = await studio.worker.run(Priority.READ, lambda: studio.sessions.default)
    return RedirectResponse("/new" if name is None else f"{SESSION_PAGE}{quote(name, safe='')}", 303)


@router.get(f"{SESSION_PAGE}{{name}}")
@permit(*EVERYBODY)
async def work_page(name: str, studio: CurrentStudio) -> Response:
    """The page on which a session is worked on."""
    known = await studio.worker.run(Priority.READ, lambda: name in studio.sessions.names())
    return FileResponse(_PAGE / "work.html") if known else RedirectResponse("/new", 303)


@router.get("/new")
@permit(*EVERYBODY)
async def new_page() -> Response:
    """The page that lists all jobs and makes a new one."""
    return FileResponse(_PAGE / "new.html")


@router.get("/api/openapi.json")
@permit(*EVERYBODY)
async def description(request: Request) -> Response:
    """The API's description for machines."""
    return Json(documentation.describe(request.app))


@router.get("/api/docs")
@permit(*EVERYBODY)
async def documents(request: Request) -> Response:
    """The API's description for people."""
    return HTMLResponse(documentation.page(documentation.describe(request.app)))
