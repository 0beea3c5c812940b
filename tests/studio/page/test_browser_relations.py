"""A folder of tables with papers, authors and venues becomes a job in a real Chromium, and is labelled by relation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nodewise.datasets.relational import library_graph
from nodewise.graph import write_graph
from tests.studio.browsing import Server, expect, visit
from tests.studio.page.test_browser_axe import AXE, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AROUND = re.compile(r"/neighbourhood\?hops=2")
pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_a_folder_becomes_a_job_whose_neighbourhood_shows_relations(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    write_graph(library_graph(60), tmp_path / "library")
    (tmp_path / "library" / "graph.json").unlink()
    for relation, head in (("written by", "paper,author"), ("appears in", "paper,venue")):
        table = tmp_path / "library" / f"edges-{relation}.csv"
        table.write_text(table.read_text().replace("source,target", head, 1))
    files = sorted(str(path) for path in (tmp_path / "library").iterdir())
    options = {"bypass_csp": True, "viewport": {"width": 1280, "height": 900}}
    with visit(browser, f"{server.address}/new", **options) as seen:
        page = seen.page
        page.set_input_files("#nodes-file", files)
        page.locator("#create").wait_for()
        expect(page.locator("#labelled")).to_have_value("paper")
        expect(page.locator("#labelled option")).to_have_text(["author", "paper", "venue"])
        page.locator("#labelled").select_option("author")
        page.locator(".file-name", has_text="40 rows").wait_for()
        page.locator("#labelled").select_option("paper")
        page.locator(".file-name", has_text="60 rows").wait_for()
        page.locator("#labels_as").select_option("key")
        with page.expect_response(AROUND) as first:
            page.locator("#create").click()
            seen.ready()
        words = page.locator(".neighbourhood .legend-relations")
        words.wait_for()
        assert {"written by", "appears in", "author", "venue"} <= set(words.locator(".name").all_inner_texts())
        expect(page.get_by_role("button", name="2 steps")).to_have_attribute("aria-pressed", "true")
        drawn = first.value.json()
        people = [node for node in drawn["related"]["others"] if node["type"] == "author"]
        assert people and all(" " in node["name"] for node in people), "read by name"
        page.locator(".as-list summary").click()
        listed = page.locator(".row.other", has_text=people[0]["name"]).first
        expect(listed).to_contain_text("author · written by")
        seen.hover(".neighbourhood canvas", people[0]["x"], people[0]["y"], "written by")
        seen.label("1")
        page.locator(".neighbourhood .legend-classes").wait_for()
        if AXE.exists():
            assert violations(page) == []
        page.get_by_role("button", name="1 step").click()
        # the note of two hops names venues as well, and stands until one hop is drawn
        page.locator(".neighbourhood .note", has_text="venue", has_not_text="paper").wait_for()


def test_a_name_that_must_be_read_covers_anything_before_the_row_that_is_asked(
    browser: Browser, server: Server
) -> None:
    with visit(browser, f"{server.address}/new") as seen:
        left, top = seen.page.evaluate(
            """async () => {
                const { writeNames } = await import("/page/spacing.js");
                const measureText = () => ({ width: 60 });
                const context = { measureText, strokeText() {}, fillText(...at) { this.at = at; } };
                const beside = [15, 30, 45, 60, 75, 90].flatMap((x) => [[200 + x, 172], [200 - x, 172]]);
                const above = [157, 147, 137, 127].flatMap((y) => [180, 195, 210, 225].map((x) => [x, y]));
                const spots = [[200, 200], [200, 172], ...beside, ...above];
                const reaches = spots.map((_, item) => (item ? 5 : 18));
                writeNames(context, {}, ["", "Photonics"], spots, reaches, 400, 400, [1], () => true);
                return context.at.slice(1);
            }"""
        )
    across, down = min(left + 60, 218) - max(left, 182), min(top + 13, 218) - max(top, 182)
    assert min(across, down) <= 0, f"written at {left}, {top}, over the row that is asked"
