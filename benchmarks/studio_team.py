"""A large team on one job, and a studio that is killed again and again: nothing lost, nobody sees what they should not.

    python benchmarks/studio_team.py --out benchmarks/results/studio-team.json

Twenty annotators with links of their own answer questions, label in bulk and take answers back; the owner gives rows to
people and frees them, until two minutes are over and the last kill is. Rows are to have two opinions, and a tenth of
the questions have a known answer. The studio is ``nodewise studio`` in a process of its own, killed at random moments
and started again. Afterwards every answer that it has acknowledged must be in the session's file as it was given. Each
question is looked at for what its annotator should not see: what others said of a row that they have not answered, and
that somebody else has a row with a known answer.
"""

from __future__ import annotations

import argparse
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from machine import write_record

import nodewise as nw
from nodewise.client import Connection
from nodewise.ground.errors import NodewiseError
from nodewise.studio.guard.people import People

KNOWN = range(0, 400, 20)
OWNER = "the-token-of-the-owner"


class Studio:
    """The studio in a process of its own, which can be killed."""

    def __init__(self, file: Path) -> None:
        self.errors = file.with_suffix(".errors")
        # held, though nobody listens at it here: while the studio is down, no connection of this machine is given it
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.port = self._held.getsockname()[1]
        self._command = [sys.executable, "-m", "nodewise", "studio", str(file), "--port", str(self.port)]
        self.start()

    def start(self) -> None:
        with self.errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*self._command, "--token", OWNER, "--no-browser", "--quiet"], stdout=subprocess.DEVNULL, stderr=errors
            )
        while True:
            try:
                nw.connect(self.address, OWNER, timeout=5)
                return
            except NodewiseError:
                if self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


class Person(threading.Thread):
    """An annotator who answers as long as they may, and notes what the studio has acknowledged and shown."""

    def __init__(self, name: str, there: Connection, over: threading.Event, every: float) -> None:
        super().__init__(name=name)
        self._there, self._over, self._every, self._random = there, over, every, random.Random(name)
        self.acknowledged: dict[int, tuple[str, tuple[tuple[int, str], ...]]] = {}
        self.taken_back: set[int] = set()
        self.own: set[int] = set()
        self.seen: list[str] = []
        self.refused: Counter[str] = Counter()
        self.unreachable = 0

    def run(self) -> None:
        while not self._over.is_set():
            try:
                self._act()
            except NodewiseError as error:
                if "cannot be reached" in str(error):  # killed, and not there again yet
                    self.unreachable += 1
                else:
                    self.refused[str(error)] += 1
                time.sleep(0.1)
            time.sleep(self._random.random() * self._every)

    def _act(self) -> None:
        chance = self._random.random()
        if chance < 0.05:
            labels = [(node, "ab"[node % 2]) for node in self._random.sample(range(400, 1000), 5)]
            told = self._there._post("/bulk", labels=[{"node": node, "label": label} for node, label in labels])
            self.acknowledged[told["event"]] = ("bulk", tuple(labels))
        elif chance < 0.1 and self.acknowledged:
            self.taken_back.add(self._there.undo()["event"])
        else:
            query = self._there._post("/ask")["queries"][0]
            self._look(query)
            label = "ab"[(query["node"] % 2) ^ (self._random.random() < 0.1)]
            self.own.add(query["node"])  # before: the studio may take the answer and be killed before it says so
            event = self._there.tell(query["node"], label)
            assert isinstance(event, int)
            self.acknowledged[event] = ("tell", ((query["node"], label),))

    def _look(self, query: dict[str, Any]) -> None:
        card, node = query["card"], query["node"]
        others = set(card["votes"]) - {self.name}
        if others and self.name not in card["votes"]:
            self.seen.append(f"{self.name} is asked about {node} and sees what {sorted(others)} say")
        if node in KNOWN and "control" in str(query):
            self.seen.append(f"the question about {node} says that its answer is known")
        status = self._there.status()
        for who, names in status["open"].items():
            shown = {int(name) for name in names} & set(KNOWN) - self.own
            if who != self.name and shown:
                self.seen.append(f"{self.name} sees that {who} is asked about {sorted(shown)}")


