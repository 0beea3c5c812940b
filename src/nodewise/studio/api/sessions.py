"""Routes that find, open and make sessions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import File, Form, UploadFile
from pydantic import Field

from nodewise.session.settings import NewSettings, settings_of
from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import CancelRequest, DuplicateRequest, OpenRequest, SettingsForm
from nodewise.studio.api.routing import CurrentRole, CurrentStudio, FormRoute, make_router, refusals
from nodewise.studio.api.studio_responses import (
    JobsResponse,
    NameResponse,
    PreviewResponse,
    SettingsFormResponse,
    StudioResponse,
    TicketResponse,
)
from nodewise.studio.api.uploads import FormColumn, FormEncoding, FormHeader, FormTicket, FormWho, as_upload
from nodewise.studio.guard.roles import EVERYBODY, VISITOR, permit
from nodewise.studio.work.errors import CancelledWorkError
from nodewise.studio.work.folders import FILES
from nodewise.studio.work.jobs import BESIDE
from nodewise.studio.work.upload import NewSession, create_session, preview, told_to_pages
from nodewise.studio.work.worker import Priority

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["router"]


router = make_router("sessions")
forms = make_router("sessions")
forms.route_class = FormRoute

_More = Annotated[
    list[UploadFile],
    File(
        max_length=FILES,
        description=(
            "the other files of a folder of which ``nodes`` is one: nodes-TYPE.csv, edges-RELATION.csv, graph.json; a"
            " zip of them goes as ``nodes`` alone"
        ),
    ),
]
_Labelled = Annotated[
    str | None,
    Form(max_length=100, description="of several node types the one to be labelled; by default the one with labels"),
]
_Text = Annotated[str, Field(max_length=500)]


@router.get("/studio", response_model=StudioResponse, responses=refusals())
@permit(*EVERYBODY)
async def describe(studio: CurrentStudio, role: CurrentRole) -> Json:
    """Which session is open, which there are, what the studio takes, and what you may do."""
    facts = await studio.worker.run(Priority.READ, studio.describe)
    return Json(
        {**facts, "role": role, "person": VISITOR.get().name, "can_create": facts["can_create"] and role == "owner"}
    )


@router.get("/jobs", response_model=JobsResponse, responses=refusals())
@permit(*EVERYBODY)
async def jobs(studio: CurrentStudio, role: CurrentRole) -> Json:
    """Every session with its rows, progress, date, strategy and size; those in the archive as well."""
    names = await studio.worker.run(Priority.READ, studio.sessions.names)

    def read() -> dict[str, Any]:
        owner = role == "owner"
        return {"jobs": studio.jobs.describe(names, owner), "archived": studio.jobs.archived(owner)}

    return Json(await asyncio.to_thread(read))


@router.post("/jobs/duplicate", response_model=NameResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def duplicate_job(request: DuplicateRequest, studio: CurrentStudio) -> Json:
    """Copy a session with all its labels."""
    await studio.worker.run(Priority.READ, lambda: studio.sessions.duplicate(request.name, request.new_name))
    return Json({"name": request.new_name})


@router.post("/jobs/archive", response_model=NameResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def archive_job(request: OpenRequest, studio: CurrentStudio) -> Json:
    """Move a session's file into the folder ``archive``; nothing is deleted."""
    await studio.worker.run(Priority.BACKGROUND, lambda: studio.sessions.archive(request.name))
    return Json({"name": request.name})


