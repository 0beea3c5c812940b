"""What others do meanwhile takes nothing from under somebody's hands, and late answers lose nothing; in Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.studio.browsing import Server, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


def tell(server: Server, node: int, label: str, who: str = "bob") -> None:
    server.post("/tell", session="job", annotator=who, labels=[{"node": node, "label": label}])


def has_focus(page: Page, part: Any) -> bool:
    """Whether the very element that was there before has the focus still."""
    found: bool = page.evaluate("part => part.isConnected && part === document.activeElement", part)
    return found


def test_a_label_of_somebody_else_does_not_leave_the_table_empty(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        rows = "**/api/v1/table?*"
        page.route(rows, lambda route: None)  # its answer is late
        with page.expect_request(rows):
            page.keyboard.press("l")
        with page.expect_request(rows):
            tell(server, 3, "plant")
        page.unroute(rows)  # now it comes
        page.locator(".table-row[data-node='3']", has_text="plant").wait_for()


def test_a_table_that_becomes_lower_or_higher_keeps_its_lines(browser: Browser, server: Server) -> None:
    """As it does when rows are chosen, since what can be done with them then stands above it."""
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job#view=table") as seen:
        page, lines = seen.page, seen.page.locator(".table-row[data-node]")
        box = page.locator(".table-row[data-node='4'] input")
        box.focus()
        line, many = box.element_handle(), lines.count()
        for node, height in ((8, 300), (9, 900)):
            page.set_viewport_size({"width": 1280, "height": height})
            tell(server, node, "plant")
            page.locator(f".table-row[data-node='{node}']:not(.unlabelled)").wait_for()
            expect(lines).not_to_have_count(many)
            many = lines.count()
            assert has_focus(page, line)
            named = [int(one.get_attribute("data-node") or -1) for one in lines.all()]
            assert named == sorted(named) and len(set(named)) == len(named)


def test_rows_buttons_and_boxes_stay_where_they_are_while_others_label(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job#view=table") as seen:
        page = seen.page
        box = page.locator(".table-row[data-node='4'] input")
        box.check()
        button = page.get_by_role("button", name="Label them").element_handle()
        box.focus()
        line = box.element_handle()
        tell(server, 4, "thing")
        page.locator(".table-row[data-node='4']", has_text="thing").wait_for()
        assert has_focus(page, line)
        assert page.evaluate("part => part.isConnected", button)
        expect(box).to_be_checked()
        page.get_by_label("Which rows").select_option("labelled")
        page.get_by_text("More filters").click()
        noted = page.get_by_label("with a note")
        noted.focus()
        line = noted.element_handle()
        page.keyboard.press("Space")
        page.locator(".table-tools [role=status]", has_text=re.compile("^0 rows$")).wait_for()
        assert has_focus(page, line)


def test_a_press_on_undo_counts_though_somebody_labels_before_the_finger_is_up(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.label("1")
        page.locator("#telling").get_by_role("button", name="Undo").hover()
        page.mouse.down()
        with page.expect_response(re.compile("/status")):
            tell(server, 40, "plant")
        page.locator("#view-progress .balance li", has_text="plant").filter(has_text="1").wait_for()
        page.mouse.up()
        page.locator("#telling", has_text="Undone").wait_for()
        assert server.get("/status?session=job")["annotators"].get("me", 0) == 0


def test_a_budget_that_is_typed_stays_while_others_work(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", budget=2)
    for node in range(2):
        tell(server, node, "thing")
    with visit(browser, f"{server.address}/s/job", allowed=["409"]) as seen:
        page = seen.page
        page.get_by_role("heading", name="The budget is spent").wait_for()
        page.get_by_label("raise the budget").fill("6")
        page.keyboard.press("Tab")
        button = page.get_by_role("button", name="Go on", exact=True)
        expect(button).to_be_focused()
        tell(server, 40, "plant")
        page.locator("#view-progress .balance li", has_text="plant").filter(has_text="1").wait_for()
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        page.locator("#telling", has_text="The budget is 6 now").wait_for()
        assert server.get("/status?session=job")["budget"] == 6


def test_enter_in_the_search_takes_no_row_of_words_that_were_typed_over(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.keyboard.press("/")
        page.keyboard.type("number 2")
        page.locator("#search-list mark", has_text="number 2").first.wait_for()
        page.keyboard.type("4")
        page.keyboard.press("Enter")
        page.locator("#card h1", has_text=re.compile("^Note 24$")).wait_for()


def test_an_answer_from_before_a_class_was_added_takes_neither_it_nor_the_focus_away(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        late = []
        page.route(re.compile("/api/v1/status"), lambda route: late.append((route, route.fetch())), times=1)
        with page.expect_request(re.compile("/api/v1/status")):
            server.post("/notes", session="job", annotator="somebody", node=3, text="look")
        while not late:
            page.wait_for_timeout(50)  # the studio has answered, the page has not heard it
        page.keyboard.press("n")
        page.locator("#class-name").fill("music")
        page.keyboard.press("Enter")
        music = page.locator("button.class[data-label=music]")
        expect(music).to_be_focused()
        route, answer = late[0]
        with page.expect_response(re.compile("/api/v1/status")):
            route.fulfill(response=answer)
        page.wait_for_timeout(500)
        expect(music).to_be_focused()
        seen.ready()
        with page.expect_response(re.compile("/tell$")) as told:
            page.keyboard.press("Enter")
        assert told.value.request.post_data_json["labels"][0]["label"] == "music"
