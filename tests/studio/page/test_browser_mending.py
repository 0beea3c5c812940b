"""What went wrong when a new user tried the page, each thing by itself, in a real Chromium."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.studio.browsing import Server, expect, make, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def long_texts(count: int = 40) -> list[dict[str, str]]:
    lines = "\n".join(
        f"Line {line} tells what the thing is good for, in a few words that fill it." for line in range(40)
    )
    return [
        {"text": f"\n\n  \nThing number {n}\nSee https://example.org/{n}, or <b>not</b>.\n{lines} {n % 5}"}
        for n in range(count)
    ]


@pytest.mark.long
def test_keys_and_colours_stay_with_their_class_while_somebody_works(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="alpha, beta, gamma")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        for name in ("delta", "eps"):
            seen.ready()
            page.keyboard.press("n")
            page.fill("#class-name", name)
            page.keyboard.press("Enter")
            page.locator(f"button.class[data-label={name}]").wait_for()
            page.evaluate("() => document.activeElement.blur()")
        colour = page.locator("button.class[data-label=delta] .mark").get_attribute("data-colour")
        for _ in range(2):
            seen.label("5")
        server.post("/tell", annotator="bob", session="job", labels=[{"node": 50, "label": "aardvark"}], new_class=True)
        page.locator("button.class[data-label=aardvark]").wait_for()
        seen.label("5")
        balance = server.get("/status?session=job")["balance"]
        assert balance["eps"] == 3 and balance["delta"] == 0
        expect(page.locator("button.class").nth(5)).to_have_attribute("data-label", "aardvark")  # last, for everybody
        expect(page.locator("button.class").nth(5)).to_have_attribute("aria-keyshortcuts", "6")
        expect(page.locator("button.class[data-label=delta] .mark")).to_have_attribute("data-colour", colour or "?")
        server.post("/classes/rename", session="job", name="eps", new_name="epsilon")
        server.post("/classes/order", session="job", names=["epsilon"])
        page.locator("button.class").first.filter(has_text="epsilon").wait_for()
        seen.label("5")
        assert server.get("/status?session=job")["balance"]["epsilon"] == 4, (
            "an order by hand moves rows on the screen, not keys"
        )


def test_a_page_stays_with_its_session_whatever_others_open(browser: Browser, server: Server) -> None:
    for name in ("one", "two and more"):
        make(server, name, notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/one") as first, visit(browser, f"{server.address}/new") as second:
        first.ready()
        second.page.get_by_role("button", name="Open two and more").click()
        second.page.wait_for_url("**/s/two%20and%20more")
        second.label("2")
        first.label("1")
        assert first.page.url.endswith("/s/one") and first.page.locator("#job").inner_text() == "one"
        assert server.get("/status?session=one")["balance"] == {"thing": 1, "plant": 0}
        assert server.get("/status?session=two%20and%20more")["balance"] == {"thing": 0, "plant": 1}


def test_the_name_is_asked_before_the_first_question_and_a_left_name_frees_its_query(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job", annotator=None) as seen:
        page = seen.page
        page.get_by_role("dialog", name="Who is labelling?").wait_for()
        assert server.get("/status?session=job")["open"] == {}, "nothing is asked before"
        page.fill("#annotator-name", "ada")
        page.keyboard.press("Enter")
        seen.ready()
        assert list(server.get("/status?session=job")["open"]) == ["ada"]
        page.click("#name-button")
        page.fill("#annotator-name", "bob")
        page.keyboard.press("Enter")
        page.locator("#name-button", has_text="bob").wait_for()
        seen.ready()
        assert list(server.get("/status?session=job")["open"]) == ["bob"]


def test_a_second_person_overrules_knowingly(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job", annotator="ada", allowed=["409"]) as seen:
        page = seen.page
        seen.ready()
        node = server.post("/ask", session="job", annotator="ada")["queries"][0]["node"]
        server.post("/tell", session="job", annotator="bob", labels=[{"node": node, "label": "plant"}])
        page.locator("#insight .notice", has_text="bob says plant").wait_for()
        page.keyboard.press("1")
        page.locator("#telling", has_text="bob has labelled it plant").wait_for()
        assert server.get("/status?session=job")["balance"] == {"thing": 0, "plant": 1}
        page.get_by_role("button", name="Overrule it").click()
        seen.ready()
        assert server.get("/status?session=job")["balance"] == {"thing": 1, "plant": 0}
        server.post("/tell", session="job", annotator="ada", labels=[{"node": node, "label": "thing"}])
        assert server.get("/status?session=job")["balance"] == {
            "thing": 1,
            "plant": 0,
        }, "repeating one's vote changes nothing"


@pytest.mark.parametrize(("count", "lines"), [(18, 8), (200, 5)])
def test_the_text_has_the_room(browser: Browser, server: Server, count: int, lines: int) -> None:
    make(server, "job", long_texts(), classes=";".join(f"class {number}" for number in range(count)))
    with visit(browser, f"{server.address}/s/job", viewport={"width": 1280, "height": 720}) as seen:
        page = seen.page
        seen.label("1")
        seen.ready()
        page.wait_for_function(
            """(lines) => {
                const text = document.querySelector('.text');
                const card = document.querySelector('#card').getBoundingClientRect();
                const box = text.getBoundingClientRect();
                const height = parseFloat(getComputedStyle(text).lineHeight);
                return (Math.min(card.bottom, box.bottom) - box.top) / height >= lines;
            }""",
            arg=lines,
        )
        assert not page.locator("details.why").evaluate("box => box.open"), "the reasons are folded away"
        page.keyboard.press("f")
        page.keyboard.type("class 17")
        with page.expect_response(re.compile("/tell$")):
            page.keyboard.press("Enter")
        seen.ready()
        assert server.get("/status?session=job")["balance"]["class 17"] == 1


def test_the_heading_is_the_rows_own_and_addresses_are_links(browser: Browser, server: Server) -> None:
    make(server, "job", long_texts(), classes="a, b")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        assert re.fullmatch(r"Thing number \d+", seen.title())
        text = seen.page.locator(".text")
        assert text.inner_text().startswith("See https://example.org/"), (
            "no blank lines first, and the heading is not said twice"
        )
        assert "<b>not</b>" in text.inner_text()
        link = text.get_by_role("link")
        assert (
            re.fullmatch(r"https://example\.org/\d+", link.get_attribute("href") or "")
            and link.get_attribute("rel") == "noopener noreferrer"
        )


def test_pictures_of_neighbours_are_shown(browser: Browser, server: Server) -> None:
    image = pytest.importorskip("PIL.Image")
    for n in range(14):
        image.new("RGB", (16, 16), (255 * (n % 2), 255 * (1 - n % 2), 15 * n)).save(
            server.folder / "pictures" / f"{n}.png"
        )
    make(
        server,
        "job",
        [{"picture": f"{n}.png", "who": f"somebody {n}"} for n in range(14)],
        text="",
        knn=3,
        classes="a, b",
    )
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        first = seen.page.locator(".strip .thumb img").first
        first.wait_for()
        assert first.evaluate("image => image.decode().then(() => image.naturalWidth)") == 16
        seen.page.locator(".strip .thumb").first.click()
        seen.page.locator("#card", has_text="Looking around").wait_for()


@pytest.mark.long
def test_a_labelled_table_is_told_so_and_can_be_an_answer_key(browser: Browser, server: Server, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "notes.csv", [{"text": row["text"], "label": row["kind"]} for row in notes()])
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.set_input_files("#nodes-file", table)
        page.get_by_text("Every row of this table is labelled already").wait_for()
        assert page.locator("#labels_as").input_value() == "key"
        page.click("#create")
        page.wait_for_url("**/s/notes")
        for key in "1212":
            seen.label(key)
        page.get_by_text("right by the answer key").wait_for()
        assert server.get("/status?session=notes")["given"] == 0


@pytest.mark.long
def test_the_accuracy_waits_for_ten_answers_of_the_audit_and_says_as_of_when(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=12)
    with visit(browser, f"{server.address}/s/job") as seen:
        for _ in range(2):
            seen.label("1")
        seen.page.get_by_text("The accuracy is told after 10 answers of the audit").wait_for()
        seen.page.locator(".as-of", has_text=re.compile(r"As of \d+ labels?\.")).wait_for()
        assert "accurate," not in seen.page.locator(".report").inner_text()
        audit = [node for node in range(60) if server.get(f"/nodes/{node}?session=job")["from"] == "audit"]
        while server.get("/status?session=job")["audit"]["labelled"] < 10:
            query = server.post("/ask", session="job", annotator="bob")["queries"][0]
            server.post("/tell", session="job", annotator="bob", labels=[{"node": query["node"], "label": "thing"}])
        assert len(audit) <= 2
        seen.page.locator(".headline", has_text="accurate").wait_for()


def test_counts_and_reasons_are_in_words(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant, third, fourth", knn=5)
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.label("1")
        seen.label("2")
        seen.page.locator("details.why summary").click()
        expect(seen.page.locator("#insight")).to_contain_text("1 other class less likely")
        assert not re.search(r"entropy|divergence", seen.page.locator("#insight").inner_text())
        legend = seen.page.locator(".legend-classes").first
        expect(legend).to_contain_text("predicted")
        assert not re.search(r"\d\+\d", legend.inner_text())


def test_settings_speak_of_rows_in_plain_words(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        seen.page.keyboard.press("c")
        facts = seen.page.locator(".fact-table")
        expect(facts).to_contain_text("60, with")
        said = facts.inner_text()
        assert not re.search(r"new_class|\braw\b|shipped|\bnodes\b|\bedges\b|_", said), said


def test_words_in_texts_are_found_and_the_match_is_shown(browser: Browser, server: Server) -> None:
    make(server, "job", [{"text": row["text"], "title": row["title"]} for row in notes()], classes="a, b")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        seen.page.keyboard.press("/")
        seen.page.keyboard.type("number 24")
        seen.page.locator("#search-list mark", has_text="number 24").wait_for()
        seen.page.keyboard.press("Enter")
        seen.page.locator("#card h1", has_text="Note 24").wait_for()


def test_long_work_can_be_cancelled_and_leaves_nothing(browser: Browser, server: Server, tmp_path: Path) -> None:
    rows = [{"text": f"the {n % 13} thing of {n % 7} and {n * 7919 % 1009} beside {n}"} for n in range(12000)]
    table = write_csv(tmp_path / "many.csv", rows)
    with visit(browser, f"{server.address}/new", allowed=["409"]) as seen:
        seen.page.set_input_files("#nodes-file", table)
        seen.page.locator("#create").click()
        seen.page.locator("#cancel").click()
        seen.page.locator(".trouble", has_text="was cancelled").wait_for()
        assert server.get("/studio")["sessions"] == [] and not list(server.folder.glob("*.nodewise*"))


def test_work_that_is_cancelled_while_its_file_is_on_its_way_never_begins(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    table = write_csv(tmp_path / "few.csv", notes())
    with visit(browser, f"{server.address}/new", allowed=["409"]) as seen:
        seen.page.set_input_files("#nodes-file", table)
        seen.page.locator("#create").wait_for()

        def hold(route: Any) -> None:
            with seen.page.expect_response(re.compile("/cancel$")):  # the studio knows before the file comes
                seen.page.locator("#cancel").dispatch_event("click")
            seen.page.locator(".making", has_text="Cancelling").wait_for()
            route.continue_()

        seen.page.route("**/api/v1/session", hold)
        seen.page.locator("#create").click()
        seen.page.locator(".trouble", has_text="was cancelled").wait_for()
        assert server.get("/studio")["sessions"] == [] and not list(server.folder.glob("*.nodewise*"))
        seen.page.unroute("**/api/v1/session")
        seen.page.locator("#create").click()  # it was that attempt alone
        seen.page.wait_for_url("**/s/few")


def test_a_phone_shows_the_way_to_the_sessions_and_the_audit(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=5)
    with visit(
        browser, f"{server.address}/s/job", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ) as seen:
        seen.ready()
        expect(seen.page.locator("#budget", has_text="audit 0/5")).to_be_visible()
        assert seen.overflow() == 0
        seen.page.wait_for_function(  # nothing lies over the text
            """() => {
                const [insight, card] = ['#insight', '#card'].map((id) =>
                    document.querySelector(id).getBoundingClientRect());
                return insight.top >= card.bottom - 1;
            }"""
        )
        seen.page.locator("#job").tap()
        seen.page.wait_for_url("**/new")
        seen.page.get_by_role("button", name="Open job").wait_for()


def test_the_full_export_has_the_original_columns_texts_and_every_vote(server: Server) -> None:
    rows = [{"text": row["text"], "place": f"=cell {n}"} for n, row in enumerate(notes())]
    make(server, "job", rows, classes="thing, plant", redundancy=2)
    for who, label in (("ada", "thing"), ("bob", "plant")):
        server.post("/tell", session="job", annotator=who, labels=[{"node": 3, "label": label}])
    server.post("/notes", session="job", annotator="ada", node=3, text="hard to tell")
    found = httpx.get(f"{server.address}/api/v1/export/full?session=job", timeout=120)
    table = list(csv.DictReader(found.text.splitlines()))
    assert len(table) == 60 and table[3]["text"] == rows[3]["text"] and table[3]["place"] == "'=cell 3"
    assert (table[3]["vote of ada"], table[3]["vote of bob"], table[3]["notes"]) == (
        "thing",
        "plant",
        "ada: hard to tell",
    )
