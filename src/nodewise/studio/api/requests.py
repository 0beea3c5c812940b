"""What the API's requests may hold, with their bounds."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any, Self

from fastapi import Depends, Form, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from nodewise.session.settings import NewSettings, SettingInfo, settings_of
from nodewise.studio.guard.roles import VISITOR, Role
from nodewise.studio.work.errors import ForbiddenError
from nodewise.studio.work.node_table import Sort
from nodewise.studio.work.row_facts import Filter
from nodewise.studio.work.table_actions import MOST, Action

__all__ = [
    "Annotator",
    "AskRequest",
    "AssignRequest",
    "BudgetRequest",
    "BulkRequest",
    "CancelRequest",
    "Change",
    "ClassRequest",
    "DescribeRequest",
    "DuplicateRequest",
    "KnownRequest",
    "Labelled",
    "MergeRequest",
    "NodeId",
    "NoteRequest",
    "OpenRequest",
    "OrderRequest",
    "PersonRequest",
    "RedundancyRequest",
    "ReleaseRequest",
    "RemoveRequest",
    "RenameRequest",
    "RevokeRequest",
    "SessionName",
    "SettingsForm",
    "SettleRequest",
    "SkipRequest",
    "TableActionRequest",
    "TellRequest",
    "Ticket",
    "UndoRequest",
    "WithdrawRequest",
    "speaker",
]

_LARGEST = 2**53 - 1  # what a JavaScript number holds exactly

Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=20_000)]
Node = Annotated[int, Field(ge=0, le=_LARGEST)]
Label = Annotated[
    Name | Annotated[list[Name], Field(max_length=500)],
    Field(
        description=(
            "a class; where a node may have several (``several`` of GET /status) a list of them, [] for none of them,"
            " or one text with ';' between them"
        )
    ),
]
NodeId = Annotated[int, Path(ge=0, le=_LARGEST, description="the node's index")]


def speaker(named: str | None) -> str | None:
    """Under which name a request is answered: that of its token, where it is one person's, else what it says itself.

    Raises:
        ForbiddenError: by the token that annotators share it names somebody who has a link of their own.
    """
    visitor = VISITOR.get()
    if visitor.name is not None:
        return visitor.name
    if named is not None and visitor.is_others(named):
        raise ForbiddenError(f"{named!r} has a link of their own: use that one, or give another name")
    return named


async def _looker(
    annotator: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            description="who looks: what could sway an answer that is still wanted is left out",
        ),
    ] = None,
) -> str | None:
    """Who looks; where neither token nor request names an annotator, one without a name, who sees least."""
    who = speaker(annotator)
    return "" if who is None and VISITOR.get().role != "owner" else who


Annotator = Annotated[str | None, Depends(_looker)]
Ticket = Annotated[
    str | None,
    Query(min_length=8, max_length=64, description="a word of your own, by which POST /cancel ends the work"),
]

SessionName = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=255,
        description="which session; by default the one that the studio was started with, or opened first",
    ),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class OpenRequest(_Request):
    """Which session to open: one of those that GET /studio lists."""

    name: Name


class DuplicateRequest(OpenRequest):
    """Which session to copy, and what the copy is to be called."""

    new_name: Annotated[str, Field(min_length=1, max_length=100)]


class RevokeRequest(_Request):
    """Whose link to take away."""

    name: Name


class PersonRequest(_Request):
    """Who gets a link, and what they may do."""

    name: Name
    role: Role = "annotator"


class CancelRequest(_Request):
    """Which work to end, by the ticket that it was begun with."""

    ticket: Annotated[str, Field(min_length=8, max_length=64)]


class Change(_Request):
    """What a request has that moves a job on: which session, and who."""

    session: Annotated[str, Field(min_length=1, max_length=255)] | None = Field(
        None, description="which session; by default the one that the studio was started with, or opened first"
    )
    annotator: Name | None = "me"

    @model_validator(mode="after")
    def _speaks_for_its_token(self) -> Self:
        self.annotator = speaker(self.annotator)
        return self


class AskRequest(Change):
    """Who asks, and for how many nodes."""

    annotator: Name = "me"
    k: Annotated[int, Field(ge=1, le=50)] = 1


class Labelled(_Request):
    """A node and its label."""

    node: Node
    label: Label


class TellRequest(Change):
    """Labels, all of one annotator; taken together, all or none."""

    annotator: Name = "me"
    labels: Annotated[list[Labelled], Field(min_length=1, max_length=1000)]
    new_class: bool = Field(False, description="take a label as a new class, even if it looks like a misspelt one")
    overrule: bool = Field(False, description="let it count whatever others have said of the node; the owner alone")


class BulkRequest(TellRequest):
    """Many labels that are given, counted and taken back as one."""

    labels: Annotated[list[Labelled], Field(min_length=1, max_length=20_000)]


class NoteRequest(Change):
    """What to write to a node."""

    annotator: Name = "me"
    node: Node
    text: Text


class Suggested(_Request):
    """A node, and the class that a model gives it."""

    node: Node
    label: Name


class SuggestRequest(Change):
    """What a model says of nodes."""

    annotator: Name = "me"
    name: Name = Field(description="the model")
    labels: Annotated[list[Suggested], Field(min_length=1, max_length=20_000)]
    confidence: Annotated[float, Field(ge=0, le=1)] = Field(1.0, description="how sure it is of all of them")


class WithdrawRequest(Change):
    """Which model's answers to take back."""

    annotator: Name = "me"
    name: Name = Field(description="the model")


