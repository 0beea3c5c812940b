"""Routes that give the session away as a file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Path as InPath
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from nodewise.studio.api.requests import SessionName, Ticket
from nodewise.studio.api.routing import CurrentStudio, make_router, refusals
from nodewise.studio.guard.roles import permit
from nodewise.studio.settings import ENDING
from nodewise.studio.work.open_session import OpenSession
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("files")

_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "full": "text/csv; charset=utf-8",
    "xlsx": _SHEET,
    "json": "application/json",
    "npz": "application/octet-stream",
    "pt": "application/octet-stream",
}

_ADDED = {"csv": "-predictions", "full": "-all-columns", "xlsx": "-all-columns"}
"""What is added to the session's name, so that no two exports are called the same."""


def _file(kinds: list[str]) -> dict[int | str, dict[str, Any]]:
    content = {
        kind: {"schema": {"type": "object"} if kind == "application/json" else {"type": "string", "format": "binary"}}
        for kind in kinds
    }
    return {200: {"content": content, "description": "The file."}}


@router.get(
    "/export/{form}",
    response_class=FileResponse,
    responses={
        **_file(["text/csv", _SHEET, "application/json", "application/octet-stream"]),
        **refusals(404, 409, 507),
    },
)
@permit("owner")
async def export(
    form: Annotated[Literal["csv", "full", "xlsx", "json", "npz", "pt"], InPath()],
    studio: CurrentStudio,
    session: SessionName = None,
    ticket: Ticket = None,
) -> FileResponse:
    """Labels and predictions in one of six forms.

    A table, the same with the original columns, texts, every vote and note (``full``; ``xlsx`` for Excel), JSON with
    votes and settings, the graph as npz, or tensors for PyTorch Geometric.
    """

    def write(opened: OpenSession, path: Path) -> None:
        opened.page.predict(lambda: studio.tickets.check(ticket, "the export"))
        opened.session.export(path, format="full" if form == "full" else None)

    return await _send(studio, session, "csv" if form == "full" else form, _KINDS[form], write, _ADDED.get(form, ""))


@router.get(
    "/backup", response_class=FileResponse, responses={**_file(["application/octet-stream"]), **refusals(404, 409, 507)}
)
@permit("owner")
async def backup(studio: CurrentStudio, session: SessionName = None) -> FileResponse:
    """A copy of the session's file as it is at this moment."""
    return await _send(
        studio, session, ENDING[1:], "application/octet-stream", lambda opened, path: opened.session.backup(path)
    )


async def _send(
    studio: Studio,
    session: str | None,
    ending: str,
    kind: str,
    write: Callable[[OpenSession, Path], Any],
    added: str = "",
) -> FileResponse:
    """Has a file written where nobody else sees it, sends it, and removes it."""

    def job() -> tuple[Path, str]:
        opened = studio.sessions.get(session)
        folder = Path(tempfile.mkdtemp(dir=studio.scratch))
        try:
            write(opened, folder / f"file.{ending}")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder / f"file.{ending}", opened.name

    path, name = await studio.worker.run(Priority.PREDICT, job)
    gone = BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type=kind, filename=f"{name}{added}.{ending}", background=gone)
