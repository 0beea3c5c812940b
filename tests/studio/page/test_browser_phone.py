"""The page on a phone, at 200 % zoom and with many or long classes, in a real Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.studio.browsing import Server, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
ZOOMED: dict[str, Any] = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
LONG = "something quite long that is a class of its own"


def texts(count: int = 40) -> list[dict[str, str]]:
    """Rows without names or titles."""
    return [{"text": row["text"] + " It goes on for some lines, as texts do." * 8} for row in notes(count)]


def test_jobs_do_not_overlap_on_a_phone(browser: Browser, server: Server) -> None:
    for number in range(5):
        make(server, f"job number {number} of several", notes(20), classes="thing, plant")
    with visit(browser, f"{server.address}/new", **PHONE) as seen:
        seen.page.wait_for_function(
            """() => {
                const rows = [...document.querySelectorAll('li[data-job]')];
                const bottom = (part) => part.getBoundingClientRect().bottom;
                return rows.length === 5 &&
                    rows.every((row) => bottom(row.querySelector('.job-tools')) <= bottom(row) + 1);
            }"""
        )


def test_the_next_question_is_in_sight_and_no_tapped_class_stays_marked(browser: Browser, server: Server) -> None:
    make(server, "job", texts(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job", **PHONE) as seen:
        page = seen.page
        seen.ready()
        page.evaluate("scrollTo(0, 500)")
        plain = page.locator("button.class").nth(1).evaluate("button => getComputedStyle(button).borderColor")
        with page.expect_response(re.compile("/tell$")):
            page.locator("button.class").first.tap()
        seen.ready()
        page.wait_for_function(
            "() => { const { top } = document.querySelector('#card h1').getBoundingClientRect();"
            " return top >= 0 && top < 300; }"
        )
        expect(page.locator("button.class").first).to_have_css("border-color", plain)


def test_the_table_shows_what_it_offers_to_confirm_on_a_phone(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    for _ in range(2):
        for node, kind in ((0, "thing"), (1, "plant")):
            server.post("/tell", session="job", annotator="me", labels=[{"node": node, "label": kind}])
    with visit(browser, f"{server.address}/s/job", **PHONE) as seen:
        page = seen.page
        seen.ready()
        page.click("#table-button")
        rows = page.locator(".table-body .table-row")
        rows.nth(2).filter(has_text=re.compile("thing|plant")).wait_for()
        expect(rows.nth(2).locator(".mark.hollow")).to_be_visible()  # a prediction
        expect(rows.nth(0).locator(".mark:not(.hollow)")).to_be_visible()  # a label
        expect(rows.nth(0).locator(".mark.hollow")).to_be_hidden()


def test_a_wide_table_in_a_dialog_cuts_nothing_else_off_on_a_phone(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    server.post("/tell", session="job", annotator="me", labels=[{"node": 0, "label": "thing"}])
    server.post("/tell", session="job", annotator="ada", labels=[{"node": 1, "label": "plant"}])
    with visit(browser, f"{server.address}/s/job", **PHONE) as seen:
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Annotators").click()
        page.get_by_role("button", name="Each one's work").click()
        page.locator("dialog tr[data-person=ada]").wait_for()
        page.wait_for_function(
            """() => {
                const [dialog, field] = ['dialog[open]', '#assign-to'].map((part) =>
                    document.querySelector(part).getBoundingClientRect());
                return field.width > 0 && field.right <= dialog.right;
            }"""
        )


def test_the_text_is_visible_over_the_classes_at_200_percent(browser: Browser, server: Server) -> None:
    make(server, "job", texts(), classes=f"thing, plant, {LONG}")
    with visit(browser, f"{server.address}/s/job", **ZOOMED) as seen:
        seen.ready()
        seen.page.wait_for_function(  # some lines of the text
            """() => {
                const [dock, text] = ['#choices', '#card .text'].map((part) =>
                    document.querySelector(part).getBoundingClientRect());
                return dock.height < 150 && dock.top - text.top > 60;
            }"""
        )
        assert seen.overflow() <= 0


def test_many_classes_say_that_there_are_more_and_long_names_wrap(browser: Browser, server: Server) -> None:
    make(server, "many", notes(20), classes=", ".join(f"kind {number}" for number in range(60)))
    make(server, "long", notes(20), classes=f"thing, {LONG}")
    with visit(browser, f"{server.address}/s/many") as seen:
        seen.ready()
        field = seen.page.locator(".filter")
        expect(field).to_have_attribute("placeholder", re.compile(r"^Type to choose: \d+ more below$"))
        field.fill("kind 59")
        seen.page.locator(".filter[placeholder='Type to choose']").wait_for()
    with visit(browser, f"{server.address}/s/long", viewport={"width": 1000, "height": 800}) as seen:
        seen.ready()
        name = seen.page.locator("button.class").nth(1).locator(".name")
        assert name.evaluate("element => element.scrollHeight <= element.clientHeight + 1"), "nothing of it is cut"


@pytest.mark.long
def test_back_stays_in_the_studio_and_a_row_has_an_address(browser: Browser, server: Server) -> None:
    make(server, "job", texts(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        asked = seen.title()
        for row in ("21", "22"):
            page.keyboard.press("/")
            with page.expect_response(re.compile(rf"/nodes\?q={row}&")):
                page.fill("#search input", row)
            page.locator("#search li[role=option]").first.wait_for()  # hidden until they are of this search
            page.keyboard.press("Enter")
            page.wait_for_url(f"**/s/job#row={row}")
            seen.ready()
        shown = page.url
        page.go_back()
        page.locator("#card .facts", has_text="Row 21").wait_for()
        seen.ready()
        page.go_back()
        page.locator("#trail").wait_for(state="hidden")
        assert seen.title() == asked and page.url.endswith("/s/job")
    with visit(browser, shown, annotator="bob") as seen:
        seen.page.locator("#card .facts", has_text="Row 22").wait_for()


@pytest.mark.long
def test_numbers_and_words_are_true(browser: Browser, server: Server) -> None:
    rows = [{**row, "kind": row["kind"] if number < 4 else ""} for number, row in enumerate(texts_with_kind())]
    make(server, "job", rows, classes="thing, plant, null", label="kind", audit=3, budget=5)
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        for _ in range(5):
            seen.label("1")
        page.locator(".sum", has_text="that came with the file").wait_for()
        total = sum(server.get("/status?session=job")["balance"].values())
        expect(page.locator(".sum")).to_have_text(re.compile(rf"^{total} labels in all"))
        parts = [int(number) for number in re.findall(r"\d+", page.locator(".sum").inner_text())]
        assert parts[0] == sum(parts[1:]) == total
        page.locator(".report .reasons li").first.wait_for()
        assert "eave-one-out" not in page.locator("#view-progress").inner_text()
        seen.label("3")
        assert server.get("/status?session=job")["balance"]["null"] == 1
        server.post("/classes/merge", session="job", annotator="me", name="null", into="plant")
        page.click("#tab-history")
        page.locator(".events li", has_text="class null was merged into plant").wait_for()


def texts_with_kind() -> list[dict[str, str]]:
    return [{"text": row["text"], "kind": row["kind"]} for row in notes(40)]
