"""What the API's answers about the studio look like: its sessions, uploads, settings."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, create_model

from nodewise.session.settings import Kind, NewSettings, settings_of
from nodewise.studio.api.responses import Response
from nodewise.studio.guard.roles import Role

__all__ = [
    "JobsResponse",
    "NameResponse",
    "PreviewResponse",
    "SettingsFormResponse",
    "SettingsResponse",
    "StudioResponse",
    "TicketResponse",
]


class OpenSession(Response):
    """The session that is open."""

    name: str
    graph: str
    file: str


class Limits(Response):
    """What the studio takes."""

    upload_bytes: int


class Job(Response):
    """A session in the list of jobs."""

    name: str
    rows: int | None
    labels: int = Field(description="nodes labelled one by one, those of the audit left out")
    budget: int | None
    classes: int
    changed: float | None = Field(description="when something was last done, in seconds since 1970")
    strategy: str | None
    classifier: str | None
    bytes: int
    problem: str | None = Field(description="why it cannot be read")


class JobsResponse(Response):
    """All sessions, and those in the archive."""

    jobs: list[Job]
    archived: list[Job]


class StudioResponse(Response):
    """The studio: which session is open, which there are in its folder."""

    version: str
    session: OpenSession | None
    sessions: list[str]
    can_create: bool
    role: Role = Field(
        description=(
            "what you may do: an annotator labels and looks, a reviewer settles and reads, an onlooker looks, the owner"
            " does everything"
        )
    )
    person: str | None = Field(description="who you are, where your token is yours alone")
    limits: Limits


class Column(Response):
    """A column of an uploaded table."""

    name: str
    kind: Literal["text", "number", "label", "id", "other"]
    examples: list[str]
    filled: float = Field(description="share of the rows looked at that have something there")
    separator: str | None = Field(
        description="what seems to part several classes in its cells; null where a cell seems to be one thing"
    )


class Guess(Response):
    """Which column is probably what."""

    text: str | None
    label: str | None
    id: str | None


class PreviewResponse(Response):
    """What an uploaded table seems to hold."""

    columns: list[Column]
    rows: int
    guess: Guess
    encoding: str = Field(description="what it was read as: an encoding, parquet, or graph")
    header: bool = Field(description="whether the first line was taken for the columns' names")
    form: Literal["table", "graph"]
    types: list[str] = Field(description="of a graph with relations: its node types")
    labelled: str | None = Field(description="the type that would be labelled")


class SettingDescription(Response):
    """A setting that a new session may be given."""

    name: str
    kind: Kind = Field(description="a duration is in seconds")
    default: bool | int | float | str | None = Field(description="null: it is left open")
    help: str
    unset: str = Field(description="what is decided where it is left open, in words")
    least: float | None
    most: int | None
    title: str
    front: bool = Field(description="whether a form shows it at once")
    choices: dict[str, str] = Field(description="names, and what they mean as far as anybody has said")


class SettingsFormResponse(Response):
    """What a form for a new session asks for, in order."""

    settings: list[SettingDescription]


class NameResponse(Response):
    """A session's name."""

    name: str


class TicketResponse(Response):
    """A ticket that was cancelled."""

    ticket: str


class _SessionFacts(Response):
    name: str
    file: str
    bytes: int
    graph: str
    nodes: int
    edges: int
    reason: str
    guideline: str
    facts: dict[str, str] = Field(description="what was fixed when it was made: what it is called, and in words")


_TYPES: dict[Kind, Any] = {"count": int, "duration": float, "name": str | None, "flag": bool}

_FACTS: dict[str, Any] = {
    one.name: (_TYPES[one.kind], Field(description=one.help)) for one in settings_of(NewSettings) if one.is_fact
}

SettingsResponse = create_model(
    "SettingsResponse",
    __base__=_SessionFacts,
    __doc__="What a session was made with; budget, redundancy and guideline as they are now.",
    **_FACTS,
)
