"""One file that holds a folder's finished work, for machines whose disk does not stay."""

from __future__ import annotations

import tarfile
from pathlib import Path

__all__ = ["pack", "unpack"]


def pack(folder: Path, file: Path, *patterns: str) -> None:
    """The folder's files that fit the patterns as one file, which appears whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    with tarfile.open(part, "w:gz", compresslevel=1) as archive:
        for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
            archive.add(path, path.relative_to(folder))
    part.replace(file)


def unpack(file: Path, folder: Path) -> int:
    """Puts what a packed file holds into a folder, where the file is there; how many files that are."""
    if not file.exists():
        return 0
    with tarfile.open(file) as archive:
        archive.extractall(folder, filter="data")
        return len(archive.getnames())
