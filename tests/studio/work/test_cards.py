"""What is shown of a node's own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.studio.work.cards import LONGEST, roles, safe_link, texts


def graph(cells: Mapping[str, str]) -> Graph:
    return Graph.build(np.zeros((2, 0), np.int64), 1, attributes={name: [text] for name, text in cells.items()})


def test_attributes_are_told_apart_by_their_usual_names_in_any_case() -> None:
    found = roles(graph({"URL": "", "Body": "", "Headline": "", "Image": "", "year": ""}))
    assert found == {"title": "Headline", "text": "Body", "link": "URL", "picture": "Image"}
    assert roles(graph({"abstract": "", "text": "", "title": ""})) == {"title": "title", "text": "text"}
    assert roles(graph({})) == {}


def test_what_has_no_role_is_a_further_attribute_and_empty_ones_are_left_out() -> None:
    found = texts(graph({"title": "t", "abstract": "a", "text": "", "year": "1999", "empty": " "}), 0)
    assert found == {
        "title": "t",
        "text": None,
        "link": None,
        "attributes": {"abstract": "a", "year": "1999"},
        "cut": False,
    }


@pytest.mark.parametrize(
    ("cells", "cut"),
    [
        ({"text": "x" * LONGEST}, False),
        ({"text": "x" * (LONGEST + 1)}, True),
        ({"title": "x" * 2001}, True),
        ({"note": "x" * 2000}, False),
        ({"note": "x" * 2001}, True),
        ({f"n{number}": "x" for number in range(100)}, False),
        ({f"n{number}": "x" for number in range(101)}, True),
    ],
)
def test_long_texts_are_cut_and_that_is_said(cells: dict[str, str], cut: bool) -> None:
    found = texts(graph(cells), 0)
    assert found["cut"] is cut and len(found["attributes"]) <= 100
    assert all(
        len(text) <= LONGEST for text in [found["title"] or "", found["text"] or "", *found["attributes"].values()]
    )


@pytest.mark.parametrize(
    "link", ["http://a.b", "https://a.b/c?d=e#f", " https://a.b ", "HTTPS://A.B", "http://[::1]:80/", "https://ä.de/ü"]
)
def test_links_to_pages_are_links(link: str) -> None:
    assert safe_link(link) == link.strip()


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,<b>",
        "file:///etc/passwd",
        "//a.b",
        "a.b",
        "",
        "http://",
        "http:a",
        "https://a.b/ c",
        "http://[::1",
        "https://a.b/" + "x" * 2000,
        "java\nscript:x",
        "http://a\n.b",
        "vbscript:x",
        "https:\\\\a.b",
    ],
)
def test_anything_else_is_none(link: str) -> None:
    assert safe_link(link) is None
    shown = texts(graph({"link": link}), 0)
    assert shown["link"] is None and (shown["attributes"].get("link", "") == link[:2000] or not link.strip())
