"""All campaigns against the doors, in turn, each bounded: damaged and hostile files, kills, a team, requests.

    nice -n 10 python benchmarks/campaigns.py --out benchmarks/results/campaigns.json
    python benchmarks/campaigns.py --page

Everything happens on this machine: the studios listen on 127.0.0.1. ``--page`` writes what was counted into
SECURITY.md.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import random
import socket
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz
import kills
import studio_team
from machine import commit, write_record

import nodewise as nw
from nodewise.studio.guard.people import People

RESULT = Path(__file__).parent / "results" / "campaigns.json"
PAGE = RESULT.parents[2] / "SECURITY.md"
BEGIN, END = "<!-- campaigns: written by benchmarks/campaigns.py, do not edit -->", "<!-- campaigns: end -->"


PACKED = ("npz", "weighted", "relational", "zip", "people")


def damaged_files(cases: int, packed: int) -> dict[str, Any]:
    """Damaged and forged files of every kind; more of those that are zips inside, which are quick to read."""
    kinds, wrong = {}, []
    with tempfile.TemporaryDirectory() as folder:
        originals = fuzz.Originals(Path(folder))
        for kind in fuzz.KINDS:
            counts, bad = fuzz.campaign(originals, kind, packed if kind in PACKED else cases, 0)
            kinds[kind] = dict(counts)
            wrong += bad
    return {"kinds": kinds, "wrong": wrong}


def killed_writers(count: int, only_put: bool) -> dict[str, Any]:
    """Writers killed at random moments; with ``only_put`` a backup takes the file's place after every other kill."""
    counts: Counter[str] = Counter()
    lost: list[str] = []
    while counts["kills"] < count and not lost:
        with tempfile.TemporaryDirectory() as folder:
            one = kills.Campaign(Path(folder), 100 + counts["kills"], only_put)
            while one.counts["kills"] < min(50, count - counts["kills"]) and not one.lost:
                one.round()
        counts.update(one.counts)
        lost += one.lost
    return {**counts, "lost": lost}


def killed_studio(count: int) -> dict[str, Any]:
    """The studio killed while a page's answers are on their way; each time some were acknowledged before."""
    with tempfile.TemporaryDirectory() as folder:
        one = kills.Campaign(Path(folder), 200)
        while one.counts["studio"] < count and not one.lost:
            one.studio()
    return {
        "kills": one.counts["studio"],
        "acknowledged": one.counts["acknowledged by the studio"],
        "lost": one.lost,
    }


def annotators(people: int, seconds: float, count: int) -> dict[str, Any]:
    """A team at once, and a studio that is killed."""
    with tempfile.TemporaryDirectory() as folder:
        return studio_team.campaign(Path(folder), people, seconds, count, 1.0)


