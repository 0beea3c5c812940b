"""Texts of a graph stay text in every view, and a page is never frozen, in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.session import Session
from tests.studio.browsing import EVIL, Server, Visit, expect, studio, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = 12


def evil_graph() -> Graph:
    """A ring of nodes that are called, titled and described so that a page which believes them would run them."""
    ends = np.array([[node, (node + step) % SMALL] for node in range(SMALL) for step in (1, 2)]).T
    names = [f"{EVIL}{node}" for node in range(SMALL)]
    attributes = {
        "title": names,
        "text": [f"{EVIL} {'W' * 21_000}"] * SMALL,
        "link": ["javascript:window.hacked=1"] * SMALL,
        EVIL: [EVIL] * SMALL,
    }
    return Graph.build(ends, num_nodes=SMALL, node_names=names, attributes=attributes, name=EVIL)


def unharmed(seen: Visit) -> None:
    assert seen.page.evaluate("() => window.hacked") is None
    assert seen.page.evaluate("() => document.querySelectorAll('img[src=x], [onerror]').length") == 0


def test_names_labels_and_attributes_stay_text_hovered_too(browser: Browser, server: Server) -> None:
    Session.create(server.folder / "evil.nodewise", evil_graph(), budget=6, classes=[EVIL, "fine"]).close()
    with visit(browser, f"{server.address}/s/evil") as seen:
        page = seen.page
        seen.ready()
        assert EVIL in seen.title()
        assert EVIL in page.locator("#card .attributes").inner_text()
        assert page.locator("#card a[href^=javascript]").count() == 0
        page.locator("button.class", has_text=EVIL).click()
        page.locator("#telling .saved", has_text=EVIL).wait_for()
        seen.label("2")

        around = server.get(f"/nodes/{server.post('/ask')['queries'][0]['node']}/neighbourhood")["nodes"]
        seen.hover(".neighbourhood canvas", around[1]["x"], around[1]["y"], EVIL)
        page.locator(".as-list summary").click()
        page.locator(".neighbours .row", has_text=EVIL).first.wait_for()
        page.locator(".legend", has_text=EVIL).wait_for()

        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .legend", has_text=EVIL).wait_for()
        whole = server.get("/map")
        page.mouse.click(*seen.hover(".map canvas", whole["x"][0], whole["y"][0], EVIL))
        seen.ready()

        for name in ("History", "Annotators", "Progress"):
            page.get_by_role("tab", name=name).click()
            if name != "Annotators":
                page.get_by_role("tabpanel", name=name).get_by_text(EVIL).first.wait_for()
        page.keyboard.press("/")
        page.keyboard.type("<img")
        page.locator("#search-list [role=option]", has_text=EVIL).first.wait_for()
        unharmed(seen)
        assert seen.overflow() <= 0
        assert server.get("/status")["balance"] == {EVIL: 1, "fine": 1}


def test_an_annotator_a_class_and_a_file_may_be_called_anything(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    rows = [
        {"id": f"{EVIL}{number}", EVIL: EVIL, "text": f"words of {EVIL} number {number} {number % 7}"}
        for number in range(30)
    ]
    table = write_csv(tmp_path / "table.csv", rows)
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.locator("#nodes-file").set_input_files(
            {"name": f"{EVIL}.csv", "mimeType": "text/csv", "buffer": table.read_bytes()}
        )
        page.get_by_role("region", name="Columns").get_by_text(EVIL).first.wait_for()
        page.get_by_role("textbox", name="Classes").fill(EVIL)
        page.get_by_label("Name of the session").fill("odd")
        page.get_by_role("button", name="Make the session").click()
        page.wait_for_url("**/s/*")
        seen.ready()
        page.locator("#name-button").click()
        page.locator("#annotator-name").fill(EVIL)
        page.keyboard.press("Enter")
        page.locator("#name-button", has_text="<img").wait_for()
        seen.label("1")
        page.keyboard.press("p")
        page.get_by_role("tabpanel", name="History").get_by_text(EVIL).first.wait_for()
        unharmed(seen)
        assert server.get("/status")["annotators"] == {EVIL: 1}


@pytest.mark.long
def test_a_hub_of_ten_thousand_neighbours_does_not_freeze_the_page(browser: Browser, server: Server) -> None:
    hub = 10_000
    ends = np.array([[0] * hub, list(range(1, hub + 1))])
    graph = Graph.build(ends, num_nodes=hub + 1, name="hub")
    Session.create(server.folder / "hub.nodewise", graph, budget=5, classes=["a", "b"], strategy="centrality").close()
    with visit(browser, f"{server.address}/s/hub") as seen:
        page = seen.page
        seen.ready()
        page.get_by_text("10,000 neighbours").first.wait_for()
        expect(page.locator(".neighbourhood .note")).to_contain_text("Showing 149 of 10,000")
        page.keyboard.press("h")  # two hops; while they are fetched and drawn, a key is answered
        page.keyboard.press("?")
        page.get_by_role("dialog", name="Keys").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .note", has_text="10,001 rows").wait_for()
        seen.label("1")
        assert server.get("/status")["told"] == 1


def test_a_token_in_the_address_opens_the_page_and_leaves_the_address(browser: Browser, tmp_path: Path) -> None:
    token = "a-token.of-our_own~42"
    Session.create(tmp_path / "evil.nodewise", evil_graph(), budget=6, classes=["fine"]).close()
    with studio(tmp_path, "evil.nodewise", "--token", token) as server:
        with visit(browser, f"{server.address}/", allowed=["401"]) as seen:
            assert seen.page.locator("#card").count() == 0, "nothing without the token"
        with visit(browser, f"{server.address}/?token={token}") as seen:
            seen.ready()
            assert seen.page.url.startswith(f"{server.address}/s/")
            seen.label("1")
            seen.page.get_by_role(
                "tab", name="History"
            ).click()  # brought up to date by the websocket, whose cookie is the token
            seen.page.get_by_role("tabpanel", name="History").get_by_text("fine").first.wait_for()
            expect(seen.page.locator("#connection")).to_be_hidden()
            assert seen.page.evaluate("() => document.cookie") == "", "no script can read it"
