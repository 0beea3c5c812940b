"""Small months of dumps in the form that real ones have, with every quirk that was met in them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

VOCABULARY = [
    "Red",
    "red",
    "blue",
    "Don't",
    "Bob",
    "'s",
    "n't",
    "must",
    "Größe",
    "3",
    "well",
    "known",
    "the",
    "of",
    "A",
    "zap",
]
UNKNOWN = ["Xyzzy", "plugh", "RED", "qux"]
WIDTH = 5


@dataclass(frozen=True)
class Shape:
    """How large and how dirty a month is."""

    posts: int = 30
    comments: int = 120
    subreddits: int = 5
    users: int = 6
    seconds: int = 20  # creation times fall into so many seconds: many ties
    dirt: float = 0.1  # how much of everything that goes wrong
    deleted: float = 0.25


@dataclass
class Month:
    """The lines of a month, without their ends."""

    submissions: list[bytes] = field(default_factory=list)
    comments: list[bytes] = field(default_factory=list)
    glove: bytes = b""


def make_month(seed: int, shape: Shape | None = None) -> Month:
    """A month that the seed decides."""
    shape, rng = shape or Shape(), random.Random(seed)
    month = Month(glove=glove_file(rng))
    ids = _ids(rng, shape.posts)
    for identifier in ids:
        month.submissions.append(_line(rng, _post(rng, shape, identifier)))
    for number in range(shape.comments):
        on = rng.choice(ids) if ids and rng.random() > 0.1 else "zz" + str(number)
        month.comments.append(_line(rng, _comment(rng, shape, f"c{number:x}", on)))
    for lines, make in (
        (month.submissions, lambda: _post(rng, shape, rng.choice(ids) if ids else "a")),
        (
            month.comments,
            lambda: _comment(
                rng, shape, f"c{rng.randrange(max(shape.comments, 1)):x}", rng.choice(ids) if ids else "a"
            ),
        ),
    ):
        for _ in range(round(shape.dirt * len(lines))):  # lines with an id that another line has, with other content
            lines.insert(rng.randrange(len(lines) + 1), _line(rng, make()))
        for _ in range(round(shape.dirt * len(lines))):
            lines.insert(rng.randrange(len(lines) + 1), _dirt(rng, lines))
    return month


def glove_file(rng: random.Random, width: int = WIDTH) -> bytes:
    """Word vectors; some words hold spaces, one is empty, and words that nobody needs are among them."""
    words = [*VOCABULARY, ". . .", "at name@domain.com", "", "unneeded", "Red\u00a0blue", "\x85"]
    rng.shuffle(words)
    lines = [" ".join([word, *(f"{rng.uniform(-1, 1):.5f}" for _ in range(width))]) for word in words]
    return ("\n".join(lines) + "\n").encode()


def _ids(rng: random.Random, count: int) -> list[str]:
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    found: dict[str, None] = {}
    while len(found) < count:
        found.setdefault("".join(rng.choice(letters) for _ in range(rng.choice([1, 2, 2, 3]))))
    return list(found)


def _author(rng: random.Random, shape: Shape, record: dict[str, object]) -> None:
    if rng.random() >= shape.deleted:
        record["author"] = rng.choice(
            [f"user{rng.randrange(shape.users)}", f"User{rng.randrange(shape.users)}", "AutoModerator"]
        )
        return
    kind = rng.choice(["deleted", "deleted", "missing", "null", "empty"])
    if kind != "missing":
        record["author"] = {"deleted": "[deleted]", "null": None, "empty": ""}[kind]


def _time(rng: random.Random, shape: Shape) -> object:
    seconds = 1388534400 + rng.randrange(shape.seconds)
    return rng.choice([seconds, str(seconds), float(seconds), f"{seconds}.0", seconds + 0.5])


def _text(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(7)):
        word = rng.choice(
            [
                *VOCABULARY[:4],
                *VOCABULARY[7:],
                *UNKNOWN,
                "Bob's",
                "mustn't",
                "well-known",
                "Don’t",
                "it's_red",
                "http://a.b/red?of=A",
            ]
        )
        parts.append(
            rng.choice(
                ["{}", "{},", "({})", "*{}*", "'{}'", "{}…", "&lt;{}&gt;", "{}&amp;", "{}\n", "{}\u0000"]
            ).format(word)
        )
    return " ".join(parts)


def _post(rng: random.Random, shape: Shape, identifier: str) -> dict[str, object]:
    subreddit = f"sub{min(rng.randrange(shape.subreddits), rng.randrange(shape.subreddits))}"
    post: dict[str, object] = {
        "id": identifier,
        "title": _text(rng),
        "created_utc": _time(rng, shape),
        "score": rng.randrange(99),
        "over_18": False,
    }
    _author(rng, shape, post)
    if rng.random() > 0.05:
        post["subreddit"] = subreddit
    elif rng.random() > 0.5:
        post["subreddit"] = rng.choice([None, ""])
    kind = rng.choice(["missing", "empty", "deleted", "removed", "null", "text", "text", "text"])
    if kind != "missing":
        post["selftext"] = {
            "empty": "",
            "deleted": "[deleted]",
            "removed": "[removed]",
            "null": None,
            "text": _text(rng),
        }[kind]
    url = rng.choice(
        [
            None,
            "",
            f"http://www.reddit.com/r/{subreddit}/comments/{identifier}/x/",
            "http://i.imgur.com/a.png?x=1&amp;y=2",
        ]
    )
    if url is not None or rng.random() > 0.5:
        post["url"] = url
    if rng.random() > 0.5:  # later years
        post |= {
            "media": {"oembed": {"title": "id", "author": "nobody"}},
            "preview": [{"id": "inner"}],
            "gildings": {},
            "name": "t3_" + identifier,
        }
    if rng.random() < 0.02:
        post.pop("title")
    return _shuffled(rng, post)


def _comment(rng: random.Random, shape: Shape, identifier: str, on: str) -> dict[str, object]:
    parent = rng.choice([f"t3_{on}", f"t1_c{rng.randrange(99):x}"])
    comment: dict[str, object] = {
        "id": identifier,
        "link_id": "t3_" + on,
        "parent_id": parent,
        "body": _text(rng),
        "created_utc": _time(rng, shape),
    }
    _author(rng, shape, comment)
    if rng.random() > 0.3:
        comment |= {"subreddit": "sub0", "name": "t1_" + identifier, "edited": rng.choice([False, 1.4e9]), "gilded": 0}
    return _shuffled(rng, comment)


def _shuffled(rng: random.Random, record: dict[str, object]) -> dict[str, object]:
    items = list(record.items())
    rng.shuffle(items)
    return dict(items)


def _line(rng: random.Random, record: dict[str, object]) -> bytes:
    line = json.dumps(
        record, ensure_ascii=rng.random() > 0.3, separators=rng.choice([(",", ":"), (", ", ": ")])
    ).encode()
    chance = rng.random()
    if chance < 0.02:
        line = line.replace(b'"title":', b'"title_":1,"title":').replace(b"Red", b"\xffRed")  # bytes that are not UTF-8
    elif chance < 0.04:
        line = line.replace(b"red", b"\\ud83d red")  # half a surrogate pair
    return line + (b"\r" if rng.random() < 0.05 else b"") if rng.random() > 0.02 else b"  " + line


def _dirt(rng: random.Random, lines: list[bytes]) -> bytes:
    whole = rng.choice(lines) if lines else b'{"id":'
    return rng.choice(
        [
            whole[: rng.randrange(len(whole) + 1)].rstrip(b"} \r"),
            b"",
            b"   ",
            b"\r",
            b"null",
            b"[1, 2]",
            b"5",
            b'"text"',
            b"{}",
            b"}{",
            b"<html>",
            b'{"id": null, "author": "user0"}',
            b'{"id": "", "created_utc": 1, "link_id": "t3_a"}',
            b'{"id": "q1", "created_utc": "yesterday", "title": "x"}',
            b'{"id": "q2", "title": "x", "created_utc": null}',
            b'{"id": "q3", "link_id": "t1_a", "author": "user0"}',
            b'{"id": "q4", "link_id": "t3_", "author": "user0"}',
            b'{"id": "q5", "title": "x", "created_utc": NaN}',
            b"\x00\x01",
            whole + whole,
            b'{"id": "q6", "link_id": "t3_1", "author": "user0", "created_utc": 1388534400}',
            b'{"id": "q7", "created_utc": [1], "title": "x"}',
        ]
    )
