"""Routes for files that an open job takes in: rows to add, to change, to take out, to predict; another job; and
backups.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import File, Form, UploadFile
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from nodewise.studio.api.failures import Json
from nodewise.studio.api.files import file_answer
from nodewise.studio.api.requests import RemoveRequest
from nodewise.studio.api.responses import (
    AddedResponse,
    ChangedResponse,
    EventNumberResponse,
    JoinedResponse,
    JoinPreviewResponse,
    RowsPreviewResponse,
)
from nodewise.studio.api.routing import CurrentStudio, FormRoute, make_router, refusals
from nodewise.studio.api.studio_responses import NameResponse
from nodewise.studio.api.uploads import (
    FormEncoding,
    FormHeader,
    FormSession,
    FormTicket,
    FormWho,
    as_upload,
    change_beside,
    opened_session,
)
from nodewise.studio.guard.roles import permit
from nodewise.studio.work.row_files import (
    Purpose,
    add_rows,
    change_rows,
    join_job,
    open_backup,
    predict_rows,
    preview_join,
    preview_rows,
)
from nodewise.studio.work.worker import Priority

__all__ = ["forms", "router"]

router = make_router("rows")
forms = make_router("rows")
forms.route_class = FormRoute

_Rows = Annotated[
    UploadFile, File(description="the rows: a table in any form, a text a line (.txt), or numbers (.npy)")
]
_Job = Annotated[UploadFile, File(description="the file of another session of the same rows")]
_Me = Annotated[str | None, Form(min_length=1, max_length=200, description="who is called me in the other session")]


@forms.post("/rows/preview", response_model=RowsPreviewResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def preview_uploaded(
    studio: CurrentStudio,
    rows: _Rows,
    session: FormSession = None,
    purpose: Annotated[Purpose, Form(description="what is to be done with them")] = "add",
    encoding: FormEncoding = None,
    header: FormHeader = None,
) -> Json:
    """What the rows of a file would bring: how many, which columns, what is refused. Nothing is kept."""
    upload = as_upload(rows)
    opened = await opened_session(studio, session)
    preview = await studio.builder.run(
        Priority.READ,
        lambda: preview_rows(opened.session, upload, studio.scratch, purpose, encoding=encoding, header=header),
    )
    return Json(preview)


@forms.post("/rows", response_model=AddedResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def add(
    studio: CurrentStudio,
    rows: _Rows,
    session: FormSession = None,
    annotator: FormWho = "me",
    encoding: FormEncoding = None,
    header: FormHeader = None,
) -> Json:
    """Add the rows of a file to a job: labels, open queries and the audit stay. One event, which an undo takes back."""
    upload = as_upload(rows)
    return await change_beside(
        studio,
        session,
        annotator,
        lambda opened: add_rows(opened.session, upload, studio.scratch, annotator, encoding=encoding, header=header),
    )


@forms.post("/rows/change", response_model=ChangedResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def change(
    studio: CurrentStudio,
    rows: _Rows,
    session: FormSession = None,
    annotator: FormWho = "me",
    encoding: FormEncoding = None,
    header: FormHeader = None,
) -> Json:
    """Put the rows of a table, in which a column names them, in the place of a job's. Labels stay; it can be undone."""
    upload = as_upload(rows)
    return await change_beside(
        studio,
        session,
        annotator,
        lambda opened: change_rows(opened.session, upload, studio.scratch, annotator, encoding=encoding, header=header),
    )


@router.post("/rows/remove", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def remove(request: RemoveRequest, studio: CurrentStudio) -> Json:
    """Take rows out of a job: not asked, trained on or exported. They stay in the file; an undo brings them back."""

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(request.session)
        event = opened.change(lambda session: session.remove_rows(request.rows, request.annotator))
        return {"event": event, "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))


@forms.post(
    "/rows/predict",
    response_class=FileResponse,
    responses={**file_answer(["text/csv"]), **refusals(404, 409, 415, 507)},
)
@permit("owner")
async def predict(
    studio: CurrentStudio,
    rows: _Rows,
    session: FormSession = None,
    encoding: FormEncoding = None,
    header: FormHeader = None,
    ticket: FormTicket = None,
) -> FileResponse:
    """A table of what the labels so far predict for rows that are not in the job, at most 100,000; they are not added.

    Of such a row no model has said anything: it begins with what they say of the rows that it is joined to.
    """
    upload = as_upload(rows)
    opened = await opened_session(studio, session)

    def step() -> None:
        studio.builder.give_way()
        studio.tickets.check(ticket, "predicting the rows")

    def work() -> Path:
        folder = Path(tempfile.mkdtemp(dir=studio.scratch))
        try:
            predict_rows(
                opened.session, upload, studio.scratch, folder / "file.csv", step, encoding=encoding, header=header
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder / "file.csv"

    path = await studio.builder.run(Priority.BACKGROUND, work)
    name = Path(upload.name).stem[:100] or "rows"
    gone = BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True)
    return FileResponse(path, media_type="text/csv; charset=utf-8", filename=f"{name}-predictions.csv", background=gone)


@forms.post("/join/preview", response_model=JoinPreviewResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def preview_joined(studio: CurrentStudio, job: _Job, session: FormSession = None, me: _Me = None) -> Json:
    """What the labels of another job of the same rows would bring, and where people would disagree. Nothing is kept."""
    upload = as_upload(job)
    opened = await opened_session(studio, session)
    return Json(
        await studio.builder.run(Priority.READ, lambda: preview_join(opened.session, upload, studio.scratch, me))
    )


@forms.post("/join", response_model=JoinedResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def join(
    studio: CurrentStudio, job: _Job, session: FormSession = None, annotator: FormWho = "me", me: _Me = None
) -> Json:
    """Take over the labels of another job of the same rows, with who gave them and when; as one event."""
    upload = as_upload(job)
    return await change_beside(
        studio,
        session,
        annotator,
        lambda opened: join_job(opened.session, upload, studio.scratch, annotator, me),
    )


@forms.post("/session/backup", status_code=201, response_model=NameResponse, responses=refusals(409, 415, 507))
@permit("owner")
async def take_backup(
    studio: CurrentStudio,
    job: Annotated[UploadFile, File(description="the backup of a session")],
    name: Annotated[str, Form(min_length=1, max_length=100, description="what the session is to be called")],
) -> Json:
    """Put a backup among the sessions; it is checked as any session is, and never takes the place of another."""
    upload = as_upload(job)
    wanted = name.strip()
    await studio.builder.run(
        Priority.BACKGROUND, lambda: open_backup(upload, wanted, studio.settings.folder, studio.scratch)
    )
    return Json({"name": wanted}, 201)
