"""Graphs as npz files, the form that keeps everything.

Fields: `edge_index` [2, edge] · `edge_weight` [edge] · `num_nodes` · `y` [node] (-1: unlabelled), or `y_multi` [node,
class] of 0 and 1 where a node may have several classes (-1 in a whole row: unlabelled; where both are there `y` counts
unless the other is asked for) · features as `x` [node, feature] or as CSR in `x_data`, `x_indices`, `x_indptr`,
`x_shape`, with `x_offset` [feature] where they are centred, and `feature_preprocessing` where anything was done to
them, such as "row+center" · `name` · `class_names` · `node_names` · `attribute_names` and one field `attribute_0`,
`attribute_1`, … of strings for each · `preparation`, how rows became features, as JSON (uint8), and its arrays
`preparation_0`, …. All but `edge_index` may be missing. Node types and relations have fields of their own
(`relational_fields`). Any other field is kept as it is. Strings are unicode arrays; where those would waste memory or
lose a trailing NUL, a JSON list as UTF-8 bytes (uint8). Nothing is ever pickled, and a file with pickled objects is
refused; so is one whose fields would expand beyond 16 MiB and 24 times its size, or dense features, which may be mostly
zeros, beyond 16 MiB and 128 times.
"""

from __future__ import annotations

import json
import lzma
import math
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.graph.graph import Graph
from nodewise.graph.io.relational_fields import CSR, record_fields, relational_record
from nodewise.graph.preparation import Preparation
from nodewise.graph.relational import RelationalGraph, plain_edges
from nodewise.graph.relations import Relations
from nodewise.ground.compute import free_memory
from nodewise.ground.errors import GraphError
from nodewise.ground.events import listed
from nodewise.ground.files import atomic_file, check_claim, existing_file

__all__ = ["UNPACKING", "read_npy", "read_npz", "write_npz"]

UNPACKING = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    KeyError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TokenError,
)
"""As what a damaged zip shows itself, whichever way its members are packed, and arrays in it."""

_CSR = ("x_data", "x_indices", "x_indptr", "x_shape")
_KNOWN = {
    "edge_index",
    "edge_weight",
    "num_nodes",
    "y",
    "x",
    *_CSR,
    "x_offset",
    "feature_preprocessing",
    "name",
    "class_names",
    "node_names",
    "attribute_names",
    "preparation",
}
_TEXTS = {"name", "class_names", "node_names", "attribute_names", "feature_preprocessing", "node_types", "relations"}
_TEXT_LIST = re.compile(rb'\s*+\[\s*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*+(?:,\s*+|(?=\])))*+\]\s*+', re.DOTALL)
"""A list of strings in JSON."""
_MAPPED_BYTES = 2**28
"""Features smaller than this are read as a whole, however little memory is free."""

_FORM = (
    "edge_index [2, edges], and where there are any edge_weight [edges], y [nodes], x [nodes, features] or"
    " x_data/x_indices/x_indptr/x_shape"
)


def read_npz(path: str | Path, *, several: bool = False) -> Graph:
    """Reads the graph in an npz file.

    Args:
        several: whether `y_multi` counts where the file has `y` as well.

    Raises:
        GraphError: if the file is missing, damaged, of another kind, holds pickled objects or parts that do not fit
            together.
    """
    path = existing_file(Path(path))
    fields = _load(path)
    if "edge_index" not in fields and "relation_types" not in fields:
        raise GraphError(f"{path} has no field 'edge_index', only {listed(fields) or 'nothing'}: a graph holds {_FORM}")
    try:
        check_claim(path, int(fields["num_nodes"]) if "num_nodes" in fields else 0, "nodes")
        check_claim(path, int(fields["x_shape"][-1]) if "x_shape" in fields else 0, "columns of features")
        if "relation_types" not in fields:
            return _graph(fields, path.stem, several)
        own, record = relational_record(fields, _texts, _stored_features)
        check_claim(path, sum(kind.count for kind in record.types), "nodes")
        if "edge_index" in own:
            return _graph(own, path.stem, several, record)
        none = {"edge_index": np.zeros((2, 0), np.int64)}
        return RelationalGraph.of(replace(_graph(own | none, path.stem, several, record), notes=())).to_graph()
    except GraphError as error:
        raise GraphError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, OverflowError, IndexError, RecursionError) as error:
        raise GraphError(f"{path}: the fields do not form a graph ({error}); a graph holds {_FORM}") from error


