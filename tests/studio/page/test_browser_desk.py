"""The review desk in a real Chromium: filters together, an address for each, rows that stay while one reads, actions
that are shown before they are done.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.studio.browsing import Server, Visit, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.long


def desk_job(server: Server, **options: Any) -> None:
    """Texts with two columns of their own, four labels of two people, and a note."""
    rows = [{**row, "price": str(n * 7 % 60), "place": ["Oslo", "Rome"][n % 2]} for n, row in enumerate(notes())]
    make(server, "job", rows, **{"classes": "thing, plant", **options})
    for node, who in ((0, "ada"), (1, "ada"), (2, "bob"), (3, "bob")):
        told = [{"node": node, "label": "plant" if node % 2 else "thing"}]
        server.post("/tell", session="job", annotator=who, labels=told)
    server.post("/notes", session="job", annotator="ada", node=2, text="a lamp, is it?")


def rows_in(seen: Visit) -> list[int]:
    found: list[int] = seen.page.evaluate(
        "() => [...document.querySelectorAll('.table-row[data-node]')].map((row) => Number(row.dataset.node))"
    )
    return found


def found(seen: Visit, count: int) -> None:
    seen.page.locator(".table-tools [role=status]", has_text=re.compile(rf"^{count} rows?$")).wait_for()


def test_filters_have_an_address_back_and_reload_keep_them(browser: Browser, server: Server) -> None:
    desk_job(server)
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.keyboard.press("l")
        found(seen, 60)
        page.get_by_label("Which rows").select_option("labelled")
        found(seen, 4)
        page.get_by_text("More filters").click()
        page.get_by_label("Labelled by").select_option("bob")
        found(seen, 2)
        page.get_by_label("with a note").check()
        found(seen, 1)
        assert rows_in(seen) == [2]
        page.locator(".table-row[data-node='2'] .link").click()
        page.locator(".table-reading h3", has_text="Note 2").wait_for()
        assert page.url.endswith("#view=table&filter=labelled%2Cnoted&by=bob&row=3")
        expect(page.locator(".table-reading .text")).to_contain_text("stands in the room")  # all of it, beside the rows
        page.reload()
        found(seen, 1)
        page.locator(".table-reading h3", has_text="Note 2").wait_for()
        expect(page.get_by_label("Labelled by")).to_have_value("bob")
        expect(page.get_by_label("with a note")).to_be_checked()
        page.go_back()
        found(seen, 2)
        expect(page.get_by_label("Which rows")).to_have_value("labelled")
        page.go_back()
        found(seen, 4)
        page.go_back()
        found(seen, 60)
        page.go_back()
        page.locator("dialog").wait_for(state="detached")
        expect(page.locator("#card h1")).to_be_visible()
        assert page.url.endswith("/s/job")
        with visit(browser, f"{server.address}/s/job#view=table&filter=unlabelled&class=plant&row=6") as other:
            other.page.locator(".table-reading h3", has_text="Note 5").wait_for()
            expect(other.page.get_by_label("Which class")).to_have_value("plant")
            other.page.keyboard.press("Escape")
            other.page.locator("dialog").wait_for(state="detached")
            assert "#" not in other.page.url


def test_own_columns_are_there_and_sort(browser: Browser, server: Server) -> None:
    desk_job(server)
    with visit(browser, f"{server.address}/s/job#view=table") as seen:
        page = seen.page
        found(seen, 60)
        page.locator(".table-head").get_by_role("button", name="price").click()
        page.locator(".table-head").get_by_role("button", name="price", pressed=True).wait_for()
        page.locator(".table-row[data-node]").first.filter(has_text="Note 0").wait_for()
        page.locator(".table-head").get_by_role("button", name="price").click()
        page.locator(".table-row[data-node]").first.locator(".own", has_text="59").wait_for()
        assert "sort=column&column=price&down=1" in page.url
        page.get_by_text("Columns (3 of 5)").click()
        page.locator(".own-columns").get_by_label("price").uncheck()
        page.locator(".table-head").get_by_role("button", name="price").wait_for(state="detached")
        page.reload()
        page.get_by_text("Columns (2 of 5)").wait_for()


def test_a_row_that_no_longer_fits_stays_until_one_filters_again(browser: Browser, server: Server) -> None:
    desk_job(server)
    with visit(browser, f"{server.address}/s/job#view=table&filter=unlabelled") as seen:
        page = seen.page
        found(seen, 56)
        page.locator(".table-row[data-node='6'] .link").click()
        page.keyboard.press("ArrowDown")
        page.locator(".table-reading h3", has_text="Note 7").wait_for()
        before = rows_in(seen)
        page.keyboard.press("2")
        page.locator(".table-row[data-node='7'].unfit", has_text="plant").wait_for()
        assert rows_in(seen)[:10] == before[:10] and server.get("/nodes/7?session=job")["label"] == "plant"
        page.keyboard.press("ArrowDown")
        page.locator(".table-reading h3", has_text="Note 8").wait_for()
        page.get_by_text("1 row here no longer fits").wait_for()
        page.get_by_role("button", name="Filter again").click()
        found(seen, 55)
        assert 7 not in rows_in(seen)


def test_what_a_filter_finds_is_shown_done_and_undone_as_one(browser: Browser, server: Server) -> None:
    desk_job(server)
    for node, label in ((40, "thing"), (41, "plant")):
        server.post("/tell", session="job", annotator="ada", labels=[{"node": node, "label": label}])
    with visit(browser, f"{server.address}/s/job#view=table&filter=unlabelled&class=plant") as seen:
        page = seen.page
        page.locator(".table-row[data-node]").first.wait_for()
        total = server.get("/table?session=job&filter=unlabelled&label=plant&annotator=me")["total"]
        page.get_by_role("button", name=f"Choose all {total} found").click()
        with page.expect_response(re.compile("/report")):  # what is estimated before
            page.get_by_role("button", name="Confirm predictions").click()
        box = page.locator(".action-dialog")
        box.get_by_text(f"Changes {total} rows of {total}.").wait_for()
        assert server.get("/status?session=job")["bulk"] == 0, "nothing is done before"
        box.get_by_role("button", name=f"Confirm {total} predictions").click()
        box.get_by_text("right before").wait_for()
        said = box.inner_text()
        assert re.search(r"each predicted from all others: \d+ % \(.*\) right before, \d+ % \(.*\) now\.", said), said
        assert server.get("/status?session=job")["bulk"] == total
        box.get_by_role("button", name="Undo").click()
        box.wait_for(state="detached")
        assert server.get("/status?session=job")["bulk"] == 0
        page.locator(".table-row.unfit").first.wait_for(state="detached")
        for box_ in page.locator(".table-body input[type=checkbox]").all()[:3]:
            box_.check()
        page.get_by_role("button", name="Note", exact=True).click()
        page.get_by_label("The note, for everybody to read").fill("look again")
        page.get_by_role("button", name="Write it to 3 rows").click()
        page.locator(".action-dialog", has_text="Your note is on 3 rows").get_by_role("button", name="Undo").click()
        page.locator(".action-dialog").wait_for(state="detached")
        assert server.get("/table?session=job&filter=noted")["total"] == 1


def test_what_changed_meanwhile_is_said_in_the_dialog_and_nothing_is_done(browser: Browser, server: Server) -> None:
    desk_job(server)
    with visit(browser, f"{server.address}/s/job#view=table&filter=unlabelled", allowed=["409"]) as seen:
        page = seen.page
        found(seen, 56)
        page.get_by_role("button", name="Choose all 56 found").click()
        page.get_by_role("button", name="Skip").last.click()
        page.get_by_role("button", name="Skip 56 rows").wait_for()
        server.post("/tell", session="job", annotator="me", labels=[{"node": 30, "label": "thing"}])
        page.locator(".action-dialog").get_by_role("button", name="Skip 56 rows").click()
        page.get_by_role("button", name="Skip 55 rows").wait_for()
        assert server.get("/status?session=job")["skipped"] == 0


def test_disagreements_are_a_filter_in_which_they_are_settled(browser: Browser, server: Server) -> None:
    desk_job(server, redundancy=2)
    for node, label in ((2, "plant"), (3, "plant")):
        server.post("/tell", session="job", annotator="ada", labels=[{"node": node, "label": label}])
    with visit(browser, f"{server.address}/s/job#view=table&filter=disagreement", annotator="eve") as seen:
        page = seen.page
        found(seen, 1)
        votes = page.locator(".reading-votes[data-node='2']")
        votes.get_by_text("People disagree.").wait_for()
        votes.get_by_role("button", name="Settle Note 2 as plant").click()
        page.get_by_text("Settled as plant by eve").wait_for()
        page.locator(".table-row[data-node='2'].unfit").wait_for()
        page.get_by_label("Which rows").select_option("settled")
        found(seen, 1)
        assert server.get("/status?session=job")["disagreements"] == {}


def test_a_phone_shows_the_rows_or_the_row(browser: Browser, server: Server) -> None:
    desk_job(server)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with visit(browser, f"{server.address}/s/job#view=table&filter=labelled", **phone) as seen:
        page = seen.page
        found(seen, 4)
        expect(page.locator(".table-reading")).to_be_hidden()
        page.locator(".table-row[data-node='2'] .link").tap()
        page.locator(".table-reading h3", has_text="Note 2").wait_for()
        expect(page.locator(".table-scroll")).to_be_hidden()
        assert seen.overflow() == 0
        page.get_by_role("button", name="Back to the rows").tap()
        page.locator(".table-scroll").wait_for()


def test_the_history_says_what_many_rows_and_merged_classes_went_through(browser: Browser, server: Server) -> None:
    desk_job(server, classes="thing, plant, tree")
    server.post("/classes/merge", session="job", annotator="me", name="tree", into="plant")
    server.post("/undo", session="job", annotator="me")
    for action, more in (("skip", {}), ("note", {"text": "odd"})):
        body = {"session": "job", "annotator": "me", "action": action, "nodes": [20, 21, 22], **more}
        server.post("/table/act", **body, digest=server.post("/table/act", **body)["digest"])
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        seen.page.get_by_role("tab", name="History").click()
        seen.page.locator(".events li", has_text="skipped 3 rows").wait_for()
        said = seen.page.locator(".events").inner_text()
        for words in ("note on 3 rows: odd", "undone: merging of tree into plant", "class tree was merged into plant"):
            assert words in " ".join(said.split()), said
