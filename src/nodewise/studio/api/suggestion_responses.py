"""What the API's answers about models look like: how right each is, and what its answers would bring."""

from __future__ import annotations

from pydantic import Field

from nodewise.studio.api.responses import Response, StatusResponse

__all__ = ["SuggestedEventResponse", "SuggestionPreviewResponse", "SuggestionsResponse", "WithdrawnResponse"]


class ShareResponse(Response):
    """A share of right answers, its 95 % interval, and of how many nodes it is."""

    mean: float
    low: float
    high: float
    nodes: int


class ModelResponse(Response):
    """How right a model is: by people's labels, which were chosen, and by the audit's, which were drawn at random."""

    name: str
    answers: int
    unnamed: int
    by_labels: ShareResponse | None
    by_audit: ShareResponse | None
    classes: dict[str, ShareResponse]


class DifferingResponse(Response):
    """A node without a label of which a model says something else than the learner."""

    node: int
    name: str
    said_by: str
    says: str
    confidence: float
    predicted: str
    probability: float


class SuggestionsResponse(Response):
    """How right each model is, and where they and the learner differ, the surest learner first."""

    models_found: list[ModelResponse] = Field(alias="models")
    differing: list[DifferingResponse]
    columns: list[str] = Field(description="columns of the rows that a model's answers could stand in")


class BatchColumns(Response):
    """Which column of a file holds what; null: none."""

    node: str | None
    label: str | None
    confidence: str | None


class SuggestionPreviewResponse(Response):
    """What a model's answers would bring."""

    rows: int = Field(description="rows that the file or the column has")
    columns: list[str] = Field(description="the file's columns; empty for a column of the job's own rows")
    chosen: BatchColumns
    answers: int = Field(description="rows about which it says a class of the job")
    classes: dict[str, int] = Field(description="class -> how many answers name it")
    fresh: list[str] = Field(description="classes that the job does not have yet and would get")
    unnamed: int = Field(description="answers that name no class, and would be left out")
    examples: list[str] = Field(description="some of these")
    replaced: int = Field(description="rows of which the model of that name says something else until now")
    refused: str | None = Field(description="why it cannot be done")


class SuggestedEventResponse(Response):
    """The event in the log, how many answers it holds, and how far the job is now."""

    event: int
    answers: int
    status: StatusResponse


class WithdrawnResponse(Response):
    """The events that took a model's answers back, and how far the job is now."""

    events: list[int]
    status: StatusResponse
