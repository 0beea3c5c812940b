"""A month written by hand, small enough to know what must come out, and how it is saved in every packing."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import zstandard

from nodewise.datasets.reddit import RedditSettings

SETTINGS = RedditSettings(group_size=8, first_rank=1, last_rank=2, width=3)

# Two subreddits that are kept, "cats" (4 posts) and "dogs" (2), and "birds" (1), which is not; p7 has no author.
POSTS = [
    {
        "id": "p1",
        "author": "ann",
        "created_utc": 10,
        "subreddit": "cats",
        "title": "A red cat",
        "selftext": "purrs &amp; sleeps",
    },
    {
        "id": "p2",
        "author": "bob",
        "created_utc": "11",
        "subreddit": "cats",
        "title": "red red",
        "selftext": "[removed]",
    },
    {"id": "p3", "author": "cid", "created_utc": 12.0, "subreddit": "cats", "title": "!!!", "selftext": ""},
    {
        "id": "p4",
        "author": "dan",
        "created_utc": 13,
        "subreddit": "dogs",
        "title": "Blue dog",
        "url": "http://dogs.org/1.png",
    },
    {"id": "p5", "author": "eve", "created_utc": 14, "subreddit": "dogs", "title": "cat?"},
    {"id": "p6", "author": "fay", "created_utc": 15, "subreddit": "birds", "title": "red"},
    {"id": "p7", "author": "[deleted]", "created_utc": 16, "subreddit": "cats", "title": "red"},
    {"id": "p8", "author": "gus", "created_utc": 17, "subreddit": "cats", "title": "cat"},
]
# p1-p2 share ann and bob; p2-p3 bob and cid; p3-p4 cid and dan; p5 shares dan alone with p4, and only deleted users
# with p8.
COMMENTS = [
    ("p1", "bob"),
    ("p2", "ann"),
    ("p2", "cid"),
    ("p3", "bob"),
    ("p3", "dan"),
    ("p4", "cid"),
    ("p5", "dan"),
    ("p5", "[deleted]"),
    ("p8", "[deleted]"),
    ("p8", None),
    ("p6", "ann"),
    ("p6", "bob"),
    ("p7", "ann"),
    ("p7", "bob"),
    ("zz", "ann"),
]
GLOVE = b"A 1 0 0\nred 0 1 0\ncat 0 0 1\nBlue 2 2 2\n. . . 9 9 9\n 8 8 8\n"

SUBMISSION_LINES = [json.dumps({"url": "", **post}).encode() for post in POSTS]
COMMENT_LINES = [
    json.dumps({"id": f"c{place}", "link_id": f"t3_{on}", "parent_id": f"t3_{on}", "author": who, "body": "x"}).encode()
    for place, (on, who) in enumerate(COMMENTS)
]


def _zst(data: bytes) -> bytes:
    options = zstandard.ZstdCompressionParameters.from_level(
        3, window_log=31, enable_ldm=True, ldm_hash_log=16, hash_log=16, chain_log=16
    )
    packer = zstandard.ZstdCompressor(
        compression_params=options
    ).compressobj()  # no size in the header: the window stays that large
    return packer.compress(data) + packer.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".gz": gzip.compress,
    ".zst": _zst,
}


def write_month(
    folder: Path,
    ending: str = "",
    submissions: list[bytes] | None = None,
    comments: list[bytes] | None = None,
    glove: bytes = GLOVE,
) -> tuple[Path, Path, Path]:
    """The three files of the month, dumps packed as the ending says."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"RS_2014-01{ending}", folder / f"RC_2014-01{ending}", folder / "glove.txt"
    for path, lines in zip(
        paths,
        (SUBMISSION_LINES if submissions is None else submissions, COMMENT_LINES if comments is None else comments),
        strict=False,
    ):
        path.write_bytes(PACK[ending](b"".join(line + b"\n" for line in lines)))
    paths[2].write_bytes(glove)
    return paths


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", ".") + ".txt", data)
    return path
