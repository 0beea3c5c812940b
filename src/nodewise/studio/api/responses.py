"""What the API answers about a session; `studio_responses` has the rest.

They document it, and tests hold the answers, plain dictionaries, to them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from nodewise.session.answers import EventKind

__all__ = [
    "AddedResponse",
    "AskResponse",
    "CardResponse",
    "ColoursResponse",
    "CountResponse",
    "DisagreementsResponse",
    "EventResponse",
    "EventsResponse",
    "Failure",
    "JoinPreviewResponse",
    "JoinedResponse",
    "MapResponse",
    "NeighbourhoodResponse",
    "ReportResponse",
    "Response",
    "RowsPreviewResponse",
    "SearchResponse",
    "StatusResponse",
    "TellResponse",
    "Typo",
    "UndoResponse",
]


class Response(BaseModel):
    """What is documented, and nothing else."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Failure(Response):
    """What is wrong and what to do, in one sentence."""

    error: str


class Typo(Failure):
    """A state that does not allow it.

    For a label that looks like a misspelt class, the class that was probably meant.
    """

    suggestion: str | None = None
    labelled_by: str | None = Field(None, description="whose label stands, where it would be overruled")


class Audit(Response):
    """Nodes of the audit that are labelled, and how many there are to be."""

    labelled: int
    of: int


class PairResponse(Response):
    """Two annotators: how many nodes both have labelled, and Cohen's kappa."""

    annotators: list[str]
    nodes: int
    kappa: float | None
    classes: dict[str, float | None] = Field(description="of each class against all others")


class KappaResponse(Response):
    """How far annotators agree beyond chance."""

    nodes: int
    share: float
    cohen: list[PairResponse]
    fleiss: float | None
    classes: dict[str, float | None]


class StatusResponse(Response):
    """How far the job is."""

    graph: str
    nodes: int
    strategy: str
    reason: str
    classifier: str
    budget: int
    told: int
    given: int
    audit: Audit
    skipped: int
    open: dict[str, list[str]]
    random: dict[str, list[str]] = Field(description="those of open that the strategy drew at random")
    classes: list[str] = Field(description="in the order of their numbers")
    numbers: dict[str, int] = Field(
        description="by which a class has its key and colour, for the life of the session; from 0"
    )
    named: bool = Field(description="whether nodes have names of their own; else a name is the node's number, from 0")
    balance: dict[str, int]
    annotators: dict[str, int]
    agreement: float | None
    disagreements: dict[str, dict[str, str]]
    done: bool
    bulk: int
    several: bool = Field(
        description=(
            "whether a node may have several classes: every label and prediction is then one text with ';' between"
            " them, ';' alone for none of them, and agreement is counted class by class"
        )
    )
    none: int = Field(description="nodes answered with none of the classes")
    outdated: list[str] = Field(description="labelled nodes that were changed since they were labelled")
    kappa: KappaResponse | None
    notes: int
    guideline: str
    descriptions: dict[str, str]
    left: int
    name: str
    last: int
    predictions_from: int | None
    updating: bool = Field(
        description="whether predictions from the labels of now are being made, so that these are older"
    )
    predictions_version: int = Field(description="another number, other predictions")


class NoteResponse(Response):
    """What somebody wrote to a node."""

    annotator: str
    text: str
    time: float


class SuggestedResponse(Response):
    """What a model says of a node."""

    by: str = Field(description="the model")
    label: str
    confidence: float = Field(description="how sure it is, from 0 to 1")


class CardResponse(Response):
    """A node: its texts, its label, what is predicted."""

    node: int
    name: str
    degree: int
    title: str | None
    text: str | None
    link: str | None
    picture: str | None
    attributes: dict[str, str]
    cut: bool
    label: str | None
    source: Literal["told", "audit", "given", "bulk"] | None = Field(alias="from")
    votes: dict[str, str]
    settled_by: str | None = Field(description="who has settled what people disagreed about")
    skipped_by: list[str]
    heading: str
    notes: list[NoteResponse]
    predicted: list[tuple[str, float]] | None
    given: list[str] | None = Field(
        description="where a node may have several classes, those that it is predicted to have; null where kept back"
    )
    suggested: list[SuggestedResponse] = Field(description="what models say; empty where a prediction is kept back")
    hidden: bool = Field(description="whether a prediction is kept back, since it could sway an answer")
    updating: bool = Field(
        description="whether predictions from the labels of now are being made, so that these are older"
    )
    predictions_version: int


