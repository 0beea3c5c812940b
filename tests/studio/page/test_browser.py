"""The page in a real Chromium: from a CSV to an export, by mouse and by keys; nothing is lost on the way."""

from __future__ import annotations

import csv
import re
import shutil
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
from nodewise.session.settings import NewSettings, settings_of
from nodewise.strategies import list_strategies
from tests.studio.browsing import Server, expect, notes, studio, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def make_job(folder: Path, budget: int = 12) -> Path:
    """A session of sixty notes with two classes."""
    rows = write_csv(folder / "notes.csv", notes())
    graph = knn_from_table(rows, 5, text="text", label="")
    Session.create(folder / "job.nodewise", graph, budget=budget, classes=["thing", "plant"]).close()
    return folder / "job.nodewise"


@pytest.fixture
def job(server: Server) -> str:
    """The name of a session with room for twelve labels."""
    return make_job(server.folder).stem


def told(page: Page) -> None:
    """Wait until the page says that the last choice is on the disk."""
    page.locator("#telling .saved").wait_for()


def test_from_a_csv_to_an_export(browser: Browser, server: Server, tmp_path: Path) -> None:
    rows = [{name: row[name] for name in ("id", "title", "text")} for row in notes()]
    table = write_csv(tmp_path / "my notes.csv", rows)
    with visit(browser, server.address) as seen:
        page = seen.page
        page.wait_for_url("**/new")
        page.locator("#nodes-file").set_input_files(table)
        page.get_by_role("region", name="Columns").get_by_text("The lamp stands").first.wait_for()
        expect(page.locator("#text input:checked")).to_have_value("text")
        page.get_by_role("textbox", name="Classes").fill("thing, plant")
        page.get_by_label("Budget").fill("10")
        page.get_by_label("Audit").fill("0")
        page.get_by_role("button", name="Make the session").click()
        page.wait_for_url("**/s/*")
        assert (server.folder / "my notes.nodewise").is_file()

        seen.ready()
        first = seen.title()
        page.locator("button.class", has_text="thing").click()  # by mouse
        told(page)
        second = seen.label("2")  # by key
        third = seen.label("1")
        assert len({first, second, third}) == 3

        seen.ready()
        page.keyboard.press("u")
        page.locator("#telling", has_text="Undone").wait_for()
        seen.ready()
        assert seen.title() == third, "what was undone is asked again"

        page.keyboard.press("n")
        page.keyboard.type("neither")
        page.keyboard.press("Enter")
        page.locator("button.class[data-label=neither]:focus").wait_for()
        seen.ready()
        page.keyboard.press("Enter")  # the new class has the focus
        page.locator("#telling", has_text=f"“{third}” is neither").wait_for()

        seen.ready()
        asked = seen.title()
        page.reload()
        seen.ready()
        assert seen.title() == asked, "a reload asks the same node"

        with page.expect_download() as downloaded:
            page.keyboard.press("e")
            page.locator("[data-export=csv]").click()
        assert downloaded.value.suggested_filename.endswith(".csv")
        lines = list(csv.DictReader(StringIO(Path(downloaded.value.path()).read_text(encoding="utf-8"))))
        by_title = {row["title"]: row["id"] for row in rows}
        given = {line["name"]: line["label"] for line in lines if line["label"]}
        assert given == {by_title[first]: "thing", by_title[second]: "plant", by_title[third]: "neither"}
        assert len(lines) == 60
        assert server.get("/status")["balance"] == {"thing": 1, "plant": 1, "neither": 1}


