"""Small files that ask for much memory, and ordinary ones that need most for their size, of every form."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Maker = Callable[[Path], Path]


def _text(name: str, *parts: str | Callable[[], str]) -> Maker:
    def make(folder: Path) -> Path:
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("w", encoding="utf-8") as file:
            file.writelines(part if isinstance(part, str) else part() for part in parts)
        return folder / name

    return make


def _npz(**fields: Any) -> Maker:
    def make(folder: Path) -> Path:
        np.savez_compressed(
            folder / "a.npz",
            **{"edge_index": np.array([[0], [1]]), **{k: v() if callable(v) else v for k, v in fields.items()}},
        )
        return folder / "a.npz"

    return make


def _head(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def _bomb(folder: Path) -> Path:
    """An npz whose unknown field expands to 256 MB."""
    path = folder / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("edge_index.npy", "w") as stream:
            np.lib.format.write_array(stream, np.array([[0], [1]]))
        with archive.open("bomb.npy", "w", force_zip64=True) as stream:
            stream.write(_head((2**25,)))
            block = bytes(2**24)
            for _ in range(2**28 // len(block)):
                stream.write(block)
    return path


def _claims(folder: Path) -> Path:
    """An npz whose field claims 8 TB and holds 8 bytes."""
    path = folder / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("edge_index.npy", _head((2, 10**12)) + bytes(8))
    return path


def _npy(folder: Path) -> Path:
    (folder / "a.npy").write_bytes(_head((10**6, 10**6)) + bytes(64))
    return folder / "a.npy"


def _graph_json(folder: Path) -> Path:
    """A folder of CSV whose graph.json claims dense features of a billion columns."""
    place = folder / "g"
    _text("g/nodes.csv", "id\n0\n1\n")(folder)
    _text("g/edges.csv", "source,target\n0,1\n")(folder)
    _text("g/features.csv", "node,column,value\n0,5,1.5\n")(folder)
    told = {
        "name": "g",
        "named": False,
        "labelled": False,
        "class_names": [],
        "features": {"columns": 10**9, "dense": True, "offset": None},
    }
    (place / "graph.json").write_text(json.dumps(told))
    return place


def _graphml(keys: int, nodes: int, kind: str, default: str = "") -> Maker:
    def make(folder: Path) -> Path:
        path = folder / "a.graphml"
        with path.open("w") as file:
            file.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
            for i in range(keys):
                inner = f"><default>{default}</default></key>" if default else "/>"
                file.write(f'<key id="k{i}" for="node" attr.name="k{i}" attr.type="{kind}"{inner}')
            file.write('<graph edgedefault="undirected">')
            for i in range(nodes):
                file.write(f'<node id="n{i}"><data key="k{i % keys}">7</data></node>')
            file.write("</graph></graphml>")
        return path

    return make


def _picture(folder: Path) -> Path:
    """A PNG of a few hundred bytes that claims 40,000 × 40,000 pixels."""
    (folder / "p").mkdir()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )
    for i in range(3):
        (folder / "p" / f"{i}.png").write_bytes(data)
    return folder / "p"


HOSTILE: dict[str, tuple[Maker, str]] = {
    "an edge list that claims 10^15 nodes": (
        _text("a.edges", "# nodewise edge list: 100000000000000 nodes, 1 edges\n0\t1\n"),
        "claims 100,000,000,000,000 nodes, more than a file of",
    ),
    "an npz that claims 10^15 nodes": (_npz(num_nodes=10**15), "claims 1,000,000,000,000,000 nodes"),
    "an npz that claims 2^24 nodes": (_npz(num_nodes=2**24), "claims 16,777,216 nodes, more than a file of"),
    "an npz that claims 10^12 columns": (
        _npz(x_data=np.ones(1), x_indices=np.array([0]), x_indptr=np.array([0, 1, 1]), x_shape=np.array([2, 10**12])),
        "columns of features",
    ),
    "an npz of 1 MB that expands to 256 MB": (_bomb, "bytes and would take 268,4"),
    "an npz of zeros": (_npz(x=lambda: np.zeros((2, 3 * 10**7), dtype=np.float32)), "belong into a sparse matrix"),
    "an npz of ten million empty names": (_npz(node_names=lambda: np.zeros(10**7, dtype="U1")), "would take"),
    "an npz with a field that claims 16 TB": (
        _claims,
        "it claims 2,000,000,000,000 values of float64, and holds 8 bytes",
    ),
    "an npz with deep JSON": (
        _npz(node_names=lambda: np.frombuffer(b"[" * 10**6, dtype=np.uint8)),
        "node_names is no list of strings in JSON",
    ),
    "an npy that claims 8 TB": (_npy, "it claims 1,000,000,000,000 values"),
    "a folder that claims a billion columns": (_graph_json, "claims 1,000,000,000 columns of features"),
    "20 MB of commas": (_text("a.csv", lambda: "," * 20_000_000), "about 20,000,001 columns in its first row"),
    "20 MB of commas as a table": (
        _text("nodes.csv", lambda: "," * 20_000_000),
        "about 20,000,001 columns in its first row",
    ),
    "20 MB of commas after a heading": (
        _text("nodes.csv", "id,b\n", lambda: "," * 20_000_000),
        "20000001 cells where the first row has 2",
    ),
    "a quotation mark that never ends": (
        _text("nodes.csv", 'id,"b\n', lambda: "x\n" * 5_000_000),
        "cut off within quotes",
    ),
    "GraphML of 20k keys x 20k nodes": (_graphml(20_000, 20_000, "string"), "20,000 attributes for 20,000 nodes"),
    "GraphML of 20k defaults x 20k nodes": (
        _graphml(20_000, 20_000, "double", "5"),
        "20,000 attributes for 20,000 nodes",
    ),
    "GraphML of 5 million elements in each other": (
        _text("a.graphml", "<graphml>", lambda: "<a>" * 5_000_000),
        "more than 100 deep",
    ),
    "GraphML of one tag that does not end": (
        _text("a.graphml", '<graphml><graph id="', lambda: "x" * 30_000_000, '"/></graphml>'),
        "a tag or comment is longer than 4 MB",
    ),
    "an npz with JSON lists of numbers for names": (
        _npz(node_names=lambda: np.frombuffer(b"[" + b"[1]," * 10**6 + b"[1]]", dtype=np.uint8)),
        "node_names is no list of strings in JSON",
    ),
    "pictures that claim 1.6 billion pixels": (_picture, "pixels|cannot be read as a picture"),
}
"""What is refused, and how: name -> (maker, a part of the sentence); an empty sentence: it is read."""


def _header(columns: int) -> str:
    return "id," + ",".join(f"c{i}" for i in range(columns)) + "\n"


def _ids(number: int, form: str) -> Callable[[], str]:
    return lambda: "".join(form.format(i, i + 1) for i in range(number))


def _edges(number: int) -> Any:
    return np.zeros((2, number), dtype=np.int32) + np.array([[0], [1]], dtype=np.int32)


LARGE: dict[str, Maker] = {
    "edges between short ids": _text("a.edges", _ids(400_000, "{0:x} {1:x}\n")),
    "nodes alone on a line": _text("a.edges", "0 1\n", _ids(600_000, "{0:x}\n")),
    "a table of short texts": _text("nodes.csv", "id,a,b,c\n", _ids(200_000, "{0:x},{0:o},{1:x},{1:o}\n")),
    "a table of digits": _text(
        "nodes.csv", _header(500), lambda: "".join(f"{i}" + ",1,7" * 250 + "\n" for i in range(4000))
    ),
    "a wide table": _text(
        "nodes.csv", _header(40_000), lambda: "".join(f"{i}" + "," * 40_000 + "\n" for i in range(60))
    ),
    "a table of categories": _text(
        "things.csv", _header(600), lambda: "".join("x" + f",{chr(97 + i % 26)}" * 600 + "\n" for i in range(3000))
    ),
    "sparse GraphML of numbers": _graphml(20_000, 20_000, "double"),
    "GraphML of nodes alone": _text(
        "a.graphml", "<graphml><graph>", _ids(300_000, '<node id="{0:x}"/>'), "</graph></graphml>"
    ),
    "GraphML of keys alone": _text(
        "a.graphml", "<graphml>", _ids(150_000, '<key id="{0:x}"/>'), '<graph><node id="a"/></graph></graphml>'
    ),
    "an npz of names": _npz(node_names=lambda: np.array([f"{i:x}" for i in range(400_000)])),
    "an npz of many edges": _npz(
        edge_index=lambda: np.random.default_rng(0).integers(0, 2**20, (2, 2_000_000), dtype=np.int32)
    ),
    "an npz that expands as far as it may": _npz(
        edge_index=lambda: _edges(5_000_000), noise=lambda: np.random.default_rng(0).bytes(2**20)
    ),
    "an npz of features that are mostly zeros": _npz(
        x=lambda: np.zeros((2, 2**24), dtype=bool), noise=lambda: np.random.default_rng(0).bytes(2**20)
    ),
}
"""What is read: ordinary things in as few bytes as they can have."""
