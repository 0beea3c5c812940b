"""What the API's answers about people look like: their links, their work, the rows given to them."""

from __future__ import annotations

from pydantic import Field

from nodewise.studio.api.responses import Response, StatusResponse
from nodewise.studio.api.suggestion_responses import ShareResponse
from nodewise.studio.guard.roles import Role

__all__ = ["AssignResponse", "KnownResponse", "LinkResponse", "PeopleResponse", "PersonReportsResponse"]


class PersonResponse(Response):
    """Somebody with a link."""

    name: str
    role: Role
    added: float = Field(description="when, in seconds since 1970")
    revoked: float | None = Field(description="when the link was taken away; null: it works")


class PeopleResponse(Response):
    """Everybody who has a link, or had one."""

    people: list[PersonResponse]
    possible: bool = Field(description="whether links can be given: the owner has a token")


class LinkResponse(Response):
    """A person's token, which is shown once."""

    name: str
    role: Role
    token: str


class AssignResponse(Response):
    """Which rows were given, how many the filter found, and how far the job is now."""

    nodes: list[int]
    found: int
    status: StatusResponse


class KnownRowResponse(Response):
    """A row whose answer is known, and what people said."""

    node: int
    name: str
    title: str | None
    label: str
    counts: bool = Field(description="whether it is a label of the job, too")
    answers: dict[str, str] = Field(description="annotator -> what they said")


class KnownResponse(Response):
    """The rows whose answers are known."""

    percent: int = Field(description="how many of a hundred questions are about these")
    rows: list[KnownRowResponse]


class PersonReportResponse(Response):
    """What can be said of a person's work."""

    annotator: str
    labels: int = Field(description="given one by one")
    bulk: int
    skipped: int
    open: int = Field(description="rows given to them that they have not answered")
    seconds: float | None = Field(description="median from a question to its answer")
    shared: int = Field(description="labels on nodes that somebody else labelled as well")
    agreement: float | None = Field(
        description="share of the others' votes on these that say the same: of several classes all"
    )
    settled: int = Field(description="labels on nodes that were settled")
    right: int = Field(description="of these, those that say what it was settled as")
    known: ShareResponse | None = Field(description="how right they are on questions whose answers are known")


class PersonReportsResponse(Response):
    """What can be said of everybody's work."""

    people: list[PersonReportResponse]
