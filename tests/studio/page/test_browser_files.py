"""Files as people have them, chosen in a real Chromium: what was read wrongly can be said, and read again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, notes, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.long


def test_the_encoding_can_be_chosen_where_it_is_asked_for(browser: Browser, server: Server) -> None:
    # 0x81 is nothing in what Windows uses in western Europe, and "б" in what it uses in Russia has another byte
    russian = "text,place\n" + "".join(f"Это вещь номер {n},дом\n" for n in range(12))
    with visit(browser, f"{server.address}/new", allowed=["400"]) as seen:
        page = seen.page
        file = {"name": "letters.csv", "mimeType": "text/csv", "buffer": russian.encode("koi8-r") + b"\x81\x8d,\x8f\n"}
        page.set_input_files("#nodes-file", file)
        page.locator(".trouble", has_text="say its encoding").wait_for()
        page.get_by_label("Encoding").select_option("koi8-r")
        page.get_by_text("Это вещь номер 0").first.wait_for()
        page.locator("#create").wait_for()
        assert page.get_by_label("Encoding").input_value() == "koi8-r"


def test_a_stray_quote_is_told_with_its_line(browser: Browser, server: Server) -> None:
    with visit(browser, f"{server.address}/new", allowed=["400"]) as seen:
        broken = b'text,place\nhello,x\n"never closed,y\nmore,z\n'
        seen.page.set_input_files("#nodes-file", {"name": "a.csv", "mimeType": "text/csv", "buffer": broken})
        seen.page.locator(".trouble", has_text="a.csv, line 3 cannot be read").wait_for()


def test_label_studios_tasks_become_a_job_and_go_back(browser: Browser, server: Server) -> None:
    choice = {"type": "choices", "from_name": "kind", "to_name": "text"}
    tasks = [
        {
            "id": n,
            "data": {"text": row["text"], "place": "here"},
            "annotations": [{"result": [{**choice, "value": {"choices": [row["kind"]]}}]}] if n < 6 else [],
        }
        for n, row in enumerate(notes(40))
    ]
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        made = {"name": "tasks.json", "mimeType": "application/json", "buffer": json.dumps(tasks).encode()}
        page.set_input_files("#nodes-file", made)
        page.locator(".columns-table", has_text="annotator").wait_for()
        page.click("#create")
        page.wait_for_url("**/s/tasks")
        seen.ready()
        assert server.get("/status?session=tasks")["given"] == 6
        page.click("#export-button")
        with page.expect_download() as given:
            page.get_by_role("menuitem", name="Label Studio").click()
        back = json.loads(given.value.path().read_text(encoding="utf-8"))
        assert given.value.suggested_filename == "tasks-label-studio.json" and len(back) == 40
        assert {each["data"]["place"] for each in back} == {"here"}