class Requests:
    """Requests that no page sends, to a studio with an owner, two people with links and a link that was taken away.

    Whoever has no right link must see nothing and change nothing, and nobody's request may make the studio fail.

    Args:
        folder: where the job is.
        seed: of the requests.
    """

    def __init__(self, folder: Path, seed: int = 0) -> None:
        graph = nw.Graph.build([list(range(99)), list(range(1, 100))], name="path")
        self._file = folder / "job.nodewise"
        with nw.Session.create(self._file, graph, classes=["a", "b"], budget=90, strategy="random") as session:
            session.set_known({7: "a"}, "olga")
        people = People(folder)
        self._tokens = {name: people.add(name, role) for name, role in (("ada", "annotator"), ("onno", "onlooker"))}
        self._gone = people.add("gone", "owner")
        people.revoke("gone")
        self._chance = random.Random(seed)
        self._studio = studio_team.Studio(self._file)
        self._owner = nw.connect(self._studio.address, studio_team.OWNER)
        self._guesses = [f"{self._chance.getrandbits(192):x}" for _ in range(10)]  # more, and the address has to wait
        asked = urllib.request.Request(
            f"{self._studio.address}/api/openapi.json", headers={"Authorization": f"Bearer {studio_team.OWNER}"}
        )
        with urllib.request.urlopen(asked) as answer:
            described = json.load(answer)["paths"]
        self._paths = [
            "/",
            "/new",
            "/s/job",
            "/page/icon.svg",
            *(path.format(node=7, form="csv") for path in described),
        ]

    def play(self, count: int) -> dict[str, Any]:
        """That many requests: how each was answered, what went wrong."""
        try:
            answers, wrong = self._play(count)
        finally:
            self._studio.kill()
        told = self._studio.errors.read_text(encoding="utf-8")
        if traces := told.count("Traceback"):
            wrong.append(f"{traces} tracebacks of the studio, the last ends in {told[-300:]}")
        return {"requests": count, "answers": answers, "wrong": wrong}

    def _play(self, count: int) -> tuple[dict[str, int], list[str]]:
        statuses: Counter[str] = Counter()
        wrong: list[str] = []
        before = self._owner.status()["last"]
        for number in range(count):
            whose = self._chance.choice(["nobody", "gone", "guessed", "onno"])
            content = self._request(whose)
            status, answer = self._send(content)
            statuses[str(status)] += 1
            told = f"request {number} by {whose}, answered {status}"
            if status >= 500 and status != 503:
                wrong.append(f"{told}: {answer[:200]!r}")
            if whose != "onno" and status == 200:
                wrong.append(f"{told}: {content[:100]!r}")
            if self._gone.encode() in answer or studio_team.OWNER.encode() in answer:
                wrong.append(f"{told} with a token in it")
        if self._owner.status()["last"] != before:
            wrong.append("somebody who may change nothing has changed the job")
        return dict(sorted(statuses.items())), wrong

    def _request(self, whose: str) -> bytes:
        chance = self._chance
        method = chance.choice([*["GET"] * 6, *["POST"] * 6, "HEAD", "PUT", "DELETE", "\x00"])
        path = chance.choice(self._paths)
        path = chance.choice([*[path] * 9, path + "/../jobs", path + "?session=../../x", path.upper(), "//" + path])
        body = self._body()
        heads = [f"Host: {chance.choice([f'127.0.0.1:{self._studio.port}'] * 12 + ['evil.example', ''])}"]
        heads += chance.choice([[], [], [], ["Origin: http://evil.example"], ["Sec-Fetch-Site: cross-site"]])
        heads += [
            f"Content-Type: {chance.choice(['application/json', 'text/plain', 'multipart/form-data; boundary=b'])}"
        ]
        length = chance.choice([str(len(body))] * 20 + ["-1", "9" * 30, "3", f"{len(body)}\r\nContent-Length: 5"])
        heads += [f"Content-Length: {length}"] if chance.random() < 0.9 else ["Transfer-Encoding: chunked"]
        token = {"gone": self._gone, "guessed": chance.choice(self._guesses), "onno": self._tokens["onno"]}.get(whose)
        if token is not None:
            port = self._studio.port
            heads += [chance.choice([f"Authorization: Bearer {token}", f"Cookie: nodewise_token_{port}={token}:x"])]
        chance.shuffle(heads)
        return (
            f"{method} {path} HTTP/1.1\r\n".encode()
            + "".join(f"{head}\r\n" for head in heads).encode()
            + b"\r\n"
            + body
        )

    def _body(self) -> bytes:
        chance = self._chance
        odd = [*fuzz.ODD, "ada", 7, "../../etc/passwd", "=1+1", "x" * 100_000]
        keys = ["labels", "node", "annotator", "label", "session", "text", "name", "event", "percent", "k", "nodes"]
        record = {chance.choice(keys): chance.choice(odd) for _ in range(chance.randrange(6))}
        if chance.random() < 0.3:
            record |= {"labels": [{"node": chance.choice(odd), "label": chance.choice(odd)}]}
        whole = json.dumps(record).encode()
        return chance.choice([whole, whole, b"[" * 50_000, chance.randbytes(300), b"", base64.b64encode(whole)])

    def _send(self, content: bytes) -> tuple[int, bytes]:
        """Status and body of the answer; 0 where the connection was closed without one."""
        with socket.create_connection(("127.0.0.1", self._studio.port), timeout=60) as raw:
            try:
                raw.sendall(content)
                raw.shutdown(socket.SHUT_WR)
                answer = b""
                while piece := raw.recv(2**16):
                    answer += piece
            except OSError:  # it has hung up
                return 0, b""
        head = answer.split(b" ", 2)
        return (int(head[1]) if len(head) > 1 and head[1].isdigit() else 0), answer


def hostile_requests(count: int) -> dict[str, Any]:
    """Random requests by people who may change nothing."""
    with tempfile.TemporaryDirectory() as folder:
        return Requests(Path(folder)).play(count)