class QueryResponse(Response):
    """A node to label, why it was chosen, and what was predicted for it then."""

    node: int
    name: str
    annotator: str
    event: int
    audit: bool
    random: bool = Field(description="whether the strategy drew it at random; the first reason says why")
    unlike: bool = Field(description="whether it is asked in the strategy's place, being unlike all labelled nodes")
    why: list[str]
    rank: int
    candidates: int
    score: float | None
    features: dict[str, float]
    predicted: list[tuple[str, float]]
    given: list[str] | None = Field(
        description="where a node may have several classes, those that it was predicted to have"
    )
    guess: str | None
    sure: float | None
    card: CardResponse


class AskResponse(Response):
    """The queries."""

    queries: list[QueryResponse]


class TellResponse(Response):
    """The numbers of the events, for undo, and how far the job is now."""

    events: list[int]
    status: StatusResponse


class EventNumberResponse(Response):
    """The number of the event, for undo, and how far the job is now."""

    event: int
    status: StatusResponse


class EventResponse(Response):
    """Something that happened. An undo tells node and label of what it takes back.

    ``label`` of a declared class is its name.
    """

    event: int
    kind: EventKind
    annotator: str
    node: int | None
    name: str | None
    label: str | None
    nodes: int | None = Field(description="how many were labelled in bulk, added, changed, taken out or joined")
    into: str | None
    text: str | None
    budget: int | None
    redundancy: int | None
    undoes: int | None


class LoggedEvent(EventResponse):
    """An event of the log: when it happened, in seconds since 1970, and whether it was taken back."""

    time: float
    undone: bool


class CountResponse(Response):
    """How many, and how far the job is now."""

    count: int
    status: StatusResponse


class UndoResponse(Response):
    """What was taken back, and how far the job is now."""

    undone: EventResponse
    status: StatusResponse


class EventsResponse(Response):
    """What has happened, the newest first."""

    events: list[LoggedEvent]


class Found(Response):
    """A node that a search has found; ``title`` is a few words of its title or text."""

    node: int
    name: str
    title: str | None
    match: str | None = Field(description="what stands around the place where its text holds what was looked for")
    label: str | None


class SearchResponse(Response):
    """The nodes found: the one called so, those whose names begin so, those whose names hold it."""

    nodes: list[Found]


class Neighbour(Response):
    """A node in the drawing, x and y from -1 to 1; ``title`` is a few words of its title or text."""

    node: int
    name: str
    title: str | None
    x: float
    y: float
    hop: int
    degree: int
    label: str | None
    picture: bool
    predicted: str | None
    sure: float | None


class RelatedNode(Response):
    """A node of another type than the labelled one in the drawing; ``node`` is its index within its type."""

    type: str
    node: int
    name: str
    x: float
    y: float
    hop: int
    degree: int


class DrawnRelation(Response):
    """A relation by its name, and the two types that it joins."""

    name: str
    source: str
    target: str


class RelatedResponse(Response):
    """What a drawing shows of other node types and of relations."""

    labelled: str = Field(description="the type that is labelled")
    others: list[RelatedNode]
    relations: list[DrawnRelation]
    edge_relations: list[int] = Field(description="which relation each edge is of; edges lead from source to target")


class NeighbourhoodResponse(Response):
    """A node and what lies around it; edges are pairs of indices in ``nodes``, and behind these in ``others``."""

    centre: int
    nodes: list[Neighbour]
    edges: list[tuple[int, int]]
    hidden: int
    total: int
    exact: bool = Field(description="whether there are just so many; else at least")
    related: RelatedResponse | None = Field(description="where the graph has relations: other types and relations")
    updating: bool = Field(
        description="whether predictions from the labels of now are being made, so that these are older"
    )


class MapResponse(Response):
    """The whole graph, or a sample of a large one; edges are pairs of indices in ``nodes``."""

    nodes: list[int]
    x: list[float]
    y: list[float]
    total: int
    sampled: bool
    edges: list[tuple[int, int]]


class ColoursResponse(Response):
    """Labels and predictions in the map's order, as indices in ``classes``; -1 for none."""

    classes: list[str] = Field(description="where a node may have several: the sets that occur, as texts")
    labelled: list[int]
    predicted: list[int]
    sure: list[float]
    predictions_from: int | None
    updating: bool = Field(
        description="whether predictions from the labels of now are being made, so that these are older"
    )


