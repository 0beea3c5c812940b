"""Every view by axe, which looks for what shuts people out: names, roles, contrast, order. It finds nothing, light and
dark, on a desktop, on a phone and at 200 % zoom.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.studio.browsing import Server, make, notes, studio, visit
from tests.studio.jobs import job

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not AXE.exists(), reason="needs what `make page` installs")]
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "200 % zoom": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
}


@pytest.fixture(scope="module")
def server(shared_studio: Server) -> Iterator[Server]:
    """A studio whose session has labels of two people, a disagreement and a note; of two beside it the budget of one is
    spent.
    """
    for name in ("job", "other"):
        make(shared_studio, name, notes(), classes="thing, plant", redundancy=2, audit=2)
    for node, labels in ((3, ("thing", "plant")), (4, ("thing", "thing")), (5, ("plant", "plant"))):
        for who, label in zip(("ada", "bob"), labels, strict=True):
            shared_studio.post("/tell", session="job", annotator=who, labels=[{"node": node, "label": label}])
    make(shared_studio, "done", notes(), classes="thing, plant", budget=2)
    labels = [{"node": node, "label": ("thing", "plant")[node]} for node in range(2)]
    shared_studio.post("/tell", session="done", annotator="ada", labels=labels)
    shared_studio.post("/notes", session="job", annotator="ada", node=3, text="see https://example.org/x")
    yield shared_studio
    shared_studio.clear()


def violations(page: Page) -> list[str]:
    """What axe says against the page as it is now."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "async () => (await axe.run(document, { resultTypes: ['violations'] })).violations"
    )
    return [f"{each['id']}: {each['help']}: {node['html'][:150]}" for each in found for node in each["nodes"][:3]]


@pytest.mark.parametrize(
    ("screen", "theme"),
    [
        ("desktop", "light"),
        ("phone", "dark"),
        pytest.param("desktop", "dark", marks=pytest.mark.long),
        pytest.param("phone", "light", marks=pytest.mark.long),
        pytest.param("200 % zoom", "light", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(browser: Browser, server: Server, screen: str, theme: str) -> None:
    wrong: dict[str, list[str]] = {}
    options = {**SCREENS[screen], "color_scheme": theme, "bypass_csp": True}
    with visit(browser, f"{server.address}/s/job", annotator="eve", allowed=["409"], **options) as seen:
        page = seen.page

        def look(view: str) -> None:
            if found := violations(page):
                wrong[view] = found

        seen.ready()
        look("work")
        page.keyboard.press("x")
        page.locator("#leave-focus").wait_for()
        look("focus")
        page.keyboard.press("x")
        page.get_by_role("tab", name="Annotators").click()
        for button, there in (("#assign-button", "tr[data-person]"), ("#people-button", "dialog .dialog-body")):
            page.locator(button).click()
            page.locator(there).first.wait_for()
            look(button)
            page.keyboard.press("Escape")
            page.locator("dialog").wait_for(state="detached")
        page.locator(".kappa").wait_for()
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .note", has_text="60 rows").wait_for()
        page.get_by_role("button", name="Choose rows by drawing around them").click()
        look("annotators, map and choice")
        page.locator("#settle-button").click()
        page.locator(".table-row[data-node] .link").first.wait_for()
        look("the review desk")
        page.locator(".table-row[data-node] .link").first.click()
        page.locator(".reading-votes").wait_for()
        page.get_by_text("More filters").evaluate("summary => { summary.parentElement.open = true; }")
        look("a disagreement that is read")
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="History").click()
        page.locator(".events .link").first.click()
        page.locator("#card", has_text="Looking around").wait_for()
        look("looking around, history")
        page.locator("#similar-button").click()
        page.locator(".similar-list li").first.wait_for()
        look("similar rows")
        page.keyboard.press("Escape")
        for button, there, view in (
            ("#table-button", ".table-row[data-node]", "table"),
            ("#classes-button", ".class-list li", "classes"),
            ("#settings-button", ".fact-table", "settings"),
            ("#rows-button", ".row-files input", "rows that come later"),
            ("#models-button", "dialog .dialog-body h3", "what models say"),
            ("#name-button", "#annotator-name", "who is labelling"),
            ("#help-button", ".key-table", "keys"),
        ):
            page.locator(button).click()
            page.locator(there).first.wait_for()
            look(view)
            if view == "keys":
                page.get_by_role("button", name="Change the keys").click()
                page.locator(".key-list").wait_for()
                look("keys to change")
            page.keyboard.press("Escape")
        page.locator("#table-button").click()
        page.locator(".table-row[data-node] input[type=checkbox]").nth(8).check()
        page.get_by_role("button", name="Skip", exact=True).click()
        page.locator(".action-preview").wait_for()
        look("what an action would do")
        page.keyboard.press("Escape")
        page.locator(".action-dialog").wait_for(state="detached")
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        page.locator("#export-button").click()
        look("export")
        page.goto(f"{server.address}/new")
        page.locator(".sessions li").first.wait_for()
        page.set_input_files(
            "#nodes-file",
            {"name": "notes.csv", "mimeType": "text/csv", "buffer": b"text,place\n" + b"a word,here\n" * 9},
        )
        page.locator("#create").wait_for()
        look("new")
        page.goto(f"{server.address}/s/job#look=1")
        page.get_by_role("heading", name="No row is given to you").wait_for()
        look("looking alone")
        page.goto(f"{server.address}/s/done")
        page.get_by_role("heading", name="The budget is spent").wait_for()
        look("closing")
    assert not wrong


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", list(SCREENS))
def test_axe_finds_nothing_among_the_people(browser: Browser, tmp_path: Path, screen: str, theme: str) -> None:
    """Links are there with a token alone."""
    job(tmp_path).close()
    token = "the-owners-token"
    options = {**SCREENS[screen], "color_scheme": theme, "bypass_csp": True}
    with (
        studio(tmp_path, "job.nodewise", "--token", token) as server,
        visit(browser, f"{server.address}/?token={token}", **options) as seen,
    ):
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Annotators").click()
        page.locator("#people-button").click()
        page.locator("#person-name").fill("Grace")
        page.get_by_role("button", name="Give a link").click()
        page.locator(".new-link input").wait_for()
        page.locator("[data-person=Grace]").wait_for()
        assert not violations(page)
        page.get_by_role("button", name="Take the link of Grace away").click()
        page.get_by_role("button", name="Yes, take it away").click()
        page.get_by_text("Grace has no link any more").wait_for()
        assert not violations(page)
