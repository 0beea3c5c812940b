"""What each role may do, where the studio has a token for annotators beside the owner's.

What is not listed is the owner's.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Role", "is_permitted"]

Role = Literal["owner", "annotator"]

_V1 = "/api/v1/"
_SEEN = re.compile(
    r"studio|jobs|status|settings|table|disagreements|nodes(?:/\d{1,20}(?:/picture|/neighbourhood)?)?|map(?:/colours)?|report|events|updates"
)
_DONE = frozenset({"ask", "tell", "bulk", "skip", "undo", "notes", "release", "session/open", "cancel"})


def is_permitted(role: Role, method: str, path: str) -> bool:
    """Whether a role may send a request at all; what is in it may still be refused, such as a class that is new.

    Args:
        role: who asks.
        method: of HTTP; a websocket counts as GET.
        path: of the request.
    """
    if role == "owner" or not path.startswith("/api/"):
        return True
    if path in ("/api/docs", "/api/openapi.json"):
        return True
    called = path.removeprefix(_V1)
    if not path.startswith(_V1):
        return False
    return called in _DONE if method == "POST" else _SEEN.fullmatch(called) is not None
