"""The data folder: where downloaded graphs go, and where a user's own are found by name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nodewise.ground.errors import InputError
from nodewise.ground.files import user_cache

__all__ = ["data_folder", "find_local", "local_names"]


def data_folder(data_dir: str | Path | None = None) -> Path:
    """The folder given, else the one that the environment variable NODEWISE_DATA names, else ``nodewise`` in the user's
    cache.

    It need not exist.

    Raises:
        InputError: if it is a file.
    """
    named = os.environ.get("NODEWISE_DATA", "")
    folder = (
        Path(data_dir).expanduser() if data_dir is not None else Path(named).expanduser() if named else user_cache()
    )
    if folder.exists() and not folder.is_dir():
        where = "--data-dir" if data_dir is not None else "NODEWISE_DATA"
        raise InputError(f"the data folder {folder} is not a folder: give another by {where}")
    return folder


def find_local(folder: Path, names: Iterable[str]) -> Path | None:
    """The first ``NAME.npz`` that the folder holds."""
    return next((path for path in (folder / f"{name}.npz" for name in names) if path.is_file()), None)


def local_names(folder: Path) -> list[str]:
    """The names of all npz files in the folder, without hidden ones."""
    try:
        return sorted(path.stem for path in folder.glob("*.npz") if not path.name.startswith(".") and path.is_file())
    except OSError:
        return []
