"""The page's files: nothing in them can run a text, nothing comes from elsewhere, and what is written can be read."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest

PAGE = Path(str(files("nodewise"))) / "studio" / "page"
FILES = sorted(PAGE.iterdir())
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in FILES}


def test_there_is_a_page() -> None:
    assert {"work.html", "new.html", "work.js", "new.js"} <= TEXTS.keys()


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_parses_texts_as_html_or_code(name: str) -> None:
    ways = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new"
        r" Function|DOMParser|srcdoc|createContextualFragment|setAttribute\(\"(?:style|on)"
    )
    assert not re.findall(ways, TEXTS[name])


@pytest.mark.parametrize("name", [name for name in TEXTS if name.endswith(".html")])
def test_a_document_holds_no_script_or_style_of_its_own(name: str) -> None:
    text = TEXTS[name]
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
    assert not re.search(r"<script[^>]*>[^<]", text)


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_fetched_from_elsewhere(name: str) -> None:
    found = set(re.findall(r"(?:https?:)?//[a-z][\w.-]*\.[a-z]+", TEXTS[name])) - {"http://www.w3.org"}
    assert not found


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_that_is_named_is_there(name: str) -> None:
    named = re.findall(r"(?:\./|/page/)([\w.-]+\.(?:js|css|svg))", TEXTS[name])
    assert not [other for other in named if other not in TEXTS]


@pytest.mark.parametrize(
    ("known", "by"),
    [
        ("store.js", {"flow.js", "picking.js", "work.js"}),
        ("flow.js", {"picking.js", "work.js"}),
        ("picking.js", {"work.js"}),
    ],
)
def test_panels_are_given_what_they_show_and_what_they_call(known: str, by: set[str]) -> None:
    """What the page knows is kept, changed and handed out by few: whatever else reads it, reads its arguments."""
    importing = re.compile(rf'(?:from|import)\s*\(?\s*"\./{re.escape(known)}"')
    assert {name for name, text in TEXTS.items() if importing.search(text)} == by


@pytest.mark.parametrize("name", [name for name in TEXTS if name.endswith((".js", ".html"))])
def test_a_share_is_written_with_a_space_and_by_one_function(name: str) -> None:
    """It is "60 %"; "60%" is a style's width alone, and modules leave shares to `percent` of ``dom.js``."""
    lines = [line for line in TEXTS[name].splitlines() if 'setProperty("width"' not in line]
    assert not [line for line in lines if re.search(r"[\w})]%|\u00a0%|&nbsp;%", line)]
    assert name == "dom.js" or not [line for line in lines if re.search(r"\$\{[^}]*\} %", line)]


@pytest.mark.parametrize("name", [name for name in TEXTS if not name.endswith(".svg")])
def test_lines_are_short_enough_to_read(name: str) -> None:
    """The formatter wraps neither comments nor texts, and no HTML."""
    assert [line for line in TEXTS[name].splitlines() if len(line) > 120] == []


@pytest.mark.parametrize("name", TEXTS)
def test_files_are_short_enough_to_read(name: str) -> None:
    """The formatter gives each of a style sheet's declarations a line of its own."""
    assert len(TEXTS[name].splitlines()) <= (800 if name.endswith(".css") else 400)


def colours(theme: str) -> dict[str, tuple[float, float, float]]:
    light, dark = TEXTS["tokens.css"].split(':root[data-theme="dark"]')
    found = re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light if theme == "light" else dark)
    return {name: _linear(text) for name, text in found}


def _linear(text: str) -> tuple[float, float, float]:
    parts = [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """As the Web Content Accessibility Guidelines 2.1 define it."""
    lights = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(theme: str) -> None:
    shown = colours(theme)
    pairs = [
        *product(("ink", "muted", "accent", "bad"), ("bg", "panel", "raised")),
        ("accent-ink", "accent"),
        ("accent", "accent-soft"),
        ("muted", "sunken"),
    ]
    pairs += [("warn", "warn-soft"), ("bad", "bad-soft"), ("ink", "good-soft"), ("good", "panel"), ("good", "raised")]
    assert not [(pair, round(found, 2)) for pair in pairs if (found := contrast(shown[pair[0]], shown[pair[1]])) < 4.5]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_class_stands_out_and_is_unlike_the_others(theme: str) -> None:
    shown = colours(theme)
    classes = [shown[f"class-{number}"] for number in range(12)]
    assert all(contrast(colour, shown["panel"]) >= 3 for colour in classes)
    near = min(
        sum((one - other) ** 2 for one, other in zip(a, b, strict=True))
        for at, a in enumerate(classes)
        for b in classes[at + 1 :]
    )
    assert near > 0.005