def write_npz(graph: Graph, path: str | Path) -> list[str]:
    """Writes a graph as npz, the same bytes for the same graph; returns an empty list, for nothing is dropped."""
    fields: dict[str, npt.NDArray[Any]] = {
        "name": _strings([graph.name]),
        "edge_index": graph.edge_index.astype(np.int32) if graph.num_nodes < 2**31 else graph.edge_index,
        "num_nodes": np.asarray(graph.num_nodes, dtype=np.int64),
    }
    if graph.edge_weight is not None:
        fields["edge_weight"] = graph.edge_weight
    if graph.y is not None:
        fields["y"] = graph.y.astype(np.int32)
    if graph.y_sets is not None:
        fields["y_multi"] = graph.y_sets.astype(np.uint8) if graph.labelled.all() else graph.y_sets
    if graph.class_names:
        fields["class_names"] = _strings(graph.class_names)
    if isinstance(graph.x, np.ndarray):
        fields["x"] = graph.x
    elif graph.x is not None:
        shape = np.asarray(graph.x.shape, dtype=np.int64)
        fields |= dict(zip(_CSR, (graph.x.data, graph.x.indices, graph.x.indptr, shape), strict=True))
    if graph.x_offset is not None:
        fields["x_offset"] = graph.x_offset
    if graph.features != "raw":
        fields["feature_preprocessing"] = _strings([graph.features])
    if graph.node_names is not None:
        fields["node_names"] = _strings(graph.node_names)
    if graph.attributes:
        fields["attribute_names"] = _strings(list(graph.attributes))
        fields |= {f"attribute_{i}": _strings(values.tolist()) for i, values in enumerate(graph.attributes.values())}
    if graph.preparation is not None:
        fields["preparation"] = np.frombuffer(graph.preparation.to_json().encode(), dtype=np.uint8)
        fields |= {f"preparation_{i}": array for i, array in enumerate(graph.preparation.arrays.values())}
    if graph.relations is not None:
        fields = record_fields(graph, fields, _strings)
    for key, value in graph.extra.items():
        if key in _KNOWN or key in fields or "\0" in key or not key:
            raise GraphError(
                f"the further field {key!r} has a name that npz files of graphs use themselves or cannot hold:"
                " rename it"
            )
        if value.dtype.hasobject:
            raise GraphError(
                f"the further field {key!r} holds Python objects, which are never pickled: make it numbers or strings,"
                " or drop it"
            )
        fields[key] = value
    with atomic_file(Path(path)) as handle:
        _write(handle, fields, zipfile.ZIP_DEFLATED)
        if not _extent(fields).fits(handle.tell()):  # a reader would not believe it
            handle.seek(0)
            handle.truncate()
            _write(handle, fields, zipfile.ZIP_STORED)
    return []


def _write(handle: IO[bytes], fields: Mapping[str, npt.NDArray[Any]], compression: int) -> None:
    with zipfile.ZipFile(handle, "w", compression) as archive:
        for key, value in fields.items():
            member = zipfile.ZipInfo(f"{key}.npy")
            member.compress_type = compression if _worth_it(value) else zipfile.ZIP_STORED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, value, allow_pickle=False)
    handle.seek(0, 2)


