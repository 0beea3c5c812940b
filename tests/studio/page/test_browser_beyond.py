"""Enter, focus, the table of all nodes, bulk answers, classes and notes, in a real Chromium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.studio.browsing import Server, expect, make, notes, visit
from tests.studio.jobs import job

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_enter_accepts_the_prediction_but_never_on_the_audit(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=1)
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        for _ in range(8):
            seen.ready()
            audit = page.locator("#card .pill.audit").count() == 1
            before, told = seen.title(), server.get("/status?session=job")["told"]
            if audit:
                assert page.get_by_role("button", name="Accept").count() == 0
                page.keyboard.press("Enter")  # were it taken, the next label would be the next row's
            if audit or told < 2:
                assert seen.label("1" if told % 2 else "2") == before
                continue
            page.locator("#insight").get_by_role("button", name="Accept").wait_for()
            expected = page.locator("#insight .bars .name").first.inner_text()
            with page.expect_response(re.compile("/tell$")) as sent:
                page.keyboard.press("Enter")
            assert sent.value.request.post_data_json["labels"][0]["label"] == expected
        assert server.get("/status?session=job")["told"] >= 5


def test_focus_shows_the_text_and_the_classes_alone(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        seen.page.keyboard.press("x")
        expect(seen.page.locator(".side")).to_be_hidden()
        expect(seen.page.locator("button.class").first).to_be_visible()
        seen.label("1")
        seen.page.keyboard.press("x")
        expect(seen.page.locator(".side")).to_be_visible()


def test_the_table_filters_sorts_labels_a_selection_and_undoes_it_as_one(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.label("1")
        seen.label("2")
        page.keyboard.press("l")
        page.locator(".node-table", has_text="60 rows").wait_for()
        page.get_by_label("Search in the table").fill("river")
        page.locator(".node-table", has_text="30 rows").wait_for()
        for box in page.locator(".table-body input[type=checkbox]").all()[:4]:
            box.check()
        page.get_by_role("button", name="Label them").click()
        page.get_by_label("As which class?").select_option("plant")
        page.get_by_role("button", name=re.compile(r"^Label \d+ rows$")).click()
        page.locator(".action-dialog", has_text="labelled plant").get_by_role("button", name="Close").last.click()
        now = server.get("/status?session=job")
        assert now["bulk"] >= 3 and now["told"] == 2, "bulk answers spend no budget"
        page.get_by_label("Which rows").select_option("labelled")
        page.locator(".table-row", has_text="(bulk)").first.wait_for()
        page.keyboard.press("Escape")
        seen.ready()
        page.keyboard.press("u")
        page.locator("#telling", has_text="Undone").wait_for()
        assert server.get("/status?session=job")["bulk"] == 0


def test_a_hundred_thousand_rows_are_a_window(tmp_path: Path) -> None:
    import numpy as np

    from nodewise.graph import Graph
    from nodewise.session import Session
    from tests.studio.serving import running

    size = 100_000
    graph = Graph.build(
        np.stack([np.arange(size), (np.arange(size) + 1) % size]), size, x=np.ones((size, 2), np.float32)
    )
    with running(tmp_path, Session.create(tmp_path / "job.nodewise", graph, budget=5, classes=["a", "b"])) as client:
        page = client.look("/table", sort="node", descending=True, offset=50_000, limit=20)
        assert page["total"] == size and [row["node"] for row in page["rows"]] == list(range(49_999, 49_979, -1))


def test_classes_are_renamed_merged_and_described(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant, tree")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.label("3")
        page.click("#classes-button")
        page.get_by_label("Name of thing").fill("object")
        page.get_by_label("Name of thing").press("Tab")
        page.get_by_label("What belongs to object?").fill("what somebody made")
        with page.expect_response(re.compile("/classes/describe$")):
            page.get_by_label("What belongs to object?").press("Tab")
        page.get_by_label("Merge tree into").select_option("plant")
        page.get_by_role("button", name="Merge tree", exact=True).click()
        page.locator(".class-list li").nth(2).wait_for(state="detached")
        page.keyboard.press("Escape")
        now = server.get("/status?session=job")
        assert now["numbers"] == {"object": 0, "plant": 1} and now["balance"] == {"object": 0, "plant": 1}
        assert now["descriptions"] == {"object": "what somebody made"}
        expect(page.locator("button.class").first).to_have_attribute("title", re.compile("what somebody made"))


def test_notes_are_written_to_a_node_for_everybody(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job", annotator="ada") as seen:
        seen.ready()
        seen.page.get_by_text("Add a note").click()
        seen.page.locator(".note-field").fill("see https://example.org/x")
        seen.page.keyboard.press("Enter")
        seen.page.locator(".node-notes li", has_text="ada: see https://example.org/x").wait_for()
        assert seen.page.locator(".node-notes li a").get_attribute("href") == "https://example.org/x"


def test_the_neighbours_too(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.label("1")
        page.keyboard.press("p")
        page.get_by_role("tabpanel", name="History").get_by_role(
            "button", name=re.compile("node|note|Note")
        ).first.click()
        with page.expect_response(re.compile("/bulk$")):
            page.get_by_role("button", name=re.compile("These .* too: thing")).click()
        assert server.get("/status?session=job")["bulk"] >= 3


def test_the_card_says_updating_while_a_trained_classifier_learns_and_shows_its_last_word(
    browser: Browser, server: Server
) -> None:
    session = job(server.folder, classifier="gcn")
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"])
    session.close()
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()

        def still_learning(route: Any) -> None:
            """The studio's own answer, as it is while the classifier learns: that may be over before the page asks."""
            answer = route.fetch()
            told = answer.json()
            told["queries"][0]["card"]["updating"] = True
            route.fulfill(response=answer, json=told)

        page.route("**/api/v1/ask", still_learning)
        page.route("**/api/v1/status?*", lambda route: None)  # what would bring the page up to date is held back
        with page.expect_response(re.compile("/ask$")):  # nothing is on its way when the routes are taken away
            page.keyboard.press("1")
        expect(page.locator("#insight")).to_contain_text("Updating")
        page.unroute("**/api/v1/ask")
        page.unroute("**/api/v1/status?*")
        while server.get("/status?session=job")["updating"]:
            page.wait_for_timeout(100)
        page.reload()
        seen.ready()
        node = server.post("/ask", session="job", annotator="me")["queries"][0]["node"]
        name, chance = server.get(f"/nodes/{node}?session=job")["predicted"][0]
        expect(page.locator("#insight .bars .name").first).to_have_text(name)
        expect(page.locator("#insight .bars .figure").first).to_have_text(f"{100 * chance:.0f} %")


def test_the_map_shows_a_spinner_and_can_be_cancelled(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.route("**/api/v1/map?*", lambda route: None)  # it is never answered
        page.keyboard.press("g")
        page.locator(".map .note .spinner").wait_for()
        page.locator(".map").get_by_role("button", name="Cancel").click()
        page.get_by_text("The map was not drawn").wait_for()
        page.unroute("**/api/v1/map?*")
        page.get_by_role("button", name="Draw it").click()
        page.locator(".map .note", has_text="60 rows").wait_for()
