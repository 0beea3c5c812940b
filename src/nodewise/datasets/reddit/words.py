"""The words of a post, as GloVe's cased vocabulary has them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

__all__ = ["clean_text", "known_words", "post_link", "post_text", "vocabulary", "words_of"]

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
"""A run of letters and digits of any script, with apostrophes inside.

Everything else separates words and is dropped.
"""


def words_of(text: str) -> list[str]:
    """The text's words in order, upper and lower case kept.

    ``"Don't (we) say 'well-known'?"`` gives Don't, we, say, well, known.
    """
    return WORD.findall(text.replace("’", "'"))


def known_words(text: str, known: Container[str]) -> Iterator[str]:
    """The words of the text that are known.

    A word with an apostrophe that is not known as a whole is tried as GloVe's makers would have cut it: ``Bob's`` as
    Bob and 's, ``mustn't`` as must and n't.
    """
    for word in words_of(text):
        if word in known:
            yield word
        elif "'" in word:
            yield from (part for part in _parts(word) if part in known)


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Every word that `known_words` may ask for."""
    words = {word for text in texts for word in words_of(text)}
    return words.union(*(_parts(word) for word in words if "'" in word))


def post_text(title: str, body: str) -> str:
    """What the features are made of: the title, then the text."""
    return f"{title}\n{body}"


def clean_text(text: str) -> str:
    """The text as Reddit shows it: the dumps hold ``&amp;``, ``&lt;`` and ``&gt;`` for &, < and >.

    Null characters go.
    """
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("\x00", "")


def post_link(identifier: str, url: str) -> str:
    """Where the post leads: to another page, or to itself.

    A post without a page of its own (and so each text post) gets Reddit's short address, which, unlike the long one,
    does not show the
    subreddit: that is the label.
    """
    return f"https://redd.it/{identifier}" if not url or f"/comments/{identifier}" in url else url


def _parts(word: str) -> tuple[str, str]:
    head, _, tail = word.rpartition("'")
    return (head[:-1], "n't") if tail == "t" and head.endswith("n") else (head, "'" + tail)
