"""Routes that move the job on: ask, tell, skip, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import (
    Annotator,
    AskRequest,
    BudgetRequest,
    Change,
    ClassRequest,
    SessionName,
    SkipRequest,
    TellRequest,
    UndoRequest,
)
from nodewise.studio.api.responses import AskResponse, EventNumberResponse, StatusResponse, TellResponse, UndoResponse
from nodewise.studio.api.routing import CurrentStudio, make_router, refusals
from nodewise.studio.work.open_session import OpenSession
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("labelling")


async def _change(studio: Studio, key: str, request: Change, change: Callable[[OpenSession], Any]) -> Json:
    """Makes a change, and answers with what came of it and how far the job is then."""

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(request.session)
        return {key: change(opened), "status": opened.status(request.annotator)}

    return Json(await studio.worker.run(Priority.ANSWER, job))


@router.get("/status", response_model=StatusResponse, responses=refusals(404, 409))
async def status(studio: CurrentStudio, session: SessionName = None, annotator: Annotator = None) -> Json:
    """How far the job is."""
    return Json(await studio.worker.run(Priority.READ, lambda: studio.sessions.get(session).status(annotator)))


@router.post("/ask", response_model=AskResponse, responses=refusals(404, 409, 415, 507))
async def ask(request: AskRequest, studio: CurrentStudio) -> Json:
    """The next nodes to label. Queries that the annotator has not answered are given again; those of different annotators differ."""
    queries = await studio.worker.run(Priority.ANSWER, lambda: studio.sessions.get(request.session).ask(request.annotator, request.k))
    return Json({"queries": queries})


@router.post("/tell", response_model=TellResponse, responses=refusals(404, 409, 415, 507))
async def tell(request: TellRequest, studio: CurrentStudio) -> Json:
    """Give nodes their labels, asked for or not; again, to change them. They are on the disk when the answer arrives."""
    labels = [(each.node, each.label) for each in request.labels]
    return await _change(studio, "events", request, lambda opened: opened.tell(request.annotator, labels, request.new_class))


@router.post("/skip", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
async def skip(request: SkipRequest, studio: CurrentStudio) -> Json:
    """Say that a node cannot be told. The annotator is not asked again, and it spends no budget."""
    return await _change(studio, "event", request, lambda opened: opened.skip(request.annotator, request.node))


@router.post("/undo", response_model=UndoResponse, responses=refusals(404, 409, 415, 507))
async def undo(request: UndoRequest, studio: CurrentStudio) -> Json:
    """Take back the last thing told, skipped, declared or set; or any one of them, or an undo, by its number."""
    return await _change(studio, "undone", request, lambda opened: opened.undo(request.annotator, request.event))


@router.post("/classes", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
async def add_class(request: ClassRequest, studio: CurrentStudio) -> Json:
    """Declare a class that nobody has used yet."""
    return await _change(studio, "event", request, lambda opened: opened.add_class(request.name, request.annotator))


@router.post("/budget", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
async def set_budget(request: BudgetRequest, studio: CurrentStudio) -> Json:
    """Raise or lower the budget."""
    return await _change(studio, "event", request, lambda opened: opened.set_budget(request.budget, request.annotator))
