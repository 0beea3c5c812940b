"""The REST API."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import HTTPConnection

from nodewise.studio.records import AskRequest, BudgetRequest, ClassRequest, OpenRequest, SkipRequest, TellRequest, UndoRequest
from nodewise.studio.studio import Studio
from nodewise.studio.worker import Priority

__all__ = ["router"]

router = APIRouter(prefix="/api/v1")


async def _studio(connection: HTTPConnection) -> Studio:
    found: Studio = connection.app.state.studio
    return found


Here = Annotated[Studio, Depends(_studio)]
NodeId = Annotated[int, Path(ge=0, le=2**53 - 1)]


@router.get("/studio")
async def studio(here: Here) -> dict[str, Any]:
    """The studio: which session is open, which there are."""
    return await here.worker.run(Priority.READ, here.describe)


@router.post("/session/open")
async def open_session(request: OpenRequest, here: Here) -> dict[str, Any]:
    """Open a session of the studio's folder."""
    return {"name": await here.worker.run(Priority.READ, lambda: here.workplace.open(request.name))}


@router.get("/status")
async def status(here: Here) -> dict[str, Any]:
    """How far the job is."""
    return await here.worker.run(Priority.READ, here.workplace.status)


@router.post("/ask")
async def ask(request: AskRequest, here: Here) -> dict[str, Any]:
    """The next nodes to label."""
    return {"queries": await here.worker.run(Priority.ANSWER, lambda: here.workplace.ask(request.annotator, request.k))}


@router.post("/tell")
async def tell(request: TellRequest, here: Here) -> dict[str, Any]:
    """Give nodes their labels."""
    labels = [(each.node, each.label) for each in request.labels]

    def job() -> dict[str, Any]:
        return {"events": here.workplace.tell(request.annotator, labels, request.new_class), "status": here.workplace.status()}

    return await here.worker.run(Priority.ANSWER, job)


@router.post("/skip")
async def skip(request: SkipRequest, here: Here) -> dict[str, Any]:
    """Say that a node cannot be told."""

    def job() -> dict[str, Any]:
        return {"event": here.workplace.skip(request.annotator, request.node), "status": here.workplace.status()}

    return await here.worker.run(Priority.ANSWER, job)


@router.post("/undo")
async def undo(request: UndoRequest, here: Here) -> dict[str, Any]:
    """Take something back."""

    def job() -> dict[str, Any]:
        return {"undone": here.workplace.undo(request.annotator, request.event), "status": here.workplace.status()}

    return await here.worker.run(Priority.ANSWER, job)


@router.post("/classes")
async def add_class(request: ClassRequest, here: Here) -> dict[str, Any]:
    """Declare a class."""

    def job() -> dict[str, Any]:
        return {"event": here.workplace.add_class(request.name, request.annotator), "status": here.workplace.status()}

    return await here.worker.run(Priority.ANSWER, job)


@router.post("/budget")
async def set_budget(request: BudgetRequest, here: Here) -> dict[str, Any]:
    """Set the budget."""

    def job() -> dict[str, Any]:
        return {"event": here.workplace.set_budget(request.budget, request.annotator), "status": here.workplace.status()}

    return await here.worker.run(Priority.ANSWER, job)


@router.get("/nodes")
async def search(
    here: Here, q: Annotated[str, Query(max_length=200)] = "", limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> dict[str, Any]:
    """Find nodes by name."""
    return {"nodes": await here.worker.run(Priority.READ, lambda: here.workplace.search(q, limit))}


@router.get("/nodes/{node}")
async def card(node: NodeId, here: Here, annotator: Annotated[str | None, Query(max_length=200)] = None) -> dict[str, Any]:
    """What is known of a node."""
    return await here.worker.run(Priority.READ, lambda: here.workplace.card(node, annotator))


@router.get("/nodes/{node}/neighbourhood")
async def neighbourhood(
    node: NodeId, here: Here, hops: Annotated[int, Query(ge=1, le=2)] = 1, limit: Annotated[int, Query(ge=10, le=400)] = 150
) -> dict[str, Any]:
    """What lies around a node."""
    return await here.worker.run(Priority.READ, lambda: here.workplace.neighbourhood(node, hops, limit))


@router.get("/map")
async def map_(here: Here) -> dict[str, Any]:
    """The map of the whole graph."""
    return await here.worker.run(Priority.BACKGROUND, here.workplace.map)


@router.get("/map/colours")
async def colours(here: Here) -> dict[str, Any]:
    """Labels and predictions in the order of the map."""
    return await here.worker.run(Priority.BACKGROUND, here.workplace.colours)


@router.get("/report")
async def report(here: Here) -> dict[str, Any]:
    """Whether more labels are worth it."""
    return await here.worker.run(Priority.BACKGROUND, here.workplace.report)
