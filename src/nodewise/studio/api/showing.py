"""Routes that show: nodes, neighbourhoods, the map, the report, what has happened."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response

from nodewise.studio.api.answers import (
    CardAnswer,
    ColoursAnswer,
    EventsAnswer,
    MapAnswer,
    NeighbourhoodAnswer,
    ReportAnswer,
    SearchAnswer,
)
from nodewise.studio.api.failures import ConflictError, Json, MissingError
from nodewise.studio.api.requests import Annotator, NodeId
from nodewise.studio.api.routing import Here, make_router, refusals
from nodewise.studio.work.pictures import Picture
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("looking")


@router.get("/nodes", response_model=SearchAnswer, responses=refusals(409))
async def search(
    here: Here,
    q: Annotated[str, Query(max_length=200, description="what the names are, begin with or hold")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    annotator: Annotator = None,
) -> Json:
    """Find nodes by their names."""
    return Json({"nodes": await here.worker.run(Priority.READ, lambda: here.workplace.views.search(q, limit, annotator))})


@router.get("/nodes/{node}", response_model=CardAnswer, responses=refusals(404, 409))
async def card(node: NodeId, here: Here, annotator: Annotator = None) -> Json:
    """All that is known of a node."""

    def job() -> dict[str, Any]:
        here.workplace.views.predictions.want()
        return here.workplace.views.card(here.workplace.node(node), annotator)

    return Json(await here.worker.run(Priority.READ, job))


@router.get(
    "/nodes/{node}/picture",
    response_class=Response,
    responses={
        200: {"content": {kind: {} for kind in ("image/png", "image/jpeg", "image/gif", "image/webp")}, "description": "The picture."},
        **refusals(404, 409),
    },
)
async def picture(node: NodeId, here: Here) -> Response:
    """The picture of a node."""

    def job() -> Picture:
        found = here.workplace.picture(here.workplace.node(node))
        if found is None:
            raise MissingError(f"node {node} has no picture that may be shown: see --pictures for the folder that they are shown from")
        return found

    found = await here.worker.run(Priority.READ, job)
    return Response(found.data, media_type=found.kind)


@router.get("/nodes/{node}/neighbourhood", response_model=NeighbourhoodAnswer, responses=refusals(404, 409))
async def neighbourhood(
    node: NodeId,
    here: Here,
    hops: Annotated[int, Query(ge=1, le=2)] = 1,
    limit: Annotated[int, Query(ge=10, le=400, description="nodes to show at most")] = 150,
    annotator: Annotator = None,
) -> Json:
    """A node and what lies around it, to be drawn."""

    def job() -> dict[str, Any]:
        here.workplace.views.predictions.want()
        return here.workplace.views.neighbourhood(here.workplace.node(node), hops, limit, annotator)

    return Json(await here.worker.run(Priority.READ, job))


@router.get("/map", response_model=MapAnswer, responses=refusals(409))
async def map_(here: Here) -> Json:
    """The map of the whole graph, or of a sample of a large one. It is drawn once."""
    found = await here.map()
    return Json({
        "nodes": found.nodes.tolist(), "x": found.x.astype(float).round(4).tolist(), "y": found.y.astype(float).round(4).tolist(),
        "total": found.total, "sampled": found.sampled, "edges": found.edges.tolist(),
    })  # fmt: skip


@router.get("/map/colours", response_model=ColoursAnswer, responses=refusals(409))
async def colours(here: Here, annotator: Annotator = None) -> Json:
    """Labels and predictions of the nodes on the map, in its order. The predictions may be some seconds old: they say from how many labels."""
    found = await here.map()

    def want() -> bool:
        here.workplace.views.predictions.want()
        return here.workplace.views.predictions.made_from is None

    if await here.worker.run(Priority.READ, want):
        await here.worker.run(Priority.PREDICT, here.workplace.renew)

    def job() -> dict[str, Any]:
        views = here.workplace.views
        if views.map is not found:  # the map took its time, or the predictions did
            raise ConflictError("another session was opened meanwhile: ask again")
        return views.colours(found, annotator)

    return Json(await here.worker.run(Priority.READ, job))


@router.get("/report", response_model=ReportAnswer, responses=refusals(409))
async def report(here: Here) -> Json:
    """Whether more labels are worth it. It is made in the background and may be some events old: ``from`` says at which event it was made."""
    return Json(await here.worker.run(Priority.BACKGROUND, lambda: here.workplace.views.reports.latest()))


@router.get("/events", response_model=EventsAnswer, responses=refusals(409))
async def events(
    here: Here,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**53 - 1, description="only events with a smaller number")] = None,
    asks: Annotated[bool, Query(description="queries as well, not only what people did")] = False,
    annotator: Annotator = None,
) -> Json:
    """What has happened, the newest first."""
    return Json({"events": await here.worker.run(Priority.READ, lambda: here.workplace.views.events(limit, before, asks, annotator))})
