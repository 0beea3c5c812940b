"""What the page shows of a node's own: its title and texts, and the link that may be followed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nodewise.graph.tables.table import LINK, TEXT, TITLE
from nodewise.studio.work.pictures import Pictures

if TYPE_CHECKING:
    from nodewise.graph import Graph

__all__ = ["LONGEST", "caption", "heading", "roles", "safe_link", "texts", "with_shown_text"]

LONGEST = 20_000
"""Characters of a text that are shown."""

_SHORT = 2_000
_ATTRIBUTES = 100
_CAPTION = 80
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{2})[.!?…](?=\s)")
"""A full stop behind a word, so that neither "Mr." in one letter nor "3." ends a sentence."""
_ROLES = {"title": TITLE, "text": TEXT, "link": LINK}


def roles(graph: Graph) -> dict[str, str]:
    """Which attribute is a node's title, text, link and picture.

    Role -> the attribute's name, for those that there are.
    """
    originals = _originals(graph)
    lower = {name.strip().lower(): name for name in reversed(list(graph.attributes)) if name not in originals}
    attribute = {role: next((lower[name] for name in names if name in lower), None) for role, names in _ROLES.items()}
    attribute["picture"] = Pictures.attribute(graph)
    return {role: name for role, name in attribute.items() if name is not None}


def _originals(graph: Graph) -> Collection[str]:
    """Columns that the text was put together from: it shows them."""
    return () if graph.preparation is None else set(graph.preparation.originals.values())


def with_shown_text(graph: Graph, column: str | None) -> Graph:
    """The graph with the column of texts shown as the text, whatever it is called."""
    if column is None or column not in graph.attributes or "text" in graph.attributes:
        return graph
    attributes = dict(graph.attributes)
    attributes["text"] = attributes.pop(column)
    return replace(graph, attributes=attributes)


def texts(graph: Graph, node: int, without: Collection[str] = ()) -> dict[str, Any]:
    """A node's title, text, link and further attributes, as text of bounded length.

    ``cut`` tells whether something is left out.

    Args:
        without: columns that are not shown.
    """
    known = roles(graph)
    shown = {
        role: str(graph.attributes[known[role]][node]) if role in known else "" for role in ("title", "text", "link")
    }
    link = safe_link(shown["link"])
    used = {known[role] for role in known if role != "link" or link is not None} | {*without, *_originals(graph)}
    others = {name: str(cells[node]) for name, cells in graph.attributes.items() if name not in used}
    filled = {name: text for name, text in others.items() if text.strip()}
    cut = (
        len(shown["title"]) > _SHORT
        or len(shown["text"]) > LONGEST
        or len(filled) > _ATTRIBUTES
        or any(len(text) > _SHORT for text in filled.values())
    )
    return {
        "title": shown["title"][:_SHORT] or None,
        "text": _trimmed(shown["text"])[:LONGEST] or None,
        "link": link,
        "attributes": {name: text[:_SHORT] for name, text in list(filled.items())[:_ATTRIBUTES]},
        "cut": cut,
    }


def _trimmed(text: str) -> str:
    """A text without blank lines before and after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+", "", text).rstrip()


def heading(graph: Graph, known: Mapping[str, str], node: int, name: str) -> str:
    """What a node is called above its text: its title, its name, else how its text begins, up to the end of a sentence.

    A number of its own, counted from 1, where the text does not come to an end within two lines.
    """
    title = str(graph.attributes[known["title"]][node]).strip() if "title" in known else ""
    if title:
        return " ".join(title.split())[:_SHORT]
    if name != str(node):
        return name
    lines = str(graph.attributes[known["text"]][node]).splitlines() if "text" in known else []
    first = next((line.strip() for line in lines if line.strip()), "")
    if len(first) > 2 * _CAPTION:
        ends = [end.end() for end in _SENTENCE_END.finditer(first[: 2 * _CAPTION])]
        first = first[: ends[-1]] if ends else ""
    return first or f"Row {node + 1}"


def caption(graph: Graph, known: Mapping[str, str], node: int) -> str | None:
    """A few words that tell a node from others, for lists and drawings: its title, else how its text begins.

    None where it has neither.

    Args:
        graph: the graph.
        known: its `roles`.
        node: which.
    """
    for role in ("title", "text"):
        if role in known and (words := str(graph.attributes[known[role]][node])[: 4 * _CAPTION].split()):
            line = " ".join(words)
            return line if len(line) <= _CAPTION else line[: _CAPTION - 1] + "…"
    return None


def safe_link(text: str) -> str | None:
    """The link, if it is one that a browser may follow: http or https."""
    link = text.strip()
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    fine = (
        parts.scheme.lower() in ("http", "https")
        and bool(parts.hostname)
        and link.isprintable()
        and " " not in link
        and "\\" not in link
    )
    return link if fine and len(link) <= _SHORT else None
