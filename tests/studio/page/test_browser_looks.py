"""Nothing is cut, broken or pushed out of sight that has room: what pictures of the page showed; in a real Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.studio.browsing import Server, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AREAS = [
    "Case Based",
    "Genetic Algorithms",
    "Neural Networks",
    "Probabilistic Methods",
    "Reinforcement Learning",
    "Rule Learning",
    "Theory",
]
NAMES = ".classes button.class .name"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def broken_words(page: Page, part: str) -> list[str]:
    """The words of these parts that go over more than one line."""
    found: list[str] = page.evaluate(
        """(part) => [...document.querySelectorAll(part)].flatMap((name) => {
            const text = name.firstChild;
            return [...text.data.matchAll(/\\S+/g)].flatMap((word) => {
                const range = document.createRange();
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
                return lines.size > 1 ? [word[0]] : [];
            });
        })""",
        part,
    )
    return found


@pytest.mark.parametrize("longest", ["Reinforcement Learning", "Internationalism"])
@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_no_word_of_a_class_is_broken(browser: Browser, server: Server, screen: str, longest: str) -> None:
    make(server, "job", notes(), classes=", ".join([*AREAS[:4], *AREAS[5:], longest]))
    with visit(browser, f"{server.address}/s/job", **(PHONE if screen == "phone" else {})) as seen:
        seen.ready()
        expect(seen.page.locator(NAMES)).to_have_count(7)
        assert broken_words(seen.page, NAMES) == []


def test_figures_stand_beside_their_bars_and_names_of_the_legend_are_whole(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes=", ".join(AREAS), budget=40)
    for node in range(28):
        server.post("/tell", session="job", annotator="me", labels=[{"node": node, "label": AREAS[node % 7]}])
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        expect(page.locator(".balance .figure")).to_have_count(7)
        assert page.evaluate(
            """() => [...document.querySelectorAll('.balance .bars li')].every((line) =>
                line.querySelector('.track').getBoundingClientRect().right <=
                line.querySelector('.figure').getBoundingClientRect().left)"""
        )
        page.get_by_role("tab", name="Map of the graph").click()
        names = page.locator(".map .legend-classes .name")
        expect(names).to_have_count(7)
        assert all(each.evaluate("name => name.scrollWidth <= name.clientWidth") for each in names.all())


def test_the_list_of_neighbours_is_in_sight_once_it_is_opened(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        for key in ("1", "2"):
            seen.label(key)
        page.get_by_text("As a list").click()
        page.locator(".neighbours li").nth(3).wait_for()
        page.wait_for_function(
            """() => {
                const frame = document.querySelector('.neighbourhood .below').getBoundingClientRect();
                const whole = [...document.querySelectorAll('.neighbours li')].filter(
                    (line) => line.getBoundingClientRect().bottom <= frame.bottom);
                return whole.length >= 3;
            }"""
        )
        expect(page.locator(".neighbourhood canvas")).to_be_visible()


@pytest.mark.parametrize(("screen", "lines"), [("phone", 100), ("200 % zoom", 40)])
def test_what_was_saved_leaves_the_text_its_room(browser: Browser, server: Server, screen: str, lines: int) -> None:
    texts = [" ".join([row["text"]] * 6) for row in notes()]
    make(server, "job", [{"title": text[:110], "text": text} for text in texts], classes=", ".join(AREAS))
    shape = PHONE if screen == "phone" else {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
    with visit(browser, f"{server.address}/s/job", **shape) as seen:
        page = seen.page
        seen.label("5")
        page.locator("#telling .saved").wait_for()
        seen.ready()
        assert seen.overflow() <= 0
        expect(page.locator("#telling .saved button")).to_be_in_viewport(ratio=1)
        assert page.locator("#telling").evaluate("line => line.offsetHeight") <= 44, "one line"
        page.wait_for_function(
            """(lines) => {
                const [dock, text] = ['#choices', '#card .text'].map((part) =>
                    document.querySelector(part).getBoundingClientRect());
                return dock.top - text.top >= lines;
            }""",
            arg=lines,
        )


def test_on_a_phone_every_filter_can_be_seen(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    server.post("/notes", session="job", annotator="ada", node=2, text="a lamp, is it?")
    with visit(browser, f"{server.address}/s/job#view=table", **PHONE) as seen:
        page = seen.page
        page.locator(".table-row[data-node]").first.wait_for()
        page.get_by_text("More filters").tap()
        box = page.get_by_label("with a note")
        expect(box).to_be_in_viewport(ratio=1)
        box.tap()
        page.locator(".table-tools [role=status]", has_text=re.compile(r"^1 row$")).wait_for()
        page.locator(".table-row[data-node='2'] .link").tap()
        page.locator(".table-reading h3", has_text="Note 2").wait_for()


def test_a_disagreement_is_marked_where_the_name_of_the_class_has_no_room(browser: Browser, server: Server) -> None:
    rows = [{**row, "place": "Oslo", "price": str(number)} for number, row in enumerate(notes())]
    make(server, "job", rows, classes="reinforcement learning, probabilistic methods", redundancy=2)
    for who, label in (("ada", "reinforcement learning"), ("bob", "probabilistic methods")):
        server.post("/tell", session="job", annotator=who, labels=[{"node": 3, "label": label}])
    with visit(browser, f"{server.address}/s/job#view=table&filter=disagreement", annotator="eve") as seen:
        sign = seen.page.locator(".table-row[data-node='3']").get_by_role("img", name="people disagree")
        sign.wait_for()
        assert sign.evaluate(
            "sign => sign.getBoundingClientRect().right <= sign.parentElement.getBoundingClientRect().right"
        )


def test_no_form_of_export_is_told_by_the_one_above_it(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        seen.page.click("#export-button")
        expect(seen.page.locator("[data-export=excel]")).to_contain_text("full CSV")
        assert "the same" not in seen.page.get_by_role("menu", name="Export").inner_text()