@router.post("/jobs/restore", response_model=NameResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def restore_job(request: OpenRequest, studio: CurrentStudio) -> Json:
    """Bring a session back from the archive."""
    await studio.worker.run(Priority.BACKGROUND, lambda: studio.sessions.restore(request.name))
    return Json({"name": request.name})


@router.post("/session/open", response_model=NameResponse, responses=refusals(404, 409, 415))
@permit(*EVERYBODY)
async def open_session(request: OpenRequest, studio: CurrentStudio) -> Json:
    """See that one of the sessions in the studio's folder can be opened.

    Whoever works on another one is not disturbed.
    """
    return Json({"name": await studio.worker.run(Priority.READ, lambda: studio.sessions.get(request.name).name)})


@router.post("/cancel", response_model=TicketResponse, responses=refusals(415))
@permit(*EVERYBODY)
async def cancel(request: CancelRequest, studio: CurrentStudio) -> Json:
    """End the making of a session, a map, a report or an export at its next step, by its ticket.

    Nothing is left of it.
    """
    studio.tickets.cancel(request.ticket)
    return Json({"ticket": request.ticket})


@forms.post("/preview", response_model=PreviewResponse, responses=refusals(415, 507))
@permit("owner")
async def preview_upload(
    nodes: Annotated[
        UploadFile,
        File(description="a CSV file, a row for each node; or JSON lines, parquet, GraphML, edges, npz, a zip of CSV"),
    ],
    studio: CurrentStudio,
    encoding: FormEncoding = None,
    header: FormHeader = None,
    more: _More = [],  # noqa: B006
    labelled: _Labelled = None,
) -> Json:
    """What the columns of a table seem to hold, or of the type to be labelled. Nothing is kept."""
    upload, others = as_upload(nodes), [as_upload(each) for each in more]
    return Json(
        await studio.builder.run(
            Priority.READ, lambda: preview(upload, studio.scratch, encoding, header, others, labelled)
        )
    )


@router.get("/session/settings", response_model=SettingsFormResponse, responses=refusals())
@permit("owner")
async def describe_settings(studio: CurrentStudio) -> Json:
    """Which settings POST /session takes, for a form: each with its title, help, default, bounds and choices."""
    offered = [one for one in settings_of(NewSettings) if one.title]
    return Json({"settings": await studio.builder.run(Priority.READ, lambda: [one.as_dict() for one in offered])})


@forms.post("/session", status_code=201, response_model=NameResponse, responses=refusals(409, 415, 507))
@permit("owner")
async def new_session(
    studio: CurrentStudio,
    settings: SettingsForm,
    nodes: Annotated[UploadFile, File(description="a CSV file, a row for each node")],
    name: Annotated[str, Form(min_length=1, max_length=100, description="what the session is to be called")],
    edges: Annotated[
        UploadFile | None, File(description="a CSV file, a row for each edge; without it similar rows are joined")
    ] = None,
    text: Annotated[
        list[_Text], Form(max_length=50, description="the columns of texts, repeated; several are joined")
    ] = [],  # noqa: B006
    label: FormColumn = None,
    labels_as: Annotated[
        Literal["given", "key"] | None,
        Form(
            description=(
                "whether the labels count as given, or are kept out of sight to measure the accuracy; given unless"
                " every row has one"
            )
        ),
    ] = None,
    separator: Annotated[
        str | None,
        Form(
            min_length=1,
            max_length=10,
            description=(
                "what parts the classes where a cell of the column of labels may name several, alone for none of them;"
                " ';' where several is true"
            ),
        ),
    ] = None,
    suggestions: Annotated[
        str | None, Form(max_length=500, description="a column that holds what a model says, called as the column")
    ] = None,
    confidence: Annotated[str | None, Form(max_length=500, description="the column that says how sure it is")] = None,
    id: FormColumn = None,
    knn: Annotated[int, Form(ge=1, le=1000, description="how many similar rows each row is joined to")] = 10,
    metric: Annotated[Literal["cosine", "euclidean"], Form()] = "cosine",
    encoding: FormEncoding = None,
    header: FormHeader = None,
    more: _More = [],  # noqa: B006
    labelled: _Labelled = None,
    annotator: FormWho = "me",
    ticket: FormTicket = None,
) -> Json:
    """Make a session from a table and open it. ``text``, ``label`` and ``id`` name columns.

    The others are shown with the nodes.

    How far it is goes over the websocket meanwhile.
    """
    if label:
        settings["use_labels"] = None if labels_as is None else labels_as == "given"
    columns = tuple(column for column in text if column)
    new = NewSession(
        name.strip(),
        columns,
        label,
        id,
        knn,
        metric,
        encoding,
        header,
        studio.settings.pictures,
        labelled,
        separator,
        {suggestions: confidence or None} if suggestions else {},
        settings,
        annotator,
    )
    table, others = as_upload(nodes), [as_upload(each) for each in more]
    # A browser sends an empty file of no name for a field that was left empty.
    ends = None if edges is None or (not edges.filename and not edges.size) else as_upload(edges)

    def step() -> None:
        studio.builder.give_way()
        studio.tickets.check(ticket, f"making the session {new.name!r}")

    def make() -> Session:
        step()  # it may have been cancelled while the file was on its way
        session = create_session(
            new,
            table,
            ends,
            studio.settings.folder,
            studio.scratch,
            told_to_pages(studio.updates.publish, step, new.name),
            others,
        )
        try:
            step()
        except CancelledWorkError:
            session.close()
            for ending in BESIDE:
                session.path.with_name(session.path.name + ending).unlink(missing_ok=True)
            raise
        return session

    session = await studio.builder.run(Priority.BACKGROUND, make)
    await studio.worker.run(Priority.READ, lambda: studio.sessions.take(session))
    return Json({"name": new.name}, 201)
