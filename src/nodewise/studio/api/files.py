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

from nodewise.studio.api.routing import Here, make_router, refusals
from nodewise.studio.settings import ENDING
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("files")

_KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "npz": "application/octet-stream", "pt": "application/octet-stream"}


def _file(kinds: list[str]) -> dict[int | str, dict[str, Any]]:
    content = {
        kind: {"schema": {"type": "object"} if kind == "application/json" else {"type": "string", "format": "binary"}} for kind in kinds
    }
    return {200: {"content": content, "description": "The file."}}


@router.get(
    "/export/{form}",
    response_class=FileResponse,
    responses={**_file(["text/csv", "application/json", "application/octet-stream"]), **refusals(409, 507)},
)
async def export(form: Annotated[Literal["csv", "json", "npz", "pt"], InPath()], here: Here) -> FileResponse:
    """Labels and predictions: a table, JSON with votes and settings, the graph as npz, or tensors for PyTorch Geometric."""

    def write(path: Path) -> None:
        here.workplace.views.predict()
        here.workplace.session.export(path)

    return await _send(here, form, _KINDS[form], write)


@router.get("/backup", response_class=FileResponse, responses={**_file(["application/octet-stream"]), **refusals(409, 507)})
async def backup(here: Here) -> FileResponse:
    """A copy of the session's file as it is at this moment."""
    return await _send(here, ENDING[1:], "application/octet-stream", lambda path: here.workplace.session.backup(path))


async def _send(here: Studio, ending: str, kind: str, write: Callable[[Path], Any]) -> FileResponse:
    """Has a file written where nobody else sees it, sends it, and removes it."""

    def job() -> tuple[Path, str]:
        name = here.workplace.name
        folder = Path(tempfile.mkdtemp(dir=here.scratch))
        try:
            write(folder / f"file.{ending}")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder / f"file.{ending}", name

    path, name = await here.worker.run(Priority.PREDICT, job)
    gone = BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type=kind, filename=f"{name}.{ending}", background=gone)
