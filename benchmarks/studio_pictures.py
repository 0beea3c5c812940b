"""The pictures of the studio in docs/images, taken from the real page in a real Chromium.

    pip install playwright
    python benchmarks/studio_pictures.py --out docs/images
    python benchmarks/studio_pictures.py --all --out build/pictures

It starts `nodewise studio`, makes a session of made-up letters (`studio_letters.py`) and answers as somebody who knows
the topics would. It takes the pictures that README or a page of docs/ shows; with ``--all`` every view, light and dark,
on a desktop, on a phone and at 200 % zoom. Those of one view or more are taken again with ``--views table keys``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from studio_letters import write_letters

LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
ZOOMED = {"width": 640, "height": 400}
"""What is left of a laptop's screen at 200 % zoom."""
ROOT = Path(__file__).parents[1]
TOKEN = "the-token-of-the-pictures"
"""With a token people can have links of their own."""


def shown_pictures() -> set[str]:
    """The names of the studio's pictures that README or a page of docs/ shows."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {name for page in pages for name in re.findall(r"images/(studio-[\w-]+\.png)", page.read_text("utf-8"))}


class Studio:
    """The server, and somebody who knows every letter's topic."""

    def __init__(self, folder: Path, topics: list[str]) -> None:
        command = [sys.executable, "-m", "nodewise", "studio", "--port", "0", "--no-browser", "--token", TOKEN]
        self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().split("?")[0].strip().rstrip("/")
        self._client = httpx.Client(
            base_url=f"{self.address}/api/v1", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=300
        )
        self._topics = topics

    def answer(self, count: int, annotator: str = "me") -> None:
        for _ in range(count):
            node = (
                self._client.post("/ask", json={"annotator": annotator}).raise_for_status().json()["queries"][0]["node"]
            )
            self.tell(node, self._topics[node], annotator)

    def tell(self, node: int, label: str, annotator: str, overrule: bool = False) -> None:
        self.post("/tell", annotator=annotator, labels=[{"node": node, "label": label}], overrule=overrule)

    def post(self, path: str, **body: Any) -> Any:
        return self._client.post(path, json=body).raise_for_status().json()

    def asks_audit(self) -> bool:
        """Whether the question that is open is one of the audit."""
        return bool(self.post("/ask", annotator="me")["queries"][0]["audit"])

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
        if not status["updating"]:
            break
        page.wait_for_timeout(200)
    page.locator(".making-report .spinner").wait_for(state="detached")
    page.wait_for_timeout(1500)


def open_page(browser: Browser, studio: Studio, theme: str = "light", path: str = "/", **options: Any) -> Page:
    context = browser.new_context(**{"viewport": LAPTOP, "color_scheme": theme, "reduced_motion": "reduce", **options})
    context.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
    page = context.new_page()
    page.goto(f"{studio.address}{path}?token={TOKEN}")
    return page


SHAPES: dict[str, dict[str, Any]] = {
    "": {"viewport": LAPTOP},
    "-phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 1.5},
    "-zoom": {"viewport": ZOOMED, "device_scale_factor": 2},
}
"""What is added to a picture's name, and the screen that it is taken on."""


