"""Which column names mean what: the one list for every reader, for tables that become graphs and for what the studio proposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodewise.graph.io.csvfile import numbers

__all__ = ["EDGE_ENDS", "ID", "LABEL", "LINK", "PICTURE", "TEXT", "TITLE", "label_columns", "meaning", "never_features"]

LABEL = ("label", "class", "category", "target", "topic", "y")
"""The class of a node; the first that a table has counts, the others are never features."""

ID = ("id", "node_id", "nodeid", "node id", "node", "key", "name", "index")
"""What a node is called."""

TITLE = ("title", "headline", "subject", "heading")
TEXT = ("text", "body", "abstract", "content", "description", "message", "selftext", "question", "comment", "review")
LINK = ("link", "url", "href", "permalink", "website")
PICTURE = ("picture", "image", "img", "photo")
"""What a person is shown: with `ID`, columns that never become features of their own accord."""

EDGE_ENDS = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("start", "end"), ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"),
    ("id_1", "id_2"), ("u", "v"), ("i", "j"), ("head", "tail"), ("citing", "cited"),
)  # fmt: skip
"""The two columns of a table of edges."""

_KINDS = {"label": LABEL, "id": ID, "title": TITLE, "text": TEXT, "link": LINK, "picture": PICTURE}
_MEANINGS = {name: kind for kind, names in _KINDS.items() for name in names}


def meaning(column: str) -> str | None:
    """What a column of that name usually holds: label, id, title, text, link or picture; None where the name does not tell."""
    return _MEANINGS.get(column.strip().lower())


def label_columns(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns whose names say that they hold classes, the likeliest first.

    A column ``y`` beside a column ``x`` is a coordinate, not a class, if both hold numbers that are not all whole.
    """
    lower = {column.strip().lower(): column for column in reversed(list(columns))}
    return [lower[name] for name in LABEL if name in lower and not (name == "y" and _is_coordinate(columns, lower))]


def never_features(columns: Mapping[str, Sequence[str]]) -> set[str]:
    """The columns that become features only where somebody names them: a class would give the answer away, names and links mean nothing."""
    labels = {column.strip().lower() for column in label_columns(columns)}
    return {column for column in columns if column.strip().lower() in labels or meaning(column) not in (None, "label")}


def _is_coordinate(columns: Mapping[str, Sequence[str]], lower: Mapping[str, str]) -> bool:
    if "x" not in lower:
        return False
    one, other = (numbers(columns[lower[name]]) for name in "xy")
    return one is not None and other is not None and any(value != round(value) for value in (*one, *other))
