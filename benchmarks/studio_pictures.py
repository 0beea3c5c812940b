"""The pictures of the studio in docs/images, taken from the real page in a real Chromium.

    pip install playwright
    python benchmarks/studio_pictures.py --out docs/images

It starts `nodewise studio`, makes a session of made-up letters (`studio_letters.py`), answers as somebody who knows the topics would, and
looks at every view.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright
from studio_letters import write_letters

LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


class Studio:
    """The server, and somebody who knows every letter's topic."""

    def __init__(self, folder: Path, topics: list[str]) -> None:
        command = [sys.executable, "-m", "nodewise", "studio", "--port", "0", "--no-browser"]
        self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")
        self._client = httpx.Client(base_url=f"{self.address}/api/v1", timeout=300)
        self._topics = topics

    def answer(self, count: int, annotator: str = "me") -> None:
        for _ in range(count):
            node = self._client.post("/ask", json={"annotator": annotator}).raise_for_status().json()["queries"][0]["node"]
            self.tell(node, self._topics[node], annotator)

    def tell(self, node: int, label: str, annotator: str) -> None:
        self._client.post("/tell", json={"annotator": annotator, "labels": [{"node": node, "label": label}]}).raise_for_status()

    def told(self) -> list[int]:
        events = self._client.get("/events", params={"limit": 200}).json()["events"]
        return [event["node"] for event in events if event["kind"] == "tell" and not event["undone"]]

    def topic(self, node: int) -> str:
        return self._topics[node]

    def get(self, path: str) -> Any:
        return self._client.get(path).raise_for_status().json()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def ready(page: Page) -> None:
    page.locator("body[data-phase=ready], body[data-phase=idle]").wait_for()
    page.wait_for_load_state("networkidle")


def coloured(page: Page, studio: Studio) -> None:
    """Wait until the predictions are of all labels, and drawn."""
    for _ in range(100):
        status = studio.get("/status")
        if status["predictions_from"] == status["told"]:
            break
        page.wait_for_timeout(200)
    page.wait_for_timeout(4000)


def open_page(browser: Browser, studio: Studio, theme: str = "light", **options: Any) -> Page:
    context = browser.new_context(**{"viewport": LAPTOP, "color_scheme": theme, "reduced_motion": "reduce", **options})
    context.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
    page = context.new_page()
    page.goto(f"{studio.address}/")
    return page


def take(browser: Browser, studio: Studio, table: Path, out: Path) -> None:
    def shot(page: Page, name: str, **options: Any) -> None:
        page.screenshot(path=out / f"studio-{name}.png", **options)

    page = open_page(browser, studio)
    page.locator("#nodes-file").set_input_files(table)
    page.get_by_label("Classes").fill("opening hours, loans, events, computers, building")
    page.get_by_label("Budget").fill("30")
    page.get_by_label("Audit").fill("15")
    page.mouse.move(4, 4)
    page.locator(":focus").blur()
    page.set_viewport_size({"width": 1100, "height": 1180})
    shot(page, "new", full_page=True)
    page.set_viewport_size(LAPTOP)
    page.get_by_role("button", name="Make the session").click()
    page.wait_for_url("**/s/*")
    ready(page)

    studio.answer(17)
    page.reload()
    ready(page)
    while studio.get("/status")["open"]["me"] and page.locator(".pill.audit").count():  # the first picture shows a node with a prediction
        studio.answer(1)
        page.reload()
        ready(page)
    page.locator("button.class", has_text=studio.topic(asked(studio, page))).click()
    page.locator("#telling .saved").wait_for()
    ready(page)
    coloured(page, studio)
    shot(page, "work")

    page.keyboard.press("g")
    page.keyboard.press("p")
    coloured(page, studio)
    shot(page, "map")

    page.keyboard.press("g")
    page.keyboard.press("h")
    page.locator(".events .link").nth(1).click()
    ready(page)
    page.wait_for_timeout(1500)
    near = max(studio.get(f"/nodes/{studio.told()[1]}/neighbourhood?hops=2")["nodes"], key=lambda node: node["y"])
    left, top, across, down = map(float, (page.locator(".neighbourhood canvas").get_attribute("data-view") or "").split())
    box = page.locator(".neighbourhood canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + left + near["x"] * across, box["y"] + top + near["y"] * down)
    page.wait_for_timeout(1000)
    shot(page, "look")
    page.mouse.move(4, 4)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    shot(page, "keys")
    page.context.close()

    studio.answer(4, "ada")
    for node in studio.told()[-3:]:
        studio.tell(node, studio.topic(node), "ada")
    studio.tell(studio.told()[-5], "building", "ada")
    dark = open_page(browser, studio, "dark")
    ready(dark)
    dark.get_by_role("tab", name="Annotators").click()
    dark.get_by_role("tab", name="Map of the graph").click()
    coloured(dark, studio)
    shot(dark, "dark")
    dark.context.close()

    phone = open_page(browser, studio, viewport=PHONE, has_touch=True, is_mobile=True, device_scale_factor=1.5)
    ready(phone)
    coloured(phone, studio)
    shot(phone, "phone")
    phone.locator(".panel.pictures").scroll_into_view_if_needed()
    phone.evaluate("() => scrollTo(0, document.querySelector('.panel.pictures').offsetTop - 100)")
    phone.wait_for_timeout(500)
    shot(phone, "phone-around")
    phone.context.close()

    while not studio.get("/status")["done"]:
        studio.answer(1)
    closing = open_page(browser, studio)
    ready(closing)
    closing.get_by_role("heading", name="The budget is spent").wait_for()
    closing.locator(".closing .reasons").wait_for()
    coloured(closing, studio)
    shot(closing, "done")
    closing.context.close()


def asked(studio: Studio, page: Page) -> int:
    """The node that the page asks about."""
    name = studio.get("/status")["open"]["me"][0]
    found: int = next(node["node"] for node in studio.get(f"/nodes?q={name}")["nodes"] if node["name"] == name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        rows = write_letters(folder / "letters.csv")
        studio = Studio(folder, [row["topic"] for row in rows])
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            take(browser, studio, folder / "letters.csv", out)
        finally:
            browser.close()
            studio.close()
    for path in sorted(out.glob("studio-*.png")):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