def lead(there: Connection, people: list[str], over: threading.Event, done: Counter[str]) -> None:
    """The owner: rows for somebody, or somebody's rows for all."""
    choose = random.Random(0)
    while not over.is_set():
        who = choose.choice(people)
        try:
            if choose.random() < 0.5:
                done["assigned"] += len(there._post("/assign", to=who, filter="unlabelled", count=4)["nodes"])
            else:
                done["released"] += there._post("/release", released=who)["count"]
        except NodewiseError:
            pass
        time.sleep(0.5)


def campaign(folder: Path, people: int, seconds: float, kills: int, every: float) -> dict[str, Any]:
    """One campaign: counts, what was lost, what was seen."""
    ring = list(range(1000))
    graph = nw.Graph.build([ring, [*ring[2:], 0, 1]], name="rings")
    file = folder / "job.nodewise"
    with nw.Session.create(
        file, graph, classes=["a", "b"], budget=900, redundancy=2, control=10, strategy="random", seed=1
    ) as session:
        session.set_known({node: "ab"[node % 2] for node in KNOWN}, "olga")
    names = [f"person {number}" for number in range(people)]
    tokens = {name: People(folder).add(name, "annotator") for name in names}
    studio = Studio(file)
    begin, over = time.monotonic(), threading.Event()
    team = [Person(name, nw.connect(studio.address, tokens[name]), over, every) for name in names]
    owner = nw.connect(studio.address, OWNER, annotator="olga")
    done: Counter[str] = Counter()
    threads: list[threading.Thread] = [*team, threading.Thread(target=lead, args=(owner, names, over, done))]
    for thread in threads:
        thread.start()
    moments = random.Random(2)
    for _ in range(kills):
        time.sleep(moments.random() * 2 * seconds / (kills + 1))
        studio.kill()
        studio.start()
    time.sleep(max(0.0, begin + seconds - time.monotonic()))
    over.set()
    for thread in threads:
        thread.join()
    studio.kill()
    return {**judged(file, team), **done, "kills": kills, "people": people}


def judged(file: Path, team: list[Person]) -> dict[str, Any]:
    """What the file lacks of what was acknowledged, and what people saw that they should not."""
    lost = []
    with nw.Session.open(file) as session:
        events = {event.id: event for event in session.events}
        undone = {event.body["event"] for event in session.events if event.kind == "undo"}
        reports = session.person_reports()
        for person in team:
            for number, (kind, said) in person.acknowledged.items():
                event = events.get(number)
                nodes = [] if event is None else event.body.get("nodes", [event.body.get("node")])
                labels = [] if event is None else event.body.get("labels", [event.body.get("label")])
                if (
                    event is None
                    or (event.kind, event.annotator) != (kind, person.name)
                    or tuple(zip(nodes, labels, strict=True)) != said
                ):
                    lost.append(number)
            lost += [number for number in person.taken_back if number not in undone]
    return {
        "answers": sum(len(person.acknowledged) for person in team),
        "bulk": sum(kind == "bulk" for person in team for kind, _ in person.acknowledged.values()),
        "taken_back": sum(len(person.taken_back) for person in team),
        "events": len(events),
        "lost": lost,
        "seen": [line for person in team for line in person.seen][:20],
        "scored": sum(each.known is not None for each in reports),
        "refused": dict(sum((person.refused for person in team), Counter())),
        "unreachable": sum(person.unreachable for person in team),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two answers of a person, at most")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        found = campaign(Path(folder), given.people, given.seconds, given.kills, given.every)
    print(found)
    if given.out is not None:
        write_record(given.out, "studio_team", begin, found)
    if found["lost"] or found["seen"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