def test_the_form_asks_for_every_setting_and_sends_what_was_chosen(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    table = write_csv(tmp_path / "notes.csv", notes())
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.locator("#nodes-file").set_input_files(table)
        page.locator("#create").wait_for()
        page.locator("details.more summary").click()
        expect(page.locator("#strategy option")).to_have_count(1 + len(list_strategies()))
        for one in settings_of(NewSettings):
            if not one.title:
                assert page.locator(f"[id='{one.name}']").count() == 0
                continue
            assert page.locator(f"label[for='{one.name}']").inner_text() == one.title
            assert page.locator(f"[id='{one.name}-hint']").inner_text().startswith(one.help)
        offered = page.locator("#strategy option").all_inner_texts()
        assert offered[0] == "automatic: gain, or the policy where one is given"
        assert any(text.startswith("gain: ") for text in offered)
        assert page.locator("#release_after").input_value() == "60" and page.locator("#seed").input_value() == "0"
        page.locator("#strategy").select_option("uncertainty")
        page.locator("#classifier").select_option("gcn")
        page.locator("#release_after").fill("1.5")
        page.locator("#redundancy").fill("2")
        page.locator("#classes").fill("thing; plant")
        page.locator("#create").click()
        page.wait_for_url("**/s/notes")
    made = server.get("/settings?session=notes")
    assert (made["strategy"], made["classifier"], made["release_after"], made["redundancy"]) == (
        "uncertainty",
        "gcn",
        90.0,
        2,
    )


def test_the_keyboard_alone_is_enough(browser: Browser, server: Server, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "notes.csv", notes())
    with visit(browser, server.address) as seen:
        page = seen.page
        page.on("filechooser", lambda chooser: chooser.set_files(table))
        page.wait_for_url("**/new")
        page.locator(".drop[for=nodes-file]").wait_for()
        tab_to(page, "nodes-file")
        page.keyboard.press("Enter")
        page.locator("#create").wait_for()
        tab_to(page, "classes")
        page.keyboard.type("thing, plant")
        tab_to(page, "create")
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/*")
        before = seen.label("2")
        assert seen.title() != before
        assert server.get("/status")["told"] + server.get("/status")["audit"]["labelled"] == 1


def tab_to(page: Page, identity: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if page.evaluate("() => document.activeElement.id") == identity:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{identity} cannot be reached by Tab")


def test_a_double_press_labels_one_node(browser: Browser, server: Server, job: str) -> None:
    with visit(browser, f"{server.address}/s/{job}") as seen:
        twice = (
            "() => { for (let turn = 0; turn < 2; turn++) document.body.dispatchEvent(new KeyboardEvent('keydown', {"
            " key: '1', bubbles: true })); }"
        )
        for press in (
            twice,
            "() => { const button = document.querySelector('button.class'); button.click(); button.click(); }",
        ):
            seen.ready()
            with seen.page.expect_response(re.compile("/ask$")):
                seen.page.evaluate(press)
        seen.ready()
        assert server.get("/status")["told"] == 2


def test_a_press_right_after_a_row_has_appeared_labels_nothing(browser: Browser, server: Server, job: str) -> None:
    """Timers of one page run in their order, so a press of 250 ms comes before the half second is over."""
    with visit(browser, f"{server.address}/s/{job}") as seen:
        page = seen.page
        seen.ready()
        page.evaluate(
            """() => new MutationObserver((_, watch) => {
                if (document.body.dataset.phase !== 'settling') return;
                watch.disconnect();
                const press = () => document.body.dispatchEvent(
                    new KeyboardEvent('keydown', { key: '1', bubbles: true }));
                setTimeout(press, 250);
                setTimeout(() => { window.said = document.querySelector('#telling').textContent; }, 350);
            }).observe(document.body, { attributes: true, attributeFilter: ['data-phase'] })"""
        )
        page.keyboard.press("1")
        page.wait_for_function("() => window.said")
        assert "press was ignored" in page.evaluate("() => window.said")
        seen.label("2")  # whatever was sent before is there now
        assert server.get("/status")["told"] == 2


def test_looking_around_and_changing_a_label(browser: Browser, server: Server, job: str) -> None:
    with visit(browser, f"{server.address}/s/{job}") as seen:
        page = seen.page
        first = seen.label("1")
        asked = seen.title()
        page.keyboard.press("p")
        page.get_by_role("tabpanel", name="History").get_by_role("button", name=re.compile("note")).first.click()
        page.locator("#card .known", has_text="thing").wait_for()
        assert seen.title() == first
        seen.ready()
        page.keyboard.press("2")
        page.locator("#card .known", has_text="plant").wait_for()
        assert server.get("/status")["balance"] == {"thing": 0, "plant": 1}
        seen.ready()
        page.keyboard.press("Escape")
        page.locator("#card h1", has_text=re.compile(f"^{asked}$")).wait_for()
        change = max(event["event"] for event in server.get("/events")["events"] if event["kind"] == "tell")
        page.get_by_role("button", name=f"Undo event {change}", exact=True).click()
        page.locator("#telling", has_text="Undone").wait_for()
        assert server.get("/status")["balance"] == {"thing": 1, "plant": 0}


@pytest.mark.long
def test_a_label_that_did_not_get_through_is_kept_and_sent_again(browser: Browser, tmp_path: Path) -> None:
    job = make_job(tmp_path)
    with studio(job.parent, job.name) as server, visit(browser, server.address, allowed=["ERR_", "WebSocket"]) as seen:
        page = seen.page
        first = seen.label("1")
        asked = seen.title()
        server.kill()
        page.get_by_text("Connection lost, your labels are safe").wait_for()
        page.keyboard.press("2")
        page.locator("#telling", has_text="Not saved yet").wait_for()
        assert seen.title() == asked, "the page does not go on before the label is saved"
        server.start()
        page.get_by_text("Connection lost").wait_for(state="hidden")
        page.keyboard.press("r")
        told(page)
        seen.ready()
        assert seen.title() not in {first, asked}
        assert server.get("/status")["balance"] == {"thing": 1, "plant": 1}


@pytest.mark.long
def test_a_label_goes_to_its_own_session_whatever_the_studio_was_started_with_meanwhile(
    browser: Browser, tmp_path: Path
) -> None:
    job = make_job(tmp_path)
    shutil.copy(job, job.with_name("other.nodewise"))
    with (
        studio(job.parent, job.name) as server,
        visit(browser, server.address, allowed=["ERR_", "WebSocket", "409"]) as seen,
    ):
        page = seen.page
        seen.ready()
        server.kill()
        page.get_by_text("Connection lost, your labels are safe").wait_for()
        page.keyboard.press("2")
        page.locator("#telling", has_text="Not saved yet").wait_for()
        server._arguments = ("other.nodewise",)
        server.start()
        page.get_by_text("Connection lost").wait_for(state="hidden")
        page.keyboard.press("r")
        told(page)
        seen.ready()
        assert page.url.endswith(f"/s/{job.stem}")
        assert (
            server.get("/status?session=other")["told"] == 0 and server.get(f"/status?session={job.stem}")["told"] == 1
        )


@pytest.mark.long
def test_the_end_of_the_budget_says_what_can_be_done(browser: Browser, server: Server) -> None:
    make_job(server.folder, budget=4)
    with visit(browser, f"{server.address}/s/job", allowed=["409"]) as seen:
        page = seen.page
        for number in range(3):
            seen.label("1" if number % 2 else "2")
        seen.ready()
        page.keyboard.press("1")
        page.get_by_role("heading", name="The budget is spent").wait_for()
        page.get_by_label("raise the budget").fill("6")
        page.get_by_role("button", name="Go on", exact=True).click()
        page.locator("#telling", has_text="The budget is 6 now").wait_for()
        seen.ready()
        assert server.get("/status")["budget"] == 6
        seen.label("2")
        assert server.get("/status")["told"] == 5


def test_another_annotator_is_seen_at_once(browser: Browser, server: Server, job: str) -> None:
    with visit(browser, f"{server.address}/s/{job}") as seen:
        page = seen.page
        seen.label("1")
        (node,) = (event["node"] for event in server.get("/events")["events"] if event["kind"] == "tell")
        page.get_by_role("tab", name="Annotators").click()
        server.post("/tell", annotator="ada", labels=[{"node": node, "label": "plant"}], overrule=True)
        page.get_by_role("tabpanel", name="Annotators").get_by_text("1 disagreement").wait_for()
        page.get_by_role("tabpanel", name="Annotators").get_by_role("button", name=re.compile("note")).click()
        page.locator("#card .known", has_text="ada says plant").wait_for()


def test_a_node_that_somebody_else_has_labelled_is_not_lost_from_sight(
    browser: Browser, server: Server, job: str
) -> None:
    with visit(browser, f"{server.address}/s/{job}") as seen:
        seen.ready()
        asked, node = seen.title(), server.post("/ask", annotator="me")["queries"][0]["node"]
        server.post("/tell", annotator="ada", labels=[{"node": node, "label": "plant"}])
        seen.page.locator("#insight .notice", has_text="ada says plant").wait_for()
        assert seen.title() == asked, "the node does not change under one's eyes"
        seen.page.get_by_role("button", name="Next row").click()
        seen.ready()
        seen.page.locator("#insight .notice").wait_for(state="detached")
        assert seen.title() != asked