class ReleaseRequest(Change):
    """Whose unanswered queries to free."""

    released: Name
    nodes: Annotated[list[Node], Field(min_length=1, max_length=20_000)] | None = Field(
        None, description="these alone; by default all of them"
    )


class RemoveRequest(Change):
    """Rows to take out, by index or name."""

    annotator: Name = "me"
    rows: Annotated[list[Node | Name], Field(min_length=1, max_length=20_000)]


class AssignRequest(Change):
    """Which rows to give to whom: those that a filter of the table finds, in its order."""

    annotator: Name = "me"
    to: Name = Field(description="who gets them")
    filter: Filter = "unlabelled"
    label: Name | None = Field(None, description="only nodes that are labelled so, or else predicted so")
    q: Annotated[str, Field(max_length=200, description="only nodes whose name or text holds it")] = ""
    sort: Sort = "node"
    descending: bool = False
    count: Annotated[int, Field(ge=1, le=1000)] = Field(20, description="rows at most")


_Share = Annotated[float, Field(ge=0, le=1)]


class RowsFound(_Request):
    """Which rows: those that all of it holds for, as for GET /table."""

    filter: Annotated[list[Filter], Field(max_length=12)] = []
    label: Name | None = None
    by: Name | None = None
    said_by: Name | None = None
    least: _Share | None = None
    most: _Share | None = None
    q: Annotated[str, Field(max_length=200)] = ""
    sort: Sort = "node"
    column: Annotated[str, Field(max_length=1000)] | None = None
    descending: bool = False
    listing: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="of an answer of GET /table: those of its rows that still fit"
    )


class TableActionRequest(Change):
    """What to do with many rows at once."""

    annotator: Name = "me"
    action: Action
    where: RowsFound = Field(default_factory=lambda: RowsFound.model_validate({}))
    nodes: Annotated[list[Node], Field(min_length=1, max_length=MOST)] | None = Field(
        None, description="these rows, instead of those that the filter finds"
    )
    label: Annotated[str, Field(max_length=20_000)] = Field(
        "", description="for label: the class; where a node may have several, all of them with ';' between"
    )
    text: Text = Field("", description="the note, for note")
    to: Annotated[str, Field(max_length=200)] = Field("", description="who gets the rows, for assign")
    count: Annotated[int, Field(ge=1, le=MOST)] = Field(MOST, description="rows at most")
    digest: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="of the answer without it: do just that; without it nothing is done"
    )


