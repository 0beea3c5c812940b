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

from nodewise.graph.tables.table import csv_text
from nodewise.session.files.people import answer_rows
from nodewise.studio.api.requests import SessionName, Ticket
from nodewise.studio.api.routing import CurrentStudio, make_router, refusals
from nodewise.studio.guard.roles import JUDGES, VISITOR, permit
from nodewise.studio.settings import ENDING
from nodewise.studio.work.errors import ForbiddenError
from nodewise.studio.work.open_session import OpenSession
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

__all__ = ["file_answer", "router"]

router = make_router("files")

_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "full": "text/csv; charset=utf-8",
    "votes": "text/csv; charset=utf-8",
    "xlsx": _SHEET,
    "json": "application/json",
    "label-studio": "application/json",
    "npz": "application/octet-stream",
    "pt": "application/octet-stream",
}

_JSON = {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}
_ENDINGS = {"full": "csv", "votes": "csv", "label-studio": "json"}
"""Of the forms that are not called by their ending."""
_ADDED = {
    "csv": "-predictions",
    "votes": "-who-said-what",
    "full": "-all-columns",
    "xlsx": "-all-columns",
    "label-studio": "-label-studio",
}
"""What is added to the session's name, so that no two exports are called the same."""
_WHOLE = ("full", "xlsx", "label-studio", "npz")
"""Forms that hold the graph's own columns."""


def file_answer(kinds: list[str]) -> dict[int | str, dict[str, Any]]:
    """What a route that sends a file documents, by the types that it may have."""
    content = {
        kind: {"schema": _JSON if kind == "application/json" else {"type": "string", "format": "binary"}}
        for kind in kinds
    }
    return {200: {"content": content, "description": "The file."}}


@router.get(
    "/export/{form}",
    response_class=FileResponse,
    responses={
        **file_answer(["text/csv", _SHEET, "application/json", "application/octet-stream"]),
        **refusals(404, 409, 507),
    },
)
@permit(*JUDGES)
async def export(
    form: Annotated[Literal["csv", "full", "votes", "xlsx", "json", "label-studio", "npz", "pt"], InPath()],
    studio: CurrentStudio,
    session: SessionName = None,
    ticket: Ticket = None,
) -> FileResponse:
    """Labels and predictions in one of eight forms.

    A table, the same with the original columns, texts, every vote and note (``full``; ``xlsx`` for Excel), who said
    what and when (``votes``), JSON with votes and settings, tasks for Label Studio, the graph as npz, or tensors
    for PyTorch Geometric. Where a column holds known answers, the forms with the original columns are the owner's.
    """
    is_owner = VISITOR.get().role == "owner"

    def write(opened: OpenSession, path: Path) -> None:
        if form in _WHOLE and not is_owner and opened.session.refresh().known.columns:
            raise ForbiddenError(f"the export {form} holds columns that are kept back: the owner makes it")
        if form == "votes":
            path.write_text(csv_text(*answer_rows(opened.session.opinions())), encoding="utf-8")
            return
        opened.page.predict(lambda: studio.tickets.check(ticket, "the export"))
        opened.session.export(path, format=form if form in ("full", "label-studio") else None)

    ending = _ENDINGS.get(form, form)
    return await _send(studio, session, ending, _KINDS[form], write, _ADDED.get(form, ""))


@router.get(
    "/backup",
    response_class=FileResponse,
    responses={**file_answer(["application/octet-stream"]), **refusals(404, 409, 507)},
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