class Camera:
    """Takes a picture of every view, light and dark, on a desktop and on a phone.

    Args:
        wanted: the names of the pictures to keep; None keeps all.
        views: the names of the views to keep; None keeps all.
    """

    def __init__(
        self,
        browser: Browser,
        studio: Studio,
        table: Path,
        out: Path,
        wanted: set[str] | None,
        views: list[str] | None,
    ) -> None:
        self._browser, self._studio, self._table, self._out = browser, studio, table, out
        self._wanted, self._views = wanted, views

    def make(self) -> None:
        """The page for a new session, and the session that comes of it."""
        for ending, shape, theme in self._ways():
            page = open_page(self._browser, self._studio, theme, "/new", **shape)
            page.locator("#nodes-file").set_input_files(self._table)
            page.get_by_role("textbox", name="Classes").fill("opening hours, loans, events, computers, building")
            page.get_by_label("Budget").fill("30")
            page.get_by_label("Audit").fill("15")
            page.locator(":focus").blur()
            if not ending:
                page.set_viewport_size({"width": 1100, "height": 1180})
            self._shoot(page, f"new{ending}", theme, full_page=not ending)
            if (ending, theme) == self._ways()[-1][::2]:
                page.get_by_role("button", name="Make the session").click()
                page.wait_for_url("**/s/*")
                ready(page)
            page.context.close()

    def work(self) -> None:
        """Every view of the work page, once there is something to see."""
        self._studio.post("/classes/describe", name="loans", text="borrowing, renewing, fees")
        self._studio.post("/classes/describe", name=None, text="One topic a letter: the one that it begins with.")
        views: dict[str, Callable[[Page], None]] = {
            "work": lambda page: None,
            "around": self._around,
            "list": self._list,
            "map": self._map,
            "look": self._look,
            "similar": self._similar,
            "table": self._table_of_all,
            "filters": self._filters,
            "act": self._act,
            "settle": self._settle,
            "classes": self._classes,
            "rows": lambda page: page.locator("#rows-button").click(),
            "models": lambda page: page.locator("#models-button").click(),
            "settings": self._settings,
            "name": lambda page: page.locator("#name-button").click(),
            "export": lambda page: page.locator("#export-button").click(),
            "history": lambda page: self._panel(page, "History"),
            "annotators": self._annotators,
            "people": self._people,
            "assign": self._assign,
            "keys": self._keys,
            "keys-changed": self._change_keys,
            "focus": self._focus,
        }
        for ending, shape, theme in self._ways():
            for name, view in views.items():
                if not self._wants(f"{name}{ending}", theme):
                    continue
                page = open_page(self._browser, self._studio, theme, **shape)
                ready(page)
                coloured(page, self._studio)
                view(page)
                page.wait_for_timeout(400)
                self._shoot(page, f"{name}{ending}", theme)
                page.context.close()

    def close(self) -> None:
        """What is there when the budget is spent, and the list of jobs."""
        for ending, shape, theme in self._ways():
            page = open_page(self._browser, self._studio, theme, **shape)
            ready(page)
            page.get_by_role("heading", name="The budget is spent").wait_for()
            page.locator(".closing .reasons").wait_for()
            coloured(page, self._studio)
            self._shoot(page, f"done{ending}", theme)
            page.goto(f"{self._studio.address}/new")
            page.locator(".sessions li").first.wait_for()
            self._shoot(page, f"jobs{ending}", theme)
            page.context.close()

    def _ways(self) -> list[tuple[str, dict[str, Any], str]]:
        return [(ending, shape, theme) for theme in ("light", "dark") for ending, shape in SHAPES.items()]

    def _wants(self, name: str, theme: str) -> bool:
        is_view = self._views is None or name.removesuffix("-phone").removesuffix("-zoom") in self._views
        return is_view and (self._wanted is None or _file_name(name, theme) in self._wanted)

    def _shoot(self, page: Page, name: str, theme: str, **options: Any) -> None:
        """Take the picture if it is wanted, with as many colours as it needs and no more."""
        if not self._wants(name, theme):
            return
        page.mouse.move(4, 4)
        path = self._out / _file_name(name, theme)
        page.screenshot(path=path, **options)
        taken = Image.open(path).convert("RGB")
        few = taken.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        few.save(path, optimize=True)

    def _around(self, page: Page) -> None:
        page.evaluate("() => scrollTo(0, document.querySelector('.panel.pictures').offsetTop - 60)")
        page.wait_for_timeout(500)

    def _map(self, page: Page) -> None:
        page.get_by_role("tab", name="History").click()
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .note", has_text="rows").wait_for()
        canvas = page.locator(".map canvas")
        page.get_by_role("button", name="Choose rows by drawing around them").click()
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.45 * box["height"]
        page.mouse.move(x, y)
        page.mouse.down()
        for right, down in ((0.12, -0.2), (0.25, 0.0), (0.16, 0.28), (0.0, 0.02)):
            page.mouse.move(x + right * box["width"], y + down * box["height"], steps=5)
        page.mouse.up()
        page.mouse.move(4, 4)
        page.wait_for_timeout(1200)

    def _look(self, page: Page) -> None:
        page.get_by_role("tab", name="History").click()
        page.locator(".events .link").nth(1).click()
        ready(page)
        page.wait_for_timeout(1200)

    def _table_of_all(self, page: Page) -> None:
        page.locator("#table-button").click()
        page.get_by_label("Which rows").select_option("confident")
        page.locator(".table-row[data-node]").first.wait_for()
        for box in page.locator(".table-body input[type=checkbox]").all()[:3]:
            box.check()
        page.wait_for_timeout(400)

    def _classes(self, page: Page) -> None:
        page.locator("#classes-button").click()
        page.wait_for_timeout(300)

    def _settings(self, page: Page) -> None:
        page.locator("#settings-button").click()
        page.locator(".fact-table").wait_for()

    def _annotators(self, page: Page) -> None:
        page.get_by_role("tab", name="Annotators").click()
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".kappa").scroll_into_view_if_needed()
        page.wait_for_timeout(1200)

    def _settle(self, page: Page) -> None:
        self._panel(page, "Annotators")
        page.locator("#settle-button").click()
        row = page.locator(".table-row[data-node] .link").first
        row.wait_for()
        if page.viewport_size == PHONE:
            row.click()
        page.locator(".reading-votes").first.wait_for(state="attached")

    def _list(self, page: Page) -> None:
        page.get_by_text("As a list").click()
        page.get_by_text("As a list").scroll_into_view_if_needed()

    def _similar(self, page: Page) -> None:
        page.locator("#similar-button").click()
        page.locator(".similar-list li").first.wait_for()

    def _filters(self, page: Page) -> None:
        page.locator("#table-button").click()
        page.get_by_text("More filters").click()
        if (columns := page.get_by_text("Columns (")).is_visible():  # a phone has room for the rows' own names alone
            columns.click()
        page.locator(".table-row[data-node]").first.wait_for()

    def _act(self, page: Page) -> None:
        self._table_of_all(page)
        page.get_by_role("button", name="Confirm predictions").click()
        page.locator(".action-preview").wait_for()

    def _panel(self, page: Page, name: str) -> None:
        page.get_by_role("tab", name=name).click()
        page.get_by_role("tab", name=name).scroll_into_view_if_needed()

    def _people(self, page: Page) -> None:
        self._panel(page, "Annotators")
        page.locator("#people-button").click()
        page.locator("#person-name").fill("Grace")
        page.locator("#person-role").select_option("reviewer")
        page.get_by_role("button", name="Give a link").click()
        page.locator(".new-link input, .people.links li").first.wait_for()

    def _assign(self, page: Page) -> None:
        self._panel(page, "Annotators")
        page.locator("#assign-button").click()
        page.locator("tr[data-person]").first.wait_for()

    def _keys(self, page: Page) -> None:
        page.locator("#help-button").click()

    def _change_keys(self, page: Page) -> None:
        self._keys(page)
        page.locator("#change-keys").click()
        page.locator(".key-list").wait_for()

    def _focus(self, page: Page) -> None:
        page.keyboard.press("x")


