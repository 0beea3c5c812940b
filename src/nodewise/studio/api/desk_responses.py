"""What the API answers about the table of all rows, and about what is done with many of them."""

from __future__ import annotations

from pydantic import Field

from nodewise.studio.api.responses import Response, StatusResponse

__all__ = ["ActionResponse", "SimilarResponse", "TableResponse"]


class RowSuggestion(Response):
    """What a model says of a row."""

    by: str = Field(description="the model")
    label: str


class TableRow(Response):
    """A node in the table."""

    node: int
    name: str
    title: str | None
    label: str | None
    predicted: str | None
    sure: float | None
    trust: float | None = Field(
        description="how far the label is trusted, of likely mistakes where these are asked for"
    )
    suggested: list[RowSuggestion] = Field(description="what models say; empty where a prediction is kept back")
    bulk: bool
    by: str | None
    time: float | None
    fits: bool = Field(description="whether it still fits the filter, in a list that is read on")
    notes: int
    differs: bool = Field(description="whether people differ on it, and nobody has settled it")
    cells: dict[str, str] = Field(description="of those of the job's own columns that were asked for")


class TableResponse(Response):
    """A window of the rows, and how many there are."""

    total: int
    offset: int
    listing: str = Field(description="names the list, to read on in it")
    columns: list[str] = Field(description="the job's own columns")
    captions: list[str] = Field(description="those of them that are the row's title and text")
    models_known: list[str] = Field(
        alias="models", description="those that have said something; none where a prediction is kept back"
    )
    updating: bool = Field(
        description="whether predictions from the labels of now are being made, so that these are older"
    )
    rows: list[TableRow]


class SimilarRow(TableRow):
    """A row, some of its text, and how similar it is."""

    text: str | None
    likeness: float = Field(description="from 0 to 1, by the rows themselves: no label or prediction enters")


class SimilarResponse(Response):
    """The rows most similar to one, the most similar first."""

    node: int
    by: str = Field(description="features: of the rows and of those around them; edges: who their neighbours are")
    rows: list[SimilarRow]


class LeftOut(Response):
    """Rows that an action leaves alone, and why."""

    why: str
    rows: int


class ActionExample(Response):
    """A row that an action changes: its label before and after."""

    node: int
    name: str
    title: str | None
    before: str | None
    after: str | None


class ActionDone(Response):
    """What was done: the event, for undo, null where rows were given to somebody; and the rows."""

    event: int | None
    nodes: list[int]


class ActionResponse(Response):
    """What an action on many rows does, or would do."""

    action: str
    found: int
    rows: int = Field(description="those that change")
    classes: dict[str, int] = Field(description="how many rows get each class")
    replaced: int = Field(description="labels of one's own that are replaced")
    left_out: list[LeftOut]
    examples: list[ActionExample]
    digest: str = Field(description="send it to have just this done")
    done: ActionDone | None
    status: StatusResponse
