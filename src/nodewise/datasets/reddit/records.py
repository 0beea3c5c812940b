"""What is taken from a line, and why a line is turned away.

DuckDB parses the lines. Those from which it gets no usable record come here for a second opinion by Python's parser,
which is more lenient (half a surrogate pair, bytes that are not UTF-8) and says what is wrong with the rest.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from nodewise.datasets.reddit.dumps import TOO_LONG
from nodewise.datasets.reddit.sources import Kind

__all__ = ["COMMENTS", "SUBMISSIONS", "Record", "second_opinion"]


@dataclass(frozen=True)
class Record:
    """What one kind of dump gives.

    Attributes:
        kind: ``"submissions"`` or ``"comments"``; also the name of the table.
        fields: the fields read, all as text.
        schema: the table's columns after ``seq``, the line's place among all lines.
        usable: SQL that is true for a usable record.
        values: SQL for the columns of the schema, from the fields.
    """

    kind: Kind
    fields: tuple[str, ...]
    schema: str
    usable: str
    values: str


# As DuckDB reads: what follows the object on its line is ignored, and of a field that occurs twice the first counts.
_DECODER = json.JSONDecoder(object_pairs_hook=lambda pairs: dict(reversed(pairs)))

# A user who is not known never joins posts: NULL from here on.
_AUTHOR = "CASE WHEN author IN ('', '[deleted]') THEN NULL ELSE author END"

SUBMISSIONS = Record(
    kind="submissions",
    fields=("id", "created_utc", "author", "subreddit", "title", "selftext", "url", "link_id"),
    schema="id VARCHAR, created DOUBLE, author VARCHAR, subreddit VARCHAR, title VARCHAR, body VARCHAR, url VARCHAR",
    usable="id <> '' AND isfinite(TRY_CAST(created_utc AS DOUBLE)) AND (title IS NOT NULL OR link_id IS NULL)",
    values=f"""id, TRY_CAST(created_utc AS DOUBLE), {_AUTHOR}, NULLIF(subreddit, ''), coalesce(title, ''),
        CASE WHEN selftext IN ('[deleted]', '[removed]') THEN '' ELSE coalesce(selftext, '') END, coalesce(url, '')""",
)

COMMENTS = Record(
    kind="comments",
    fields=("id", "link_id", "author"),
    schema="id VARCHAR, post VARCHAR, author VARCHAR",
    usable="id <> '' AND starts_with(link_id, 't3_') AND length(link_id) > 3",
    values=f"id, substr(link_id, 4), {_AUTHOR}",
)


def second_opinion(record: Record, line: bytes) -> dict[str, str | None] | str:
    """The line's fields as text, or the reason why it is not used."""
    if not line.strip():
        return "empty line"
    if line.strip() == TOO_LONG:
        return "line too long"
    text = line.decode("utf-8", "replace").strip()
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(value, dict):
        return "not a JSON object" if end == len(text) else "not JSON"
    fields = {name: _text(value.get(name)) for name in record.fields}
    if not fields["id"]:
        return "no id"
    if record.kind == "comments":
        link = fields["link_id"] or ""
        if not (link.startswith("t3_") and len(link) > 3):
            return "no link_id that names a post"
    else:
        if fields["title"] is None and fields["link_id"] is not None:
            return "a comment, not a post"
        created = _finite(fields["created_utc"])
        if created is None:
            return "no creation time"
        fields["created_utc"] = repr(created)
    return fields


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    # Joins surrogate pairs that were written separately, and replaces halves that have no partner.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _finite(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
