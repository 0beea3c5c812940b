"""The file of a fitted learner: a zip of arrays, the graph and JSON with their digests. Nothing is ever pickled."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise.contracts import Classifier, can, refusal
from nodewise.fitted.labels import Label
from nodewise.graph import Graph
from nodewise.graph.io.npz import UNPACKING, read_npz, write_npz
from nodewise.ground.errors import FittedFileError, GraphError, InputError
from nodewise.ground.events import Warned, listening
from nodewise.ground.files import atomic_file, existing_file, scratch_folder
from nodewise.ground.plugins import code_changed, code_of

__all__ = ["SCHEMA", "Kept", "read_fitted", "write_fitted"]

SCHEMA, _READ = 3, (1, 2, 3)
"""The form of the file, raised when an older program could not read it, and those that are read.

Form 2 may hold what models say, how far labels are trusted, and sets of classes. Form 3 says of the classifier's code
what `code_of` does, where the forms before held the number of its version alone.
"""


_RECORD, _GRAPH, _DIGEST = "fitted.json", "graph.npz", "digest"


@dataclass(frozen=True)
class Kept:
    """What a file holds.

    Attributes:
        path: of the file. graph: its graph. record: its JSON. arrays: the classifier's and the extras', by name.
        several: whether a node may have several classes. labels: node -> class number, or all their numbers.
    """

    path: Path
    graph: Graph
    record: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    several: bool
    labels: Mapping[int, Label]

    def check_classifier(self, classifier: Classifier) -> None:
        """Refuse a classifier that the file was not made with, warn where a digest alone tells its code from another.

        Raises:
            FittedFileError: it is another one, or of another version.
        """
        held = self.record["classifier"]
        if classifier.name != held["name"]:
            raise FittedFileError(
                f"{self.path} was fitted with the classifier {held['name']!r}, received {classifier.name!r}: give that"
                " one"
            )
        begun, now = self._code, code_of(classifier)
        if code_changed(begun, now):
            if _says_version(begun) and _says_version(now):
                raise FittedFileError(
                    f"{self.path} was fitted with {begun} of the classifier {held['name']!r}, and here is {now}: fit"
                    " the labels again"
                )
            with listening(None, progress=False) as report:
                report(
                    Warned(
                        f"the code of the classifier {classifier.name!r} has changed since {self.path} was written"
                        f" ({begun}, now {now}): what it predicts may differ from before; to be sure, fit the labels"
                        " again"
                    )
                )
        if not can(classifier, "save"):
            raise refusal(classifier, "save")

    @property
    def _code(self) -> str | None:
        """The version or digest of the classifier's code, as `code_of` says it; None where the file does not."""
        held = self.record["classifier"]
        if self.record["schema"] >= 3:
            return None if held.get("code") is None else str(held["code"])
        return None if held.get("version") is None else f"version {held['version']}"

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Whatever does not fit in the arrays becomes a sentence about the file."""
        try:
            yield
        except (
            InputError,
            KeyError,
            ValueError,
            TypeError,
            AttributeError,
            IndexError,
            OverflowError,
            RuntimeError,
        ) as error:
            raise FittedFileError(f"{self.path} cannot be used: {error}") from error


def write_fitted(path: Path, graph: Graph, arrays: Mapping[str, npt.NDArray[Any]], record: Mapping[str, Any]) -> None:
    """Write a file; it appears whole or not at all."""
    from nodewise import __version__

    members: dict[str, bytes] = {}
    with scratch_folder() as folder:
        write_npz(graph, folder / _GRAPH)
        members[_GRAPH] = (folder / _GRAPH).read_bytes()
    for i, (name, array) in enumerate(arrays.items()):
        if not _all_numbers(array):
            raise InputError(
                f"the learner's array {name!r} holds something else than finite numbers: it cannot be kept"
            )
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
        members[f"array_{i}.npy"] = stream.getvalue()
    head = {
        "kind": "nodewise fitted learner",
        "schema": SCHEMA,
        "nodewise_version": __version__,
        **record,
        "arrays": list(arrays),
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    text = json.dumps(head, ensure_ascii=False, allow_nan=False).encode()
    with atomic_file(path) as handle, zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {
            _RECORD: text,
            _DIGEST: hashlib.sha256(text).hexdigest().encode(),
            **members,
        }.items():
            archive.writestr(zipfile.ZipInfo(name), content)


def read_fitted(path: Path) -> Kept:
    """Read and check a file.

    Raises:
        FittedFileError: it is missing, damaged, of another kind or version.
    """
    path = Path(path).expanduser()
    try:
        existing_file(path)
    except GraphError as error:
        raise FittedFileError(str(error)) from None
    if not zipfile.is_zipfile(path):
        raise FittedFileError(f"{path} is no fitted learner, or damaged: give a file that Fitted.save wrote")
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except FittedFileError:
        raise
    except (*UNPACKING, GraphError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise _damaged(path, str(error)) from error


def _read(path: Path, archive: zipfile.ZipFile) -> Kept:
    left = path.stat().st_size
    for member in archive.infolist():
        left -= member.file_size  # all together: entries may claim the same bytes
        if member.compress_type != zipfile.ZIP_STORED or left < 0:
            raise _damaged(path, f"{member.filename!r} claims more than the file holds")
    if _RECORD not in archive.namelist():
        raise FittedFileError(f"{path} is no fitted learner: it holds no {_RECORD}; give a file that Fitted.save wrote")
    text = archive.read(_RECORD)
    if hashlib.sha256(text).hexdigest().encode() != archive.read(_DIGEST):
        raise _damaged(path, f"{_RECORD} has changed")
    record = json.loads(text)
    if record["schema"] not in _READ:
        raise FittedFileError(
            f"{path} is of form {record['schema']!r}, written by nodewise {record.get('nodewise_version')}, and forms"
            f" up to {SCHEMA} are known here: use that version, or fit the labels again"
        )
    contents = {}
    for name, digest in record["sha256"].items():
        contents[name] = archive.read(name)
        if hashlib.sha256(contents[name]).hexdigest() != digest:
            raise _damaged(path, f"{name} has changed")
    if len(record["arrays"]) != len(contents) - 1:
        raise _damaged(path, f"it names {len(record['arrays'])} arrays and holds {len(contents) - 1}")
    arrays = {
        str(name): np.lib.format.read_array(io.BytesIO(contents[f"array_{i}.npy"]), allow_pickle=False)
        for i, name in enumerate(record["arrays"])
    }
    for name, array in arrays.items():
        if not _all_numbers(array):
            raise _damaged(path, f"{name!r} holds something else than finite numbers")
    with scratch_folder() as folder:
        (folder / _GRAPH).write_bytes(contents[_GRAPH])
        graph = read_npz(folder / _GRAPH)
    classes, several = len(record["classes"]), bool(record.get("several", False))
    labels: dict[int, Label] = {}
    for node, label in record["labels"]:
        numbers = label if several else [label]
        if not 0 <= node < graph.num_nodes or not all(0 <= number < classes for number in numbers):
            raise _damaged(path, f"it has a label {label!r} of node {node!r}, which are not there")
        labels[int(node)] = tuple(sorted(map(int, numbers))) if several else int(label)
    return Kept(path, graph, record, arrays, several, labels)


def _says_version(code: str | None) -> bool:
    """Whether a version that a person raises speaks for code, and no digest."""
    return code is not None and code.startswith("version ")


def _all_numbers(array: npt.NDArray[Any]) -> bool:
    return array.dtype.kind in "biuf" and bool(np.isfinite(array).all())


def _damaged(path: Path, why: str) -> FittedFileError:
    return FittedFileError(f"{path} is damaged ({why}): copy it again, or fit the labels again")
