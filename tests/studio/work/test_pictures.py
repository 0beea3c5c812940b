"""Pictures: only pictures, only from the one folder."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.studio.work.pictures import Pictures

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(20)
GIF = b"GIF89a\x01\x00\x01\x00" + bytes(20)
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L" + bytes(20)


def graph_of(*values: str, name: str = "picture") -> Graph:
    return Graph.build(
        [[0], [1]], num_nodes=max(2, len(values)), attributes={name: [*values, *[""] * (2 - len(values))]}
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "pictures"
    (inside / "deep").mkdir(parents=True)
    for name, data in {"a.png": PNG, "deep/b.jpg": JPEG, "c.gif": GIF, "d.webp": WEBP}.items():
        (inside / name).write_bytes(data)
    (tmp_path / "secret.png").write_bytes(PNG)
    return inside


@pytest.mark.parametrize(
    ("value", "kind"),
    [("a.png", "png"), ("deep/b.jpg", "jpeg"), ("./c.gif", "gif"), ("deep/../d.webp", "webp"), (" a.png ", "png")],
)
def test_a_picture_in_the_folder_is_shown_by_what_it_is(folder: Path, value: str, kind: str) -> None:
    pictures, graph = Pictures(folder), graph_of(value)
    found = pictures.fetch(graph, 0)
    assert found is not None and found.kind == f"image/{kind}" and found.data == (folder / value.strip()).read_bytes()
    assert pictures.shows(graph, 0) and not pictures.shows(graph, 1) and pictures.fetch(graph, 1) is None


def test_an_absolute_path_counts_where_it_lies_inside(folder: Path) -> None:
    graph = graph_of(str(folder / "a.png"), str(folder.parent / "secret.png"))
    assert Pictures(folder).shows(graph, 0)
    assert not Pictures(folder).shows(graph, 1)


@pytest.mark.parametrize(
    "value", ["../secret.png", "deep/../../secret.png", "no.png", "deep", "", ".", "a.png\0", "x" * 5000, "/etc/passwd"]
)
def test_nothing_outside_and_nothing_missing_is_opened(folder: Path, value: str) -> None:
    graph = graph_of(value)
    assert not Pictures(folder).shows(graph, 0)
    assert Pictures(folder).fetch(graph, 0) is None


@pytest.mark.parametrize(
    "value",
    ["http://a.example/a.png", "https://a.example/a.png", "file:a.png", "//host/a.png", "\\\\host\\share\\a.png"],
)
def test_no_address_is_fetched(folder: Path, value: str) -> None:
    nested = folder / Path(*value.split("/"))  # even where a file of that very name lies there
    nested.parent.mkdir(parents=True, exist_ok=True)
    nested.write_bytes(PNG)
    assert Pictures(folder).fetch(graph_of(value), 0) is None


def test_links_count_by_where_they_lead(folder: Path) -> None:
    (folder / "out.png").symlink_to(folder.parent / "secret.png")
    (folder / "in.png").symlink_to(folder / "a.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    (folder / "up").symlink_to(folder.parent)
    graph = graph_of("out.png", "in.png", "loop.png", "up/secret.png")
    assert [Pictures(folder).shows(graph, node) for node in range(4)] == [False, True, False, False]


def test_a_folder_whose_name_begins_alike_is_another(folder: Path) -> None:
    other = folder.with_name("pictures-private")
    other.mkdir()
    (other / "a.png").write_bytes(PNG)
    assert not Pictures(folder).shows(graph_of("../pictures-private/a.png"), 0)


@pytest.mark.parametrize(
    "data",
    [b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", b"<html>", b"", b"RIFF....WAVE"],
)
def test_what_is_no_picture_is_not_shown_whatever_its_name(folder: Path, data: bytes) -> None:
    (folder / "a.png").write_bytes(data)
    assert Pictures(folder).fetch(graph_of("a.png"), 0) is None
    assert not Pictures(folder).shows(graph_of("a.png"), 0)


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.png")
    assert Pictures(folder).fetch(graph_of("pipe.png"), 0) is None


def test_a_picture_has_a_largest_size(folder: Path) -> None:
    (folder / "large.png").write_bytes(PNG + bytes(1000))
    inside = "data:image/png;base64," + base64.b64encode(PNG + bytes(1000)).decode()
    graph = graph_of("large.png", inside)
    for node in range(2):
        assert Pictures(folder, limit=len(PNG) + 1000).shows(graph, node)
        assert not Pictures(folder, limit=len(PNG) + 999).shows(graph, node)


def test_pictures_may_lie_in_the_graph() -> None:
    coded = base64.b64encode(PNG).decode()
    graph = graph_of(
        f"data:image/png;base64,{coded}",
        f"DATA:IMAGE/JPEG;BASE64,{coded}",  # what it is counts, not what it says
        f"data:image/svg+xml;base64,{coded}",
        f"data:text/html;base64,{coded}",
        f"data:image/png;base64,{base64.b64encode(b'<svg/>').decode()}",
        "data:image/png;base64,???",
        "data:image/png,plain",
    )
    found = [Pictures().fetch(graph, node) for node in range(7)]
    assert [picture and picture.kind for picture in found] == ["image/png", "image/png", None, None, None, None, None]
    assert found[0] is not None and found[0].data == PNG


@pytest.mark.parametrize(
    ("name", "counts"), [("Picture", True), ("IMAGE", True), ("img", True), ("photo", True), ("pictures", False)]
)
def test_the_attribute_goes_by_its_name(folder: Path, name: str, counts: bool) -> None:
    graph = graph_of("a.png", name=name)
    assert Pictures.attribute(graph) == (name if counts else None)
    assert Pictures(folder).shows(graph, 0) == counts


def test_without_a_folder_no_file_is_shown(folder: Path) -> None:
    assert not Pictures().shows(graph_of(str(folder / "a.png")), 0)
    with pytest.raises(InputError, match="--pictures"):
        Pictures(folder / "missing")
