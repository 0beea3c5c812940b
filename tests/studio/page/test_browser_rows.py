"""A job that goes on, in a real Chromium: rows come and go, another job is joined, a backup is opened."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.studio.browsing import Server, expect, make, notes, visit
from tests.studio.page.test_browser_axe import AXE, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
SHOTS = os.environ.get("NODEWISE_SHOTS")
"""A folder for pictures of the panel, for people to look at."""


def table(rows: list[dict[str, str]]) -> dict[str, Any]:
    held = io.StringIO()
    writer = csv.DictWriter(held, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return {"name": "later.csv", "mimeType": "text/csv", "buffer": held.getvalue().encode()}


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def test_a_job_goes_on(browser: Browser, server: Server) -> None:
    """Label, add rows, see them asked and predicted, undo; take rows out; join another job and settle it; go on from a
    backup.
    """
    every = notes(230)
    make(server, "job", every[:200], classes="thing, plant", id="id", budget=30)
    server.post("/tell", session="job", annotator="ada", labels=[{"node": n, "label": "thing"} for n in (0, 2, 4)])
    server.post("/jobs/duplicate", name="job", new_name="theirs")
    server.post("/tell", session="job", annotator="ada", labels=[{"node": n, "label": "plant"} for n in (1, 3, 5)])
    theirs = [{"node": n, "label": "thing"} for n in (1, 8, 10)]
    server.post("/tell", session="theirs", annotator="bob", labels=theirs)
    other = httpx.get(f"{server.address}/api/v1/backup?session=theirs", timeout=120).content
    job = {"name": "theirs.nodewise", "mimeType": "application/octet-stream", "buffer": other}
    with visit(browser, f"{server.address}/s/job", annotator="ada", accept_downloads=True) as seen:
        page = seen.page
        seen.ready()
        seen.label("2" if int(seen.title().split()[-1]) % 2 else "1")
        page.click("#rows-button")
        panel = page.locator("#rows-dialog")
        panel.locator("#add-rows").set_input_files({**table(every[200:]), "buffer": b"name\nnothing\nmore\n"})
        panel.get_by_text("It lacks the column text").wait_for()
        panel.locator("#add-rows").set_input_files(table(every[200:]))
        panel.get_by_role("button", name="Add 30 rows").wait_for()
        shot(page, "rows-preview")
        panel.get_by_role("button", name="Add 30 rows").click()
        panel.get_by_text("30 rows were added").wait_for()
        now = server.get("/status?session=job")
        assert now["nodes"] == 230 and now["told"] == 7
        cards = [server.get(f"/nodes/{node}?session=job")["predicted"][0][0] for node in range(200, 230)]
        assert [label == row["kind"] for label, row in zip(cards, every[200:], strict=True)].count(True) >= 27
        asked = server.post("/ask", session="job", annotator="eve", k=23)["queries"]
        assert any(query["node"] >= 200 for query in asked), "new rows are asked, too"
        with page.expect_download() as downloading:
            panel.locator("#predict-rows").set_input_files(table(every[200:210]))
            panel.get_by_role("button", name="Predict 10 rows").click()
        text = Path(downloading.value.path()).read_text(encoding="utf-8")
        predicted = list(csv.DictReader(io.StringIO(text)))
        assert [row["row"] for row in predicted] == [row["id"] for row in every[200:210]]
        assert [row["predicted"] for row in predicted].count("thing") == 5
        panel.locator("section", has_text="Add rows").get_by_role("button", name="Undo").click()
        panel.get_by_text("Undone: 30 rows were added").wait_for()
        assert server.get("/table?session=job&limit=1")["total"] == 200
        corrected = [{"id": row["id"], "text": "a corrected text"} for row in every[4:6]]
        panel.locator("#change-rows").set_input_files(table(corrected))
        panel.get_by_text("2 of them have labels, which stay").wait_for()
        shot(page, "rows-change")
        panel.get_by_role("button", name="Change 2 rows").click()
        panel.get_by_text("2 rows were changed").wait_for()
        assert server.get("/nodes/4?session=job")["text"] == "a corrected text"
        assert server.get("/status?session=job")["outdated"] == [row["id"] for row in corrected]
        panel.locator("section", has_text="Change rows").get_by_role("button", name="Undo").click()
        panel.get_by_text("Undone: 2 rows were changed").wait_for()
        assert server.get("/nodes/4?session=job")["text"] == every[4]["text"]
        panel.locator("#remove-rows").fill("note 7, note 9")
        panel.get_by_role("button", name="Take 2 rows out").click()
        panel.get_by_text("2 rows were taken out").wait_for()
        assert server.get("/table?session=job&limit=1")["total"] == 198
        panel.locator("section", has_text="Take rows out").get_by_role("button", name="Undo").click()
        panel.get_by_text("Undone: 2 rows were taken out").wait_for()
        panel.locator("#join-job").set_input_files(job)
        panel.get_by_text("People would disagree on 1 row").wait_for()
        shot(page, "rows-join")
        panel.get_by_role("button", name="Take 3 labels over").click()
        panel.get_by_role("button", name="Settle 1 disagreement").click()
        item = page.locator(".reading-votes[data-node='1']")
        item.get_by_role("button", name="as plant").click()
        page.get_by_text("settled as plant by ada").wait_for()
        assert server.get("/status?session=job")["disagreements"] == {}
    with visit(browser, f"{server.address}/new", annotator="ada", allowed=["409"]) as seen:
        page = seen.page
        page.set_input_files("#backup-file", {**job, "buffer": other[:-3000]})
        page.get_by_role("button", name="Open it").click()
        page.locator("[role=alert]", has_text="theirs.nodewise").wait_for()
        page.set_input_files("#backup-file", job)
        expect(page.locator("#backup-name")).to_have_value("theirs (2)")
        shot(page, "backup")
        page.get_by_role("button", name="Open it").click()
        page.wait_for_url("**/s/theirs%20(2)")
        seen.ready()
        assert server.get("/status?session=theirs (2)")["told"] == 6


@pytest.mark.skipif(not AXE.exists(), reason="needs what `make page` installs")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_in_the_panel(browser: Browser, server: Server, width: int, theme: str) -> None:
    make(server, "job", notes(), classes="thing, plant")
    rows = table(notes(70)[60:])
    phone = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": theme, "bypass_csp": True, **phone}
    with visit(browser, f"{server.address}/s/job", **options) as seen:
        seen.ready()
        seen.page.click("#rows-button")
        seen.page.locator("#add-rows").set_input_files(rows)
        seen.page.get_by_role("button", name="Add 10 rows").wait_for()
        shot(seen.page, f"rows-{width}-{theme}")
        assert violations(seen.page) == [] and seen.overflow() <= 0
        seen.page.goto(f"{server.address}/new")
        seen.page.locator("#backup-file").set_input_files({**rows, "name": "job.nodewise"})
        shot(seen.page, f"new-{width}-{theme}")
        assert violations(seen.page) == []
