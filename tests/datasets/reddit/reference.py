"""The build again, slow and obvious: one loop a step, in the order of the paper's Appendix B."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from itertools import combinations

from nodewise.datasets.reddit import RedditSettings


@dataclass
class ExpectedGraph:
    ids: list[str]
    subreddits: list[str]
    edges: list[tuple[int, int]]
    titles: list[str]
    texts: list[str]
    links: list[str]
    x: list[list[float]]
    wordless: int


@dataclass
class Expected:
    graphs: dict[int, ExpectedGraph] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def build_by_hand(submissions: list[bytes], comments: list[bytes], glove: bytes, settings: RedditSettings) -> Expected:
    """The graphs by group number, and what was counted on the way."""
    out = Expected()
    posts = unique([post for line in submissions if (post := read_post(line))], out.counts, "repeated posts")
    replies = unique([reply for line in comments if (reply := read_comment(line))], out.counts, "repeated comments")
    out.counts["rejected posts"] = sum(read_post(line) is None for line in submissions)
    out.counts["rejected comments"] = sum(read_comment(line) is None for line in comments)

    named = [post for post in posts if post["author"] is not None]  # step 1
    out.counts["anonymous"] = len(posts) - len(named)
    named.sort(key=lambda post: (post["created"], len(post["id"]), post["id"]))  # step 2
    size = settings.group_size
    groups = [named[start : start + size] for start in range(0, len(named), size)]
    full = [group for group in groups if len(group) == size]
    used = (full if settings.groups is None else full[: settings.groups]) if full else groups[:1]

    chosen: dict[str, tuple[int, str]] = {}
    per_group: list[list[dict]] = []
    for number, group in enumerate(used, start=1):  # step 3
        posts_of: dict[str, int] = {}
        for post in group:
            if post["subreddit"] is not None:
                posts_of[post["subreddit"]] = posts_of.get(post["subreddit"], 0) + 1
        ranked = sorted(posts_of, key=lambda name: (-posts_of[name], name))
        wanted = ranked[settings.first_rank - 1 : settings.last_rank]
        kept = [post for post in group if post["subreddit"] in wanted]
        for post in kept:
            post["rank"] = ranked.index(post["subreddit"]) + 1
            chosen[post["id"]] = (number, post["id"])
        per_group.append(kept)

    banned = set(settings.excluded)
    takes_part: dict[str, set[str]] = {}
    for fate in ("deleted", "excluded", "outside", "elsewhere", "used"):
        out.counts[fate] = 0
    in_file = {post["id"] for post in posts}
    for reply in replies:
        if reply["author"] is None:
            fate = "deleted"
        elif reply["author"].lower() in banned:
            fate = "excluded"
        elif reply["post"] not in in_file:
            fate = "outside"
        elif reply["post"] not in chosen:
            fate = "elsewhere"
        else:
            fate = "used"
            takes_part.setdefault(reply["post"], set()).add(reply["author"])
        out.counts[fate] += 1

    vectors = read_vectors(glove, settings.width)
    for number, kept in enumerate(per_group, start=1):
        for post in kept:
            people = takes_part.setdefault(post["id"], set())
            if post["author"].lower() not in banned:
                people.add(post["author"])
        edges = [  # step 4
            (one, other)
            for one, other in combinations(range(len(kept)), 2)
            if len(takes_part[kept[one]["id"]] & takes_part[kept[other]["id"]]) >= settings.shared_users
        ]
        if edges:
            out.graphs[number] = graph_of(kept, edges, vectors, settings.width)
    return out


def graph_of(
    posts: list[dict], edges: list[tuple[int, int]], vectors: dict[str, list[float]], width: int
) -> ExpectedGraph:
    part = list(range(len(posts)))  # step 5
    for _ in posts:
        for one, other in edges:
            part[one] = part[other] = min(part[one], part[other])
    best = min(set(part), key=lambda name: (-part.count(name), part.index(name)))
    nodes = [node for node in range(len(posts)) if part[node] == best]
    place = {node: index for index, node in enumerate(nodes)}
    x, wordless = [], 0
    for node in nodes:
        known = [vectors[word] for word in words(posts[node]["title"] + "\n" + posts[node]["text"], vectors)]
        wordless += not known
        x.append([sum(column) / len(known) for column in zip(*known, strict=True)] if known else [0.0] * width)
    return ExpectedGraph(
        ids=[posts[node]["id"] for node in nodes],
        subreddits=[posts[node]["subreddit"] for node in nodes],
        edges=sorted((place[one], place[other]) for one, other in edges if one in place),
        titles=[posts[node]["title"] for node in nodes],
        texts=[posts[node]["text"] for node in nodes],
        links=[posts[node]["link"] for node in nodes],
        x=x,
        wordless=wordless,
    )


def unique(records: list[dict], counts: dict[str, int], name: str) -> list[dict]:
    first: dict[str, dict] = {}
    for record in records:
        first.setdefault(record["id"], record)
    counts[name] = len(records) - len(first)
    return list(first.values())


def read_object(line: bytes) -> dict | None:
    try:
        found, _ = json.JSONDecoder().raw_decode(
            line.decode("utf-8", errors="replace").strip()
        )  # what follows the object is ignored
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("id") else None


def read_author(found: dict) -> str | None:
    author = found.get("author")
    return None if author in (None, "", "[deleted]") else author


def read_post(line: bytes) -> dict | None:
    found = read_object(line)
    if found is None or (found.get("title") is None and found.get("link_id") is not None):
        return None
    try:
        created = float(found.get("created_utc"))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not math.isfinite(created):
        return None
    text = found.get("selftext") or ""
    url = shown(found.get("url") or "")
    return {
        "id": found["id"],
        "created": created,
        "author": read_author(found),
        "subreddit": found.get("subreddit") or None,
        "title": shown(found.get("title") or ""),
        "text": "" if text in ("[deleted]", "[removed]") else shown(text),
        "link": url if url and "/comments/" + found["id"] not in url else "https://redd.it/" + found["id"],
    }


def read_comment(line: bytes) -> dict | None:
    found = read_object(line)
    if found is None:
        return None
    link = found.get("link_id") or ""
    if not link.startswith("t3_") or link == "t3_":
        return None
    return {"id": found["id"], "post": link[3:], "author": read_author(found)}


def shown(text: str) -> str:
    clean = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in text if letter != "\x00")
    return clean.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def words(text: str, known: dict[str, list[float]]) -> list[str]:
    """Letter by letter: a word is letters and digits, and apostrophes between them."""
    text = text.replace("’", "'")
    found, word = [], ""
    for place, letter in enumerate(text + " "):
        after = text[place + 1 : place + 2]
        if letter.isalnum() or (letter == "'" and word and word[-1] != "'" and after.isalnum()):
            word += letter
        elif word:
            found.append(word)
            word = ""
    out = []
    for word in found:
        if word in known:
            out.append(word)
        elif "'" in word:
            cut = word.rindex("'")
            pair = [word[: cut - 1], "n't"] if word[cut - 1 :] == "n't" else [word[:cut], word[cut:]]
            out += [part for part in pair if part in known]
    return out


def read_vectors(glove: bytes, width: int) -> dict[str, list[float]]:
    found = {}
    for line in glove.decode().removesuffix("\n").split("\n"):
        fields = line.split(" ")
        found[" ".join(fields[:-width])] = [float(field) for field in fields[-width:]]
    return found
