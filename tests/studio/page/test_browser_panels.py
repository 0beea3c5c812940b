"""Panels alone, in a real Chromium: what they show follows from what they are given, what is pressed is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
from tests.studio.browsing import Server, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def make_job(server: Server, classes: list[str], **settings: Any) -> None:
    rows = [{"text": row["text"]} for row in notes()]  # they have no names
    graph = knn_from_table(write_csv(server.folder / "notes.csv", rows), 5, text="text", label="")
    Session.create(server.folder / "job.nodewise", graph, budget=20, classes=classes, **settings).close()


def test_a_panel_is_drawn_from_its_arguments_and_reports_by_what_it_is_given(browser: Browser, server: Server) -> None:
    """No store, no flow and no answer of the studio: made-up people who disagree on a row."""
    status = {
        "annotators": {"Ada": 3, "Bob": 1},
        "open": {"Bob": ["7"]},
        "classes": ["plant", "thing"],
        "agreement": 0.5,
        "kappa": None,
        "disagreements": {"7": {"Ada": "plant", "Bob": "thing"}},
        "named": False,
    }
    given = {"status": status, "me": "Ada", "role": "reviewer", "isOwner": False, "isJudge": True}
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.evaluate(
            """async (given) => {
                const { annotatorsView } = await import("/page/annotators.js");
                window.heard = [];
                const hear = (name) => (...said) => window.heard.push([name, ...said]);
                const acts = { look: hear("look"), openTable: hear("table"), openAssigning: hear("work") };
                const panel = annotatorsView(acts);
                document.body.replaceChildren(panel.view);
                panel.draw(given);
            }""",
            given,
        )
        panel = page.locator(".annotators")
        assert panel.locator(".people li").all_inner_texts() == ["Ada (you)3 labels", "Bob1 label, 1 asked"]
        assert page.locator("#people-button").count() == 0, "links are the owner's"
        panel.get_by_role("button", name="Row 8").click()
        panel.get_by_role("button", name="Settle them").click()
        panel.get_by_role("button", name="Each one's work").click()
        heard = page.evaluate("() => window.heard.map(([name, what]) => [name, what ?? null])")
        assert heard == [["look", 7], ["table", {"filter": "disagreement"}], ["work", None]]


def test_what_the_studio_refuses_is_said_of_rows_and_counts_them_from_1(browser: Browser, server: Server) -> None:
    make_job(server, ["plant", "thing"])
    server.post("/tell", session="job", annotator="somebody", labels=[{"node": 4, "label": "plant"}])
    with visit(browser, f"{server.address}/", allowed=("400",)) as seen:
        page = seen.page
        seen.ready()
        words = "async (said) => (await import('/page/labels.js')).inRows(said)"
        assert page.evaluate(words, "nodes.csv names node '4' and 'a node' of 12 nodes") == (
            "nodes.csv names row 5 and 'a node' of 12 rows"
        )
        page.get_by_role("tab", name="Annotators").click()
        page.locator("#assign-button").click()
        page.locator("#known-row").fill("5")
        page.get_by_role("button", name="Add it").click()
        page.get_by_text("Nothing was changed: row 5 has a label already").wait_for()
        page.locator("#known-row").fill("7")
        page.get_by_role("button", name="Add it").click()
        page.locator(".known-list li", has_text="is plant").wait_for()
        page.get_by_text("1 row with a known answer").wait_for()


def test_one_class_alone_is_no_prediction_and_has_no_figure(browser: Browser, server: Server) -> None:
    make_job(server, ["plant", "thing"])
    server.post("/tell", session="job", annotator="somebody", labels=[{"node": 4, "label": "plant"}])
    with visit(browser, f"{server.address}/") as seen:
        page = seen.page
        seen.ready()
        page.locator("#insight", has_text="plant alone has labels so far, so nothing else can be predicted").wait_for()
        assert "%" not in page.locator("#insight .predicted").inner_text()
        page.locator("#table-button").click()
        page.locator(".table-row .figure", has_text="–").first.wait_for()
        assert "100 %" not in page.locator(".node-table").inner_text()
        server.post("/tell", session="job", annotator="somebody", labels=[{"node": 9, "label": "thing"}])
        page.locator(".table-row .figure", has_text="%").first.wait_for()
        page.keyboard.press("Escape")
        page.locator("#insight .figure", has_text="%").first.wait_for()


def test_a_single_row_is_told_as_one(browser: Browser, server: Server) -> None:
    make_job(server, ["plant", "thing"])
    server.post("/rows/remove", session="job", annotator="me", rows=[3])
    with visit(browser, f"{server.address}/") as seen:
        seen.ready()
        seen.page.get_by_role("tab", name="History").click()
        seen.page.locator(".events .what", has_text="1 row was taken out").wait_for()
