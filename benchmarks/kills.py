"""SIGKILLs over Python, the command line and the studio, with two writers, backups, copies and restores mixed in.

No acknowledged label is lost.

    nice python benchmarks/kills.py --kills 1000 --json kills.json

Each round one or two writers label and say so, each time after the session has taken it; at a random moment they are
killed. Then the file is opened, which checks its whole chain, and everything acknowledged must be in it, in its place,
beside what was there before. Between rounds the file is backed up, copied, or an older copy is put over it in place
while a writer has it open: that writer must acknowledge nothing more that is not in the file. Or a writer is killed, a
backup is put in the place of its file, beside the journal that it left, and what opens must be that backup.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from nodewise.graph import Graph
from nodewise.ground.errors import NodewiseError
from nodewise.session import Session
from nodewise.session.log.log import Log

NODES = 4000


def write(path: Path, name: str, out: TextIO) -> None:
    """Labels one node after the other, now and then several in bulk, a note or an undo, until it is killed or refused.

    Says each event.
    """
    chance = random.Random(f"{name} {os.getpid()}")

    def say(event: int, kind: str, node: int) -> None:
        out.write(f"{event} {kind} {node}\n")
        out.flush()

    try:
        with Session.open(path, wait=60) as session:
            out.write("ready\n")
            out.flush()
            while True:
                node = chance.randrange(NODES - 3)
                act = chance.random()
                if act < 0.8:
                    say(session.tell(node, "ab"[node % 2], name, overrule=True), "tell", node)  # type: ignore[arg-type]
                elif act < 0.9:
                    say(session.tell_bulk([node, node + 1, node + 2], "a", name, overrule=True), "bulk", node)
                elif act < 0.95:
                    say(session.add_note(node, "looked at", name), "note", node)
                else:
                    session.undo(annotator=name)
    except NodewiseError as error:
        out.write(f"refused {type(error).__name__}: {error}\n")
        out.flush()


class Writer:
    """A writer in a forked child."""

    def __init__(self, path: Path, name: str) -> None:
        reading, writing = os.pipe()
        self.name = name
        self.process = os.fork()
        if self.process == 0:
            os.close(reading)
            try:
                with os.fdopen(writing, "w") as out:
                    write(path, name, out)
            finally:
                os._exit(0)
        os.close(writing)
        self._lines = os.fdopen(reading)
        assert self._lines.readline() == "ready\n"

    def kill(self) -> list[str]:
        """Everything that it has said to the end."""
        os.kill(self.process, signal.SIGKILL)
        return self.rest()

    def rest(self) -> list[str]:
        """What it says until it ends by itself."""
        text = self._lines.read()
        os.waitpid(self.process, 0)
        self._lines.close()
        return text[: text.rfind("\n") + 1].splitlines()


def acknowledged(lines: list[str], who: str) -> dict[int, tuple[str, str, int]]:
    """event -> annotator, kind and node of what was said."""
    said = [line.split() for line in lines if line[0].isdigit()]
    return {int(event): (who, kind, int(node)) for event, kind, node in said}


def read(path: Path) -> dict[int, tuple[str, str, int]]:
    """The same of the file, its whole chain checked."""
    with Log.open(path, wait=60) as log:
        return {e.id: (e.annotator, e.kind, int(e.body.get("node", e.body.get("nodes", [-1])[0]))) for e in log.events}


class Campaign:
    """A session that is killed, copied and restored over and over.

    Attributes:
        known: what is in the file for certain: event -> annotator, kind, node.
        only_put: whether writers are killed in Python alone and backups put in place after every other kill.
        counts: what was done.
    """

    def __init__(self, folder: Path, seed: int, only_put: bool = False) -> None:
        self.folder, self.path, self.chance = folder, folder / "job.nodewise", random.Random(seed)
        self.only_put = only_put
        edges = np.stack([np.arange(NODES - 1), np.arange(1, NODES)])
        graph = Graph.build(edges, NODES, x=np.ones((NODES, 2), np.float32))
        Session.create(self.path, graph, budget=NODES, classes=["a", "b"], strategy="random").close()
        self.known: dict[int, tuple[str, str, int]] = {}
        self.counts: Counter[str] = Counter()
        self.lost: list[str] = []
        self.backups: list[tuple[Path, int]] = []
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
            "OMP_NUM_THREADS": "1",
            "NO_COLOR": "1",
        }

    def check(self, fresh: dict[int, tuple[str, str, int]]) -> None:
        """Everything known and everything acknowledged is in the file."""
        held = read(self.path)
        for event, said in {**self.known, **fresh}.items():
            if held.get(event) != said:
                self.lost.append(f"event {event}: {said} was acknowledged, the file has {held.get(event)}")
        self.counts["acknowledged"] += len(fresh)
        self.known = held

    def python(self, writers: int) -> None:
        running = [Writer(self.path, f"w{number}") for number in range(writers)]
        if self.chance.random() < 0.3:
            self.back_up()
        time.sleep(self.chance.random() * 0.25)
        fresh = {}
        for writer in running:
            fresh.update(acknowledged(writer.kill(), writer.name))
            self.counts["kills"] += 1
        self.counts["python" if writers == 1 else "two writers"] += writers
        self.check(fresh)

    def command(self) -> None:
        node = self.chance.randrange(NODES)
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "nodewise",
                "session",
                "tell",
                str(self.path),
                str(node),
                "ab"[node % 2],
                "--overrule",
                "--annotator",
                "cli",
            ],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(self.chance.random() * 3)
        process.kill()
        out, _ = process.communicate()
        self.counts["kills"] += process.returncode == -signal.SIGKILL
        self.counts["command line"] += process.returncode == -signal.SIGKILL
        held = read(self.path)
        said = out.endswith("told)\n")
        if said and ("cli", "tell", node) not in [held[event] for event in held if event not in self.known]:
            self.lost.append(f"the command said {out.strip()!r}, the file does not have it")
        self.counts["acknowledged"] += said
        self.check({})

    def studio(self) -> None:
        import httpx

        with self.running_studio() as (process, address):
            fresh: dict[int, tuple[str, str, int]] = {}
            enough, pause = self.chance.randrange(1, 30), self.chance.random() * 0.1
            killer: threading.Timer | None = None
            with httpx.Client(base_url=f"{address}/api/v1", timeout=60) as client, suppress(httpx.TransportError):
                while True:  # until it is killed, while a further answer is on its way
                    node = self.chance.randrange(NODES)
                    label = {"node": node, "label": "ab"[node % 2]}
                    answer = client.post("/tell", json={"annotator": "page", "labels": [label], "overrule": True})
                    if answer.status_code != 200:
                        raise AssertionError(f"the studio took no answer: {answer.status_code} {answer.text}")
                    fresh[answer.json()["events"][0]] = ("page", "tell", node)
                    if killer is None and len(fresh) >= enough:
                        killer = threading.Timer(pause, process.kill)
                        killer.start()
            assert killer is not None, "the studio ended by itself"
            killer.join()
            process.wait()
        self.counts["kills"] += 1
        self.counts["studio"] += 1
        self.counts["acknowledged by the studio"] += len(fresh)
        self.check(fresh)

    @contextmanager
    def running_studio(self) -> Iterator[tuple[subprocess.Popen[str], str]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "nodewise", "studio", str(self.path), "--port", "0", "--no-browser"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("http://"), line
        try:
            yield process, line.strip().split("?")[0].split("#")[0].split("/s/")[0].rstrip("/")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def back_up(self) -> None:
        """Of a file that may be written to; or a plain copy of one that nobody holds."""
        copy = self.folder / f"copy{len(self.backups)}"
        with Log.open(self.path, wait=60) as log:
            log.backup(copy)
        held = read(copy)
        if any(held.get(event) != said for event, said in self.known.items()):
            self.lost.append(f"the backup {copy.name} lacks what was in the file before it")
        self.backups.append((copy, len(held)))
        self.counts["backups"] += 1

    def plain_copy(self) -> None:
        copy = self.folder / f"copy{len(self.backups)}"
        shutil.copy(self.path, copy)
        if read(copy) != self.known:
            self.lost.append(f"the copy {copy.name} is not the file")
        self.backups.append((copy, len(self.known)))
        self.counts["copies"] += 1

    def restore(self) -> None:
        """An older copy over the file, in place, while a writer has it open."""
        if not self.backups:
            return
        copy, _ = self.chance.choice(self.backups[-5:])
        writer = Writer(self.path, "open")
        time.sleep(self.chance.random() * 0.1)
        holder = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        holder.execute(
            "BEGIN EXCLUSIVE"
        )  # so that no transaction is torn: that is a question for whoever copies, not for the session
        before = holder.execute("SELECT count(*) FROM events").fetchone()[0]
        content = copy.read_bytes()
        target = os.open(self.path, os.O_RDWR)
        os.pwrite(target, content, 0)
        os.ftruncate(target, len(content))
        os.fsync(target)
        holder.execute("ROLLBACK")
        os.close(target)
        holder.close()
        time.sleep(0.1)
        said = writer.kill()
        held = read(self.path)
        later = {event: what for event, what in acknowledged(said, "open").items() if event > before}
        wrong = [
            f"event {event}: {what} was acknowledged after a restore"
            for event, what in later.items()
            if held.get(event) != what
        ]
        self.lost += wrong
        expected = read(copy)
        if any(held.get(event) != what for event, what in expected.items()):
            self.lost.append("the restored copy is not what the file holds")
        self.counts["restores"] += 1
        self.counts["kills"] += 1
        self.counts["told that it was replaced"] += any("was replaced while it was open" in line for line in said)
        self.known = held

    def put_backup(self) -> None:
        """A writer is killed, and a backup, a plain copy or an older one takes the place of its file."""
        if not self.backups:
            self.back_up()
        copy, _ = self.chance.choice(self.backups[-5:])
        expected, content = read(copy), copy.read_bytes()
        writer = Writer(self.path, "killed")
        time.sleep(self.chance.random() * 0.1)
        writer.kill()
        journal = self.path.with_name(self.path.name + "-journal")
        left = journal.exists() and journal.read_bytes()[:1] not in (b"", b"\0")
        if self.chance.random() < 0.5:
            shutil.copyfile(copy, self.path)
        else:
            part = self.folder / "put"
            shutil.copyfile(copy, part)
            part.replace(self.path)
        self.counts["kills"] += 1
        self.counts["backups put in place"] += 1
        self.counts["of them beside a journal"] += left
        try:
            held = read(self.path)
        except NodewiseError as error:
            self.lost.append(f"the backup put in place was refused: {error}")
            return
        if held != expected or self.path.read_bytes() != content:
            self.lost.append("the backup put in place was changed when it was opened")
        self.known = held

    def round(self) -> None:
        if self.only_put:
            self.put_backup()
            if self.chance.random() < 0.2:
                self.back_up()
            elif self.chance.random() < 0.3:
                self.plain_copy()
            else:
                self.python(1)
            return
        act = self.chance.random()
        if act < 0.45:
            self.python(1)
        elif act < 0.7:
            self.python(2)
        elif act < 0.82:
            self.command()
        elif act < 0.87:
            self.studio()
        elif act < 0.92:
            self.plain_copy()
        elif act < 0.96:
            self.put_backup()
        else:
            self.restore()


def main() -> int:
    """The whole campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only-put", action="store_true", help="a backup in the place of the file at every other kill")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    lost: list[str] = []
    started, number = time.time(), 0
    while counts["kills"] < given.kills and not lost:
        with tempfile.TemporaryDirectory() as folder:
            campaign = Campaign(Path(folder), given.seed + number, given.only_put)
            while campaign.counts["kills"] < min(100, given.kills - counts["kills"]) and not campaign.lost:
                campaign.round()
            campaign.counts["events in the end"] = len(campaign.known)
            left = [file.name for file in Path(folder).iterdir() if file.name.endswith(".part")]
            campaign.lost += [f"{name} was left behind" for name in left]
        counts.update(campaign.counts)
        lost += campaign.lost
        number += 1
        sys.stdout.write(f"{dict(counts)}, lost: {len(lost)}\n" + "".join(f"  {line}\n" for line in lost[:20]))
        sys.stdout.flush()
    record: dict[str, Any] = {
        "schema": 1,
        "seed": given.seed,
        "seconds": time.time() - started,
        "counts": dict(counts),
        "lost": lost,
    }
    if given.json:
        given.json.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