def _worth_it(array: npt.NDArray[Any]) -> bool:
    """Whether compressing an array saves a tenth of it, by a part.

    Measured numbers, such as embeddings, hardly get smaller, and take long.
    """
    if array.nbytes < 2**22 or array.dtype.kind != "f":
        return True
    part = array.reshape(-1)[array.size // 2 :][: 2**18].tobytes()
    return len(zlib.compress(part, 1)) < 0.9 * len(part)


def read_npy(path: str | Path) -> npt.NDArray[Any]:
    """Reads the array in an npy file.

    Raises:
        GraphError: if the file is missing, holds no array, pickled objects, or less than it claims.
    """
    path = existing_file(Path(path))
    try:
        with path.open("rb") as stream:
            _check_array(stream, path.stat().st_size)
            stream.seek(0)
            return np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise GraphError(
            f"{path} is no array of numbers in npy form ({error}): save it with np.save, never with pickled objects"
        ) from None


def _load(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with path.open("rb") as handle:
            start = handle.read(6)
            if start == b"\x93NUMPY":
                raise GraphError(
                    f"{path} holds a single array, not a graph: make a graph of it with `nodewise convert --knn`, or"
                    " save with np.savez"
                )
            if start[:2] != b"PK":
                raise GraphError(
                    f"{path} is not an npz file: give a file written by np.savez, or by `nodewise convert`"
                )
            with zipfile.ZipFile(handle) as archive:
                members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
                if len(members) < len(archive.infolist()):
                    raise GraphError(f"{path} holds two fields of one name: write it again")
                _check_members(path, archive, members)
                fields = {}
                for key, member in members.items():
                    mapped = _mapped(path, handle, member) if key == "x" else None
                    if mapped is not None:
                        fields[key] = mapped
                        continue
                    with archive.open(member) as stream:
                        fields[key] = np.lib.format.read_array(stream, allow_pickle=False)
                _extent(fields).check(path)
                return fields
    except GraphError:
        raise
    except UNPACKING as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise GraphError(f"{path} cannot be read: {error.strerror}; check the path and its permissions") from error
        raise GraphError(
            f"{path} is truncated or damaged, or not an npz file ({error}): make or download it again"
        ) from error
    except MemoryError as error:
        raise GraphError(
            f"{path} asks for more memory than there is: it is damaged, or too large for this machine"
        ) from error


def _mapped(path: Path, handle: IO[bytes], member: zipfile.ZipInfo) -> npt.NDArray[Any] | None:
    """Features that lie in the file as they are, over the file itself, where they would take more than half of the
    memory that is free; else None.
    """
    free = free_memory()
    if member.compress_type != zipfile.ZIP_STORED or free is None or member.file_size < max(_MAPPED_BYTES, free // 2):
        return None
    handle.seek(
        member.header_offset + 26
    )  # the lengths of the member's name and further fields stand in front of its content
    name, more = (int.from_bytes(handle.read(2), "little") for _ in range(2))
    handle.seek(member.header_offset + 30 + name + more)
    version = np.lib.format.read_magic(handle)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, turned, dtype = read(handle)
    return np.memmap(path, dtype, "r", handle.tell(), shape, "F" if turned else "C")


def _check_members(path: Path, archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> None:
    """Looks at the head of every field before any of them is read.

    Nothing may be pickled, nor grow far beyond the file.
    """
    extent = _Extent()
    for key, member in members.items():
        with archive.open(member) as stream:
            try:
                dtype, number = _check_array(stream, member.file_size)
            except _PickledError:
                raise GraphError(
                    f"{path} holds pickled Python objects, which can run code and are never loaded: save its arrays as"
                    " numbers or unicode strings (array.astype(str)) and write it again"
                ) from None
        extent.add(key, dtype, number)
    extent.check(path)


class _Extent:
    """What the fields of a file take in memory.

    Dense features, which may be mostly zeros, all others, and strings, each an object.
    """

    def __init__(self) -> None:
        self.features = self.content = self.texts = 0

    def add(self, key: str, dtype: np.dtype[Any], number: int) -> None:
        if key == "x" or (key.startswith("x_") and key.rpartition("_")[2] not in (*CSR, "offset")):
            self.features += max(4, dtype.itemsize) * number
        else:
            self.content += dtype.itemsize * number
        self.texts += number if dtype.kind in "US" else 0

    def add_array(self, key: str, array: npt.NDArray[Any]) -> None:
        self.add(key, array.dtype, array.size)
        if array.dtype == np.uint8 and (
            key in _TEXTS or key.startswith(("attribute_", "names_"))
        ):  # a JSON list: its strings are in quotes
            self.texts += int(np.count_nonzero(array == ord('"'))) // 2

    def fits(self, size: int) -> bool:
        """Whether a reader believes that a file of that many bytes holds this."""
        return self.features <= 2**24 + 128 * size and self.content <= 2**24 + 24 * size and self.texts <= 2**18 + size

    def check(self, path: Path) -> None:
        if not self.fits(size := path.stat().st_size):
            hint = (
                "; features that are nearly all zeros belong into a sparse matrix (x_data, x_indices, x_indptr,"
                " x_shape)"
            )
            raise GraphError(
                f"{path} has {size:,} bytes and would take {self.features + self.content:,} in memory: it is damaged,"
                f" or was made to use up the memory{hint if self.features > self.content else ''}; make it again"
            )


def _extent(fields: Mapping[str, npt.NDArray[Any]]) -> _Extent:
    extent = _Extent()
    for key, value in fields.items():
        extent.add_array(key, value)
    return extent


class _PickledError(ValueError):
    """An array of Python objects."""


def _check_array(stream: IO[bytes], size: int) -> tuple[np.dtype[Any], int]:
    """Passes the head of an npy stream of `size` bytes that holds as many values as it claims.

    Gives their type and number.
    """
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of the npy form is not known")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise _PickledError("it holds pickled objects")
    number = math.prod(shape)
    if number * dtype.itemsize != size - stream.tell():
        raise ValueError(f"it claims {number:,} values of {dtype}, and holds {size - stream.tell():,} bytes")
    return dtype, number


def _graph(fields: dict[str, npt.NDArray[Any]], stem: str, several: bool, relations: Relations | None = None) -> Graph:
    several = "y_multi" in fields and (several or "y" not in fields)
    left = ["one label a node (y) was left out: the file's sets of classes (y_multi) were asked for"]
    for array in fields.values():
        array.flags.writeable = False  # fresh from the file and held by nobody else: the graph need not copy them
    attributes = {}
    for i, title in enumerate(_texts(fields, "attribute_names") or ()):
        values = _texts(fields, f"attribute_{i}")
        if values is None:
            raise GraphError(
                f"attribute_names tells of {title!r}, but there is no field attribute_{i}: add it, or drop the name"
            )
        attributes[title] = values
    arrays = [fields[key] for i in range(len(fields)) if (key := f"preparation_{i}") in fields]
    used = _KNOWN | ({"y_multi"} if several else set()) | {f"attribute_{i}" for i in range(len(attributes))}
    preparation = None
    if "preparation" in fields:
        used |= {f"preparation_{i}" for i in range(len(arrays))}
        preparation = Preparation.from_json(fields["preparation"].tobytes(), arrays)
    names = _texts(fields, "node_names")
    name, done = _texts(fields, "name"), _texts(fields, "feature_preprocessing")
    return Graph.build(
        fields["edge_index"],
        int(fields["num_nodes"]) if "num_nodes" in fields else None,
        x=_stored_features(fields, "x"),
        y=fields["y_multi"] if several else fields.get("y"),
        class_names=_texts(fields, "class_names"),
        node_names=names,
        attributes=attributes,
        name=name[0] if name else stem,
        extra={key: value for key, value in fields.items() if key not in used},
        x_offset=fields.get("x_offset"),
        features=done[0] if done else "raw",
        edge_weight=fields.get("edge_weight"),
        preparation=preparation,
        relations=relations,
        notes=[*(left if several and "y" in fields else []), *([] if relations is None else [plain_edges(relations)])],
    )


def _stored_features(fields: dict[str, npt.NDArray[Any]], name: str) -> Any:
    """The features that fields of that name hold, dense or sparse; None where there are none.

    Raises:
        GraphError: both are there, or a part is missing.
    """
    keys = [f"{name}_{part}" for part in CSR]
    given = [key for key in keys if key in fields]
    if name in fields:
        if given:
            raise GraphError(f"both {name} and {name}_data are there: keep the dense features or the sparse ones")
        return fields[name]
    if not given:
        return None
    if len(given) < len(keys):
        missing = listed(key for key in keys if key not in fields)
        raise GraphError(f"sparse features need {', '.join(keys)}; {missing} missing")
    data, indices, indptr, shape = (fields[key] for key in keys)
    matrix = sp.csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix


def _strings(texts: Sequence[str]) -> npt.NDArray[Any]:
    content = sum(map(len, texts))
    width = 4 * len(texts) * max(map(len, texts), default=0)
    if any(text.endswith("\0") for text in texts) or (width > 2**24 and width > 5 * content):
        return np.frombuffer(json.dumps(list(texts), ensure_ascii=False).encode(), dtype=np.uint8)
    return np.array(texts, dtype=np.str_)


def _texts(fields: dict[str, npt.NDArray[Any]], key: str) -> list[str] | None:
    if key not in fields:
        return None
    array = fields[key]
    if array.dtype == np.uint8:
        written = array.tobytes()
        if not _TEXT_LIST.fullmatch(written):  # lists and numbers would take many times their bytes
            raise GraphError(f"{key} is no list of strings in JSON, as it should be: write the file again")
        return list(map(str, json.loads(written)))
    if array.ndim > 1:
        raise GraphError(f"{key} must be a list of strings, received the shape {list(array.shape)}")
    return [text.decode() if isinstance(text, bytes) else str(text) for text in np.atleast_1d(array).tolist()]
