"""The studio on a large session, over HTTP, as the page uses it.

Opening, asking, telling, searching, a neighbourhood, predictions, the map.

    python benchmarks/studio_large.py SESSION

Prints a line of JSON for each. The session is changed: a few questions are answered with the first class.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np


def highest_memory(process: int) -> float:
    """Gigabytes that a process has taken at most."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e6 for line in lines if line.startswith("VmHWM"))


def use(session: Path, tell: Callable[[dict[str, Any]], None]) -> None:
    """Start the studio on a session and use it once."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-m", "nodewise", "studio", session.name, "--port", "0", "--no-browser"]
    begin = time.perf_counter()
    with subprocess.Popen(
        command, cwd=session.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as studio:
        assert studio.stdout is not None

        def lap(what: str, since: float, **more: Any) -> None:
            tell(
                {
                    "what": what,
                    "wall": round(time.perf_counter() - since, 3),
                    "peak_gb": round(highest_memory(studio.pid), 3),
                    **more,
                }
            )

        try:
            address = studio.stdout.readline().strip().rstrip("/")
            with httpx.Client(base_url=f"{address}/api/v1", timeout=900) as client:

                def get(path: str, **query: Any) -> Any:
                    return client.get(path, params=query).raise_for_status().json()

                def post(path: str, **body: Any) -> Any:
                    return client.post(path, json={"annotator": "me", **body}).raise_for_status().json()

                status = get("/status")
                lap("the studio answers", begin)
                begin = time.perf_counter()
                node = int(post("/ask")["queries"][0]["node"])
                lap("the first question, views from their file", begin)
                taken = []
                for _ in range(7):
                    begin = time.perf_counter()
                    post("/tell", labels=[{"node": node, "label": status["classes"][0]}])
                    node = int(post("/ask")["queries"][0]["node"])
                    taken.append(time.perf_counter() - begin)
                lap(
                    "seven answers, each with the next question",
                    begin - sum(taken[:-1]),
                    p50=round(float(np.median(taken)), 3),
                )
                for what, path, query in (
                    ("a card", f"/nodes/{node}", {}),
                    ("search", "/nodes", {"q": "47"}),
                    ("a neighbourhood of two hops, the first", f"/nodes/{node}/neighbourhood", {"hops": 2}),
                    ("another neighbourhood", f"/nodes/{max(0, node - 1)}/neighbourhood", {"hops": 2}),
                    ("a page of the table", "/table", {}),
                ):
                    begin = time.perf_counter()
                    get(path, **query)
                    lap(what, begin)
                begin = time.perf_counter()
                drawn = get("/map")
                lap("the map, once", begin, shown=len(drawn["nodes"]), of=drawn.get("total"))
                begin = time.perf_counter()
                get("/map/colours")
                lap("its colours: predictions of all nodes", begin)
        finally:
            studio.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    use(Path(sys.argv[1]).resolve(), lambda line: print(json.dumps(line), flush=True))
