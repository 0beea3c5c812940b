"""Blind is blind: audits and second opinions show no prediction anywhere; in a real Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, Visit, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.slow


def come_to_be_seen(seen: Visit, some: bool) -> None:
    """Wait until each part of the page shows predictions, or none."""
    page = seen.page

    def comes(shown: Locator) -> None:
        (expect(shown).not_to_have_count if some else expect(shown).to_have_count)(0)

    page.get_by_role("tab", name="Neighbourhood").click()
    page.locator(".neighbourhood .note", has_text="neighbour").wait_for()
    if page.locator(".neighbourhood details").get_attribute("open") is None:
        page.locator(".neighbourhood details summary").click()
    page.locator(".neighbours li").first.wait_for()
    comes(page.locator(".neighbours li", has_text=re.compile("predicted (thing|plant)")))
    comes(page.locator(".neighbourhood .legend-classes", has_text="predicted"))
    page.get_by_role("tab", name="Map of the graph").click()
    page.locator(".map .note", has_text="60 rows").wait_for()
    comes(page.locator(".map .legend-classes", has_text="predicted"))
    page.keyboard.press("l")
    page.locator(".table-row[data-node]").first.wait_for()
    comes(page.locator(".table-row[data-node] .figure").filter(has_text="%"))
    if not some:
        for choice in ("confident", "unsure"):
            page.get_by_label("Which rows").select_option(choice)
            page.locator(".table-tools [role=status]", has_text=re.compile(r"^0 rows$")).wait_for()
            comes(page.locator(".table-row[data-node]"))
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def predictions_sent(server: Server, node: int, annotator: str) -> dict[str, int]:
    """How many predictions each answer of the studio holds for an annotator."""
    who = f"session=job&annotator={annotator}"
    others = [each["node"] for each in server.get(f"/nodes/{node}/neighbourhood?{who}")["nodes"]]
    return {
        "cards": sum(server.get(f"/nodes/{each}?{who}")["predicted"] is not None for each in others),
        "neighbourhood": sum(
            each["predicted"] is not None or each["sure"] is not None
            for each in server.get(f"/nodes/{node}/neighbourhood?{who}")["nodes"]
        ),
        "map": sum(number >= 0 for number in server.get(f"/map/colours?{who}")["predicted"]),
        "table": sum(row["predicted"] is not None for row in server.get(f"/table?{who}")["rows"]),
        "search": sum(each.get("predicted") is not None for each in server.get(f"/nodes?q=note&{who}")["nodes"]),
        "sure": server.get(f"/table?{who}&filter=confident")["total"],
    }


@pytest.mark.long
def test_a_question_of_the_audit_shows_no_prediction_anywhere(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=3)
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        for turn in range(6):
            seen.ready()
            if page.locator(".pill.audit").count() and turn > 1:
                break
            seen.label("2" if "grows" in page.locator("#card").inner_text() else "1")
        assert page.locator(".pill.audit").count() == 1
        node = server.post("/ask", session="job", annotator="me")["queries"][0]["node"]
        come_to_be_seen(seen, some=False)
        assert set(predictions_sent(server, node, "me").values()) == {0}
        page.get_by_role("tab", name="Neighbourhood").click()
        page.locator(".neighbours button").first.click()
        page.locator(".pill", has_text="Looking around").wait_for()
        page.locator("#insight", has_text="Hidden until you have answered").wait_for()
        assert page.locator("#insight button", has_text="Accept").count() == 0
        page.keyboard.press("Escape")
        seen.label("1")
        if not page.locator(".pill.audit").count():
            come_to_be_seen(seen, some=True)  # again


def test_a_second_opinion_shows_no_prediction_and_no_message_tells_the_first(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", redundancy=2)
    for node in range(8):
        label = "plant" if node % 2 else "thing"
        for who in ("ada", "bob")[: 1 if node == 7 else 2]:
            server.post("/tell", session="job", annotator=who, labels=[{"node": node, "label": label}])
    with visit(browser, f"{server.address}/s/job", annotator="bob") as seen:
        page = seen.page
        seen.ready()
        assert seen.title() == "Note 7"
        come_to_be_seen(seen, some=False)
        assert set(predictions_sent(server, 7, "bob").values()) == {0}
        assert predictions_sent(server, 7, "ada")["map"] > 0, "she is asked nothing"
        page.get_by_role("tab", name="History").click()
        with page.expect_response(re.compile("/undo$")) as undone:
            page.locator(".events li", has_text="Note 7").or_(
                page.locator(".events li", has_text="note 7")
            ).first.get_by_role("button", name=re.compile("Undo")).click()
        assert undone.value.json()["undone"]["label"] is None
        page.locator("#telling", has_text="Undone").wait_for()
        assert "plant" not in page.locator("#telling").inner_text()
