"""The unit of work of a comparison: a chunk of runs of one method on one graph, kept as a file when it is done."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise import __version__, environment
from nodewise.contracts import Classifier, Strategy
from nodewise.ground.errors import InputError
from nodewise.ground.files import write_json
from nodewise.ground.plugins import code_digest

__all__ = ["Chunk", "ChunkKey", "ChunkStore", "Identity", "code_of"]


class Identity(NamedTuple):
    """A classifier or strategy as a key holds it.

    Attributes:
        name: what it is called.
        settings: what it was made with, as JSON.
        digest: of its code; where nothing tells that, a number of its class in this process.
        storable: whether its code can be told from a corrected one; if not, its results are kept in memory only.
    """

    name: str
    settings: str
    digest: str
    storable: bool


def code_of(thing: Classifier | Strategy) -> Identity:
    """The identity of a classifier or strategy: name, settings and a digest of its code."""
    try:
        settings = json.dumps(dict(thing.identity()), sort_keys=True)
    except TypeError as error:
        raise InputError(f"identity() of {thing.name!r} must give what JSON can hold ({error})") from None
    digest = code_digest(thing)
    if digest is None:
        return Identity(str(thing.name), settings, f"class {_TYPED.setdefault(type(thing), len(_TYPED))} of this process", False)
    return Identity(str(thing.name), settings, digest, True)


_TYPED: dict[type, int] = {}
"""Classes that were typed into a shell, by number: two of the same name are not the same."""


@cache
def environment_digest() -> str:
    """A digest of the code of the environment, which every result depends on."""
    folder = Path(environment.__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class ChunkKey:
    """Everything that the scores of a chunk follow from.

    Attributes:
        graph, fingerprint: the graph's name, and a digest of its edges, features and labels.
        features: what was done to its features.
        strategy, classifier: who asks and who learns, with their code.
        first, runs: which runs: ``first`` to ``first + runs - 1``; results of a chunk of another size may differ in rounding.
        splits, splits_of, score_on: as in `Task`.
    """

    graph: str
    fingerprint: str
    features: str
    strategy: Identity
    classifier: Identity
    budget: int
    seed: int
    device: str
    first: int
    runs: int
    splits: Mapping[str, Any] | None = None
    splits_of: tuple[int, ...] | None = None
    score_on: str = "test"

    @property
    def storable(self) -> bool:
        """Whether a file may hold it: not where some code cannot be told from a corrected one."""
        return self.strategy.storable and self.classifier.storable

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        record |= {name: list(getattr(self, name)[:3]) for name in ("strategy", "classifier")}
        return json.loads(json.dumps({**record, "environment": environment_digest(), "nodewise_version": __version__}))  # type: ignore[no-any-return]

    @cached_property
    def path(self) -> Path:
        """Where a store keeps it, a path that a person can read."""
        digest = hashlib.blake2b(json.dumps(self.as_dict(), sort_keys=True).encode(), digest_size=6).hexdigest()
        name = f"{_plain(self.strategy.name)}-{_plain(self.classifier.name)}-{self.budget}-{self.first:04d}+{self.runs}-{digest}.json"
        return Path(_plain(self.graph)) / name


@dataclass(frozen=True)
class Chunk:
    """What a chunk's runs reached.

    Attributes:
        micro_f1, macro_f1: percent: [run].
        queries: the nodes in the order asked: int64 [run, step].
        seconds: its share of the time that the rollout took.
    """

    micro_f1: npt.NDArray[np.float64]
    macro_f1: npt.NDArray[np.float64]
    queries: npt.NDArray[np.int64]
    seconds: float

    def fits(self, key: ChunkKey) -> bool:
        """Whether these can be a chunk's results at all: so many scores between 0 and 100, so many queries, each node once."""
        scores = all(s.shape == (key.runs,) and bool(((s >= 0) & (s <= 100)).all()) for s in (self.micro_f1, self.macro_f1))
        if not scores or self.queries.shape != (key.runs, key.budget) or not self.seconds >= 0:
            return False
        ordered = np.sort(self.queries, axis=1)
        return bool((ordered >= 0).all()) and not bool((np.diff(ordered, axis=1) == 0).any())


class ChunkStore:
    """Finished chunks: in a folder, one file each, or in memory.

    A file appears whole or not at all, so that what was finished before a kill is there afterwards and is not done again.

    Attributes:
        folder: where the files go; None: in memory.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[Path, Chunk] = {}

    def load(self, key: ChunkKey) -> Chunk | None:
        """The chunk, or None if it is not there, not readable, or of other settings."""
        if key.path in self._memory or self.folder is None or not key.storable:
            return self._memory.get(key.path)
        try:
            record = json.loads((self.folder / key.path).read_text(encoding="utf-8"))
            if record["key"] != key.as_dict() or record["digest"] != _digest(record):
                return None  # of other settings, damaged, or edited
            micro, macro = (np.asarray(record[name], dtype=np.float64) for name in ("micro_f1", "macro_f1"))
            chunk = Chunk(micro, macro, np.asarray(record["queries"], dtype=np.int64), float(record["seconds"]))
            if not chunk.fits(key):
                return None  # edited, with a right digest
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        self._memory[key.path] = chunk
        return chunk

    def save(self, key: ChunkKey, chunk: Chunk) -> None:
        """Keep a finished chunk."""
        self._memory[key.path] = chunk
        if self.folder is not None and key.storable:
            path = self.folder / key.path
            path.parent.mkdir(parents=True, exist_ok=True)
            scores = {name: getattr(chunk, name).tolist() for name in ("micro_f1", "macro_f1", "queries")}
            record = {"schema": 1, "key": key.as_dict(), "seconds": chunk.seconds, **scores}
            write_json(path, {**record, "digest": _digest(record)})


def _digest(record: Mapping[str, Any]) -> str:
    """Tells a chunk that was damaged on the disk, or edited, from the one that was written."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.") or "graph"
