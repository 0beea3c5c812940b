"""What the page shows of a node: its texts, its link, its picture, its label, what is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from nodewise.graph import Graph
    from nodewise.session import Prediction, Session

__all__ = ["LONGEST", "card", "is_hidden", "roles"]

LONGEST = 20_000
"""Characters of a text that are shown."""

_SHORT = 2_000
_ROLES = {
    "title": ("title", "headline", "subject", "heading"),
    "text": ("text", "body", "abstract", "content", "description", "message", "selftext"),
    "link": ("link", "url", "href", "permalink", "website"),
    "picture": ("picture", "image", "photo", "img"),
}


def roles(graph: Graph) -> dict[str, str]:
    """Which attribute is a node's title, text, link and picture: role -> the attribute's name, for those that there are."""
    lower = {name.strip().lower(): name for name in reversed(list(graph.attributes))}
    found = {role: next((lower[name] for name in names if name in lower), None) for role, names in _ROLES.items()}
    return {role: name for role, name in found.items() if name is not None}


def card(
    session: Session, node: int, prediction: Prediction | None, *, annotator: str | None = None, picture: str | None = None
) -> dict[str, Any]:
    """A node for the page.

    Args:
        session: the session.
        node: its index.
        prediction: the predictions of the moment, if there are any.
        annotator: who looks at it: votes of others and predictions that could sway their answer are left out.
        picture: the address of its picture, if it has one that may be shown.
    """
    graph, history = session.graph, session.refresh()
    known = roles(graph)
    shown = {role: _cut(graph.attributes[name][node], LONGEST) for role, name in known.items() if role != "picture"}
    others = {name: _cut(cells[node], _SHORT) for name, cells in graph.attributes.items() if name not in known.values()}
    hidden = is_hidden(session, node, annotator)
    votes: Mapping[str, str] = {} if hidden else history.votes.get(node, {})
    label = None if hidden else session.labels.get(node)
    predicted = None
    if prediction is not None and not hidden and not is_undecided(session, node):
        row = prediction.probabilities[node]
        predicted = [[prediction.classes[column], float(row[column])] for column in (-row).argsort(kind="stable")]
    return {
        "node": node, "name": session.name_of(node), "degree": int(graph.degree[node]),
        "title": shown.get("title", ("", False))[0] or None, "text": shown.get("text", ("", False))[0] or None,
        "link": safe_link(graph.attributes[known["link"]][node]) if "link" in known else None, "picture": picture,
        "attributes": {name: text for name, (text, _) in others.items() if text},
        "cut": any(cut for _, cut in (*shown.values(), *others.values())),
        "label": label, "from": None if label is None else _source(session, node), "votes": dict(votes),
        "skipped_by": sorted(who for who, nodes in history.skipped.items() if node in nodes), "predicted": predicted,
    }  # fmt: skip


def is_hidden(session: Session, node: int, annotator: str | None) -> bool:
    """Whether what others say of a node is kept from an annotator, since their own opinion is still wanted."""
    votes = session.refresh().votes.get(node, {})
    return annotator is not None and annotator not in votes and 0 < len(votes) < session.settings.redundancy


def is_undecided(session: Session, node: int) -> bool:
    """Whether no prediction is told of a node: it belongs to the audit and has no label yet, or waits for a further opinion."""
    votes = session.refresh().votes.get(node, {})
    if not votes:
        return node in session.rules().audit
    return len(votes) < session.settings.redundancy


def safe_link(text: str) -> str | None:
    """The link, if it is one that a browser may follow: http or https."""
    link = text.strip()
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    fine = parts.scheme.lower() in ("http", "https") and bool(parts.netloc) and link.isprintable() and " " not in link
    return link if fine and len(link) <= _SHORT else None


def _source(session: Session, node: int) -> str:
    if node in session.audit_labels:
        return "audit"
    return "told" if node in session.refresh().labels else "given"


def _cut(text: str, longest: int) -> tuple[str, bool]:
    return text[:longest], len(text) > longest
