"""What models say, in a real Chromium: brought, shown on the card, accepted by a key, withdrawn; never on the audit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, expect, make, notes, visit
from tests.studio.page.test_browser_axe import AXE, violations
from tests.studio.page.test_browser_rows import table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.long
SHOTS = os.environ.get("NODEWISE_SHOTS")
"""A folder for pictures of the panel, for people to look at."""


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def answers(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """What a model says of the rows: right, but for one that names no class."""
    said = [{"who": row["id"], "answer": row["kind"], "sureness": "0.8"} for row in rows]
    said[3]["answer"] = "cannot say"
    return said


def test_suggestions_come_are_accepted_by_a_key_and_go(browser: Browser, server: Server) -> None:
    rows = notes(60)
    make(server, "job", rows, classes="thing, plant", id="id", budget=20, audit=0)
    with visit(browser, f"{server.address}/s/job", annotator="ada") as seen:
        page = seen.page
        seen.ready()
        expect(page.locator("#voices")).to_be_hidden()
        page.click("#models-button")
        panel = page.locator("#models-dialog")
        panel.get_by_text("No model has said anything yet").wait_for()
        assert "This page sends no row to anybody" in panel.inner_text()
        panel.locator("#model-file").set_input_files({**table(answers(rows)), "name": "helper.csv"})
        panel.get_by_text("suggestions need one that names the node").wait_for()
        assert panel.locator("#model-name").input_value() == "helper"
        panel.locator("#model-node").select_option("who")
        panel.locator("#model-label").select_option("answer")
        panel.get_by_role("button", name="Bring 59 answers").wait_for()
        panel.locator("#model-confidence").select_option("sureness")
        panel.get_by_text("1 answer names no class of this job").wait_for()
        shot(page, "models-preview")
        assert server.get("/suggestions?session=job")["models"] == []
        panel.get_by_role("button", name="Bring 59 answers").click()
        panel.get_by_text("59 answers of helper were taken").wait_for()
        panel.get_by_role("region", name="helper").get_by_text("It says something of 59 rows").wait_for()
        shot(page, "models-list")
        page.keyboard.press("Escape")
        page.locator("#voices").get_by_text("80 % sure").wait_for()
        shot(page, "models-card")
        seen.ready()
        seen.label("m")
        (told,) = server.get("/export/json?session=job")["labels"]
        assert told["label"] == rows[told["node"]]["kind"]
        seen.ready()
        page.keyboard.press("x")
        page.keyboard.press("m")  # in focus it is hidden, and nothing hidden is accepted
        page.get_by_text("what the model says is hidden while you focus", exact=False).wait_for()
        assert server.get("/status?session=job")["told"] == 1
        page.keyboard.press("x")
        page.click("#models-button")
        panel.get_by_text("100 % right").first.wait_for()
        panel.get_by_role("button", name="Withdraw …").click()
        panel.get_by_text("59 answers of helper would count no longer").wait_for()
        assert len(server.get("/suggestions?session=job")["models"]) == 1
        panel.get_by_role("button", name="Withdraw helper").click()
        panel.get_by_text("helper was withdrawn").wait_for()
        assert server.get("/suggestions?session=job")["models"] == []
        panel.get_by_role("button", name="Undo").click()
        panel.get_by_text("It says something of 59 rows").wait_for()
        assert server.get("/suggestions?session=job")["models"][0]["answers"] == 59


def test_a_job_begins_with_a_column_of_answers(browser: Browser, server: Server) -> None:
    rows = [{**row, "helper": row["kind"], "sureness": "0.8"} for row in notes(60)]
    with visit(browser, f"{server.address}/new", annotator="ada") as seen:
        page = seen.page
        page.set_input_files("#nodes-file", {**table(rows), "name": "notes.csv"})
        page.fill("#classes", "thing, plant")
        page.locator("details.more summary").click()
        page.select_option("#suggestions", "helper")
        page.select_option("#confidence", "sureness")
        page.fill("#audit", "0")
        shot(page, "models-new")
        page.click("#create")
        page.wait_for_url("**/s/notes")
        page.locator("#voices").get_by_text("80 % sure").wait_for()
        seen.ready()
        (model,) = server.get("/suggestions?session=notes")["models"]
        assert (model["name"], model["answers"]) == ("helper", 60)


def test_nobody_is_swayed_on_the_audit(browser: Browser, server: Server) -> None:
    rows = notes(60)
    make(server, "job", rows, classes="thing, plant", id="id", budget=20, audit=20)
    labels = [{"node": node, "label": row["kind"]} for node, row in enumerate(rows)]
    server.post("/suggestions", session="job", name="helper", labels=labels)
    with visit(browser, f"{server.address}/s/job", annotator="ada") as seen:
        kinds = set()
        for _ in range(8):
            seen.ready()
            audited = seen.page.locator(".pill.audit").count() == 1
            kinds.add(audited)
            expect(seen.page.locator("#voices")).to_be_visible(visible=not audited)
            before = seen.title()
            if audited:
                seen.page.keyboard.press("m")  # were it taken, the next label would be the next row's
            assert seen.label("1") == before
        assert True in kinds


@pytest.mark.skipif(not AXE.exists(), reason="needs what `make page` installs")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_in_the_panel(browser: Browser, server: Server, width: int, theme: str) -> None:
    rows = notes(60)
    make(server, "job", rows, classes="thing, plant", audit=0)
    labels = [{"node": node, "label": row["kind"]} for node, row in enumerate(rows)]
    server.post("/suggestions", session="job", name="helper", labels=labels)
    server.post("/tell", session="job", annotator="bob", labels=labels[:6])
    phone = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": theme, "bypass_csp": True, **phone}
    with visit(browser, f"{server.address}/s/job", **options) as seen:
        seen.ready()
        assert violations(seen.page) == []
        seen.page.click("#models-button")
        seen.page.get_by_text("Class by class").click()
        seen.page.locator("#model-file").set_input_files(table(answers(rows)))
        seen.page.get_by_text("suggestions need one that names the node").wait_for()
        assert violations(seen.page) == []
        assert seen.overflow() <= 0
        shot(seen.page, f"models-{width}-{theme}")
