"""The whole desk by the keyboard alone, in Chromium: what has the focus is always seen, and no dialog loses it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.studio.browsing import Server, Visit, expect, notes, studio, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.slow
TOKEN = "the-token-of-the-owner"
FOCUS = """() => {
    const at = document.activeElement;
    const open = [...document.querySelectorAll("dialog[open]")].at(-1);
    if (at === null || at === document.body) return open ? "lost" : "";
    if (open && !open.contains(at)) return "the focus is behind the dialog";
    const around = [at, ...(at.labels ?? []), at.parentElement, at.parentElement?.parentElement].filter(Boolean);
    const isSeen = (part) => {
        const [style, box] = [getComputedStyle(part), part.getBoundingClientRect()];
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 && style.clipPath === "none" &&
            box.width > 4 && box.height > 4 && box.bottom > 0 && box.top < innerHeight && box.right > 0;
    };
    return around.some(isSeen) ? "" : `the focus is not seen: ${at.outerHTML.slice(0, 200)}`;
}"""
"""Why what has the focus cannot be seen: "lost" where a dialog is open and nothing in it has it; empty where it can be
seen, or where the page itself has it.
"""


class Keyboard:
    """Somebody with a keyboard and no mouse; after each key they look for the focus."""

    def __init__(self, seen: Visit) -> None:
        self._page = seen.page

    def press(self, *keys: str) -> None:
        for key in keys:
            self._page.keyboard.press(key)
            # behind the last part of a dialog come the browser's own bars, then the first part again
            fine = ["", "lost"] if key.endswith("Tab") else [""]
            self._page.wait_for_function(f"fine => fine.includes(({FOCUS})())", arg=fine)

    def type(self, words: str) -> None:
        self._page.keyboard.type(words)
        self._page.wait_for_function(f"() => ({FOCUS})() === ''")

    def reach(self, part: Locator, key: str = "Tab") -> None:
        """Press Tab until a part has the focus."""
        part.wait_for()
        # asked in one step: a line that is drawn anew between two would be taken for another, and passed
        there = part.and_(self._page.locator(":focus"))
        passed = []
        for _ in range(150):
            if there.count():
                return
            self.press(key)
            passed.append(self._page.evaluate("() => document.activeElement.outerHTML.slice(0, 60)"))
        raise AssertionError(f"{part} cannot be reached by {key}, past {passed[-12:]}")

    def use(self, part: Locator) -> None:
        """Reach a part and press Enter on it."""
        self.reach(part)
        self.press("Enter")

    def choose(self, field: Locator, value: str) -> None:
        """Take an option of a list by its arrows."""
        self.reach(field)
        self.press("Home")
        for _ in range(40):
            if field.input_value() == value:
                return
            self.press("ArrowDown")
        raise AssertionError(f"{value} is not in the list")


def owner(server: Server, path: str, **body: Any) -> Any:
    """What the API answers the owner: to a change where something is sent, else to a look."""
    with httpx.Client(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=120) as client:
        address = f"{server.address}/api/v1{path}"
        return (client.post(address, json=body) if body else client.get(address)).raise_for_status().json()


def test_a_job_from_the_file_to_the_export_without_a_mouse(browser: Browser, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "notes.csv", notes())
    with (
        studio(tmp_path, "--token", TOKEN) as server,
        visit(browser, f"{server.address}/new?token={TOKEN}", annotator=None, allowed=["409"]) as seen,
    ):
        page, keys = seen.page, Keyboard(seen)
        closed = page.locator("dialog")

        # make a job of two opinions a row
        page.on("filechooser", lambda chooser: chooser.set_files(table))
        keys.use(page.locator("#nodes-file"))
        keys.reach(page.locator("#classes"))
        keys.type("thing, plant")
        keys.use(page.locator("summary", has_text="More"))
        keys.reach(page.locator("#redundancy"))
        keys.press("Control+a")
        keys.type("2")
        keys.use(page.locator("#create"))
        page.wait_for_url("**/s/notes")
        page.locator("#annotator-name").wait_for()
        keys.type("ada")
        keys.press("Enter")

        # label, take back, skip
        for key in "12":
            seen.label(key)
        with page.expect_response(re.compile("/undo$")):
            keys.press("u")
        seen.ready()
        with page.expect_response(re.compile("/skip$")):
            keys.press("s")
        seen.ready()
        told = next(
            event["node"]
            for event in owner(server, "/events")["events"]
            if event["kind"] == "tell" and not event["undone"]
        )

        # find a row, look at it, come back
        keys.press("/")
        keys.type("number 24")
        page.locator("#search-list mark", has_text="number 24").wait_for()
        keys.press("ArrowDown", "Enter")
        page.locator("#card", has_text="Looking around").wait_for()
        keys.press("Escape")
        seen.ready()

        # another person disagrees; it is settled in the table
        owner(server, "/tell", annotator="bob", labels=[{"node": told, "label": "plant"}], overrule=True)
        keys.reach(page.get_by_role("tab", name="Progress"))
        keys.press("ArrowRight", "ArrowRight")
        keys.use(page.locator("#settle-button"))
        keys.use(page.locator(f".reading-votes[data-node='{told}'] .ballots button").first)
        page.get_by_text("settled as").first.wait_for()

        # filter, read row after row, label one, choose some, label these together, take it back
        which = page.get_by_label("Which rows")
        keys.reach(which, "Shift+Tab")
        keys.choose(which, "unlabelled")
        row = page.locator(".table-row[data-node] .link").first
        keys.reach(row)
        keys.press("ArrowDown")
        read = int(page.locator(".table-row.here").get_attribute("data-node") or "")
        with page.expect_response(re.compile("/tell$|/bulk$")) as labelled:
            keys.press("1")
        assert labelled.value.ok
        fifth = page.locator(".table-row[data-node]").nth(4).get_attribute("data-node")
        keys.reach(page.locator(f".table-row[data-node='{fifth}'] input[type=checkbox]"))
        keys.press("Space")
        page.get_by_text("1 row chosen").wait_for()
        keys.reach(page.get_by_role("button", name="Label them"), "Shift+Tab")
        keys.press("Enter")
        act = page.locator("dialog").last
        keys.choose(act.locator("select"), "plant")
        keys.use(act.get_by_role("button", name=re.compile("^Label 1 row")))
        keys.use(act.get_by_role("button", name=re.compile("^Undo")))
        expect(closed).to_have_count(1)  # the table is open still
        keys.press("Escape")
        expect(closed).to_have_count(0)
        assert owner(server, f"/nodes/{read}")["votes"] == {"ada": "thing"}
        assert owner(server, "/status")["bulk"] == 0, "taken back"

        # a link for somebody, and its end
        keys.reach(page.get_by_role("tab", name="Annotators"))
        keys.use(page.locator("#people-button"))
        keys.reach(page.locator("#person-name"))
        keys.type("Grace")
        keys.choose(page.locator("#person-role"), "reviewer")
        keys.use(page.get_by_role("button", name="Give a link"))
        page.locator(".new-link input").wait_for()
        keys.use(page.get_by_role("button", name="Take the link of Grace away"))
        expect(page.get_by_role("button", name="Yes, take it away")).to_be_focused()
        keys.press("Enter")
        page.get_by_text("Grace has no link any more").wait_for()
        keys.press("Escape")
        expect(closed).to_have_count(0)
        keys.use(page.locator("#assign-button"))
        page.locator("tr[data-person]").first.wait_for()
        keys.press("Escape")
        expect(closed).to_have_count(0)

        # classes, settings; the focus comes back to what opened them
        keys.use(page.locator("#classes-button"))
        keys.reach(page.get_by_placeholder("What belongs to plant?"))
        keys.type("it grows")
        keys.press("Tab", "Escape")
        expect(page.locator("#classes-button")).to_be_focused()
        expect(page.locator("#guidelines")).to_contain_text("it grows")
        keys.use(page.locator("#settings-button"))
        keys.reach(page.locator("#set-budget"))
        keys.press("Control+a")
        keys.type("40")
        keys.use(page.get_by_role("button", name="Save"))
        expect(closed).to_have_count(0)
        expect(page.locator("#settings-button")).to_be_focused()
        expect(page.locator("#budget")).to_contain_text("of 40")

        # the map by its arrows, the help, the result
        keys.press("g")
        page.locator(".map .note", has_text="60 rows").wait_for()
        keys.reach(page.locator(".map canvas"))
        keys.press("ArrowLeft", "+", "0")
        keys.press("?")
        page.locator(".key-table").first.wait_for()
        keys.press("Escape")
        expect(closed).to_have_count(0)
        keys.reach(page.locator("#export-button"))
        keys.press("Enter", "ArrowDown")
        with page.expect_download() as saved:
            keys.press("Enter")
        assert saved.value.suggested_filename == "notes-all-columns.csv"