def _file_name(name: str, theme: str) -> str:
    return f"studio-{name}{'-dark' if theme == 'dark' else ''}.png"


def answer_all(studio: Studio) -> None:
    """What a person and two others have done by the time that the pictures are taken."""
    studio.answer(18)
    while studio.asks_audit():  # the pictures show a node with a prediction
        studio.answer(1)
    told = studio.told()
    for number, node in enumerate(told[:8]):
        studio.tell(
            node,
            (
                studio.topic(node)
                if number not in (2, 5)
                else "building"
                if studio.topic(node) != "building"
                else "events"
            ),
            "ada",
            overrule=number in (2, 5),
        )
    studio.answer(3, "ada")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--all", action="store_true", help="every view, not only those that a page shows")
    parser.add_argument("--views", nargs="+", help="of these views alone, such as table or new")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    out, wanted = given.out, None if given.all else shown_pictures()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        rows = write_letters(folder / "letters.csv")
        studio = Studio(folder, [row["topic"] for row in rows])
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        camera = Camera(browser, studio, folder / "letters.csv", out, wanted, given.views)
        try:
            camera.make()
            answer_all(studio)
            camera.work()
            while not studio.get("/status")["done"]:
                studio.answer(1)
            camera.close()
        finally:
            browser.close()
            studio.close()
    taken = sorted(out.glob("studio-*.png"))
    print(f"{len(taken)} pictures, {sum(path.stat().st_size for path in taken) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
