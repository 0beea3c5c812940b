"""No key does harm: a choice is a choice, a button acts, and nothing hidden is accepted; in a real Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def kinds(server: Server) -> list[str]:
    """What has been done in the session, questions left out, the oldest first."""
    return [event["kind"] for event in server.get("/events?session=job")["events"]][::-1]


def test_an_arrow_in_the_list_of_classes_merges_nothing_before_the_button_is_pressed(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant, tree")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.click("#classes-button")
        choice, button = page.get_by_label("Merge tree into"), page.get_by_role("button", name="Merge tree", exact=True)
        choice.focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        assert choice.input_value() == "plant"
        server.post("/tell", session="job", annotator="bob", labels=[{"node": 3, "label": "plant"}])
        page.locator(".class-list .figure", has_text="1").wait_for()
        assert server.get("/status?session=job")["classes"] == ["thing", "plant", "tree"]
        assert choice.input_value() == "plant", "a label of somebody else leaves the choice as it is"
        with page.expect_response(re.compile("/classes/merge$")):
            button.click()
        assert server.get("/status?session=job")["classes"] == ["thing", "plant"]


def test_an_arrow_settles_no_disagreement_before_the_button_is_pressed(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant, tree, stone", redundancy=2)
    for who, label in (("ada", "thing"), ("bob", "plant")):
        server.post("/tell", session="job", annotator=who, labels=[{"node": 3, "label": label}])
    with visit(browser, f"{server.address}/s/job", annotator="eve") as seen:
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Annotators").click()
        page.get_by_role("button", name="Settle them").click()
        choice = page.get_by_label(re.compile("Another class for"))
        choice.focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        assert choice.input_value() == "stone"
        with page.expect_response(re.compile("/status")):  # the page hears of it, and draws what it shows anew
            server.post("/tell", session="job", annotator="bob", labels=[{"node": 4, "label": "plant"}])
        expect(choice).to_have_value("stone")
        assert "settle" not in kinds(server)
        page.get_by_role("button", name="Settle it so").click()
        page.get_by_text("settled as stone by eve").wait_for()
        assert server.get("/nodes/3?session=job")["label"] == "stone"


def test_escape_leaves_settings_and_classes_as_they_were(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        for field, typed in (("#set-budget", "25"), ("#set-redundancy", "2"), ("#set-guideline", "in doubt, skip")):
            page.click("#settings-button")
            page.fill(field, typed)
            page.keyboard.press("Escape")
            page.locator("dialog").wait_for(state="detached")
        page.click("#settings-button")
        page.locator("#set-budget").focus()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        for field in ("Name of plant", "What belongs to plant?", "Guideline of the job"):
            page.click("#classes-button")
            page.get_by_role("textbox", name=field).fill("something else")
            page.keyboard.press("Escape")
            page.locator("dialog").wait_for(state="detached")
        seen.label("1")  # whatever was sent before is there now
        assert kinds(server) == ["tell"]


def test_focus_mode_accepts_nothing_that_it_hides_and_can_be_left(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        for key in ("1", "2"):
            seen.label(key)
        page.locator("#insight button", has_text="Accept").wait_for()
        page.keyboard.press("x")
        page.locator("#insight").wait_for(state="hidden")
        page.keyboard.press("Enter")
        page.locator("#telling", has_text="The prediction is hidden").wait_for()
        page.get_by_role("button", name="Leave focus").click()
        page.locator("#insight").wait_for()
        assert kinds(server) == ["tell", "tell"]
        page.keyboard.press("x")
        page.locator("#insight").wait_for(state="hidden")
        page.keyboard.press("Escape")
        page.locator("#insight").wait_for()
        expect(page.get_by_role("button", name="Leave focus")).to_have_count(0)
        with page.expect_response(re.compile("/tell$")):
            page.keyboard.press("Enter")  # what is shown can be accepted


@pytest.mark.parametrize("where", ["at 200 % zoom", "in focus mode"])
def test_a_word_that_is_searched_for_runs_no_command(browser: Browser, server: Server, where: str) -> None:
    make(server, "job", notes(), classes="thing, plant")
    size = {"width": 640, "height": 400} if where == "at 200 % zoom" else {"width": 1280, "height": 800}
    with visit(browser, f"{server.address}/s/job", viewport=size) as seen:
        page = seen.page
        seen.ready()
        if where == "in focus mode":
            page.keyboard.press("x")
        before = seen.title()
        page.keyboard.press("/")
        page.keyboard.type("moss 1 x")
        expect(page.locator("#search-field")).to_have_value("moss 1 x")
        page.fill("#search-field", "number 24")
        page.locator("#search-list mark", has_text="number 24").wait_for()
        page.keyboard.press("Enter")
        page.locator("#card h1", has_text="Note 24").wait_for()
        assert kinds(server) == [] and before != "Note 24"
        page.locator("#search-field").wait_for(state="hidden")


def test_what_a_dialog_could_not_save_is_said_in_it(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job", allowed=["400", "409"]) as seen:
        page = seen.page
        seen.ready()
        page.click("#classes-button")
        name = page.get_by_role("textbox", name="Name of plant")
        name.fill("thing")
        name.press("Tab")
        page.get_by_role("dialog").get_by_role("alert").filter(has_text="Not saved").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        assert server.get("/status?session=job")["classes"] == ["thing", "plant"]


def test_the_likeliest_class_comes_first_where_one_wants_it_and_never_in_an_audit(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=4, budget=20)
    for node in range(8):
        label = "plant" if node % 2 else "thing"
        server.post("/tell", session="job", annotator="bob", labels=[{"node": node, "label": label}])
    with visit(browser, f"{server.address}/s/job", annotator="ada") as seen:
        page = seen.page
        seen.ready()
        page.keyboard.press("c")
        box = page.get_by_label("Show the likeliest class first")
        assert not box.is_checked(), "unless one chooses otherwise the order is fixed"
        box.check()
        page.keyboard.press("Escape")
        orders = set()
        for _ in range(8):
            seen.ready()
            node = server.post("/ask", session="job", annotator="ada")["queries"][0]
            likely = [name for name, _ in node["card"]["predicted"] or []]
            order = ["thing", "plant"] if node["audit"] else likely
            expect(page.locator(".classes button.class .name")).to_have_text(order)
            orders.add((node["audit"], tuple(order)))
            with page.expect_response(re.compile("/ask$")):
                page.keyboard.press("s")
        assert {audit for audit, _ in orders} == {True, False}
        page.reload()
        seen.ready()
        page.keyboard.press("c")
        expect(page.get_by_label("Show the likeliest class first")).to_be_checked()  # the browser keeps it
