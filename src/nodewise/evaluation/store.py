"""The unit of work of a comparison: a chunk of runs of one method on one graph, kept as a file when it is done."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nodewise import __version__
from nodewise.graph.equality import fingerprint
from nodewise.ground.files import write_json

__all__ = ["Chunk", "ChunkKey", "ChunkStore", "fingerprint"]


@dataclass(frozen=True)
class ChunkKey:
    """Everything that the scores of a chunk follow from.

    Attributes:
        graph, fingerprint: the graph's name, and a digest of its edges, features and labels.
        method: the method's name; ``identity`` is what its results depend on.
        first, runs: which runs: ``first`` to ``first + runs - 1``.
        splits: test and validation nodes, if not the protocol's.
    """

    graph: str
    fingerprint: str
    features: str
    method: str
    identity: tuple[tuple[str, Any], ...]
    classifier: str
    budget: int
    seed: int
    device: str
    first: int
    runs: int
    splits: tuple[int, int] | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it. The method's name is left out: it is what people call it."""
        record = {key: value for key, value in asdict(self).items() if key != "method"}
        return json.loads(json.dumps({**record, "identity": dict(self.identity), "nodewise_version": __version__}))  # type: ignore[no-any-return]

    @property
    def path(self) -> Path:
        """Where a store keeps it, a path that a person can read."""
        digest = hashlib.blake2b(json.dumps(self.as_dict(), sort_keys=True).encode(), digest_size=6).hexdigest()
        strategy = str(dict(self.identity)["strategy"])
        return (
            Path(_plain(self.graph))
            / f"{_plain(strategy)}-{_plain(self.classifier)}-{self.budget}-{self.first:04d}+{self.runs}-{digest}.json"
        )


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


class ChunkStore:
    """Finished chunks: in a folder, one file each, or in memory.

    A file appears whole or not at all, so that what was finished before a kill is there afterwards and is not done again.

    Args:
        folder: where the files go; None: in memory.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._folder = None if folder is None else Path(folder)
        self._memory: dict[Path, Chunk] = {}

    def load(self, key: ChunkKey) -> Chunk | None:
        """The chunk, or None if it is not there, not readable, or of other settings."""
        if key.path in self._memory or self._folder is None:
            return self._memory.get(key.path)
        try:
            record = json.loads((self._folder / key.path).read_text(encoding="utf-8"))
            if record["key"] != key.as_dict():
                return None
            micro, macro = (np.asarray(record[name], dtype=np.float64) for name in ("micro_f1", "macro_f1"))
            chunk = Chunk(micro, macro, np.asarray(record["queries"], dtype=np.int64), float(record["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        self._memory[key.path] = chunk
        return chunk

    def save(self, key: ChunkKey, chunk: Chunk) -> None:
        """Keep a finished chunk."""
        self._memory[key.path] = chunk
        if self._folder is not None:
            path = self._folder / key.path
            path.parent.mkdir(parents=True, exist_ok=True)
            scores = {name: getattr(chunk, name).tolist() for name in ("micro_f1", "macro_f1", "queries")}
            write_json(path, {"schema": 1, "key": key.as_dict(), "method": key.method, "seconds": chunk.seconds, **scores})


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+_-]+", "-", text).strip("-.") or "graph"
