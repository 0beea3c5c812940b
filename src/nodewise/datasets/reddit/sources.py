"""From what the user named (files, folders, globs) to the list of files to read."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

from nodewise.ground.errors import InputError

__all__ = ["Kind", "Source", "fingerprint", "resolve_glove", "resolve_sources"]

Kind = Literal["submissions", "comments"]
Source = str | PathLike[str]

_PREFIX: dict[Kind, str] = {"submissions": "RS", "comments": "RC"}  # what the public archives call their files
_ENDINGS = {"", ".json", ".jsonl", ".ndjson", ".bz2", ".xz", ".gz", ".zst"}
_TEXTS = {".txt", ".gz", ".zip"}


def resolve_sources(kind: Kind, given: Source | Iterable[Source]) -> list[Path]:
    """The files that `given` names, each once, in the order given; those of a folder or a glob in order of their names.

    Of a folder, the files with the archives' prefix for this kind (``RS`` for submissions, ``RC`` for comments) are
    taken; when no file has such a prefix, all that look like dumps.

    Raises:
        InputError: if something named is not there, or nothing is left.
    """
    return _resolve(kind, given, lambda folder: _dumps_in(kind, folder))


def resolve_glove(given: Source | Iterable[Source], width: int) -> list[Path]:
    """The GloVe files that `given` names.

    Of a folder those whose name tells the width, as ``glove.840B.300d.txt`` does, else all texts.

    Raises:
        InputError: if something named is not there, or nothing is left.
    """
    return _resolve("GloVe file", given, lambda folder: _glove_in(folder, width))


def fingerprint(paths: Sequence[Path], *more: object) -> str:
    """A key that changes when a file is exchanged, grows or is touched, or when one of `more` changes."""
    parts = [f"{path.resolve()} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]
    return hashlib.blake2b(
        "\n".join([*parts, *map(repr, more)]).encode("utf-8", "surrogateescape"), digest_size=16
    ).hexdigest()


def _resolve(what: str, given: Source | Iterable[Source], in_folder: Callable[[Path], list[Path]]) -> list[Path]:
    items = [given] if isinstance(given, (str, PathLike)) else list(given)
    if not items:
        raise InputError(f"no {what} was given: name at least one file, folder or glob")
    resolved: dict[Path, None] = {}
    for item in items:
        path = Path(item)
        files = in_folder(path) if path.is_dir() else [path] if path.exists() else _matching(str(item))
        if not files:
            raise InputError(
                f"no {what} at {str(item)!r}: there is no such file or folder, and no file matches it as a pattern"
            )
        for file in files:
            resolved.setdefault(file.resolve())
    return list(resolved)


def _matching(pattern: str) -> list[Path]:
    found = map(Path, sorted(glob.glob(pattern)))  # noqa: PTH207  absolute patterns too
    return [path for path in found if path.is_file()]


def _dumps_in(kind: Kind, folder: Path) -> list[Path]:
    dumps = _files_in(folder, _ENDINGS)
    named = {tag: [path for path in dumps if path.name.upper().startswith(tag)] for tag in _PREFIX.values()}
    files = named[_PREFIX[kind]] if any(named.values()) else dumps
    if not files:
        endings = ", ".join(sorted(_ENDINGS - {""}))
        raise InputError(
            f"no {kind} in the folder {str(folder)!r}: expected files called {_PREFIX[kind]}_…, or any with the ending"
            f" {endings}"
        )
    return files


def _glove_in(folder: Path, width: int) -> list[Path]:
    texts = _files_in(folder, _TEXTS)
    if not texts:
        raise InputError(
            f"no GloVe file in the folder {str(folder)!r}: expected one with the ending {', '.join(sorted(_TEXTS))}"
        )
    return [path for path in texts if f".{width}d." in path.name] or texts


def _files_in(folder: Path, endings: set[str]) -> list[Path]:
    return sorted(
        path for path in folder.iterdir() if path.is_file() and path.suffix in endings and not path.name.startswith(".")
    )
