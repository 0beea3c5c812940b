"""Routes for the people who work together: links of their own, rows given to one of them, what can be said of each."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nodewise.studio.api.failures import Json
from nodewise.studio.api.people_responses import (
    AssignResponse,
    KnownResponse,
    LinkResponse,
    PeopleResponse,
    PersonReportsResponse,
)
from nodewise.studio.api.requests import AssignRequest, KnownRequest, PersonRequest, RevokeRequest, SessionName
from nodewise.studio.api.responses import EventNumberResponse
from nodewise.studio.api.routing import CurrentStudio, make_router, refusals
from nodewise.studio.guard.people import People, Person
from nodewise.studio.guard.roles import JUDGES, permit
from nodewise.studio.work.errors import ConflictError, MissingError
from nodewise.studio.work.node_table import TableQuery
from nodewise.studio.work.row_facts import RowFilter
from nodewise.studio.work.studio import Studio
from nodewise.studio.work.worker import Priority

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["router"]

router = make_router("people")


def _shown(person: Person) -> dict[str, Any]:
    record = asdict(person)
    del record["digest"]
    return record


def _people(studio: Studio) -> dict[str, Any]:
    people = People(studio.settings.folder)
    return {"people": [_shown(each) for each in people.all()], "possible": studio.settings.token is not None}


@router.get("/people", response_model=PeopleResponse, responses=refusals())
@permit("owner")
async def list_people(studio: CurrentStudio) -> Json:
    """Everybody who has a link, or had one; ``possible`` says whether links can be given."""
    return Json(await studio.worker.run(Priority.READ, lambda: _people(studio)))


@router.post("/people", response_model=LinkResponse, responses=refusals(409, 415, 507))
@permit("owner")
async def add_person(request: PersonRequest, studio: CurrentStudio) -> Json:
    """Give somebody a token of their own. It is shown here and never again; the studio keeps a digest alone."""
    if studio.settings.token is None:
        raise ConflictError(
            "this studio has no token, so that whoever reaches it is its owner: start it with --token-file FILE, then"
            " give links"
        )
    folder = studio.settings.folder
    token = await studio.worker.run(Priority.READ, lambda: People(folder).add(request.name, request.role))
    return Json({"name": request.name.strip(), "role": request.role, "token": token})


@router.post("/people/revoke", response_model=PeopleResponse, responses=refusals(415, 507))
@permit("owner")
async def revoke_person(request: RevokeRequest, studio: CurrentStudio) -> Json:
    """Take somebody's link away: their next request is refused, their open pages hear nothing more."""

    def job() -> dict[str, Any]:
        People(studio.settings.folder).revoke(request.name)
        return _people(studio)

    return Json(await studio.worker.run(Priority.READ, job))


@router.get("/people/report", response_model=PersonReportsResponse, responses=refusals(404, 409))
@permit(*JUDGES)
async def report_people(studio: CurrentStudio, session: SessionName = None) -> Json:
    """What can be said of each person's work: how much, how fast, how far others agree."""

    def job() -> list[dict[str, Any]]:
        return [asdict(each) for each in studio.sessions.get(session).session.person_reports()]

    return Json({"people": await studio.worker.run(Priority.READ, job)})


@router.get("/known", response_model=KnownResponse, responses=refusals(404, 409))
@permit("owner")
async def list_known(studio: CurrentStudio, session: SessionName = None) -> Json:
    """The rows whose answers are known, with what people said of them."""
    return Json(await studio.worker.run(Priority.READ, lambda: studio.sessions.get(session).known()))


@router.post("/known", response_model=EventNumberResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def set_known(request: KnownRequest, studio: CurrentStudio) -> Json:
    """Say which rows' answers are known, and how many of a hundred questions are about these.

    Such a question looks like any other; only the owner sees which they are.
    """

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(request.session)
        answers = request.column or {opened.node(each.node): each.label for each in request.labels}

        def change(session: Session) -> int:
            return session.set_known(answers, request.annotator, percent=request.percent, counts=request.counts)

        if isinstance(answers, str) and answers not in opened.session.graph.attributes:
            raise MissingError(f"the rows have no column {answers!r}: name one that they have")
        return {"event": opened.change(change), "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))


@router.post("/assign", response_model=AssignResponse, responses=refusals(404, 409, 415, 507))
@permit("owner")
async def assign(request: AssignRequest, studio: CurrentStudio) -> Json:
    """Give rows to somebody, by a filter of the table: they are asked about these first, and nobody else is meanwhile.

    Rows that need no further opinion, or are with somebody else, are left out.
    """
    wanted = RowFilter((request.filter,), request.label, text=request.q)
    query = TableQuery(wanted, request.sort, descending=request.descending, limit=1000)

    def job() -> dict[str, Any]:
        opened = studio.sessions.get(request.session)
        found = opened.page.table.rows(query, request.annotator)
        nodes = [int(row["node"]) for row in found["rows"]]

        def give(session: Session) -> list[int]:
            return session.assign(nodes, request.to, request.annotator or "me", most=request.count)

        given = opened.change(give)
        return {"nodes": given, "found": found["total"], "status": opened.status(request.annotator, predict=False)}

    return Json(await studio.worker.run(Priority.ANSWER, job))
