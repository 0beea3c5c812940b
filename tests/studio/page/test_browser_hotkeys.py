"""Keys that a person has changed: kept in the browser, without conflicts, told wherever a key is; in Chromium."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, Visit, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow


def change(page: Page, words: str, key: str) -> None:
    """Give a command another key, by the keyboard alone."""
    button = page.get_by_role("button", name=f"Change the key for: {words}")
    button.focus()
    page.keyboard.press("Enter")
    page.locator(".key-list .waiting").wait_for()
    page.keyboard.press(key)
    page.locator(".key-list .waiting").wait_for(state="detached")


def open_keys(seen: Visit) -> Page:
    """Open the list of keys by the help."""
    seen.ready()
    seen.page.keyboard.press("?")
    seen.page.get_by_role("button", name="Change the keys").click()
    seen.page.locator(".key-list").wait_for()
    return seen.page


def kinds(server: Server) -> list[str]:
    return [event["kind"] for event in server.get("/events?session=job")["events"]][::-1]


def test_a_changed_key_holds_after_a_reload_and_is_told_on_buttons_and_in_the_help(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = open_keys(seen)
        change(page, "skip", "k")
        page.locator(".key-said", has_text="k: skip").wait_for()
        change(page, "give class 2: plant", "j")
        page.locator(".key-said", has_text="j: give class 2").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        page.reload()
        seen.ready()
        assert page.locator("#choices .actions button", has_text="Skip").locator("kbd").inner_text() == "k"
        plant = page.locator("#choices button[data-label=plant]")
        assert plant.locator("kbd").inner_text() == "j"
        assert plant.get_attribute("aria-keyshortcuts") == "j"
        page.keyboard.press("s")  # means nothing now
        seen.label("j")
        with page.expect_response(re.compile("/skip$")):
            page.keyboard.press("k")
        seen.ready()
        assert kinds(server) == ["tell", "skip"]
        page.keyboard.press("?")
        told = page.locator(".key-table").first
        told.wait_for()
        assert told.locator("dt", has_text=re.compile("^k$")).count() == 1
        assert "j" in told.locator("dt").first.inner_text()


def test_a_key_that_is_taken_or_none_is_refused_with_a_sentence(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = open_keys(seen)
        wrong = page.get_by_role("alert").filter(has_text=re.compile("."))
        change(page, "skip", "u")
        wrong.filter(has_text="“u” is the key for “undo your last change” already: give that another key").wait_for()
        change(page, "skip", "F5")
        wrong.filter(has_text="F5 cannot be a command’s key: take a letter").wait_for()
        change(page, "skip", "Control+b")
        wrong.filter(has_text="belong to the browser").wait_for()
        change(page, "skip", "Escape")
        page.locator(".key-said", has_text="It stays as it is").wait_for()
        assert page.locator("dialog[open]").count() == 1, "Escape ends the waiting, not the dialog"
        assert page.get_by_role("button", name="All usual keys again").is_disabled()
        change(page, "undo", "z")
        change(page, "skip", "u")  # it is free now
        page.locator(".key-said", has_text="u: skip").wait_for()
        page.get_by_role("button", name="The usual key again for: undo").click()
        wrong.filter(has_text="“u” is the key for “skip” already").wait_for()
        page.get_by_role("button", name="All usual keys again").click()
        page.locator(".key-said", has_text="All keys are the usual ones again").wait_for()
        page.get_by_role("button", name="Done").click()
        page.locator("dialog").wait_for(state="detached")
        seen.ready()
        assert page.locator("#choices .actions button", has_text="Skip").locator("kbd").inner_text() == "s"


def test_keys_go_into_a_file_and_come_back_from_it_all_or_none(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = open_keys(seen)
        change(page, "skip", "k")
        page.locator(".key-said", has_text="k: skip").wait_for()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save to a file").click()
        saved.value.save_as(tmp_path / "keys.json")
        assert json.loads((tmp_path / "keys.json").read_text())["keys"] == {"skip": "k"}
        page.get_by_role("button", name="All usual keys again").click()
        page.locator(".key-said", has_text="the usual ones again").wait_for()
        page.set_input_files("#keys-file", tmp_path / "keys.json")
        page.locator(".key-said", has_text="1 command with another key").wait_for()
        wrong = page.get_by_role("alert").filter(has_text=re.compile("."))
        for text, why in (
            ('{"nodewise_keys": 1, "keys": {"skip": "b", "undo": "b"}}', "is the key for"),
            ('{"nodewise_keys": 1, "keys": {"fly": "b"}}', "not here, “fly”"),
            ('{"nodewise_keys": 1, "keys": {"skip": 7}}', "no key for “skip”"),
            ('{"nodewise_keys": 1, "keys": {"skip": "constructor"}}', "constructor cannot be a command’s key"),
            ("[1, 2", "no file of keys"),
        ):
            (tmp_path / "bad.json").write_text(text)
            page.set_input_files("#keys-file", tmp_path / "bad.json")
            wrong.filter(has_text=why).wait_for()
        skip = page.locator(".key-list li", has=page.locator("[data-change=skip]"))
        assert skip.locator("kbd").inner_text() == "k"


def test_a_changed_key_does_nothing_in_a_text_field_and_labels_in_the_table(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = open_keys(seen)
        change(page, "give class 1: thing", "k")
        page.locator(".key-said", has_text="k: give class 1").wait_for()
        page.get_by_role("button", name="Done").click()
        page.locator("dialog").wait_for(state="detached")
        page.keyboard.press("/")
        page.keyboard.type("kkk")
        assert page.locator("#search input").input_value() == "kkk"
        page.keyboard.press("Escape")
        page.keyboard.press("l")
        page.locator(".table-row[data-node='3'] .link").click()
        page.locator(".reading-choices").wait_for()
        with page.expect_response(re.compile("/tell$|/bulk$")) as told:
            page.keyboard.press("k")
        assert told.value.ok
        assert kinds(server) == ["tell"]
        assert server.get("/nodes/3?session=job")["label"] == "thing"


def test_space_and_enter_press_what_has_the_focus_in_the_table_whatever_else_they_mean(
    browser: Browser, server: Server
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        page = open_keys(seen)
        change(page, "accept the prediction", "b")
        change(page, "give class 1: thing", "Space")
        change(page, "give class 2: plant", "Enter")
        page.locator(".key-said", has_text="Enter: give class 2").wait_for()
        page.get_by_role("button", name="Done").click()
        page.locator("dialog").wait_for(state="detached")
        page.keyboard.press("l")
        page.locator(".table-row[data-node='3'] .link").click()
        page.locator(".reading-choices").wait_for()
        box = page.locator(".table-row[data-node='4'] input[type=checkbox]")
        box.focus()
        page.keyboard.press("Space")
        page.get_by_text("1 row chosen").wait_for()
        none = page.get_by_role("button", name="Choose none")
        none.focus()
        page.keyboard.press("Enter")
        none.wait_for(state="detached")
        assert not box.is_checked() and kinds(server) == []
        page.locator(".table-row[data-node='3'] input[type=checkbox]").focus()
        with page.expect_response(re.compile("/tell$|/bulk$")):
            page.keyboard.press("Enter")  # which presses no box
        assert server.get("/nodes/3?session=job")["label"] == "plant"
