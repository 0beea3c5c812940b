"""How the studio bears a room full of annotators: twenty HTTP clients and an open page on Cora.

    python benchmarks/studio.py --out benchmarks/results/studio-load.json

Every client has a name of its own and answers once a second, for two minutes: it tells the label of the node that it
was asked, and asks for the next. Every tenth time it also labels twelve further nodes in bulk. The time is from sending
the label to having the next query. The studio is ``nodewise studio`` in a process of its own, its session on a disk;
the page is the work page in Chromium, which draws what changes. Afterwards the studio is killed, and every label that
it had acknowledged must be in the session's file.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from machine import write_record

from nodewise.datasets import default_features, load_graph
from nodewise.graph import Graph
from nodewise.session import Session

BULK_EVERY, BULK_NODES = 10, 12
"""After how many answers a client labels in bulk, and how many nodes."""


class Annotator(threading.Thread):
    """A person who answers once in ``every`` seconds; what takes longer is not waited for twice."""

    def __init__(self, number: int, address: str, graph: Graph, every: float, begin: float, end: float) -> None:
        super().__init__(name=f"annotator {number}")
        self._address, self._graph, self._every, self._begin, self._end = address, graph, every, begin, end
        self.times: list[float] = []
        self.tells: list[float] = []
        self.told: dict[int, str] = {}
        self.bulk: list[float] = []
        self._random = random.Random(number)
        self.errors: list[str] = []
        self.late = 0

    def run(self) -> None:
        with httpx.Client(base_url=f"{self._address}/api/v1", timeout=60) as client:
            node = self._ask(client)
            due = self._begin
            while node is not None and due < self._end:
                time.sleep(max(0.0, due - time.perf_counter()))
                start = time.perf_counter()
                label = name_of(self._graph, node)
                if self._post(client, "/tell", labels=[{"node": node, "label": label}]) is not None:
                    self.told[node] = label
                    self.tells.append(time.perf_counter() - start)
                node = self._ask(client)
                self.times.append(time.perf_counter() - start)
                if len(self.times) % BULK_EVERY == 0:
                    self._tell_bulk(client)
                due += self._every
                if time.perf_counter() > due:
                    self.late += 1
                    due = time.perf_counter()

    def _tell_bulk(self, client: httpx.Client) -> None:
        start = time.perf_counter()
        labels = {
            node: name_of(self._graph, node) for node in self._random.sample(range(self._graph.num_nodes), BULK_NODES)
        }
        if (
            self._post(client, "/bulk", labels=[{"node": node, "label": label} for node, label in labels.items()])
            is not None
        ):
            self.told.update(labels)
            self.bulk.append(time.perf_counter() - start)

    def _ask(self, client: httpx.Client) -> int | None:
        found = self._post(client, "/ask")
        return None if found is None else int(found["queries"][0]["node"])

    def _post(self, client: httpx.Client, path: str, **body: Any) -> Any:
        try:
            answer = client.post(path, json={"annotator": self.name, **body})
        except httpx.HTTPError as error:
            self.errors.append(f"{path}: {type(error).__name__}")
            return None
        if answer.status_code != 200:
            self.errors.append(f"{path} {answer.status_code}: {answer.json().get('error', '')}")
            return None
        return answer.json()


class OpenPage:
    """The work page in Chromium: how often it was told of news, how long it took to draw a frame, what went wrong."""

    def __init__(self, address: str) -> None:
        from chromium import open_chromium
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self._browser = open_chromium(self._playwright)
        self.page = self._browser.new_page(viewport={"width": 1280, "height": 800})
        self.errors: list[str] = []
        self.messages = 0
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._count))
        self.page.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
        self.page.goto(f"{address}/")
        self.page.locator("body[data-phase=ready]").wait_for(timeout=60_000)
        self.page.evaluate(
            "() => { window.longest = 0; let last = performance.now(); const frame = () => { const now ="
            " performance.now(); window.longest = Math.max(window.longest, now - last); last = now;"
            " requestAnimationFrame(frame); }; requestAnimationFrame(frame); }"
        )

    def _count(self, _: object) -> None:
        self.messages += 1

    def stay(self, seconds: float) -> None:
        self.page.wait_for_timeout(1e3 * max(0.0, seconds))

    def result(self) -> dict[str, Any]:
        longest = float(self.page.evaluate("() => window.longest"))
        return {"websocket_messages": self.messages, "longest_frame_ms": round(longest), "errors": self.errors[:20]}

    def close(self) -> None:
        self._browser.close()
        self._playwright.stop()


def name_of(graph: Graph, node: int) -> str:
    assert graph.y is not None
    return graph.class_names[graph.y[node]]


def milliseconds(values: list[float]) -> dict[str, float | int]:
    points = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}
    return {
        **{name: round(1e3 * float(np.quantile(values, point)), 1) for name, point in points.items()},
        "times": len(values),
    }


@contextmanager
def studio(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command, on a free port."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-m", "nodewise", "studio", "job.nodewise", "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip().rstrip("/"), process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


def seconds_of_processor(process: int) -> float:
    """What a process has used so far; 0 where it cannot be told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    graph = load_graph(given.graph, features=default_features(given.graph))
    if given.clients * given.seconds / given.every * (1 + BULK_NODES / BULK_EVERY) > 4 * graph.num_nodes:
        raise SystemExit(
            f"{given.graph} has {graph.num_nodes} nodes, too few for {given.clients} clients and {given.seconds:g}"
            " seconds"
        )
    path = folder / "job.nodewise"
    Session.create(path, graph, budget=graph.num_nodes, use_labels=False, classes=graph.class_names).close()
    with ExitStack() as stack:
        address, process = stack.enter_context(studio(folder))
        page = None
        if given.page:
            page = OpenPage(address)
            stack.callback(page.close)
        begin = time.perf_counter() + 2.0
        starts = [begin + given.every * number / given.clients for number in range(given.clients)]
        annotators = [
            Annotator(number, address, graph, given.every, start, begin + given.seconds)
            for number, start in enumerate(starts)
        ]
        busy = seconds_of_processor(process.pid)
        for annotator in annotators:
            annotator.start()
        if page is not None:
            page.stay(begin + given.seconds - time.perf_counter())
        for annotator in annotators:
            annotator.join()
        busy = seconds_of_processor(process.pid) - busy
        seen = None if page is None else page.result()
    with Session.open(path) as session:  # the studio has been killed
        kept = session.labels
    lost = [node for annotator in annotators for node, label in annotator.told.items() if kept.get(node) != label]
    errors = [error for annotator in annotators for error in annotator.errors]
    return {
        "what": "tell to ask over HTTP",
        "graph": given.graph,
        "clients": given.clients,
        "every_s": given.every,
        "during_s": given.seconds,
        "labels": sum(len(annotator.told) for annotator in annotators),
        "labels_lost": len(lost),
        "errors": len(errors),
        "error_kinds": dict(Counter(errors).most_common(5)),
        "late_answers": sum(annotator.late for annotator in annotators),
        **milliseconds([value for annotator in annotators for value in annotator.times]),
        "bulk_answers": milliseconds([value for annotator in annotators for value in annotator.bulk]),
        "tell_alone": milliseconds([value for annotator in annotators for value in annotator.tells]),
        "studio_cpu_s": round(busy, 1),
        "page": seen,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="cora")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--every", type=float, default=1.0, help="seconds between a client's answers")
    parser.add_argument("--no-page", dest="page", action="store_false", help="without a browser")
    parser.add_argument("--folder", type=Path, help="where the session lies; should be on a real disk")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    begin = time.time()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        row = measure(given, Path(folder))
    print(row)
    write_record(given.out, "studio load", begin, row)


if __name__ == "__main__":
    main()
