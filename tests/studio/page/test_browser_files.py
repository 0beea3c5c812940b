"""Files as people have them, chosen in a real Chromium: what was read wrongly can be said, and read again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, expect, notes, visit

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
        expect(seen.page.locator(".trouble")).to_have_text(re.compile("^a\\.csv, line 3 cannot be read"))  # no capital


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


def test_excel_comes_in_and_goes_out_under_names_that_differ(browser: Browser, server: Server, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["code", "body"])
    for number, row in enumerate(notes(30)):
        book.active.append([f"K-{number}", row["text"]])
    book.save(tmp_path / "letters.xlsx")
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.set_input_files("#nodes-file", tmp_path / "letters.xlsx")
        page.locator(".file-name", has_text="30 rows").wait_for()
        expect(page.locator("#id")).to_have_value("code")  # each of its cells is another: the row's name
        page.fill("#classes", "thing, plant")
        page.click("#create")
        page.wait_for_url("**/s/letters")
        seen.label("1")
        names = set()
        for form in ("csv", "full csv", "who said what", "excel", "label studio", "json"):
            page.click("#export-button")
            with page.expect_download() as given:
                page.locator(f"[data-export='{form}']").click()
            names.add(given.value.suggested_filename)
            given.value.save_as(tmp_path / given.value.suggested_filename)
        assert len(names) == 6 and all(name.startswith("letters") for name in names), names
        (sheet,) = (name for name in names if name.endswith(".xlsx"))
        cells = list(openpyxl.load_workbook(tmp_path / sheet).active.iter_rows(values_only=True))
        assert len(cells) == 31 and cells[1][cells[0].index("name")] == "K-0"


def test_lines_of_json_may_hold_any_character(browser: Browser, server: Server) -> None:
    lines = [json.dumps({"text": f"{row['text']}\u2028and more"}, ensure_ascii=False) for row in notes(30)]
    with visit(browser, f"{server.address}/new") as seen:
        held = {"name": "lines.jsonl", "mimeType": "application/x-ndjson", "buffer": "\n".join(lines).encode()}
        seen.page.set_input_files("#nodes-file", held)
        seen.page.locator(".file-name", has_text="30 rows").wait_for()
        expect(seen.page.locator("#text input:checked")).to_have_value("text")