class KnownRequest(Change):
    """Rows whose answers are known, and how many of a hundred questions are about them."""

    annotator: Name = "me"
    labels: Annotated[list[Labelled], Field(max_length=20_000)] = []
    column: Annotated[str, Field(max_length=200)] | None = Field(None, description="a column of the graph with them")
    percent: Annotated[int, Field(ge=0, le=50)] | None = Field(None, description="of a hundred; null: as it was")
    counts: bool = Field(False, description="whether they are labels of the job, too; they train nothing")


class RenameRequest(Change):
    """A class and its new name."""

    annotator: Name = "me"
    name: Name
    new_name: Name


class MergeRequest(Change):
    """A class, and the one that its labels are to count as."""

    annotator: Name = "me"
    name: Name
    into: Name


class DescribeRequest(Change):
    """What belongs to a class, or without one what everybody should know."""

    annotator: Name = "me"
    name: Name | None = None
    text: Text


class OrderRequest(Change):
    """The classes in the order of the screen."""

    annotator: Name = "me"
    names: Annotated[list[Name], Field(max_length=5000)]


class SkipRequest(Change):
    """A node that an annotator cannot tell."""

    annotator: Name = "me"
    node: Node


class UndoRequest(Change):
    """What to take back: an event by its number, else the last change, of one annotator or of anybody."""

    annotator: Name | None = None
    event: Annotated[int, Field(ge=1, le=_LARGEST)] | None = None


class ClassRequest(Change):
    """A class to declare."""

    name: Name
    annotator: Name = "me"
    new_class: bool = Field(False, description="declare it, even if it looks like a misspelt one")


class RedundancyRequest(Change):
    """How many are to label each node from now on."""

    redundancy: Annotated[int, Field(ge=1, le=100)]
    annotator: Name = "me"


class SettleRequest(Change):
    """What a disagreement comes to."""

    node: Node
    label: Label
    annotator: Name = "me"


class BudgetRequest(Change):
    """A new budget, at most the graph's number of nodes."""

    budget: Annotated[int, Field(ge=1, le=_LARGEST)]
    annotator: Name = "me"


_Names = Annotated[str, Field(max_length=20_000)]


def _parameter(one: SettingInfo) -> inspect.Parameter:
    """The part of a form that gives a setting."""
    kinds: dict[str, Any] = {"count": int, "duration": float, "name": str, "flag": bool, "names": list[_Names]}
    bounds: dict[str, Any] = {}
    if one.kind == "count":
        bounds = {"ge": one.least, "le": one.most or _LARGEST}
    elif one.kind == "duration":
        bounds = {"gt": one.least or 0, "le": _LARGEST}
    elif one.kind == "name":
        bounds = {"max_length": 100}
    elif one.kind == "names":
        bounds = {"max_length": 500}
    kind = kinds[one.kind] if one.default is not None or one.kind == "names" else kinds[one.kind] | None
    how = " Repeated, or joined by commas, semicolons or line breaks." if one.kind == "names" else ""
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=[] if one.kind == "names" else one.default,
        annotation=Annotated[kind, Form(description=one.with_default(one.help) + how, **bounds)],
    )


_OFFERED = {one.name: one for one in settings_of(NewSettings) if one.title}


async def _settings(**given: Any) -> dict[str, Any]:
    """The settings of a new session, as `Session.create` takes them."""
    for name, value in given.items():
        if _OFFERED[name].kind == "names":
            parts = [part.strip() for listed in value for part in re.split(r"[,;\n]", listed)]
            given[name] = [part for part in parts if part] or None
    return given


_PARAMETERS = [_parameter(one) for one in _OFFERED.values()]
_settings.__signature__ = inspect.Signature(_PARAMETERS)  # type: ignore[attr-defined]

SettingsForm = Annotated[dict[str, Any], Depends(_settings)]
"""The settings of a new session that the form of a request gives; which there are is `NewSettings`' to say."""
