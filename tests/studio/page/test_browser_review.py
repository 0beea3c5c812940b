"""The desks, point by point, in a real Chromium: what the filters of the table find, what everybody is told on every
device, what is told of each person, and a look that takes no row.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
from tests.studio.browsing import Server, expect, make, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LABELS = range(24)
MISTAKE = 6


def kind(node: int) -> str:
    return "plant" if node % 2 else "thing"


def make_job(server: Server, **options: Any) -> Session:
    """Texts of two kinds, labelled by their kind but for one, with a model's answers of which two are wrong."""
    graph = knn_from_table(write_csv(server.folder / "notes.csv", notes()), 5, text="text", label="", name="id")
    session = Session.create(
        server.folder / "job.nodewise", graph, **{"classes": ["thing", "plant"], "budget": 40, **options}
    )
    session.tell(list(LABELS), [kind(node + (node == MISTAKE)) for node in LABELS], "ada")
    session.suggest("rules", {node: kind(node + (node in (40, 41))) for node in range(30, 50)})
    return session


def found(page: Page, count: int) -> list[int]:
    page.locator(".table-tools [role=status]", has_text=re.compile(rf"^{count} rows?$")).wait_for()
    rows: list[int] = page.evaluate(
        "() => [...document.querySelectorAll('.table-row[data-node]')].map((row) => Number(row.dataset.node))"
    )
    return rows


def test_likely_mistakes_sureness_and_what_a_model_says_are_filters_with_addresses(
    browser: Browser, server: Server
) -> None:
    make_job(server).close()
    sure = {row["node"]: row["sure"] for row in server.get("/table?session=job&limit=60")["rows"]}
    limit = sorted(sure.values())[30]
    asked = int(100 * limit)
    rows = [node for node, share in sure.items() if share >= asked / 100]
    assert 0 < len(rows) < 60
    with visit(browser, f"{server.address}/s/job#view=table") as seen:
        page = seen.page
        found(page, 60)
        which = page.get_by_label("Which rows")
        which.select_option("mistake")
        page.locator(f".table-row[data-node='{MISTAKE}']").wait_for()
        expect(page.locator(".table-row[data-node]").first).to_have_attribute("data-node", str(MISTAKE))
        assert "filter=mistake" in page.url
        which.select_option("model")
        assert set(found(page, 2)) == {40, 41}
        expect(page.locator(".table-row[data-node='40']")).to_contain_text("rules: plant")
        assert "filter=model" in page.url
        which.select_option("all")
        found(page, 60)
        page.get_by_text("More filters").click()
        page.get_by_label("Suggested by").select_option("rules")
        assert set(found(page, 20)) <= set(range(30, 50))
        page.get_by_label("Suggested by").select_option("")
        found(page, 60)
        least = page.get_by_label("Sure, from percent")
        least.fill(str(asked))
        least.press("Tab")
        found(page, len(rows))
        address = page.url
        assert f"from={asked}" in address
    with visit(browser, address, annotator="bob") as seen:  # sent to somebody
        assert set(found(seen.page, len(rows))) <= set(rows)


@pytest.mark.parametrize("screen", ["phone", "200 % zoom"])
def test_guidelines_are_beside_the_card_on_every_device(browser: Browser, server: Server, screen: str) -> None:
    make(server, "job", notes(), classes="thing, plant")
    server.post("/classes/describe", session="job", annotator="me", name=None, text="in doubt, skip")
    server.post("/classes/describe", session="job", annotator="me", name="plant", text="it grows")
    shape: dict[str, Any] = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
    if screen == "phone":
        shape = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with visit(browser, f"{server.address}/s/job", **shape) as seen:
        page = seen.page
        seen.ready()
        page.get_by_text("Guidelines", exact=True).click()
        for words in ("in doubt, skip", "it grows"):
            said = page.locator("#guidelines").get_by_text(words)
            said.scroll_into_view_if_needed()
            expect(said).to_be_in_viewport(ratio=1)
        seen.label("1")
        expect(page.locator("#guidelines").get_by_text("it grows")).to_be_visible()  # open as one left them


def test_time_and_agreement_of_each_person_are_told(browser: Browser, server: Server) -> None:
    with make_job(server, redundancy=2) as session:
        session.tell(list(range(8)), [kind(node) for node in range(8)], "bo")  # not of the mistake
        for _ in range(2):
            session.tell(session.ask(annotator="bo").node, "thing", "bo")
    with visit(browser, f"{server.address}/s/job#look=1", annotator="olga") as seen:
        page = seen.page
        page.get_by_role("tab", name="Annotators").click()
        page.get_by_role("button", name="Each one's work").click()
        theirs = page.locator("tr[data-person=bo]")
        expect(theirs.locator("td[data-title='Labels']")).to_have_text("10")
        expect(theirs.locator("td[data-title='Time a label']")).to_have_text(re.compile(r"^\d+\.\d s$"))
        report = next(each for each in server.get("/people/report?session=job")["people"] if each["annotator"] == "bo")
        said = f"{round(100 * report['agreement'])} % of {report['shared']}"
        expect(theirs.locator("td[data-title='Others agree']")).to_have_text(said)
        assert report["shared"] >= 8 and report["agreement"] < 1


def test_a_look_takes_no_row_and_leaves_the_next_question_to_others(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job#look=1", annotator="olga") as seen:
        page = seen.page
        page.get_by_role("heading", name="No row is given to you").wait_for()
        page.keyboard.press("l")
        page.locator(".table-row[data-node='5'] .link").click()
        page.locator(".table-reading h3", has_text="Note 5").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        page.keyboard.press("1")  # there is nothing to label
        assert server.get("/events?session=job&asks=true")["events"] == []


def test_form_settings_and_reasons_are_in_words_of_people(browser: Browser, server: Server, tmp_path: Path) -> None:
    """Nothing of what was once said: names of methods, of arguments and of files in place of sentences."""
    table = write_csv(tmp_path / "notes.csv", [{"text": row["text"], "size": "1"} for row in notes()])
    said = []
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.set_input_files("#nodes-file", table)
        page.locator("details.more summary").first.click()
        said.append(page.locator("form.creation").inner_text())
        page.fill("#classes", "thing, plant")
        page.click("#create")
        page.wait_for_url("**/s/notes")
        seen.ready()
        page.locator("#insight .why summary").click()  # it stays open
        for _ in range(4):
            seen.ready()
            page.locator("#insight .why li").first.wait_for()
            said.append(page.locator("#insight").inner_text())
            seen.label("2" if "grows" in page.locator("#card").inner_text() else "1")
        page.locator(".report .reasons li").first.wait_for()
        said.append(page.locator("#view-progress").inner_text())
        page.click("#settings-button")
        page.locator(".fact-table").wait_for()
        said.append(page.locator("dialog").inner_text())
    words = "\n".join(said)
    for never in ("AGE", "new_class", "raw", "highest score", "candidates", "more than 0 %", "speak", "leave-one-out"):
        assert not re.search(rf"\b{never}\b", words), words
    assert not re.search(r"\bnodes?\b", words), words
