"""How counts, lists and names are written: one rule for messages, and one for what a class may be called."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from nodewise.ground.errors import InputError

__all__ = ["LONGEST_CLASS", "class_name", "count", "listed", "tidy_name"]

LONGEST_CLASS = 200
"""Characters of a class's name, at most."""
_BREAKS = re.compile(r"[ \t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]*[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029][ \t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]*")
# other control characters, those that turn the direction of what follows, and the byte order mark: nobody sees them, and two names that
# look the same would be two classes
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")


def count(number: int, thing: str, things: str = "") -> str:
    """``"1 edge"``, ``"12,345 edges"``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def listed(names: Iterable[object], most: int = 8) -> str:
    """The names, quoted, with commas; beyond `most` only their number is told."""
    every = list(names)
    shown = ", ".join(repr(str(name)) for name in every[:most])
    return shown + (f" and {len(every) - most} more" if len(every) > most else "")


def class_name(name: object) -> str:
    """A class's name as it is kept, whichever way it comes in: `tidy_name`, of 1 to 200 characters.

    Raises:
        InputError: if nothing is left that can be seen, or more than 200 characters.
    """
    text = tidy_name(name)
    if not text or len(text) > LONGEST_CLASS:
        raise InputError(f"a class needs a name of 1 to {LONGEST_CLASS} printable characters, got {text[:40]!r}")
    return text


def tidy_name(name: object) -> str:
    """A name in Unicode's composed form (NFC), without blanks at its ends (no-break ones neither); empty if nothing can be seen of it.

    A tab or line break inside becomes one blank, other control characters are dropped. No-break spaces, joiners and emoji sequences inside
    stay as they are.
    """
    text = str(name)
    if text.isascii() and text.isprintable():
        return text.strip()
    text = unicodedata.normalize("NFC", _UNSEEN.sub("", _BREAKS.sub(" ", text))).strip()
    return text if any(unicodedata.category(letter)[0] not in "CZ" for letter in text) else ""
