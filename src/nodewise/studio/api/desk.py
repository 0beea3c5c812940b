"""Routes of the review desk: all rows as a table, and what is done at once with those that a filter finds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from nodewise.studio.api.desk_responses import ActionResponse, SimilarResponse, TableResponse
from nodewise.studio.api.failures import Json
from nodewise.studio.api.requests import Annotator, NodeId, SessionName, TableActionRequest
from nodewise.studio.api.routing import CurrentRole, CurrentStudio, make_router, opening, refusals
from nodewise.studio.guard.roles import EVERYBODY, LABELLERS, WORKERS, Role, permit
from nodewise.studio.work.annotators import check_answers
from nodewise.studio.work.errors import ForbiddenError
from nodewise.studio.work.node_table import Sort, TableQuery
from nodewise.studio.work.row_facts import Filter, RowFilter
from nodewise.studio.work.table_actions import Action, Wish, act, plan
from nodewise.studio.work.worker import Priority

__all__ = ["router"]

router = make_router("looking")

_MAY: dict[Action, tuple[Role, ...]] = {
    "label": LABELLERS,
    "confirm": LABELLERS,
    "skip": LABELLERS,
    "note": WORKERS,
    "assign": ("owner",),
    "remove": ("owner",),
}
"""Who may do what with many rows: who may do it with one."""
_Share = Annotated[float | None, Query(ge=0, le=1)]


@router.get("/table", response_model=TableResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def table(
    studio: CurrentStudio,
    filter: Annotated[list[Filter], Query(max_length=12, description="all of them must hold")] = [],  # noqa: B006
    label: Annotated[str | None, Query(max_length=200, description="labelled so, or else predicted so")] = None,
    by: Annotated[str | None, Query(max_length=200, description="of which this person has said something")] = None,
    said_by: Annotated[str | None, Query(max_length=200, description="of which this model says something")] = None,
    least: _Share = None,
    most: _Share = None,
    q: Annotated[str, Query(max_length=200)] = "",
    sort: Sort = "node",
    column: Annotated[str | None, Query(max_length=1000, description="by which of its own columns")] = None,
    descending: bool = False,
    offset: Annotated[int, Query(ge=0, le=2**53 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    columns: Annotated[
        list[Annotated[str, Query(max_length=1000)]],
        Query(max_length=20, description="which of the job's own columns to show"),
    ] = [],  # noqa: B006
    listing: Annotated[
        str | None, Query(max_length=64, description="of an earlier answer: its rows and their order stay")
    ] = None,
    session: SessionName = None,
    annotator: Annotator = None,
) -> Json:
    """All nodes as a table, a window of rows at a time.

    ``listing`` of the answer reads on in the same rows, whatever changes meanwhile; each says whether it still fits.
    """
    wanted = RowFilter(tuple(filter), label, by, said_by, least, most, q)
    query = TableQuery(wanted, sort, column, descending, offset, limit, tuple(columns), listing)

    get_session = opening(studio, session, annotator)

    def job() -> dict[str, Any]:
        return get_session().page.table.rows(query, annotator)

    return Json(await studio.worker.run(Priority.READ, job))


@router.get("/nodes/{node}/similar", response_model=SimilarResponse, responses=refusals(404, 409))
@permit(*EVERYBODY)
async def similar(
    node: NodeId,
    studio: CurrentStudio,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    labelled: Annotated[bool, Query(description="also rows that have a label")] = False,
    session: SessionName = None,
    annotator: Annotator = None,
) -> Json:
    """The rows most similar to one, to be labelled together by POST /table/act with ``nodes``.

    They are compared by their features and those of the rows around them, without a label or a prediction. Rows to be
    judged one by one are not among them; of a row of the audit none are given.
    """
    get_session = opening(studio, session, annotator)

    def job() -> dict[str, Any]:
        opened = get_session()
        return opened.page.similar(opened.node(node), limit, labelled, annotator)

    return Json(await studio.worker.run(Priority.READ, job))


@router.post("/table/act", response_model=ActionResponse, responses=refusals(404, 409, 415, 507))
@permit(*WORKERS)
async def act_on_table(request: TableActionRequest, studio: CurrentStudio, role: CurrentRole) -> Json:
    """Do something with all rows that a filter finds, or with those that are named: label, confirm, skip and more.

    Without ``digest`` nothing is done and the answer says what would be; with the digest of that answer it is done, if
    it is still the same. It is one event, which one undo takes back; rows that are given to somebody are taken back by
    POST /release with ``nodes``. Annotators label, confirm and skip, reviewers write notes; rows are given to people
    and taken out by the owner.
    """
    if role not in _MAY[request.action]:
        raise ForbiddenError(f"your role is {role}, and {request.action} is for: {', '.join(_MAY[request.action])}")
    where = request.where
    wanted = RowFilter(tuple(where.filter), where.label, where.by, where.said_by, where.least, where.most, where.q)
    query = TableQuery(wanted, where.sort, where.column, where.descending, listing=where.listing)
    wish = Wish(request.action, request.annotator, request.label, request.text, request.to, request.count)

    get_session = opening(studio, request.session, request.annotator)

    def job() -> dict[str, Any]:
        opened = get_session()
        if request.nodes is None:
            found = opened.page.table.found(query, request.annotator).tolist()
        else:
            found = [opened.node(node) for node in dict.fromkeys(request.nodes)]
        planned = plan(opened, wish, found)
        summary = planned.as_dict(opened)
        if role != "owner" and planned.labels:
            check_answers(
                opened.session, request.annotator, list(zip(planned.nodes, planned.labels, strict=True)), False
            )
        done = None if request.digest is None else act(opened, planned, request.digest)
        return {**summary, "done": done, "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))