CAMPAIGNS: dict[str, Callable[[], dict[str, Any]]] = {
    "damaged": lambda: damaged_files(180, packed=320),
    "kills": lambda: killed_writers(60, only_put=False),
    "put": lambda: killed_writers(40, only_put=True),
    "studio": lambda: killed_studio(20),
    "requests": lambda: hostile_requests(1500),
    "team": lambda: annotators(20, 90, 3),
}


NO_ANSWER = {"0": "closed without an answer"}


def table(row: dict[str, Any]) -> list[str]:
    """What the page says of each campaign."""
    kinds = row["damaged"]["kinds"]
    outcomes = Counter[str]()
    for counts in kinds.values():
        outcomes.update(counts)
    hostile = sum(sum(kinds[kind].values()) for kind in fuzz.FORGED)
    files = sum(outcomes.values())
    killed, put, team, asked = row["kills"], row["put"], row["team"], row["requests"]
    answers = ", ".join(f"{count:,} × {NO_ANSWER.get(status, status)}" for status, count in asked["answers"].items())
    studio = row.get("studio")
    of_studio = [
        f"| the studio killed while answers are on their way | {each['kills']:,}, {each['acknowledged']:,} acknowledged"
        f" answers | {said(each['lost'])} lost |"
        for each in ([] if studio is None else [studio])
    ]
    return [
        "| campaign | how much | what came of it |",
        "| --- | --- | --- |",
        f"| damaged files, {len(kinds) - len(fuzz.FORGED)} kinds | {files - hostile:,} |"
        f" {said(row['damaged']['wrong'])} misread or failed:"
        " each was refused in words or read as it was, in bounds of memory and time |",
        f"| hostile files: forged events and settings with a right chain | {hostile:,} | in the same count |",
        f"| writers killed | {killed['kills']:,}, {killed['acknowledged']:,} acknowledged events |"
        f" {said(killed['lost'])} lost |",
        f"| backups put in the place of a killed writer's file | {put['backups put in place']:,},"
        f" {put['of them beside a journal']:,} of them beside its journal | {said(put['lost'])} changed or refused |",
        *of_studio,
        f"| requests that no page sends, by people who may change nothing | {asked['requests']:,} ({answers}) |"
        f" {said(asked['wrong'])} saw, changed or broke anything |",
        f"| annotators at once, the studio killed {team['kills']} times | {team['people']} people,"
        f" {team['answers']:,} answers | {said(team['lost'])} lost, {said(team['seen'])} seen that should not be |",
    ]


def said(found: list[Any]) -> str:
    return f"{len(found):,}" if found else "none"


def row_of(record: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = record["rows"][0]
    return row


def write_page() -> None:
    """Puts the table between its marks in SECURITY.md."""
    record = json.loads(RESULT.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    played = [row for name, row in row_of(record).items() if name in CAMPAIGNS]
    commits = ", ".join(sorted({row["commit"] for row in played}))
    seconds = sum(row.get("cpu_seconds", 0.0) for row in played) or row_of(record)["cpu_seconds"]
    where = f"`benchmarks/campaigns.py`, {seconds:,.0f} s of processor time, commits {commits}:"
    made = "\n".join([BEGIN, "", where, "", *table(row_of(record)), "", END])
    PAGE.write_text(head + made + rest.split(END)[1], encoding="utf-8")


def before(result: Path | None) -> dict[str, Any]:
    """What a result holds already: campaigns that are played again are put in its place, the others stay."""
    if result is None or not result.exists():
        return {}
    row: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))["rows"][0]
    return {name: each for name, each in row.items() if name in CAMPAIGNS}


def main() -> int:
    """The campaigns, or the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CAMPAIGNS), help="campaigns, with commas between them")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", action="store_true", help="write SECURITY.md's table from the result")
    given = parser.parse_args()
    if given.page:
        write_page()
        return 0
    begin, row = time.time(), before(given.out)
    for name in given.only.split(","):
        measured_at, used = commit(), sum(os.times()[:4])
        found = CAMPAIGNS[name]()
        row[name] = {**found, "commit": measured_at, "cpu_seconds": round(sum(os.times()[:4]) - used, 1)}
        print(name, json.dumps(row[name]), flush=True)
    if given.out is not None:
        write_record(given.out, "campaigns", begin, row)
    return 1 if any(each.get(key) for each in row.values() if isinstance(each, dict) for key in BAD) else 0


BAD = ("wrong", "lost", "seen")

if __name__ == "__main__":
    sys.exit(main())
