"""Rows with several classes in a real Chromium: keys choose, Enter saves, none of them is an answer; two people, the
settle desk, exports, audits, a phone.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nodewise.graph.knn.knn import knn_from_tasks
from tests.studio.browsing import Server, Visit, expect, make, visit, write_csv
from tests.studio.page.test_browser_axe import AXE, SCREENS, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.long]

WORDS = {
    "art": ("paint", "brush", "canvas", "museum"),
    "sport": ("goal", "match", "team", "ball"),
    "war": ("tank", "soldier", "front", "battle"),
}
OTHERS = ("today", "report", "people", "city", "year", "group", "plan")
NAMES = list(WORDS)


def topics(count: int = 60, seed: int = 0) -> list[dict[str, str]]:
    """Texts of any number of topics, each by three of its words, and which they are with ``;`` between them."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        names = [name for name in NAMES if draw.random() < 0.45]
        words = [word for name in names for word in draw.sample(WORDS[name], 3)] + draw.sample(OTHERS, 2)
        draw.shuffle(words)
        rows.append({"id": f"row {number}", "text": " ".join(words), "topic": ";".join(names) or ";"})
    return rows


def truth_of(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Row -> its classes."""
    return {row["id"]: [name for name in row["topic"].split(";") if name] for row in rows}


def save(seen: Visit) -> Any:
    """Press Enter, wait for the next question, and give what was sent of the node."""
    with seen.page.expect_response(re.compile("/tell$")) as told:
        seen.page.keyboard.press("Enter")
    assert told.value.ok
    seen.ready()
    return told.value.request.post_data_json["labels"][0]


def answer(seen: Visit, names: list[str]) -> int:
    """Answer the question that is shown by keys; gives the node."""
    seen.ready()
    for name in names:
        seen.page.keyboard.press(str(NAMES.index(name) + 1))
    if not names:
        seen.page.keyboard.press("-")
    sent = save(seen)
    assert sent["label"] == names
    return int(sent["node"])


def downloaded(seen: Visit, name: str, folder: Path) -> Path:
    """What a button of the export gives, under the name that it would have."""
    with seen.page.expect_download() as found:
        seen.page.keyboard.press("e")
        seen.page.locator(f"[data-export='{name}']").click()
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def test_a_job_of_several_classes_from_a_csv_to_exports(browser: Browser, server: Server, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = topics()
    truth = truth_of(rows)
    table = write_csv(tmp_path / "topics.csv", [row | {"topic": row["topic"] * (n < 20)} for n, row in enumerate(rows)])
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.locator("#nodes-file").set_input_files(table)
        page.locator("#create").wait_for()
        expect(page.locator("#label")).to_have_value("topic")
        expect(page.locator("#several")).to_have_value("false")
        expect(page.locator("#separator")).to_be_hidden()
        page.locator(".notice", has_text="seem to name several classes with “;” between them").wait_for()
        page.get_by_role("button", name="Split them").click()
        expect(page.locator("#several")).to_have_value("true")
        expect(page.locator("#separator")).to_have_value(";")
        page.locator("#budget").fill("12")
        page.locator("#audit").fill("0")
        page.locator("#create").click()
        page.wait_for_url("**/s/*")
        now = server.get("/status")
        assert now["several"] and now["given"] == 20 and now["classes"] == NAMES

        seen.ready()
        page.locator(".choice-made", has_text="No class is chosen yet.").wait_for()
        page.keyboard.press("1")
        page.keyboard.press("2")
        page.locator(".choice-made", has_text="2 classes chosen").wait_for()
        page.keyboard.press("2")  # chosen by mistake
        expect(page.locator(".choice-made .chip")).to_have_text([re.compile("art$")])
        expect(page.locator("button.class[role=checkbox][aria-checked=true]")).to_have_count(1)
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.locator("#telling", has_text="No class is chosen: press").wait_for()
        assert server.get("/status")["told"] == 0, "nothing is saved before something is chosen"
        page.keyboard.press("-")
        page.locator(".choice-made", has_text="None of them is chosen").wait_for()
        page.keyboard.press("2")
        expect(page.locator("button.none")).to_have_attribute("aria-checked", "false")
        page.locator("button.class", has_text="sport").click()  # by mouse
        page.locator("button.none").click()
        page.locator("button.save", has_text="Save: none of them").click()
        page.locator("#telling", has_text="is none of them").wait_for()
        assert server.get("/status")["none"] >= 1
        seen.ready()
        page.keyboard.press("u")
        page.locator("#telling", has_text="Undone").wait_for()
        seen.ready()
        told = {}
        for _ in range(8):
            names = truth[seen.title()]
            told[answer(seen, names)] = names

        # Enter accepts what is predicted where nothing was chosen, and correcting is looking again
        seen.ready()
        offered = page.locator(".predicted .set").inner_text()
        sent = save(seen)
        assert (", ".join(sent["label"]) or "none of them") == offered
        told[sent["node"]] = sent["label"]
        page.get_by_role("tab", name="History").click()
        saved = page.locator(".events li .link").filter(has_text=re.compile(rf"^row {sent['node']}$"))
        saved.first.click()
        page.locator("#card", has_text="Looking around").wait_for()
        seen.ready()
        page.keyboard.press("1")
        changed = [name for name in NAMES if (name in sent["label"]) != (name == "art")]
        if not changed:
            page.keyboard.press("-")
        assert save(seen) == {"node": sent["node"], "label": changed}
        told[sent["node"]] = changed
        assert {node: server.get(f"/nodes/{node}")["label"] for node in told} == {
            node: ";".join(names) or ";" for node, names in told.items()
        }

        wanted = {f"row {node}": ";".join(names) or ";" for node, names in told.items()}
        wanted |= {row["id"]: row["topic"] for row in rows[:20]}
        lines = list(csv.DictReader(downloaded(seen, "csv", tmp_path).read_text(encoding="utf-8").splitlines()))
        assert {line["name"]: line["label"] for line in lines if line["label"]} == wanted
        sheet = openpyxl.load_workbook(downloaded(seen, "excel", tmp_path)).active
        head, *cells = sheet.iter_rows(values_only=True)
        name, label = head.index("name"), head.index("label")
        assert {row[name]: row[label] for row in cells if row[label]} == wanted
        tasks = downloaded(seen, "label studio", tmp_path)
        graph = knn_from_tasks(tasks, 5, separator=";")
        assert graph.y_sets is not None and int(graph.labelled.sum()) == len(wanted)
        read = {graph.class_names[column]: graph.y_sets[:, column] for column in range(3)}
        for number in range(len(rows)):
            if graph.labelled[number]:
                told_names = [name for name in NAMES if read[name][number]]
                assert (";".join(told_names) or ";") == wanted[f"row {number}"]


def test_two_people_disagree_and_the_owner_settles(browser: Browser, server: Server) -> None:
    make(server, "job", topics(), several="true", classes=",".join(NAMES), redundancy=2)
    say = {"ada": ["art", "war"], "bob": ["art"]}
    for who, names in say.items():
        labels = [{"node": 3, "label": names}, {"node": 4, "label": []}]
        server.post("/tell", session="job", annotator=who, labels=labels)
    with visit(browser, f"{server.address}/s/job", annotator="me") as seen:
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Annotators").click()
        page.locator(".annotators", has_text="of the decisions on one row, class by class, are alike").wait_for()
        page.locator("#settle-button").click()
        votes = page.locator(".reading-votes[data-node='3']")
        votes.get_by_text("It counts as art, war until").wait_for()
        assert votes.locator(".ballots b").all_inner_texts() == ["art, war", "art"]
        votes.locator(".set-field summary").click()
        votes.locator(".set-boxes label", has_text="sport").click()
        votes.locator(".set-boxes label", has_text="war").click()
        with page.expect_response(re.compile("/settle$")) as settled:
            votes.get_by_role("button", name="Settle it so").click()
        assert settled.value.request.post_data_json["label"] == ["sport", "war"]
        page.get_by_text("Settled as sport, war by me").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="History").click()
        page.locator(".events li", has_text="is settled as").filter(has_text="sport, war").wait_for()
        assert server.get("/nodes/3?session=job")["label"] == "sport;war"


def test_table_map_and_bulk_know_sets(browser: Browser, server: Server) -> None:
    rows = topics()
    make(server, "job", rows, several="true", classes=",".join(NAMES))
    labels = [{"node": node, "label": [n for n in rows[node]["topic"].split(";") if n]} for node in range(10)]
    server.post("/tell", session="job", annotator="me", labels=labels)
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .legend-classes", has_text="none of them").wait_for()
        with_art = sum("art" in row["topic"] for row in rows[:10])
        counted = page.locator(".map .legend-classes li", has_text="art")
        counted.filter(has_text=f"{with_art} labelled").first.wait_for()
        page.keyboard.press("l")
        first = page.locator(".table-row[data-node='0']")
        expect(first).to_contain_text(rows[0]["topic"].replace(";", ", ").strip(", ") or "none of them")
        page.locator(".table-row[data-node='11'] input").check()
        page.locator(".table-row[data-node='12'] input").check()
        page.locator(".table-bulk").get_by_role("button", name=re.compile("^Label")).click()
        box = page.locator(".action-dialog")
        box.locator(".set-field summary").click()
        box.locator(".set-boxes label", has_text="art").click()
        box.locator(".set-boxes label", has_text="sport").click()
        box.get_by_role("button", name="Label 2 rows").click()
        box.get_by_text("2 rows labelled art, sport").wait_for()
        assert [server.get(f"/nodes/{node}?session=job")["label"] for node in (11, 12)] == ["art;sport"] * 2
        box.get_by_role("button", name="Close").last.click()
        page.locator(".table-row[data-node='11']", has_text="art, sport").wait_for()
        page.get_by_label("Which rows").select_option("labelled")
        page.get_by_label("Which class").select_option(";")
        shown = sum(row["topic"] == ";" for row in rows[:10])
        page.locator(".table-tools [role=status]", has_text=re.compile(rf"^{shown} rows?$")).wait_for()


def test_a_row_of_the_table_shows_every_class_that_it_would_be_given(browser: Browser, server: Server) -> None:
    names = ["one", "two", "three", "four", "five"]
    rows = [
        {"id": f"row {n}", "text": "alpha beta gamma" if n % 2 else "delta epsilon zeta", "topic": ""}
        for n in range(40)
    ]
    make(server, "job", rows, several="true", classes=",".join(names))
    labels = [{"node": node, "label": names[:4] if node % 2 else names[4:]} for node in range(10)]
    server.post("/tell", session="job", annotator="me", labels=labels)
    assert server.get("/nodes/21?session=job")["given"] == names[:4]
    with visit(browser, f"{server.address}/s/job") as seen:
        seen.ready()
        seen.page.keyboard.press("l")
        seen.page.locator(".table-row[data-node='21'] .link").click()
        shown = seen.page.locator("[aria-label=Predicted] .name")
        expect(shown.filter(has_text=re.compile("one|two|three|four"))).to_have_count(4)


def test_a_choice_stays_with_its_row_and_audits_are_blind(browser: Browser, server: Server) -> None:
    rows = topics()
    make(server, "job", rows, several="true", classes=",".join(NAMES), audit=20, budget=20)
    labels = [{"node": node, "label": [n for n in rows[node]["topic"].split(";") if n]} for node in range(12)]
    server.post("/tell", session="job", annotator="me", labels=labels)
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        asked = seen.title()
        page.keyboard.press("2")
        page.keyboard.press("l")
        page.locator(".table-row[data-node='1'] .link").click()
        page.locator(".table-reading h3", has_text="row 1").wait_for()
        page.get_by_role("button", name="Open it beside the rows like it").click()
        page.locator("#card", has_text="Looking around").wait_for()
        seen.ready()
        names = [name for name in rows[1]["topic"].split(";") if name]
        expect(page.locator(".classes button.class[aria-checked=true]")).to_have_count(len(names))  # what was said
        page.keyboard.press("Escape")
        seen.ready()
        assert seen.title() == asked
        page.locator(".choice-made", has_text="1 class chosen").wait_for()
        blind = 0
        for _ in range(12):
            if page.locator(".pill.audit").count():
                blind += 1
                assert page.locator(".predicted .bars").count() == 0
                page.locator(".predicted", has_text="Hidden on purpose").wait_for()
                if not page.locator("button.class[aria-checked=true]").count():
                    page.keyboard.press("Enter")  # there is nothing to accept: were it taken, the row would be another
            before = seen.title()
            page.keyboard.press("-")
            assert f"row {save(seen)['node']}" == before
        assert blind > 0


def test_many_classes_are_found_by_typing_and_a_new_one_is_chosen_at_once(browser: Browser, server: Server) -> None:
    many = [f"topic {letter}" for letter in "abcdefghijkl"]
    make(server, "job", topics(), several="true", classes=",".join(many))
    with visit(browser, f"{server.address}/s/job") as seen:
        page = seen.page
        seen.ready()
        page.keyboard.press("f")
        page.keyboard.type("topic k")
        page.keyboard.press("Enter")
        page.keyboard.type("topic l")
        page.keyboard.press("Enter")
        page.locator(".choice-made", has_text="2 classes chosen").wait_for()
        page.keyboard.press("Enter")  # nothing typed: it is saved
        page.locator("#telling", has_text="is topic k, topic l").wait_for()
        seen.ready()
        page.keyboard.press("Escape")
        page.keyboard.press("n")
        page.keyboard.type("quite another")
        page.keyboard.press("Enter")
        page.locator(".choice-made .chip", has_text="quite another").wait_for()
        seen.ready()
        page.keyboard.press("Enter")
        page.locator("#telling", has_text="is quite another").wait_for()
        assert server.get("/status?session=job")["balance"]["quite another"] == 1


@pytest.fixture(scope="module")
def settled_job(shared_studio: Server) -> Iterator[Server]:
    """A studio with a job of sets: labels of two people, a disagreement, and one whose budget is spent."""
    rows = topics()
    make(shared_studio, "job", rows, several="true", classes=",".join(NAMES), redundancy=2)
    make(shared_studio, "done", rows, several="true", classes=",".join(NAMES), budget=3)
    for who, names in (("ada", ["art", "war"]), ("bob", [])):
        labels = [{"node": 3, "label": names}, {"node": 4, "label": ["art", "sport"]}, {"node": 5, "label": []}]
        shared_studio.post("/tell", session="job", annotator=who, labels=labels)
    labels = [{"node": node, "label": ["art"] * (node % 2)} for node in range(3)]
    shared_studio.post("/tell", session="done", annotator="ada", labels=labels)
    yield shared_studio
    shared_studio.clear()


@pytest.mark.skipif(not AXE.exists(), reason="needs what `make page` installs")
@pytest.mark.parametrize(("screen", "theme"), [("desktop", "light"), ("phone", "dark")])
def test_axe_finds_nothing(browser: Browser, settled_job: Server, screen: str, theme: str) -> None:
    wrong: dict[str, list[str]] = {}
    options = {**SCREENS[screen], "color_scheme": theme, "bypass_csp": True}
    with visit(browser, f"{settled_job.address}/s/job", annotator="eve", allowed=["409"], **options) as seen:
        page = seen.page

        def look(view: str) -> None:
            if found := violations(page):
                wrong[view] = found

        seen.ready()
        assert seen.overflow() <= 0
        page.locator("button.class").first.click()
        page.locator(".choice-made", has_text="1 class chosen").wait_for()
        look("work")
        page.get_by_role("tab", name="Annotators").click()
        page.get_by_role("tab", name="Map of the graph").click()
        page.locator(".map .note", has_text="60 rows").wait_for()
        page.locator("#settle-button").click()
        if screen == "phone":
            page.locator(".table-row[data-node='3'] .link").tap()
        page.locator(".reading-votes .set-field summary").click()
        look("a disagreement")
        page.goto(f"{settled_job.address}/s/job#view=table&filter=labelled")
        page.reload()
        page.locator(".table-row[data-node] input").first.check()
        page.locator(".table-bulk").get_by_role("button", name=re.compile("^Label")).click()
        page.locator(".action-dialog .set-field summary").click()
        look("the table, and labelling rows of it")
        page.goto(f"{settled_job.address}/s/done")
        page.locator(".closing").wait_for()
        assert seen.overflow() <= 0
        look("closing")
    assert not wrong
