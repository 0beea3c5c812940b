"""Keys on other keyboards: Caps Lock, a French row of digits, letters that are not Latin; in Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, Visit, expect, make, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def press(seen: Visit, key: str, code: str) -> None:
    """A key as another keyboard sends it: what it types, and where it lies on an American one."""
    seen.page.evaluate(
        "([key, code]) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, code, bubbles: true,"
        " cancelable: true }))",
        [key, code],
    )


def kinds(server: Server) -> list[str]:
    return [event["kind"] for event in server.get("/events?session=job")["events"]][::-1]


@pytest.mark.parametrize(("key", "code"), [("S", "KeyS"), ("ы", "KeyS"), ("Ы", "KeyS"), ("σ", "KeyS")])
def test_a_letter_means_the_same_with_caps_lock_and_on_a_keyboard_without_latin_letters(
    browser: Browser, server: Server, key: str, code: str
) -> None:
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        with seen.page.expect_response(re.compile("/skip$")) as skipped:
            press(seen, key, code)
        assert skipped.value.ok
        seen.ready()
        assert kinds(server) == ["skip"]


def test_the_typed_sign_counts_before_the_place_of_a_key(browser: Browser, server: Server) -> None:
    """On a French keyboard the key at Q types "a"; a dialog of similar rows opens, and nothing else is done."""
    make(server, "job", notes(), classes="thing, plant")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.label("1")
        press(seen, "a", "KeyQ")
        seen.page.locator(".similar-list li").first.wait_for()
        assert kinds(server) == ["tell"]


def test_a_french_row_of_digits_gives_classes_without_shift(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant, tree, stone, water, cloud")
    with visit(browser, f"{server.address}/s/job") as seen:
        for key, code in (("é", "Digit2"), ("-", "Digit6")):
            seen.ready()
            with seen.page.expect_response(re.compile("/tell$")) as told:
                press(seen, key, code)
            assert told.value.ok
            seen.ready()
        said = server.get("/events?session=job")["events"]
        assert sorted(event["label"] for event in said) == ["cloud", "plant"]


@pytest.mark.parametrize(("key", "code", "classes"), [("-", "Digit6", 2), ("w", "KeyZ", 6), ("-", "NumpadSubtract", 6)])
def test_none_of_them_has_a_key_on_a_french_keyboard(
    browser: Browser, server: Server, key: str, code: str, classes: int
) -> None:
    names = ["thing", "plant", "tree", "stone", "water", "cloud"][:classes]
    make(server, "job", notes(), classes=", ".join(names), several="true")
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        press(seen, key, code)
        expect(seen.page.get_by_role("checkbox", name="None of them")).to_be_checked()
