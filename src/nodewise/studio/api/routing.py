"""What the routes of the REST API share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection

from nodewise.studio.api.responses import Failure, Typo
from nodewise.studio.guard.guard import ROLE
from nodewise.studio.guard.roles import VISITOR, Role
from nodewise.studio.work.annotators import check_claimed_name
from nodewise.studio.work.folders import FILES
from nodewise.studio.work.open_session import OpenSession
from nodewise.studio.work.studio import Studio

__all__ = ["CurrentRole", "CurrentStudio", "FormRoute", "make_router", "opening", "refusals"]

_ALWAYS = {
    400: "What was sent is not as it should be.",
    401: "The token is missing or wrong.",
    403: (
        "The request comes from, or goes to, an address that is not the studio's; or it is not for those who have"
        " your role."
    ),
    408: "The request did not arrive in time.",
    413: "The request is too large.",
    503: "The session's file cannot be used now, or too many requests wait; try again.",
}
_SOMETIMES = {
    404: "There is no such thing.",
    409: "It cannot be done as things stand: no session is open, nothing is left to ask, nothing to undo.",
    415: "The request's body has another content type than is taken here.",
    507: "The disk is full.",
}


async def _studio(connection: HTTPConnection) -> Studio:
    studio: Studio = connection.app.state.studio
    return studio


CurrentStudio = Annotated[Studio, Depends(_studio)]
"""The running studio, for a route."""


async def _role(connection: HTTPConnection) -> Role:
    role: Role = connection.scope.get(ROLE, "onlooker")
    return role


CurrentRole = Annotated[Role, Depends(_role)]
"""What whoever asks may do, for a route; the guard tells it."""


def opening(studio: Studio, session: str | None, annotator: str | None) -> Callable[[], OpenSession]:
    """What opens a request's session in the worker's thread, for somebody who says that they are the annotator.

    It raises a ForbiddenError where that name tells who knows answers, and the token does not say that it is theirs.
    """
    visitor = VISITOR.get()
    claimed = None if visitor.role == "owner" or visitor.name is not None else annotator

    def opened() -> OpenSession:
        found = studio.sessions.get(session)
        if claimed:
            check_claimed_name(found.session, claimed)
        return found

    return opened


class _FewParts(Request):
    """A request whose form has few parts; files go to the disk as they arrive."""

    def form(self, **limits: Any) -> Any:
        """The form."""
        return super().form(max_files=FILES + 1, max_fields=600, max_part_size=2**16)


class FormRoute(APIRoute):
    """A route that takes a form with files."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        handle = super().get_route_handler()

        async def bounded(request: Request) -> Response:
            return await handle(_FewParts(request.scope, request.receive))

        return bounded


def make_router(tag: str) -> APIRouter:
    """A router for routes of the API."""
    return APIRouter(prefix="/api/v1", tags=[tag])


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The failures that a route documents, beside those that any may answer with."""
    answers = {**_ALWAYS, **{status: _SOMETIMES[status] for status in statuses}}
    return {
        status: {"model": Typo if status == 409 else Failure, "description": words}
        for status, words in sorted(answers.items())
    }
