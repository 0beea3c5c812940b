"""The page on a phone and on a laptop, in dark and light, in a real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
from tests.studio.browsing import Server, expect, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def server(shared_studio: Server) -> Iterator[Server]:
    """A studio with a session of many classes, some with long names, and texts that have no place to break."""
    folder = shared_studio.folder
    rows = [{**row, "text": row["text"] + " " + "x" * 500} for row in notes()]
    graph = knn_from_table(write_csv(folder / "notes.csv", rows), 5, text="text", label="")
    many = [
        "thing",
        "plant",
        "a class with a very long name that will not fit into any button at all",
        *(f"class {n}" for n in range(20)),
    ]
    Session.create(folder / "job.nodewise", graph, budget=12, classes=many, audit=4).close()
    asked = shared_studio.post("/ask", session="job", annotator="somebody", k=3)["queries"]
    told = [{"node": query["node"], "label": "thing"} for query in asked]
    shared_studio.post("/tell", session="job", annotator="somebody", labels=told)
    yield shared_studio
    shared_studio.clear()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_never_scrolls_sideways(browser: Browser, server: Server, theme: str) -> None:
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "color_scheme": theme}
    with visit(browser, f"{server.address}/", **options) as seen:
        page = seen.page
        seen.ready()
        for name in ("Neighbourhood", "Map of the graph", "Progress", "History", "Annotators"):
            page.get_by_role("tab", name=name).tap()
            page.get_by_role("tabpanel", name=name).wait_for()
            assert seen.overflow() <= 0, name
        heights = page.evaluate(
            "() => [...document.querySelectorAll('button.class, .actions button')]"
            ".filter((each) => each.checkVisibility()).map((each) => each.offsetHeight)"
        )
        assert len(heights) > 20 and min(heights) >= 44, "large enough for a thumb"
        page.goto(f"{server.address}/new")
        page.locator(".drop[for=nodes-file]").wait_for()
        assert seen.overflow() <= 0


def test_dark_and_light_follow_the_system_until_one_is_chosen(browser: Browser, server: Server) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    with visit(browser, f"{server.address}/", color_scheme="dark") as seen:
        seen.ready()
        dark = seen.page.evaluate(ground)
        seen.page.emulate_media(color_scheme="light")
        seen.page.locator("html[data-theme=light]").wait_for()
        light = seen.page.evaluate(ground)
        assert sum(map(int, light[4:-1].split(","))) > 600 > 200 > sum(map(int, dark[4:-1].split(",")))
        seen.page.keyboard.press("t")  # auto, dark, light in turn
        seen.page.locator("html[data-theme=dark]").wait_for()
        assert seen.page.evaluate(ground) == dark
        seen.page.reload()
        seen.ready()
        assert seen.page.evaluate(ground) == dark, "the choice is remembered"


def test_many_classes_are_chosen_by_typing(browser: Browser, server: Server) -> None:
    with visit(browser, f"{server.address}/") as seen:
        page = seen.page
        seen.ready()
        page.keyboard.press("f")
        page.keyboard.type("class 17")
        page.locator("button.class.aimed[data-label='class 17']").wait_for()
        page.keyboard.press("Enter")
        page.locator("#telling .saved", has_text="class 17").wait_for()
        assert server.get("/status")["balance"]["class 17"] == 1
        seen.ready()
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        page.locator("#telling", has_text="Undone").wait_for()


@pytest.mark.parametrize("size", [(1280, 800), (1440, 900)])
def test_a_laptop_shows_everything_on_one_screen(browser: Browser, server: Server, size: tuple[int, int]) -> None:
    with visit(browser, f"{server.address}/", viewport={"width": size[0], "height": size[1]}) as seen:
        page = seen.page
        seen.ready()
        assert page.evaluate("() => document.documentElement.scrollHeight") <= size[1]
        for part in ("#card h1", "#insight", "button.class", ".neighbourhood canvas", ".view.progress", "#budget"):
            box = page.locator(part).first.bounding_box()
            assert box is not None and box["y"] >= 0 and box["y"] + min(box["height"], 40) <= size[1], part


def test_the_map_is_moved_by_wheel_keys_and_fingers(browser: Browser, server: Server) -> None:
    with visit(browser, f"{server.address}/") as seen:
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .note", has_text="60 rows").wait_for()
        whole = page.locator(".map canvas[data-zoom='1.00']")
        closer = page.locator(".map canvas:not([data-zoom='1.00'])")
        whole.hover()
        page.mouse.wheel(0, -300)
        closer.wait_for()
        closer.focus()
        page.keyboard.press("0")
        whole.wait_for()
        page.keyboard.press("+")
        closer.wait_for()
        for key in ("ArrowLeft", "ArrowDown", "-", "0"):
            page.keyboard.press(key)
        whole.wait_for()
        page.locator(".tooltip").wait_for()  # of the node nearest to the middle
        page.keyboard.press("Enter")
        page.locator(".pill", has_text="Looking around").wait_for()
        seen.ready()
        page.keyboard.press("Escape")
        page.locator(".pill", has_text="Looking around").wait_for(state="detached")


def test_two_fingers_zoom_and_click_nothing(browser: Browser, server: Server) -> None:
    with visit(browser, f"{server.address}/", viewport=PHONE, has_touch=True, is_mobile=True) as seen:
        page = seen.page
        seen.ready()
        canvas = page.locator(".neighbourhood canvas[data-zoom='1.00']")
        page.locator(".neighbourhood .legend-classes").wait_for()  # what stands around it is there: nothing moves
        canvas.hover(trial=True)
        box = canvas.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        touch = seen.context.new_cdp_session(page)
        for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 80), ("touchMove", 120)):
            points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        canvas.wait_for(state="detached")
        page.wait_for_function("() => Number(document.querySelector('.neighbourhood canvas').dataset.zoom) > 1.5")
        expect(page.locator("#trail .back")).to_be_hidden()  # nothing was clicked
