"""A real studio in a process of its own and a real Chromium that visits it, for the tests of the page."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, LocatorAssertions, Page

ROOT = Path(__file__).parents[2]
EVIL = "<img src=x onerror=window.hacked=1>"
"""A name that must stay text wherever it is shown."""
PLAIN: dict[str, Any] = {"timeout": 300, "verify": False}
"""How a studio of this machine is asked: without the certificates of the world, which take longer to read than an
answer.
"""
PATIENCE = 120_000
"""Milliseconds that a page may take for anything: against hangs, not against slowness."""

LATE = """(() => {
    const late = () => new Promise((done) => setTimeout(done, Math.random() * Math.random() * %d));
    const ask = window.fetch.bind(window);
    window.fetch = async (...given) => {
        await late();
        const answer = await ask(...given);
        await late();
        return answer;
    };
    const hear = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (type, act, ...rest) {
        const acts = type === "message" ? async (event) => { await late(); act(event); } : act;
        return hear.call(this, type, acts, ...rest);
    };
})()"""
"""Has whatever the studio says reach the page up to so many milliseconds late, each thing by another time: with
``NODEWISE_PACE=1500`` in the environment a test that races with its page, and a page that relies on an order, is found
without a busy machine.
"""


class Server:
    """``nodewise studio`` as a user starts it. It can be killed, and started again at the same address.

    Attributes:
        folder: where its sessions lie.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self._arguments = folder, arguments
        # held, though nobody listens at it here: while the studio is down, no connection of this machine is given it
        self._held = socket.socket()
        self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._held.bind(("127.0.0.1", 0))
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
        port = str(self._held.getsockname()[1])
        command = [sys.executable, "-m", "nodewise", "studio", *self._arguments, "--port", port, "--no-browser"]
        self._process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said.startswith("http://"), said + self._process.stdout.read()
        self.address = said.strip().split("?")[0].rstrip("/")

    def kill(self) -> None:
        self._process.kill()
        self._end()

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._end()
        self._held.close()

    def end(self) -> str:
        """Stop it; what it said after its address."""
        self._process.send_signal(signal.SIGINT)
        assert self._process.stdout is not None
        said = self._process.stdout.read()
        self._end()
        self._held.close()
        return said

    def peak_bytes(self) -> int | None:
        """The most memory that it has had; None where that cannot be told."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])  # type: ignore[index]

    def cpu_seconds(self) -> float:
        """What its process has taken of the processor so far (Linux)."""
        ticks = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def _end(self) -> None:
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def clear(self) -> None:
        """Let go of all sessions and remove them: it is as if it had just been started."""
        for name in self.get("/studio")["sessions"]:
            self.post("/jobs/archive", name=name)
            shutil.rmtree(self.folder / "archive")

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.address}/api/v1{path}", **PLAIN).raise_for_status().json()

    def post(self, path: str, **body: Any) -> Any:
        return httpx.post(f"{self.address}/api/v1{path}", json=body, **PLAIN).raise_for_status().json()


@contextmanager
def studio(folder: Path, *arguments: str) -> Iterator[Server]:
    """A studio that ends with the block."""
    server = Server(folder, *arguments)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def chromium(*arguments: str) -> Iterator[Browser]:
    """The browser, with further arguments of its command line; skips where there is none."""
    driver = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("needs Chromium on the PATH")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage", *arguments]
        )
        try:
            yield browser
        finally:
            browser.close()


def expect(part: Locator) -> LocatorAssertions:
    """What a part of a page must come to: Playwright's assertions, which look again until it is so.

    Whatever an action changes is asserted by these. To read once is to read the state before, on a busy machine.
    """
    from playwright.sync_api import expect as look_again

    look_again.set_options(timeout=PATIENCE)
    return look_again(part)


@dataclass
class Visit:
    """A page that is open, and everything that went wrong on it.

    Attributes:
        page: Playwright's page.
        troubles: console errors (refusals of the content security policy are among them), uncaught errors, requests to
            other machines.
    """

    page: Page
    context: BrowserContext
    troubles: list[str] = field(default_factory=list)

    def ready(self) -> None:
        """Wait until the page takes a label for the node that it shows."""
        self.page.locator("body[data-phase=ready]").wait_for()

    def title(self) -> str:
        return self.page.locator("#card h1").inner_text()

    def label(self, key: str) -> str:
        """Label the node that is shown by a key, and wait for the next one; returns the title of the one labelled."""
        self.ready()
        before = self.title()
        with self.page.expect_response(re.compile("/tell$")) as told:
            self.page.keyboard.press(key)
        assert told.value.ok
        self.ready()
        return before

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        found: int = self.page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return found

    def hover(self, canvas: str, x: float, y: float, words: str) -> tuple[float, float]:
        """Point at a point of a canvas's world until the tooltip says the words; gives where that is in the window.

        The canvas is measured anew each time: a picture that is still being drawn lies elsewhere a moment later.
        """
        from playwright.sync_api import TimeoutError as NotYet

        place = self.page.locator(f"{canvas}[data-view]")
        tooltip = self.page.locator(".tooltip", has_text=words)
        for _ in range(60):
            place.scroll_into_view_if_needed()
            box = place.bounding_box()
            left, top, across, down = map(float, (place.get_attribute("data-view") or "").split())
            assert box is not None
            spot = box["x"] + left + x * across, box["y"] + top + y * down
            self.page.mouse.move(spot[0] + 1, spot[1])
            self.page.mouse.move(*spot)
            try:
                tooltip.wait_for(timeout=2_000)
            except NotYet:
                continue
            return spot
        raise AssertionError(f"no tooltip with {words!r} at {x}, {y} of {canvas}")


@contextmanager
def visit(
    browser: Browser, address: str, *, allowed: Sequence[str] = (), annotator: str | None = "me", **options: Any
) -> Iterator[Visit]:
    """Open an address in a fresh profile; at the end nothing may have gone wrong on the page.

    Args:
        browser: Chromium.
        address: where to go.
        allowed: parts of console messages that the test provokes itself.
        annotator: the name that this browser remembers; None: it has never been here.
        **options: of Playwright's context, such as viewport or color_scheme.
    """
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options})
    context.set_default_timeout(PATIENCE)
    if annotator is not None:
        context.add_init_script(
            "if (!localStorage.getItem('nodewise.annotator')) localStorage.setItem('nodewise.annotator',"
            f" {annotator!r})"
        )
    if pace := os.environ.get("NODEWISE_PACE"):
        context.add_init_script(LATE % int(pace))
    page = context.new_page()
    seen = Visit(page, context)
    own = urlsplit(address).netloc
    page.on("console", lambda message: seen.troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: seen.troubles.append(str(error)))
    page.on(
        "request",
        lambda request: None if _is_own(request.url, own) else seen.troubles.append(f"a request left: {request.url}"),
    )
    try:
        page.goto(address)
        yield seen
        left = [text for text in seen.troubles if not any(part in text for part in allowed)]
        assert not left, left
    finally:
        context.close()


def _is_own(url: str, own: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("blob", "data") or parts.netloc == own


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    """A table, as a person has it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def notes(count: int = 60) -> list[dict[str, str]]:
    """Short texts of two kinds, each a little different."""
    things = ["lamp", "table", "chair", "shelf", "mirror", "carpet"]
    plants = ["fern", "oak", "moss", "reed", "willow", "clover"]
    made = []
    for number in range(count):
        thing, plant = things[number % 6], plants[number // 2 % 6]
        home = (
            f"The {thing} stands in the room beside the wooden {things[(number + 2) % 6]} and needs repair number"
            f" {number}."
        )
        wild = (
            f"The {plant} grows by the river under the {plants[(number + 1) % 6]} and flowers late, seen {number}"
            " times."
        )
        made.append(
            {
                "id": f"note {number}",
                "title": f"Note {number}",
                "text": wild if number % 2 else home,
                "kind": "plant" if number % 2 else "thing",
            }
        )
    return made


def make(server: Server, name: str, rows: list[dict[str, str]], **fields: Any) -> None:
    """A session from an uploaded table with a column ``text``."""
    stream = [",".join(rows[0])]
    for row in rows:
        stream.append(",".join('"' + cell.replace('"', '""') + '"' for cell in row.values()))
    data = {"name": name, "text": "text", "budget": 12, "knn": 5, **fields}
    answer = httpx.post(
        f"{server.address}/api/v1/session",
        files={"nodes": (f"{name}.csv", "\n".join(stream).encode())},
        data=data,
        **PLAIN,
    )
    assert answer.status_code == 201, answer.text
