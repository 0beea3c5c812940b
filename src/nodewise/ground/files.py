"""Files that appear whole or not at all, JSON among them; and where the user's cache is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from nodewise.ground.parts import part_path

__all__ = ["compact_json", "rounded", "user_cache", "whole_file", "write_json"]

_WIDTH = 160


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that takes its name when it is complete and on the disk; a reader sees the old one or the new one, never a part."""
    path = Path(path)
    part = part_path(path)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def user_cache() -> Path:
    """The folder ``nodewise`` where the platform keeps what programs can make or fetch again; it need not exist."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "nodewise"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "nodewise"
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if Path(named).is_absolute() else Path.home() / ".cache") / "nodewise"


def write_json(path: str | Path, record: Any, *, compact: bool = False) -> None:
    """Write a record as JSON; a reader sees the old file or the new one, never a part.

    Args:
        path: the file.
        record: what JSON can hold; numbers that are none are refused.
        compact: as `compact_json` gives it, for files that are kept and compared: a tenth of the lines.
    """
    text = compact_json(record) if compact else json.dumps(record, indent=1, allow_nan=False)
    with whole_file(path) as file:
        file.write((text + "\n").encode())


def compact_json(record: Any) -> str:
    """JSON with nine significant digits a number; what fits a line, and every list of plain values, stands on one line."""
    return _compact(rounded(record), "")


def rounded(value: Any) -> Any:
    """A record with nine significant digits a number, as `compact_json` writes it."""
    if isinstance(value, float):
        return float(f"{value:.9g}")  # as many as float32 scores have: a mean that lies on the edge is rounded as before
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def _compact(value: Any, indent: str) -> str:
    line = json.dumps(value, allow_nan=False, ensure_ascii=False)
    plain = isinstance(value, list) and not any(isinstance(one, (list, dict)) for one in value)
    if plain or not isinstance(value, (list, dict)) or len(indent) + len(line) <= _WIDTH:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(str(key), ensure_ascii=False)}: {_compact(one, inner)}" for key, one in value.items()]
    else:
        parts = [inner + _compact(one, inner) for one in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(parts) + f"\n{indent}{closing}"
