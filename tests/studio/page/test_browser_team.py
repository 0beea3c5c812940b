"""The team's desk in a real Chromium: rows that are freed by the owner and by time, how right each person is."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
from tests.session.jobs import answer_when_asked
from tests.studio.browsing import Server, expect, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def make_job(server: Server, **options: Any) -> Session:
    graph = knn_from_table(write_csv(server.folder / "notes.csv", notes()), 5, text="text", label="", name="id")
    return Session.create(server.folder / "job.nodewise", graph, classes=["thing", "plant"], **options)


def test_a_row_is_given_to_the_next_person_once_the_owner_frees_it(browser: Browser, server: Server) -> None:
    with make_job(server, budget=1) as session:
        node = session.ask(annotator="ada").node
    with visit(browser, f"{server.address}/s/job", annotator="bo", allowed=["409"]) as theirs:
        theirs.page.get_by_role("heading", name="Nothing to ask at the moment").wait_for()
        expect(theirs.page.locator("#card")).to_contain_text("out with ada")
        with visit(browser, f"{server.address}/s/job#look=1", annotator="olga") as seen:
            page = seen.page
            page.get_by_role("tab", name="Annotators").click()
            page.get_by_role("button", name="Each one's work").click()
            page.get_by_role("button", name="Free the rows of ada").click()
            page.get_by_text("1 row of ada can be asked of others now.").wait_for()
        theirs.ready()
        expect(theirs.page.locator("#card h1")).to_have_text(f"Note {node}")
        with theirs.page.expect_response(re.compile("/tell$")):
            theirs.page.keyboard.press("1")
        theirs.page.get_by_role("heading", name="The budget is spent").wait_for()
    assert server.get("/status?session=job")["annotators"] == {"bo": 1}


@pytest.mark.parametrize("waited", [3500, 3700])
def test_a_row_is_given_to_the_next_person_once_its_time_is_over(browser: Browser, server: Server, waited: int) -> None:
    """An hour by default. The question was put that long ago by the clock of the session that asked."""
    began = time.time()
    with make_job(server, budget=1, clock=lambda: began - waited) as session:
        node = session.ask(annotator="ada").node
    with visit(browser, f"{server.address}/s/job", annotator="bo", allowed=["409"]) as seen:
        if waited < 3600:
            seen.page.get_by_role("heading", name="Nothing to ask at the moment").wait_for()
        else:
            seen.ready()
            expect(seen.page.locator("#card h1")).to_have_text(f"Note {node}")


def test_how_right_a_person_is_on_known_rows_is_told_to_the_owner(browser: Browser, server: Server) -> None:
    with make_job(server, budget=20, control=20) as session:
        truth = {node: "plant" if node % 2 else "thing" for node in range(40, 52)}
        session.set_known(truth, "olga")
        answer_when_asked(session, "bo", {**truth, 40: "plant", 41: "thing", 42: "plant"})
        answer_when_asked(session, "ada", {node: truth[node] for node in range(44, 50)})
    with visit(browser, f"{server.address}/s/job#look=1", annotator="olga") as seen:
        page = seen.page
        page.get_by_role("tab", name="Annotators").click()
        page.get_by_role("button", name="Each one's work").click()
        cells = page.locator("td[data-title='Right where known']")
        row = page.locator("tr[data-person=bo]").locator(cells)
        expect(row).to_have_text(re.compile(r"^75 % of 12 \(\d+ % to \d+ %\)$"))
        expect(page.locator("tr[data-person=ada]").locator(cells)).to_have_text(re.compile(r"^100 % of 6 \("))
