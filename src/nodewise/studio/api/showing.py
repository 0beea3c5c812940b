"""Routes that show: nodes, neighbourhoods, the map, the report, what has happened."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response

from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import Annotator, NodeId, SessionName, Ticket
from nodewise.studio.api.responses import (
    CardResponse,
    ColoursResponse,
    DisagreementsResponse,
    EventsResponse,
    MapResponse,
    NeighbourhoodResponse,
    ReportResponse,
    SearchResponse,
)
from nodewise.studio.api.routing import CurrentRole, CurrentStudio, make_router, opening, refusals
from nodewise.studio.api.studio_responses import SettingsResponse
from nodewise.studio.guard.roles import EVERYBODY, permit
from nodewise.studio.work.errors import MissingError
from nodewise.studio.work.pictures import Picture
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("looking")


@router.get("/nodes", response_model=SearchResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def search(
    studio: CurrentStudio,
    q: Annotated[str, Query(max_length=200, description="what the names are, begin with or hold")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    session: SessionName = None,
    annotator: Annotator = None,
) -> Json:
    """Find nodes by their names."""
    get_session = opening(studio, session, annotator)
    found = await studio.worker.run(Priority.READ, lambda: get_session().page.search(q, limit, annotator))
    return Json({"nodes": found})


@router.get("/disagreements", response_model=DisagreementsResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def disagreements(studio: CurrentStudio, session: SessionName = None, annotator: Annotator = None) -> Json:
    """The nodes with differing votes, each vote with its annotator; those that nobody has settled first."""
    get_session = opening(studio, session, annotator)
    return Json({"nodes": await studio.worker.run(Priority.READ, lambda: get_session().disagreements(annotator))})


@router.get("/settings", response_model=SettingsResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def settings(studio: CurrentStudio, session: SessionName = None) -> Json:
    """What a session was made with; budget, redundancy and guideline as they are now."""
    return Json(await studio.worker.run(Priority.READ, lambda: studio.sessions.get(session).settings()))


@router.get("/nodes/{node}", response_model=CardResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def card(node: NodeId, studio: CurrentStudio, session: SessionName = None, annotator: Annotator = None) -> Json:
    """All that is known of a node."""
    get_session = opening(studio, session, annotator)

    def job() -> dict[str, Any]:
        opened = get_session()
        return opened.page.card(opened.node(node), annotator)

    return Json(await studio.worker.run(Priority.READ, job))


@router.get(
    "/nodes/{node}/picture",
    response_class=Response,
    responses={
        200: {
            "content": {kind: {} for kind in ("image/png", "image/jpeg", "image/gif", "image/webp")},
            "description": "The picture.",
        },
        **refusals(404, 409),
    },
)
@permit(*EVERYBODY)
async def picture(node: NodeId, studio: CurrentStudio, session: SessionName = None) -> Response:
    """The picture of a node."""

    def job() -> Picture:
        opened = studio.sessions.get(session)
        image = opened.picture(opened.node(node))
        if image is None:
            raise MissingError(
                f"node {node} has no picture that may be shown: see --pictures for the folder that they are shown from"
            )
        return image

    image = await studio.worker.run(Priority.READ, job)
    return Response(image.data, media_type=image.kind)


@router.get("/nodes/{node}/neighbourhood", response_model=NeighbourhoodResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def neighbourhood(
    node: NodeId,
    studio: CurrentStudio,
    hops: Annotated[int, Query(ge=1, le=2)] = 1,
    limit: Annotated[int, Query(ge=10, le=400, description="nodes to show at most")] = 150,
    session: SessionName = None,
    annotator: Annotator = None,
) -> Json:
    """A node and what lies around it, to be drawn."""
    get_session = opening(studio, session, annotator)

    def job() -> dict[str, Any]:
        opened = get_session()
        return opened.page.neighbourhood(opened.node(node), hops, limit, annotator)

    return Json(await studio.worker.run(Priority.READ, job))


@router.get("/map", response_model=MapResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def map_(studio: CurrentStudio, session: SessionName = None, ticket: Ticket = None) -> Json:
    """The map of the whole graph, or of a sample of a large one. It is drawn once."""
    drawn = await studio.map(session, ticket)
    return Json(
        {
            "nodes": drawn.nodes.tolist(),
            "x": drawn.x.astype(float).round(4).tolist(),
            "y": drawn.y.astype(float).round(4).tolist(),
            "total": drawn.total,
            "sampled": drawn.sampled,
            "edges": drawn.edges.tolist(),
        }
    )


@router.get("/map/colours", response_model=ColoursResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def colours(studio: CurrentStudio, session: SessionName = None, annotator: Annotator = None) -> Json:
    """Labels and predictions of the nodes on the map, in its order.

    Whether the predictions are being updated, and from how many labels they are.
    """
    get_session = opening(studio, session, annotator)
    await studio.worker.run(Priority.READ, get_session)  # before anything is drawn for somebody who is then refused
    drawn = await studio.map(session)

    def is_first() -> bool:
        predictions = get_session().page.predictions
        predictions.want()
        return predictions.kept is None and not predictions.fresh

    if await studio.worker.run(Priority.READ, is_first):
        await studio.worker.run(Priority.PREDICT, lambda: get_session().renew())

    def job() -> dict[str, Any]:
        return get_session().page.colours(drawn, annotator)

    return Json(await studio.worker.run(Priority.READ, job))


@router.get("/report", response_model=ReportResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def report(
    studio: CurrentStudio, session: SessionName = None, ticket: Ticket = None, annotator: Annotator = None
) -> Json:
    """Whether more labels are worth it. It is made in the background and may be some events old.

    ``from`` says at which event it was made.
    """
    get_session = opening(studio, session, annotator)

    def job() -> dict[str, Any]:
        return get_session().page.report(annotator, lambda: studio.tickets.check(ticket, "the report"))

    return Json(await studio.worker.run(Priority.BACKGROUND, job))


@router.get("/events", response_model=EventsResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def events(
    studio: CurrentStudio,
    role: CurrentRole,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**53 - 1, description="only events with a smaller number")] = None,
    asks: Annotated[bool, Query(description="queries as well, not only what people did")] = False,
    session: SessionName = None,
    annotator: Annotator = None,
) -> Json:
    """What has happened, the newest first."""
    get_session = opening(studio, session, annotator)

    def job() -> list[dict[str, Any]]:
        return get_session().page.events(limit, before, asks, annotator, role == "owner")

    return Json({"events": await studio.worker.run(Priority.READ, job)})
