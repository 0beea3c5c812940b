"""What requests and answers look like, with their bounds; the OpenAPI description is made from these."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["AskRequest", "BudgetRequest", "ClassRequest", "Labelled", "OpenRequest", "SkipRequest", "TellRequest", "UndoRequest"]

Name = Annotated[str, Field(min_length=1, max_length=200)]
Node = Annotated[int, Field(ge=0, le=2**53 - 1)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OpenRequest(_Request):
    """Which session to open: one of those that GET /studio lists."""

    name: Name


class AskRequest(_Request):
    """Who asks, and for how many nodes."""

    annotator: Name = "me"
    k: Annotated[int, Field(ge=1, le=50)] = 1


class Labelled(_Request):
    """A node and its label."""

    node: Node
    label: Name


class TellRequest(_Request):
    """Labels, all of one annotator; told together, all or none."""

    annotator: Name = "me"
    labels: Annotated[list[Labelled], Field(min_length=1, max_length=1000)]
    new_class: bool = False


class SkipRequest(_Request):
    """A node that an annotator cannot tell."""

    annotator: Name = "me"
    node: Node


class UndoRequest(_Request):
    """What to take back: an event by its number, else the last change, of one annotator or of anybody."""

    annotator: Name | None = None
    event: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None


class ClassRequest(_Request):
    """A class to declare."""

    name: Name
    annotator: Name = "me"


class BudgetRequest(_Request):
    """A new budget."""

    budget: Annotated[int, Field(ge=1, le=2**53 - 1)]
    annotator: Name = "me"
