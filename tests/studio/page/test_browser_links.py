"""Links of people's own in the page: given and taken away by the owner, what each shows; in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.studio.browsing import expect, studio, visit
from tests.studio.jobs import job

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.long

OWNER = "the-owners-token"


def give(page: Page, name: str, role: str) -> str:
    """A link from the panel."""
    page.locator("#person-name").fill(name)
    page.get_by_label("May do").select_option(role)
    page.get_by_role("button", name="Give a link").click()
    found = page.get_by_role("textbox", name=f"The link of {name}")
    found.wait_for()
    return found.input_value()


def test_the_owner_gives_links_each_shows_what_its_person_may_and_one_is_taken_away(
    browser: Browser, tmp_path: Path
) -> None:
    session = job(tmp_path, classes=["a", "b"])
    session.set_guideline("in doubt, skip")
    session.describe_class("a", "the first kind")
    session.close()
    with studio(tmp_path, "job.nodewise", "--token", OWNER) as server:
        with visit(browser, f"{server.address}/?token={OWNER}") as seen:
            page = seen.page
            seen.ready()
            page.locator("#guidelines", has_text="in doubt, skip").get_by_text("the first kind").wait_for()
            page.get_by_role("tab", name="Annotators").click()
            page.get_by_role("button", name="People and links").click()
            links = {role: give(page, f"an {role}", role) for role in ("annotator", "reviewer", "onlooker")}
            page.locator(".links li", has_text="an onlooker").wait_for()
            with visit(browser, links["annotator"], annotator=None, allowed=["401", "WebSocket"]) as theirs:
                theirs.label("1")
                assert "token" not in theirs.page.url, "the address forgets it"
                expect(theirs.page.locator("#name-button")).to_have_text("an annotator")
                page.keyboard.press("Escape")
                page.get_by_role("button", name="Each one's work").click()
                page.get_by_label("To", exact=True).fill("an annotator")
                page.get_by_label("At most").fill("2")
                page.get_by_role("button", name="Give them").click()
                page.get_by_text("rows of 59 found were given to an annotator").wait_for()
                page.get_by_role("button", name="Free the rows of an annotator").click()
                page.get_by_text("3 rows of an annotator can be asked of others now").wait_for()
                page.keyboard.press("Escape")
                page.get_by_role("button", name="People and links").click()
                theirs.page.locator("#name-button").click()
                assert theirs.page.locator("dialog").count() == 0, "the name is the link's"
                page.get_by_role("button", name="Take the link of an annotator away").click()
                page.get_by_role("button", name="Yes, take it away").click()
                page.get_by_text("an annotator has no link any more").wait_for()
                theirs.page.locator("#connection", has_text="Connection lost").wait_for()
                theirs.page.keyboard.press("1")
                theirs.page.locator("#telling", has_text="your link does not work").wait_for()
        key = {"Authorization": f"Bearer {OWNER}"}
        told = httpx.get(f"{server.address}/api/v1/status", headers=key, timeout=120).json()
        assert told["annotators"] == {"an annotator": 1}
        for role in ("reviewer", "onlooker"):
            with visit(browser, links[role], annotator=None) as seen:
                seen.page.get_by_role("heading", name="No row is given to you").wait_for()
                assert seen.page.get_by_role("button", name="Give me a row").count() == 0
                seen.page.keyboard.press("l")
                seen.page.locator(".table-row[data-node]").first.wait_for()
                expect(seen.page.locator(".table-bulk")).to_be_visible(visible=role == "reviewer")
                assert seen.page.locator(".reading-choices").count() == 0, "neither labels"
                seen.page.keyboard.press("Escape")
                expect(seen.page.locator("#export-button")).to_be_visible(visible=role == "reviewer")
                seen.page.get_by_role("tab", name="Map of the graph").click()
                seen.page.locator(".map .note", has_text="rows").wait_for()
                expect(seen.page.get_by_role("button", name="Choose rows by drawing around them")).to_have_count(0)
                seen.page.keyboard.press("o")
                expect(seen.page.locator(".chosen-nodes")).to_be_hidden()
                seen.page.keyboard.press("l")
                seen.page.locator(".table-row[data-node] .link").first.click()
                seen.page.locator(".table-reading").get_by_role("button", name="Similar rows").click()
                seen.page.locator(".similar-list li").first.wait_for()
                expect(seen.page.locator(".similar-dialog input[type=checkbox]")).to_have_count(1)  # also labelled ones
                expect(seen.page.locator(".similar-bar button")).to_have_count(0)
        with visit(browser, f"{server.address}/?token={OWNER}") as seen:
            seen.ready()
            seen.page.goto(f"{server.address}/s/job#look=1")
            seen.page.reload()
            seen.page.get_by_role("heading", name="No row is given to you").wait_for()
            seen.page.get_by_role("button", name="Give me a row").click()
            seen.ready()
        events = httpx.get(f"{server.address}/api/v1/events?asks=true", headers=key, timeout=120).json()["events"]
        assert {each["annotator"] for each in events if each["kind"] == "ask"} == {"me", "an annotator"}
