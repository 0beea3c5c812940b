"""Similar rows, chosen by boxes and labelled together, from the card and from the table; in a real Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


def begun(server: Server, **options: object) -> None:
    make(server, "job", notes(), classes="thing, plant", **options)
    for node, label in ((2, "thing"), (3, "plant"), (8, "thing"), (9, "plant")):
        server.post("/tell", session="job", annotator="me", labels=[{"node": node, "label": label}])


def choose(page: Page, count: int) -> list[int]:
    """Choose the first rows by the keyboard; their numbers."""
    page.locator(".similar-list li").first.wait_for()
    boxes = page.locator(".similar-list input[type=checkbox]")
    for index in range(count):
        boxes.nth(index).focus()
        page.keyboard.press("Space")
    lines = page.locator(".similar-list li")
    return [int(lines.nth(index).get_attribute("data-node") or "") for index in range(count)]


def test_from_the_card_rows_are_labelled_as_one_change_and_one_undo_takes_it_back(
    browser: Browser, server: Server
) -> None:
    begun(server)
    with visit(browser, f"{server.address}/s/job#row=4") as seen:
        page = seen.page
        page.locator("#card", has_text="Looking around").wait_for()
        seen.ready()
        page.keyboard.press("a")
        nodes = choose(page, 4)
        assert all(node % 2 == 1 for node in nodes), "the other plants are the most similar ones"
        assert page.locator(".similar-text").first.inner_text().startswith("The ")
        page.get_by_role("button", name="Label 4 rows …").click()
        page.get_by_role("button", name="Label 4 rows", exact=True).wait_for()
        assert page.get_by_label("As which class?").input_value() == "plant", "the class of the row itself"
        with page.expect_response(re.compile("/table/act$")):
            page.get_by_role("button", name="Label 4 rows", exact=True).click()
        page.locator(".action-dialog", has_text="4 rows labelled plant").wait_for()
        page.locator(".action-effect p", has_text=re.compile("right before|cannot be told")).wait_for()
        assert server.get("/status?session=job")["bulk"] == 4
        page.locator(".action-dialog").get_by_role("button", name="Undo").click()
        page.locator(".action-dialog").wait_for(state="detached")
        assert server.get("/status?session=job")["bulk"] == 0
        assert [event["kind"] for event in server.get("/events?session=job")["events"]][:2] == ["undo", "bulk"]


def test_from_the_table_the_class_is_asked_for_where_the_row_has_none(browser: Browser, server: Server) -> None:
    begun(server)
    with visit(browser, f"{server.address}/s/job#view=table&row=21") as seen:
        page = seen.page
        page.locator(".table-reading").get_by_role("button", name="Similar rows").click()
        page.locator(".similar-list li").first.wait_for()
        page.get_by_label("How many rows").select_option("10")
        page.wait_for_function("() => document.querySelectorAll('.similar-list li').length === 10")
        page.get_by_role("button", name="Choose all shown").click()
        page.get_by_role("button", name="Label 10 rows …").click()
        page.locator(".action-dialog", has_text="Choose a class.").wait_for()
        page.get_by_label("As which class?").select_option("thing")
        button = page.get_by_role("button", name="Label 10 rows", exact=True)
        button.wait_for()
        with page.expect_response(lambda answer: answer.url.endswith("/table/act") and answer.ok):
            button.click()
        page.locator(".action-dialog", has_text="10 rows labelled thing").wait_for()
        assert server.get("/status?session=job")["bulk"] == 10


def test_a_question_of_the_audit_has_no_similar_rows(browser: Browser, server: Server) -> None:
    begun(server, audit=6)
    while not (query := server.post("/ask", session="job", annotator="me", k=1)["queries"][0])["audit"]:
        server.post("/tell", session="job", annotator="me", labels=[{"node": query["node"], "label": "thing"}])
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        page.locator("#card", has_text="Audit: drawn at random").wait_for()
        seen.ready()
        assert page.locator("#similar-button").count() == 0
        page.keyboard.press("a")
        page.locator("#telling", has_text="rows like it are not labelled together").wait_for()
        assert page.locator("dialog").count() == 0


def test_a_second_opinion_sees_no_prediction_of_similar_rows(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", redundancy=2)
    for who in ("ada", "bo"):
        for node, label in ((2, "thing"), (3, "plant"), (8, "thing"), (9, "plant")):
            server.post("/tell", session="job", annotator=who, labels=[{"node": node, "label": label}])
    server.get("/map/colours?session=job")
    server.post("/tell", session="job", annotator="ada", labels=[{"node": 20, "label": "thing"}])
    with visit(browser, f"{server.address}/s/job", annotator="eve") as seen:
        page = seen.page
        seen.ready()
        assert server.post("/ask", session="job", annotator="eve", k=1)["queries"][0]["card"]["hidden"]
        page.keyboard.press("a")
        page.locator(".similar-list li").first.wait_for()
        assert page.locator(".similar-dialog", has_text="No prediction is shown here").count() == 1
        assert "predicted" not in page.locator(".similar-list").inner_text()


def test_progress_says_how_many_rows_are_unlike_all_labelled_ones_and_leads_to_them(
    browser: Browser, server: Server
) -> None:
    odd = [
        {"id": f"odd {number}", "title": f"Odd {number}", "text": f"Sonata opus violin quartet {number}", "kind": ""}
        for number in range(4)
    ]
    make(server, "job", notes() + odd, classes="thing, plant", budget=40)
    for node in range(24):
        label = "plant" if node % 2 else "thing"
        server.post("/tell", session="job", annotator="me", labels=[{"node": node, "label": label}])
    count = server.get("/report?session=job")["unlike"]
    assert count > 0
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        line = page.locator("#view-progress .unlike")
        line.wait_for()
        assert re.match(rf"{count} rows? stands? out as unlike all labelled rows", line.inner_text())
        line.get_by_role("button", name="Look at them").click()
        page.locator(".table-row[data-node]").first.wait_for()
        assert page.get_by_label("Which rows").input_value() == "unlike"
        page.locator(".table-tools", has_text=f"{count} row").wait_for()
        assert "Odd" in page.locator(".table-row[data-node]").first.inner_text()
