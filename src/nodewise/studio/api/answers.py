"""What the API's answers look like. They document it, and tests hold the answers to them; the answers themselves are plain dictionaries."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AskAnswer",
    "CardAnswer",
    "ColoursAnswer",
    "EventAnswer",
    "EventsAnswer",
    "Failure",
    "MapAnswer",
    "NameAnswer",
    "NeighbourhoodAnswer",
    "PreviewAnswer",
    "ReportAnswer",
    "SearchAnswer",
    "StatusAnswer",
    "StudioAnswer",
    "TellAnswer",
    "Typo",
    "UndoAnswer",
]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Failure(_Answer):
    """What is wrong and what to do, in one sentence."""

    error: str


class Typo(Failure):
    """A state that does not allow it; for a label that looks like a misspelt class, the class that was probably meant."""

    suggestion: str | None = None


class OpenSession(_Answer):
    """The session that is open."""

    name: str
    graph: str
    file: str


class Limits(_Answer):
    """What the studio takes."""

    upload_bytes: int


class StudioAnswer(_Answer):
    """The studio: which session is open, which there are in its folder."""

    version: str
    session: OpenSession | None
    sessions: list[str]
    can_create: bool
    limits: Limits


class Column(_Answer):
    """A column of an uploaded table."""

    name: str
    kind: Literal["text", "number", "label", "id", "other"]
    examples: list[str]


class Guess(_Answer):
    """Which column is probably what."""

    text: str | None
    label: str | None
    id: str | None


class PreviewAnswer(_Answer):
    """What an uploaded table seems to hold."""

    columns: list[Column]
    rows: int
    guess: Guess


class NameAnswer(_Answer):
    """A session's name."""

    name: str


class Audit(_Answer):
    """Nodes of the audit that are labelled, and how many there are to be."""

    labelled: int
    of: int


class StatusAnswer(_Answer):
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
    classes: list[str]
    balance: dict[str, int]
    annotators: dict[str, int]
    agreement: float | None
    disagreements: dict[str, dict[str, str]]
    done: bool
    left: int
    name: str
    last: int
    predictions_from: int | None


class CardAnswer(_Answer):
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
    source: Literal["told", "audit", "given"] | None = Field(alias="from")
    votes: dict[str, str]
    skipped_by: list[str]
    predicted: list[tuple[str, float]] | None


class QueryAnswer(_Answer):
    """A node to label, why it was chosen, and what was predicted for it then."""

    node: int
    name: str
    annotator: str
    event: int
    audit: bool
    why: list[str]
    rank: int
    candidates: int
    score: float | None
    features: dict[str, float]
    predicted: list[tuple[str, float]]
    guess: str | None
    sure: float | None
    card: CardAnswer


class AskAnswer(_Answer):
    """The queries."""

    queries: list[QueryAnswer]


class TellAnswer(_Answer):
    """The numbers of the events, for undo, and how far the job is now."""

    events: list[int]
    status: StatusAnswer


class OneEvent(_Answer):
    """The number of the event, for undo, and how far the job is now."""

    event: int
    status: StatusAnswer


class EventAnswer(_Answer):
    """Something that happened. An undo tells node and label of what it takes back; ``label`` of a declared class is its name."""

    event: int
    kind: Literal["ask", "tell", "skip", "undo", "class", "budget"]
    annotator: str
    node: int | None
    name: str | None
    label: str | None
    budget: int | None
    undoes: int | None


class LoggedEvent(EventAnswer):
    """An event of the log: when it happened, in seconds since 1970, and whether it was taken back."""

    time: float
    undone: bool


class UndoAnswer(_Answer):
    """What was taken back, and how far the job is now."""

    undone: EventAnswer
    status: StatusAnswer


class EventsAnswer(_Answer):
    """What has happened, the newest first."""

    events: list[LoggedEvent]


class Found(_Answer):
    """A node that a search has found; ``title`` is a few words of its title or text."""

    node: int
    name: str
    title: str | None
    label: str | None


class SearchAnswer(_Answer):
    """The nodes found: the one called so, those whose names begin so, those whose names hold it."""

    nodes: list[Found]


class Neighbour(_Answer):
    """A node in the drawing, x and y from -1 to 1; ``title`` is a few words of its title or text."""

    node: int
    name: str
    title: str | None
    x: float
    y: float
    hop: int
    degree: int
    label: str | None
    predicted: str | None
    sure: float | None


class NeighbourhoodAnswer(_Answer):
    """A node and what lies around it; edges are pairs of places in ``nodes``."""

    centre: int
    nodes: list[Neighbour]
    edges: list[tuple[int, int]]
    hidden: int
    total: int
    exact: bool = Field(description="whether there are just so many; else at least")


class MapAnswer(_Answer):
    """The whole graph, or a sample of a large one; edges are pairs of places in ``nodes``."""

    nodes: list[int]
    x: list[float]
    y: list[float]
    total: int
    sampled: bool
    edges: list[tuple[int, int]]


class ColoursAnswer(_Answer):
    """Labels and predictions in the map's order, as places in ``classes``; -1 for none."""

    classes: list[str]
    labelled: list[int]
    predicted: list[int]
    sure: list[float]
    predictions_from: int | None


class AccuracyAnswer(_Answer):
    """A share of right predictions with its 95 % interval, and how many nodes it was found on."""

    mean: float
    low: float
    high: float
    nodes: int


class Point(_Answer):
    """The predictions after some labels."""

    labels: int
    changed: float | None
    confidence: float
    audit: AccuracyAnswer | None


class ReportAnswer(_Answer):
    """Whether more labels are worth it."""

    labels: int
    change_rate: float | None
    cross_validated: AccuracyAnswer | None
    audit: AccuracyAnswer | None
    curve: list[Point]
    next_change: float | None
    next_gain: float | None
    words: list[str]
    made_at: int = Field(alias="from", description="the last event when it was made")