class Disagreement(Response):
    """A node with differing votes: each with its annotator, the label that counts, and who has settled it."""

    node: int
    name: str
    title: str | None
    votes: dict[str, str]
    label: str
    settled_by: str | None


class DisagreementsResponse(Response):
    """The nodes with differing votes, those that nobody has settled first."""

    nodes: list[Disagreement]


class AccuracyResponse(Response):
    """A share of right predictions with its 95 % interval, and how many nodes it was found on."""

    mean: float
    low: float
    high: float
    nodes: int


class BiasResponse(Response):
    """How far the leave-one-out accuracy was from the true one on public graphs, in points."""

    mean: float
    low: float
    high: float
    graphs: int


class Point(Response):
    """The predictions after some labels."""

    labels: int
    changed: float | None
    confidence: float | None = Field(description="null while one class alone has labels")
    audit: AccuracyResponse | None


class KeyScore(Response):
    """Predictions that are right by the answer key, of the nodes that nobody has labelled."""

    right: int = Field(description="where a node may have several classes: those with exactly the right ones")
    of: int
    micro_f1: float | None = Field(description="where a node may have several classes: over all of them")


class LookedForResponse(Response):
    """What came of the questions about nodes unlike all labelled ones."""

    questions: int
    answered: int
    skipped: int
    found: list[str] = Field(description="classes that nobody had named, with their first label on such a node")


class ReportResponse(Response):
    """Whether more labels are worth it."""

    key: KeyScore | None

    labels: int
    change_rate: float | None
    left_out: AccuracyResponse | None
    cross_validated: AccuracyResponse | None
    audit: AccuracyResponse | None
    curve: list[Point]
    next_change: float | None
    next_gain: float | None
    words: list[str]
    left_out_bias: BiasResponse | None
    left_out_lack: str | None = Field(description="why there is no left_out yet: a class has fewer than two labels")
    why_random: str | None = Field(description="why the next question is a random one; null where it is chosen")
    audit_f1: AccuracyResponse | None = Field(
        description="where a node may have several classes: Micro-F1 on the audit; audit is the share of exact sets"
    )
    left_out_f1: AccuracyResponse | None = Field(description="the same of the labels, each left out")
    audit_parts: list[tuple[int, AccuracyResponse]] = Field(
        description="where rows were added: the rows and the accuracy of each part of the audit that has an answer"
    )
    unlike: int | None = Field(
        description="nodes that stand out as unlike all labelled ones, where a class may hide that nobody has named"
    )
    looked_for: LookedForResponse | None = Field(
        description="what came of the questions about such nodes; null where none was asked"
    )
    made_at: int = Field(alias="from", description="the last event when it was made")


class RowColumn(Response):
    """A column of uploaded rows, and what the job does with it."""

    name: str
    use: Literal["compared", "name", "shown", "not used"]


class RowsPreviewResponse(Response):
    """What adding the rows of a file would bring, or changing rows to them."""

    rows: int
    columns: list[RowColumn] = Field(description="none where the rows are no table")
    lacking: list[str] = Field(description="columns that the job's rows were made from and these lack")
    examples: list[str]
    already: int = Field(description="rows whose text is there already")
    labelled: int = Field(description="rows to be changed that have a label")
    refused: str | None = Field(description="why they cannot be added; null where they can")


class AddedResponse(Response):
    """Rows that were added."""

    first: int = Field(description="the first one's number")
    count: int
    audit: int = Field(description="how many of them were drawn for the audit")
    event: int
    status: StatusResponse


class ChangedResponse(Response):
    """Rows that were changed."""

    count: int
    labelled: int = Field(description="how many of them have a label, which was given to what stood there before")
    event: int
    status: StatusResponse


class Conflict(Response):
    """A row on which people would disagree."""

    node: int
    name: str
    votes: dict[str, str]


class JoinPreviewResponse(Response):
    """What the labels of another job would bring."""

    labels: int
    people: list[str]
    new: list[str] = Field(description="classes that are new here")
    conflicts: list[Conflict]
    refused: str | None


class JoinedResponse(Response):
    """Labels that were taken over."""

    labels: int
    disagreements: int = Field(description="rows on which people disagree now; settle them")
    event: int
    status: StatusResponse
