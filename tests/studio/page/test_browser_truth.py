"""Numbers that are true, in a real Chromium: what one class alone tells, what bulk labels did, what questions found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
from tests.studio.browsing import Server, expect, make, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIGURE = r"\d+ % \(\d+ % to \d+ %\)"


def kind(node: int) -> str:
    return "plant" if node % 2 else "thing"


def make_job(server: Server, **settings: Any) -> Session:
    """Texts of two kinds, and four of a third that nobody has named."""
    odd = [
        {"id": f"odd {number}", "title": f"Odd {number}", "text": f"Sonata opus violin quartet {number}", "kind": ""}
        for number in range(4)
    ]
    table = write_csv(server.folder / "notes.csv", notes() + odd)
    graph = knn_from_table(table, 5, text="text", label="", name="id")
    given = {"budget": 40, "classes": ["thing", "plant"], **settings}
    return Session.create(server.folder / "job.nodewise", graph, **given)


def test_with_one_class_alone_there_is_no_curve_of_hundreds(browser: Browser, server: Server) -> None:
    with make_job(server) as session:
        session.tell([0, 2, 4, 6], ["thing"] * 4)
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        report = seen.page.locator("#view-progress .report")
        expect(report).to_contain_text("So far only thing has labels, so nothing else can be predicted")
        expect(report.locator("svg")).to_have_count(0)
        expect(report).not_to_contain_text("100")
        expect(report).not_to_contain_text("settled")
        for node in (1, 3):
            server.post("/tell", session="job", annotator="somebody", labels=[{"node": node, "label": "plant"}])
        expect(report.locator("svg .dot.confidence")).not_to_have_count(0)
        expect(report).not_to_contain_text("So far only")


def test_after_a_bulk_answer_the_audit_is_told_before_and_after(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=12, budget=24)
    for turn in range(60):
        (query,) = server.post("/ask", session="job", annotator="me")["queries"]
        if turn >= 30 and not query["audit"]:  # which shows predictions
            break
        told = [{"node": query["node"], "label": kind(query["node"])}]
        server.post("/tell", session="job", annotator="me", labels=told)
    before = server.get("/report?session=job")["audit"]
    assert before["nodes"] >= 10
    with visit(browser, f"{server.address}/s/job#view=table&filter=unlabelled&class=plant") as seen:
        page = seen.page
        page.locator(".table-row[data-node]").first.wait_for()
        page.get_by_role("button", name=re.compile(r"Choose all \d+ found")).click()
        with page.expect_response(re.compile("/report")):  # what is estimated before
            page.get_by_role("button", name="Confirm predictions").click()
        box = page.locator(".action-dialog")
        box.get_by_role("button", name=re.compile(r"Confirm \d+ predictions?")).click()
        effect = box.locator(".action-effect")
        expect(effect).to_contain_text(
            re.compile(rf"On the rows of the audit, drawn at random: {FIGURE} right before, {FIGURE} now\.")
        )
        after = server.get("/report?session=job")["audit"]
        said = [int(figure) for figure in re.findall(r"(\d+) % \(", effect.inner_text())]
        assert said == [round(100 * before["mean"]), round(100 * after["mean"])]


def test_the_closing_page_and_the_progress_tell_the_same_bias(browser: Browser, server: Server) -> None:
    with make_job(server, budget=12) as session:
        session.tell(list(range(12)), [kind(node) for node in range(12)])
    with visit(browser, f"{server.address}/s/job", allowed=["409"]) as seen:
        page = seen.page
        page.get_by_role("heading", name="The budget is spent").wait_for()
        line = page.locator(".closing .reasons li", has_text="Predicted from all the others")
        line.wait_for()
        bias = page.locator("#view-progress .bias")
        bias.wait_for()
        lists = [re.findall(r"[-−+]\d+", part.inner_text().replace("−", "-")) for part in (line, bias)]
        assert len(lists[0]) == 2 and lists[0] == lists[1]


def test_a_question_looks_for_a_class_that_nobody_named_and_the_report_tells_what_it_found(
    browser: Browser, server: Server
) -> None:
    with make_job(server, look_for_classes=1) as session:
        session.tell(list(range(24)), [kind(node) for node in range(24)])
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        why = page.locator("#insight .why")
        expect(why.locator("summary")).to_have_text("Why this one? It is unlike everything labelled so far.")
        expect(page.locator("#card h1")).to_contain_text("Odd")
        why.locator("summary").click()
        expect(why.locator("li").first).to_have_text(
            "Unlike everything labelled so far: perhaps a class that nobody has named."
        )
        page.keyboard.press("n")
        page.locator("#class-name").fill("music")
        page.keyboard.press("Enter")
        expect(page.locator("button.class[data-label=music]")).to_be_focused()
        seen.ready()  # a press right after is taken for a double one
        with page.expect_response(re.compile("/tell$")):
            page.keyboard.press("Enter")
        seen.ready()
        expect(page.locator("#view-progress .report .reasons")).to_contain_text(
            re.compile(
                r"questions? went to rows? unlike everything labelled so far: 1 answered; they found music, which"
            )
        )
        page.locator("#settings-button").click()
        facts = page.locator(".fact-table")
        expect(facts).to_contain_text("a question for a new class, every so many")
