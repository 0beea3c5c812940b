"""Damaged and forged files, many thousands: each is refused with a sentence or read right.

Never a wrong label, an unexpected failure, too much memory, a hang.

    nice python benchmarks/fuzz.py --cases 20000 --json fuzz.json

Every case follows from its kind and number alone, so one that fails can be looked at by ``--only KIND:NUMBER``. Cases
run in forked children with a limit on memory and time; a child that dies is counted, and the next goes on behind the
case that killed it. ``tests/session/log/test_fuzz.py`` plays a few hundred of them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from safetensors import safe_open

import nodewise as nw
from nodewise.classifiers import Gcn
from nodewise.classifiers.views.construction import GraphViews, make_views
from nodewise.classifiers.views.kept import read_views, write_views
from nodewise.evaluation.task import Chunk, ChunkStore, GraphReference, Task
from nodewise.graph import Graph, NodeType, Relation, RelationalGraph, read_graph, write_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import NodewiseError
from nodewise.policy import Policy, load_policy, save_policy
from nodewise.session import Session
from nodewise.strategies import Random
from nodewise.studio.guard.people import PEOPLE_FILE, People
from nodewise.studio.work.folders import put_zip
from nodewise.training import train_policy
from nodewise.training.checkpoint import Checkpoint

__all__ = ["KINDS", "Case", "Originals", "play"]

LABELS = 29
MEMORY = 2**30
"""Bytes of address space that a case may take beside what the child has at its start."""

SECONDS = 60


class Originals:
    """The undamaged files, made once.

    Attributes:
        folder: where they are.
        state: what the session says: labels, classes, notes, guideline, history, budget.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        generator = np.random.default_rng(0)
        edges = np.unique(np.sort(generator.integers(0, 60, (2, 150)), axis=0), axis=1)
        graph = Graph.build(edges[:, edges[0] != edges[1]], 60, x=generator.random((60, 8), dtype=np.float32))
        with Session.create(
            folder / "session", graph, budget=40, classes=["alpha", "beta"], strategy="uncertainty"
        ) as session:
            session.tell(list(range(LABELS - 4)), ["alpha" if node % 3 else "beta" for node in range(LABELS - 4)])
            session.tell_bulk(list(range(40, 44)), "gamma delta", "ada")
            session.rename_class("beta", "second")
            session.add_note(3, "a note of some length, with ümlauts")
            session.skip(50)
            session.tell(7, "second", "bob", overrule=True)
            self.state = state(session)
        assert len(self.state[0]) == LABELS
        self._keep_journal()
        for name in ("graph.npz", "graph.graphml", "graph.edges"):
            write_graph(graph, folder / name)
        write_graph(graph, folder / "tables")
        sets = [["x", "y"] if node % 3 else [] for node in range(60)]
        weights = generator.random(graph.num_edges) + 0.1
        write_graph(Graph.build(graph.edge_index, 60, y=sets, edge_weight=weights), folder / "weighted.npz")
        self._keep_relations()
        self._keep_people()
        self._keep_attached(graph)
        self._keep_policy()
        self._keep_checkpoint()
        self._keep_fitted(graph)
        self._keep_chunk()

    def _keep_relations(self) -> None:
        """A graph of two node types, as one file and as a folder."""
        chance = np.random.default_rng(2)
        papers = NodeType("paper", 30, chance.random((30, 4), dtype=np.float32))
        written = Relation("written by", "paper", "author", np.stack([np.arange(30), chance.integers(0, 9, 30)]))
        whole = RelationalGraph((papers, NodeType("author", 9)), (written,), "paper", y=list("xy" * 15))
        write_graph(whole.to_graph(), self.folder / "relational.npz")
        write_graph(whole.to_graph(), self.folder / "relations")

        with zipfile.ZipFile(self.folder / "folder.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted((self.folder / "relations").iterdir()):
                packed.write(path, path.name)

    def _keep_people(self) -> None:
        """The list of people with links, and whose link is whose."""
        people = People(self.folder)
        given = {name: people.add(name, role) for name, role in (("ada", "annotator"), ("olga", "owner"))}
        people.revoke("ada")
        self.links = {given["ada"]: None, given["olga"]: "owner", "nobody's": None}

    def _keep_attached(self, graph: Graph) -> None:
        """A session of the third form, to whose events the answers of two models are attached."""
        path = self.folder / "attached"
        with Session.create(path, graph, budget=20, classes=["alpha", "beta"]) as session:
            for number, model in enumerate(("first", "second")):
                session.suggest(model, {node: ("alpha", "beta")[(node + number) % 2] for node in range(30)}, 0.7)
            session.tell([1, 2, 3], ["alpha", "beta", "alpha"])
            self.attached = attached_state(session)

    def _keep_checkpoint(self) -> None:
        """What a training that was stopped goes on from; what it holds."""

        def stop(line: dict[str, Any]) -> None:
            if line["episode"] == 2:
                raise KeyboardInterrupt

        graph = nw.load_graph("wine")
        with contextlib.suppress(KeyboardInterrupt):
            train_policy(
                [graph], out=self.folder / "p.safetensors", budgets=(2,), episodes=4, batch=1, each_episode=stop
            )
        with safe_open(self.folder / "p.checkpoint", framework="pt") as file:
            self.training = json.loads(file.metadata()["record"])["settings"]
        self.checkpoint = resumed(self.folder / "p.checkpoint", self.training)

    def _keep_fitted(self, graph: Graph) -> None:
        """A fitted learner and what it says; views as the cache keeps them."""
        fitted = nw.fit(graph, {node: ("alpha", "beta")[node % 2] for node in range(20)})
        fitted.save(self.folder / "model.fitted")
        self.predicted = fitted.predict().probabilities
        self.views = make_views(GraphTensors(graph))
        write_views(self.folder / "views.safetensors", self.views)

    def _keep_chunk(self) -> None:
        """A chunk of a comparison, as the store keeps it."""
        self.task = Task(GraphReference("g", "0123"), Gcn(), Random(), (5,), seed=0, first=0, runs=4)
        chance = np.random.default_rng(1)
        queries = np.stack([chance.permutation(60)[:5] for _ in range(4)])
        self.chunk = Chunk(100 * chance.random(4), 100 * chance.random(4), queries, 0.5)
        ChunkStore(self.folder / "chunks").save(self.task, 5, self.chunk)

    def _keep_journal(self) -> None:
        """A session of which a write has changed all pages but the last, with the journal that takes it back."""
        shutil.copy(self.folder / "session", self.folder / "writing")
        connection = sqlite3.connect(self.folder / "writing", isolation_level=None)
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        for number in range(1000, 1400):
            connection.execute("INSERT INTO events VALUES (?, 1.0, 'me', 'tell', ?, x'00')", (number, "x" * 200))
        shutil.copy(self.folder / "writing-journal", self.folder / "broken-journal")
        connection.execute("COMMIT")
        connection.close()
        (self.folder / "broken").write_bytes((self.folder / "writing").read_bytes()[:-4096])

    def _keep_policy(self) -> None:
        self.policy = Policy(seed=1)
        save_policy(self.policy, self.folder / "policy.safetensors")


def same_tensors(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def attached_state(session: Session) -> tuple[Any, ...]:
    """What people and models have told a session."""
    said = [(each.name, each.numbers.tolist(), each.confidence.tolist()) for each in session.suggestions]
    return dict(session.labels), session.classes, said


class _Scale:
    mean: torch.Tensor | None = None
    square: torch.Tensor | None = None


def resumed(path: Path, settings: dict[str, Any]) -> dict[str, torch.Tensor]:
    """All that a training takes up from a checkpoint: weights, the best ones, the optimizer's moments, the scale."""
    policy, scale = Policy(seed=0), _Scale()
    adam = torch.optim.Adam(policy.parameters())
    kept = Checkpoint(path.with_suffix(".safetensors"), policy, adam, [scale], settings)
    recent: deque[float] = deque()
    episode = kept.restore(recent)
    moments = {
        f"{number} {key}": torch.as_tensor(value)
        for number, state in enumerate(adam.state.values())
        for key, value in state.items()
    }
    assert scale.mean is not None and scale.square is not None
    told = torch.tensor([episode, *recent], dtype=torch.float64)
    return {**policy.state_dict(), **moments, "mean": scale.mean, "square": scale.square, "told": told}


def state(session: Session) -> tuple[Any, ...]:
    """All that people have told a session."""
    notes = {node: [note.text for note in listed] for node, listed in session.notes.items()}
    return (
        dict(session.labels),
        session.classes,
        notes,
        session.guideline,
        list(session.history),
        session.rules().budget,
        session.graph.num_edges,
    )


def bits(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def byte_runs(content: bytearray, chance: random.Random) -> None:
    start, length = chance.randrange(len(content)), chance.choice((1, 4, 16, 300))
    content[start : start + length] = chance.randbytes(min(length, len(content) - start))


def pages(content: bytearray, chance: random.Random) -> None:
    """Pages zeroed, doubled, exchanged or filled with noise, as a failing disk does."""
    size = 4096
    count = max(1, len(content) // size)
    one, other = (size * chance.randrange(count) for _ in range(2))
    page = bytes(content[one : one + size])
    act = chance.randrange(4)
    if act == 0:
        content[one : one + size] = bytes(len(page))
    elif act == 1:
        content[other : other + size] = page
    elif act == 2:
        content[one : one + size], content[other : other + size] = content[other : other + size], page
    else:
        content[one : one + size] = chance.randbytes(len(page))


def schema(content: bytearray, chance: random.Random) -> None:
    """One bit of the first page, where header and schema are."""
    used = [index for index in range(min(4096, len(content))) if content[index] or index < 100]
    content[chance.choice(used)] ^= 1 << chance.randrange(8)


def cut(content: bytearray, chance: random.Random) -> None:
    """Truncated, or longer than it was."""
    if chance.random() < 0.8:
        del content[
            chance.choice((chance.randrange(len(content)), 4096 * chance.randrange(1 + len(content) // 4096))) :
        ]
    else:
        content += chance.randbytes(chance.choice((1, 4096, 10_000)))


def cells(content: bytearray, chance: random.Random) -> None:
    """Something odd in place of a number or word."""
    words = [match.span() for match in re.finditer(rb"[A-Za-z0-9.+-]+", bytes(content))]
    start, end = chance.choice(words or [(0, len(content))])
    content[start:end] = str(
        chance.choice([*ODD, "1e999", "nan", "-", '"', "[" * 5000, "\n", ",", "\t", "\ufeff", "9" * 5000])
    ).encode()


ODD: list[Any] = [
    -1,
    0,
    1,
    59,
    60,
    10**9,
    2**63,
    2**70,
    10**400,
    -(2**63),
    1.5,
    1e308,
    float("inf"),
    True,
    None,
    "",
    "a",
    "alpha",
    "\0",
    "x" * 300,
    "1",
    [],
    [[]],
    {},
    [1],
    ["a"],
    {"a": 1},
    [["a", 1]],
    [None],
    "=1+1",
]


def forge_event(path: Path, chance: random.Random) -> None:
    """An event with odd values and a right chain, as somebody who knows the form writes it."""
    from nodewise.session.answers import KINDS, Draft
    from nodewise.session.log.log import Log

    keys = (
        "node",
        "nodes",
        "label",
        "labels",
        "class",
        "classes",
        "event",
        "name",
        "into",
        "text",
        "budget",
        "annotator",
        "overrule",
        "why",
        "predicted",
        "score",
    )
    with Log.open(path) as log:
        likely = {
            "node": 5,
            "label": "alpha",
            "class": 1,
            "event": 3,
            "name": "n",
            "into": 2,
            "text": "t",
            "budget": 9,
            "annotator": "ada",
        }
        body: dict[str, Any] = {key: value for key, value in likely.items() if chance.random() < 0.7}
        for _ in range(chance.choice((1, 1, 2, 4))):
            body[chance.choice(keys)] = chance.choice(ODD)
        log.append([Draft(chance.choice([*sorted(KINDS), "other"]), chance.choice(["me", "ada", "", "\0"]), body)])


def forge_settings(path: Path, chance: random.Random) -> None:
    """Odd settings with a right chain, in a session without events."""
    from nodewise.session.log.log import Log

    with Log.open(path) as log:
        record, parts = (
            json.loads(json.dumps(log.settings)),
            {name: log.part(name) for name in ("graph", "candidates") if log.part(name) is not None},
        )
    for _ in range(chance.choice((1, 1, 2))):
        place: Any = record
        while isinstance(place, dict) and place and chance.random() < 0.7:
            key = chance.choice(sorted(place))
            if not isinstance(place[key], dict):
                place[key] = chance.choice(ODD)
                break
            place = place[key]
        else:
            record[chance.choice(["settings", "graph", "nodewise_version"])] = chance.choice(ODD)
    if chance.random() < 0.3:
        parts[chance.choice(["graph", "candidates", "policy"])] = chance.randbytes(chance.choice((0, 1, 8, 100)))
    path.unlink()
    Log.create(path, record, {name: content for name, content in parts.items() if content is not None}).close()


Change = Callable[[bytearray, random.Random], None]
SESSION: dict[str, Change] = {"bits": bits, "bytes": byte_runs, "pages": pages, "schema": schema, "cut": cut}
FORGED = {"events": forge_event, "settings": forge_settings}
OTHER = {
    "policy": "policy.safetensors",
    "checkpoint": "p.checkpoint",
    "fitted": "model.fitted",
    "cache": "views.safetensors",
    "npz": "graph.npz",
    "weighted": "weighted.npz",
    "relational": "relational.npz",
    "graphml": "graph.graphml",
    "edges": "graph.edges",
    "zip": "folder.zip",
    "people": PEOPLE_FILE,
}
FOLDERS = ("tables", "relations")
KINDS = (*SESSION, "journal", "attached", "joined", *FORGED, *OTHER, *FOLDERS, "chunk")


class Case:
    """One damaged or forged file.

    Args:
        originals: the undamaged files.
        kind: how it is damaged, one of `KINDS`.
        number: which of them.
    """

    def __init__(self, originals: Originals, kind: str, number: int) -> None:
        self._originals, self.kind, self.number = originals, kind, number
        self._chance = random.Random(f"{kind} {number}")

    def play(self, folder: Path) -> str:
        """Have the file read in an empty folder: ``refused``, ``right``, or ``wrong``.

        Another exception than ours is a failure.
        """
        try:
            return self._play(folder)
        except NodewiseError as error:
            return "refused" if str(error).strip() else "wrong"

    def _play(self, folder: Path) -> str:
        source, chance = self._originals.folder, self._chance
        if self.kind in OTHER:
            path = folder / OTHER[self.kind]
            content = bytearray((source / OTHER[self.kind]).read_bytes())
            chance.choice((bits, byte_runs, cut))(content, chance)
            path.write_bytes(content)
            return self._read_other(path)
        if self.kind in FOLDERS:
            return self._read_folder(folder)
        if self.kind == "chunk":
            return self._read_chunk(folder)
        path = folder / "x.nodewise"
        if self.kind == "journal":
            shutil.copy(source / "broken", path)
            content = bytearray((source / "broken-journal").read_bytes())
            chance.choice((bits, byte_runs, pages, cut))(content, chance)
            path.with_name("x.nodewise-journal").write_bytes(content)
        elif self.kind in FORGED:
            shutil.copy(source / "session", path)
            FORGED[self.kind](path, chance)
        else:
            whole = "attached" if self.kind == "attached" else "session"
            if self.kind == "joined":
                return self._join(path)
            content = bytearray((source / whole).read_bytes())
            change = chance.choice(list(SESSION.values())) if self.kind == "attached" else SESSION[self.kind]
            change(content, chance)
            path.write_bytes(content)
        with Session.open(path, wait=1) as session:
            if self.kind == "attached":
                return "right" if attached_state(session) == self._originals.attached else "wrong"
            said = state(session)
            if self.kind in FORGED:  # what it means is for its author to say; it must work
                session.status()
                session.tell(20, session.classes[0] if session.classes else "alpha", "fuzz", overrule=True)
                return "right"
            return "right" if said == self._originals.state else "wrong"

    def _join(self, other: Path) -> str:
        """A damaged or forged job that is joined to a whole one: all of its labels come, or none."""
        path, chance = other.with_name("whole.nodewise"), self._chance
        for copy in (path, other):
            shutil.copy(self._originals.folder / "session", copy)
        with Session.open(other) as session:
            session.tell(list(range(30, 35)), ["alpha"] * 5, "eve")
        if chance.random() < 0.3:
            forge_event(other, chance)
        else:
            content = bytearray(other.read_bytes())
            chance.choice(list(SESSION.values()))(content, chance)
            other.write_bytes(content)
        before = path.read_bytes()
        with Session.open(path) as session:
            try:
                session.preview_join(other)
                session.join(other)
            except NodewiseError:
                assert path.read_bytes() == before
                raise
            told = session.labels
            whole = all(told[node] == "alpha" for node in range(30, 35))
            return "right" if whole and told.items() >= self._originals.state[0].items() else "wrong"

    def _read_people(self, path: Path) -> str:
        """A damaged list of people: everybody in it has the role that they had, or nobody gets in."""
        people = People(path.parent)
        found = {token: people.find(token) for token in self._originals.links}
        roles = {token: None if person is None else person.role for token, person in found.items()}
        people.all()
        return "right" if roles == self._originals.links else "wrong"

    def _read_folder(self, folder: Path) -> str:
        """A folder of CSV files, one of them damaged."""
        shutil.copytree(self._originals.folder / self.kind, folder / self.kind)
        path = self._chance.choice(sorted((folder / self.kind).iterdir()))
        content = bytearray(path.read_bytes())
        self._chance.choice((bits, byte_runs, cut, cells))(content, self._chance)
        path.write_bytes(content)
        read_graph(folder / self.kind)
        return "right"

    def _read_chunk(self, folder: Path) -> str:
        """A damaged chunk, or one that was edited: given back as it was, or not at all, which has it computed anew."""
        task, chunk, chance = self._originals.task, self._originals.chunk, self._chance
        path = folder / task.path(5)
        path.parent.mkdir(parents=True)
        content = bytearray((self._originals.folder / "chunks" / task.path(5)).read_bytes())
        if chance.random() < 0.3:
            record = json.loads(content)
            place = chance.choice([record, record["key"]])
            place[chance.choice(sorted(place))] = chance.choice(
                [*ODD, [[0] * 5] * 4, [50.0] * 4, [float("nan")] * 4, [10**400] * 4]
            )
            content = bytearray(json.dumps(record).encode())
        else:
            chance.choice((bits, byte_runs, cut, cells))(content, chance)
        path.write_bytes(content)
        found = ChunkStore(folder).load(task, 5)
        if found is None:
            return "refused"
        same = all(
            np.array_equal(getattr(found, name), getattr(chunk, name)) for name in ("micro_f1", "macro_f1", "queries")
        )
        return "right" if same else "wrong"

    def _read_other(self, path: Path) -> str:
        """What carries a digest is given back as it was, or refused; graphs are read, or refused."""
        kept = self._originals
        if self.kind == "policy":
            same = same_tensors(load_policy(path).state_dict(), kept.policy.state_dict())
        elif self.kind == "checkpoint":
            same = same_tensors(resumed(path, kept.training), kept.checkpoint)
        elif self.kind == "fitted":
            same = np.array_equal(nw.load_fitted(path).predict().probabilities, kept.predicted)
        elif self.kind == "cache":
            return self._read_cache(path)
        elif self.kind == "people":
            return self._read_people(path)
        elif self.kind == "zip":
            (path.parent / "unpacked").mkdir()
            with path.open("rb") as content:
                put_zip(path.name, content, path.parent / "unpacked", copied)
            read_graph(path.parent / "unpacked")
            same = True
        else:
            read_graph(path)
            same = True
        return "right" if same else "wrong"

    def _read_cache(self, path: Path) -> str:
        views = self._originals.views
        found: GraphViews | None = read_views(path, len(views.columns), views.leading_columns)
        if found is None:  # they are made anew
            return "refused"
        return "right" if found.names == views.names and torch.equal(found.columns, views.columns) else "wrong"


def copied(name: str, source: BinaryIO, target: BinaryIO) -> None:
    shutil.copyfileobj(source, target)


def play(originals: Originals, kind: str, number: int) -> tuple[str, str]:
    """The outcome of a case, and for a failure where it happened."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Case(originals, kind, number).play(Path(folder)), ""
        except MemoryError:
            return "memory", ""
        except Exception:
            text = io.StringIO()
            traceback.print_exc(file=text)
            return "failure", text.getvalue()


def child(originals: Originals, kind: str, numbers: range, pipe: int) -> None:
    """Plays cases one after the other and says the outcome of each."""
    os.nice(10)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    with os.fdopen(pipe, "w") as out:
        for number in numbers:
            signal.alarm(SECONDS)  # the child ends by it
            outcome, where = play(originals, kind, number)
            out.write(json.dumps([number, outcome, where]) + "\n")
            out.flush()
        signal.alarm(0)


def campaign(originals: Originals, kind: str, cases: int, first: int) -> tuple[Counter[str], list[str]]:
    """All cases of a kind: how many came out how, and what went wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    at = first
    while at < first + cases:
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            try:
                child(originals, kind, range(at, min(first + cases, at + 500)), writing)
            finally:
                os._exit(0)
        os.close(writing)
        last = at - 1
        with os.fdopen(reading) as lines:
            for line in lines:
                last, outcome, where = json.loads(line)
                counts[outcome] += 1
                if outcome not in ("refused", "right"):
                    wrong.append(f"{kind}:{last} {outcome} {where.strip().splitlines()[-1] if where else ''}")
        _, status = os.waitpid(process, 0)
        if last < min(first + cases, at + 500) - 1:  # it died in the next one
            last += 1
            outcome = "hang" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else "died"
            counts[outcome] += 1
            wrong.append(f"{kind}:{last} {outcome}, status {status}")
        at = last + 1
    return counts, wrong


def main() -> int:
    """The whole campaign, or one case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000, help="in all, shared among the kinds")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--only", metavar="KIND:NUMBER", help="one case, here, with its traceback")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    with tempfile.TemporaryDirectory() as folder:
        originals = Originals(Path(folder))
        if given.only:
            kind, number = given.only.split(":")
            sys.stdout.write("\n".join(play(originals, kind, int(number))) + "\n")
            return 0
        started, record, bad = time.time(), {}, []
        for kind in kinds:
            counts, wrong = campaign(originals, kind, given.cases // len(kinds), given.first)
            record[kind] = dict(counts)
            bad += wrong
            sys.stdout.write(f"{kind:10} {dict(counts)}\n" + "".join(f"  {line}\n" for line in wrong[:20]))
            sys.stdout.flush()
        total = Counter[str]()
        for each in record.values():
            total.update(each)
        sys.stdout.write(f"all {sum(total.values())}: {dict(total)}, {time.time() - started:.0f} s\n")
        if given.json:
            given.json.write_text(
                json.dumps(
                    {"schema": 1, "first": given.first, "kinds": record, "all": dict(total), "wrong": bad}, indent=1
                )
                + "\n"
            )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
