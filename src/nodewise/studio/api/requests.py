"""What the API's requests may hold, with their bounds."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

from fastapi import Depends, Form, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from nodewise.session.settings import NewSettings, Setting, settings_of

__all__ = [
    "Annotator",
    "AskRequest",
    "BudgetRequest",
    "BulkRequest",
    "CancelRequest",
    "Change",
    "ClassRequest",
    "DescribeRequest",
    "DuplicateRequest",
    "Labelled",
    "MergeRequest",
    "NodeId",
    "NoteRequest",
    "OpenRequest",
    "OrderRequest",
    "RedundancyRequest",
    "ReleaseRequest",
    "RenameRequest",
    "SessionName",
    "SettingsForm",
    "SettleRequest",
    "SkipRequest",
    "TellRequest",
    "Ticket",
    "UndoRequest",
]

_LARGEST = 2**53 - 1  # what a JavaScript number holds exactly

Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=20_000)]
Node = Annotated[int, Field(ge=0, le=_LARGEST)]
NodeId = Annotated[int, Path(ge=0, le=_LARGEST, description="the node's index")]
Annotator = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=200,
        description="who looks: what could sway an answer that is still wanted is left out",
    ),
]

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


class CancelRequest(_Request):
    """Which work to end, by the ticket that it was begun with."""

    ticket: Annotated[str, Field(min_length=8, max_length=64)]


class Change(_Request):
    """What a request has that moves a job on: which session, and who."""

    session: Annotated[str, Field(min_length=1, max_length=255)] | None = Field(
        None, description="which session; by default the one that the studio was started with, or opened first"
    )
    annotator: Name | None = "me"


class AskRequest(Change):
    """Who asks, and for how many nodes."""

    annotator: Name = "me"
    k: Annotated[int, Field(ge=1, le=50)] = 1


class Labelled(_Request):
    """A node and its label."""

    node: Node
    label: Name


class TellRequest(Change):
    """Labels, all of one annotator; told together, all or none."""

    annotator: Name = "me"
    labels: Annotated[list[Labelled], Field(min_length=1, max_length=1000)]
    new_class: bool = Field(False, description="take a label as a new class, even if it looks like a misspelt one")
    overrule: bool = Field(False, description="let it count whatever others have said of the node; the owner alone")


class BulkRequest(TellRequest):
    """Many labels that are told, counted and taken back as one."""

    labels: Annotated[list[Labelled], Field(min_length=1, max_length=20_000)]


class NoteRequest(Change):
    """What to write to a node."""

    annotator: Name = "me"
    node: Node
    text: Text


class SuggestRequest(Change):
    """What a model says of nodes."""

    annotator: Name = "me"
    name: Name = Field(description="the model")
    labels: Annotated[list[Labelled], Field(min_length=1, max_length=20_000)]
    confidence: Annotated[float, Field(ge=0, le=1)] = Field(1.0, description="how sure it is of all of them")


class ReleaseRequest(Change):
    """Whose unanswered queries to free."""

    released: Name


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
    label: Name
    annotator: Name = "me"


class BudgetRequest(Change):
    """A new budget, at most the graph's number of nodes."""

    budget: Annotated[int, Field(ge=1, le=_LARGEST)]
    annotator: Name = "me"


_Names = Annotated[str, Field(max_length=20_000)]


def _parameter(one: Setting) -> inspect.Parameter:
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


_settings.__signature__ = inspect.Signature([_parameter(one) for one in _OFFERED.values()])  # type: ignore[attr-defined]

SettingsForm = Annotated[dict[str, Any], Depends(_settings)]
"""The settings of a new session that the form of a request gives; which there are is `NewSettings`' to say."""
