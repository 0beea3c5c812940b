"""Disagreements, roles, jobs, settings and the lasso, in a real Chromium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from nodewise.studio.server import entrance
from tests.studio.browsing import Server, expect, make, notes, studio, visit
from tests.studio.jobs import job

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def test_the_owner_settles_a_disagreement_and_sees_kappa_for_each_class(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", redundancy=2)
    for node, labels in ((3, ("thing", "plant")), (4, ("thing", "thing")), (5, ("plant", "plant"))):
        for who, label in zip(("ada", "bob"), labels, strict=True):
            server.post("/tell", session="job", annotator=who, labels=[{"node": node, "label": label}])
    with visit(browser, f"{server.address}/s/job", annotator="eve") as seen:
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Annotators").click()
        expect(page.locator(".kappa tbody tr")).to_have_count(3)
        rows = {
            row.locator("th").inner_text().split("\n")[-1].strip(): row.locator("td").all_inner_texts()
            for row in page.locator(".kappa tbody tr").all()
        }
        assert set(rows) == {"all", "thing", "plant"} or len(rows) == 3
        assert rows["all"] == ["0.33", "0.40"], "Fleiss' by hand 1 - 2/3 over 3 nodes, Cohen's (2/3 - 4/9) / (1 - 4/9)"
        page.get_by_role("button", name="Settle them").click()
        item = page.locator(".reading-votes[data-node='3']")
        expect(item).to_contain_text("ada")
        expect(item).to_contain_text("bob")
        item.get_by_role("button", name=re.compile("as plant")).click()
        page.get_by_text("settled as plant by eve").wait_for()
        page.keyboard.press("Escape")
        assert (
            server.get("/status?session=job")["disagreements"] == {}
            and server.get("/nodes/3?session=job")["label"] == "plant"
        )
        page.get_by_role("tab", name="History").click()
        page.locator(".events li", has_text="is settled as").get_by_role("button", name=re.compile("Undo")).click()
        page.locator("#telling", has_text="Undone").wait_for()
        assert list(server.get("/status?session=job")["disagreements"])


def test_a_class_that_is_misspelt_when_it_is_declared_is_noticed(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="database, plant")
    with visit(browser, f"{server.address}/s/job", allowed=["409"]) as seen:
        page = seen.page
        for answer, classes in (
            ("Use database", ["database", "plant"]),
            ("databse is a new class", ["database", "plant", "databse"]),
        ):
            seen.ready()
            page.keyboard.press("n")
            page.fill("#class-name", "databse")
            page.keyboard.press("Enter")
            page.locator("#telling", has_text="looks like the class 'database' misspelt").wait_for()
            page.get_by_role("button", name=answer).click()
            page.locator("form.naming").wait_for(state="hidden")
            assert server.get("/status?session=job")["classes"] == classes
            meant = classes[-1 if len(classes) == 3 else 0]
            expect(page.locator(f"button.class[data-label={meant}]")).to_be_focused()
            page.evaluate("() => document.activeElement.blur()")


def test_a_misspelt_class_of_a_new_session_is_noticed(browser: Browser, server: Server) -> None:
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.set_input_files(
            "#nodes-file", {"name": "t.csv", "mimeType": "text/csv", "buffer": b"text\n" + b"some words here\n" * 9}
        )
        page.fill("#classes", "database, databse, year 1, year 2")
        page.get_by_text("“databse” looks like “database” misspelt").wait_for()
        page.fill("#classes", "database, plant, year 1, year 2")
        page.locator(".notice", has_text="misspelt").wait_for(state="hidden")


def test_annotators_see_what_they_may_do_and_nothing_else(browser: Browser, tmp_path: Path) -> None:
    job(tmp_path).close()
    owner, theirs = "the-owners-token", "the-annotators-token"
    with studio(tmp_path, "job.nodewise", "--token", owner, "--annotator-token", theirs) as server:
        pretending, api = {"Authorization": f"Bearer {theirs}"}, f"{server.address}/api/v1"
        with visit(browser, f"{server.address}/?token={theirs}", allowed=["409"]) as seen:
            page = seen.page
            seen.label("1")
            seen.ready()
            query = httpx.post(f"{api}/ask", headers=pretending, json={"annotator": "me"}, timeout=120).json()[
                "queries"
            ][0]
            said = {"annotator": "ada", "labels": [{"node": query["node"], "label": "b"}]}
            assert httpx.post(f"{api}/tell", headers=pretending, json=said, timeout=120).status_code == 200
            page.locator("#insight .notice", has_text="ada says b").wait_for()
            page.keyboard.press("1")
            page.locator("#telling", has_text="ada has labelled it b").wait_for()
            assert page.get_by_role("button", name="Overrule it").count() == 0, "that is the owner's"
            page.get_by_role("button", name="Dismiss").click()
            page.get_by_role("tab", name="History").click()
            page.locator("li", has_text="ada · ").wait_for()
            undoing = page.get_by_role("button", name=re.compile("Undo event"))
            expect(undoing).to_have_count(1)  # their own
            expect(undoing).to_have_attribute("aria-label", "Undo event 2")
            for part in ("#classes-button", "#export-button", ".actions button:has-text('Class')"):
                expect(page.locator(part)).to_be_hidden()
            page.keyboard.press("n")
            expect(page.locator("#class-name")).to_be_hidden()
            page.keyboard.press("c")
            page.get_by_role("dialog", name="Settings").get_by_text("Each row is labelled by 1").wait_for()
            page.keyboard.press("Escape")
            page.goto(f"{server.address}/new")
            page.get_by_text("Only the owner of this studio makes sessions").wait_for()
            page.get_by_role("button", name="Open job").wait_for()
            assert page.get_by_role("button", name=re.compile("archive|Copy")).count() == 0
        refused = httpx.get(f"{api}/backup", headers=pretending, timeout=120)
        assert refused.status_code == 403, "the server does not rely on the page"
        with visit(browser, f"{server.address}/?token={owner}") as seen:
            seen.ready()
            expect(seen.page.locator("#classes-button")).to_be_visible()
            expect(seen.page.locator("#export-button")).to_be_visible()


def test_a_file_of_the_owner_leads_a_browser_in_with_the_token(browser: Browser, tmp_path: Path) -> None:
    job(tmp_path).close()
    token = "the-owners-token"
    with studio(tmp_path, "job.nodewise", "--token", token) as server:
        led = entrance(f"{server.address}/?token={token}", tmp_path)
        page = browser.new_page()
        page.goto(led)
        page.wait_for_url(f"{server.address}/s/job")
        assert page.evaluate("async () => (await fetch('/api/v1/status')).status") == 200
        page.close()


def test_jobs_are_listed_copied_archived_and_brought_back(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    server.post("/tell", session="job", labels=[{"node": 3, "label": "plant"}])
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        row = page.locator(".sessions li", has_text="job").first
        expect(row).to_contain_text(re.compile(r"60 rows · 2 classes · \w+ · [\d.]+ .B · (now|\d+ min ago)"))
        expect(row).to_contain_text("1 of 12 labels")
        page.get_by_role("button", name="Copy job").click()
        page.get_by_role("button", name="Open job (2)").wait_for()
        page.get_by_role("button", name="Move job into the archive").click()
        page.get_by_text("Archive: 1 session").click()
        assert (server.folder / "archive" / "job.nodewise").exists() and not (server.folder / "job.nodewise").exists()
        page.get_by_role("button", name="Bring job back").click()
        page.get_by_role("button", name="Open job", exact=True).click()
        page.wait_for_url("**/s/job")
        seen.ready()
        assert server.get("/status?session=job")["told"] == 1


def test_settings_can_be_read_and_the_safe_ones_changed(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.click("#settings-button")
        page.locator(".fact-table", has_text="views").wait_for()
        for field, value in (("#set-budget", "25"), ("#set-redundancy", "2"), ("#set-guideline", "in doubt, skip")):
            page.fill(field, value)
        page.get_by_role("button", name="Save").click()
        page.locator("dialog").wait_for(state="detached")
        now = server.get("/settings?session=job")
        assert (now["budget"], now["redundancy"], now["guideline"]) == (25, 2, "in doubt, skip")


def test_a_lasso_chooses_nodes_that_are_labelled_in_one_go_and_undone_as_one(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.label("1")
        page.keyboard.press("o")
        page.locator(".map .note", has_text="60 rows").wait_for()
        page.locator(".map .legend-classes").wait_for(state="attached")  # the labels are known there
        page.get_by_role("button", name="Choose rows by drawing around them", pressed=True).wait_for()
        page.locator(".map canvas").hover(trial=True)  # and lies still
        box = page.locator(".map canvas").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        page.mouse.down()
        for right, down in ((1, 0), (1, 1), (0, 1), (0, 0)):
            page.mouse.move(
                box["x"] + 2 + right * (box["width"] - 4), box["y"] + 2 + down * (box["height"] - 4), steps=4
            )
        page.mouse.up()
        page.locator(".chosen-nodes", has_text="59 rows chosen, 1 labelled already and left alone").wait_for()
        page.get_by_label("Class for the chosen rows").select_option("plant")
        with page.expect_response(re.compile("/bulk$")) as sent:
            page.get_by_role("button", name="Label them").click()
        assert sent.value.ok and server.get("/status?session=job")["bulk"] == 59
        seen.page.locator("body[data-phase=ready], body[data-phase=idle]").wait_for()
        page.get_by_role("button", name="Done").click()
        page.keyboard.press("u")
        page.locator("#telling", has_text="Undone").wait_for()
        assert server.get("/status?session=job")["bulk"] == 0
        seen.ready()
        page.keyboard.press("o")  # by keys alone: the node in the middle
        page.keyboard.press("ArrowLeft")
        page.keyboard.press(" ")
        page.locator(".chosen-nodes", has_text=re.compile("1 row chosen|labelled already")).wait_for()
