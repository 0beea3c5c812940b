"""What tells a classifier or strategy from another: its name, its settings, and its code by a version or a digest.

What comes with nodewise carries a ``version``, a whole number that a person raises when results change. A digest is
taken of other people's code alone.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from nodewise.ground.errors import InputError

__all__ = ["Identity", "code_changed", "code_of", "identity_of"]


class Identity(NamedTuple):
    """A classifier or strategy as files hold it.

    Attributes:
        name: what it is called.
        settings: what it was made with, as JSON.
        code: its version, or a digest of its code; where nothing tells that, a number of its class in this process.
        storable: whether its code can be told from a corrected one; if not, its results are kept in memory only.
    """

    name: str
    settings: str
    code: str
    storable: bool


def identity_of(thing: Any) -> Identity:
    """The identity of a classifier or strategy.

    Raises:
        InputError: its settings are nothing that JSON can hold.
    """
    try:
        settings = json.dumps(dict(thing.identity()), sort_keys=True)
    except TypeError as error:
        raise InputError(f"identity() of {thing.name!r} must give what JSON can hold ({error})") from None
    code = code_of(thing)
    if code is None:
        number = _TYPED.setdefault(type(thing), len(_TYPED))
        return Identity(str(thing.name), settings, f"class {number} of this process", False)
    return Identity(str(thing.name), settings, code, True)


_TYPED: dict[type, int] = {}
"""Classes that were typed into a shell, by number: two of the same name are not the same."""


def code_of(thing: Any) -> str | None:
    """The version of an object's code, or a digest of it; None where nothing tells it.

    An object's own ``version`` speaks for it: ``version 2``. Of somebody's class without one, a digest is taken of the
    module's file and those of the same folder or package that it imports, and the same of classes that it inherits
    from; where it inherits from one of ours, that one's version is added: ``3f…, Random version 1``. Functions and
    classes of somebody's own that an object of ours calls, which its attribute ``code`` lists, count as well: ``version
    1, 3f…``. What was typed into a shell has neither.
    """
    kind = type(thing)
    holders = [thing, *kind.__mro__]
    speaks = next((one for one in holders if _held_by(one).get("version") is not None), None)
    if speaks is not None and (speaks is thing or not _is_ours(speaks)):
        return f"version {thing.version}"
    called = [one for one in map(_unwrapped, getattr(thing, "code", ())) if not _is_ours(one)]
    digests = [_digest(one) for one in ([] if _is_ours(kind) else [kind]) + called]
    if None in digests or (speaks is None and _is_ours(kind)):
        return None
    version = [] if speaks is None else [f"version {speaks.version}"]
    if _is_ours(kind):
        return ", ".join([*version, *map(str, digests)])
    bases = [one for one in kind.__mro__ if _is_ours(one) and "version" in vars(one)]
    ours = [f"{one.__name__} version {vars(one)['version']}" for one in bases]
    return ", ".join([*map(str, digests), *ours])


def code_changed(begun: str | None, now: str | None) -> bool:
    """Whether two answers of `code_of` tell that the code has changed.

    Where one is None nobody knows. Files that were written before things of ours had versions hold a digest of our
    files, which says nothing today.
    """
    if begun is None or now is None or (_is_digest(begun) and not _is_digest(now)):
        return False
    return begun != now


def _is_digest(code: str) -> bool:
    return re.fullmatch("[0-9a-f]{16}", code) is not None


def _held_by(thing: Any) -> dict[str, Any]:
    """What an object or class holds itself; nothing where it has no dictionary."""
    return getattr(thing, "__dict__", {})


def _is_ours(kind: Any) -> bool:
    return str(getattr(kind, "__module__", "")).partition(".")[0] == "nodewise"


def _unwrapped(kind: Any) -> Any:
    while isinstance(kind, partial):
        kind = kind.func
    return kind


def _digest(kind: Any) -> str | None:
    """The digest of a class or function."""
    if kind not in _DIGESTS:
        _DIGESTS[kind] = _file_digest(kind)
    return _DIGESTS[kind]


_DIGESTS: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()
"""Taken once for a class: a file that is edited afterwards is not the code that runs."""


def _file_digest(kind: Any) -> str | None:
    files: set[Path] = set()
    for one in (kind, *_bases(kind)):
        module = sys.modules.get(one.__module__)
        file = getattr(module, "__file__", None)
        if module is None or file is None or not Path(file).is_file():
            return None
        files |= _neighbours(module.__name__, Path(file))
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _bases(kind: Any) -> list[type]:
    """The classes of the same package, or that are not installed, that somebody's own class inherits from."""
    if not inspect.isclass(kind):
        return []
    top = kind.__module__.partition(".")[0]
    bases = []
    for base in kind.__mro__[1:]:
        other = base.__module__.partition(".")[0]
        if other in sys.stdlib_module_names or other == "nodewise":
            continue
        file = getattr(sys.modules.get(base.__module__), "__file__", None)
        if other == top or file is None or not _is_installed(Path(file)):
            bases.append(base)
    return bases


def _is_installed(file: Path) -> bool:
    return bool({"site-packages", "dist-packages"}.intersection(file.parts))


def _neighbours(name: str, file: Path) -> set[Path]:
    """A module's file, and those beside it that its import statements name, theirs included: read, not imported.

    What is installed counts as far as it is of the same package; what lies elsewhere on Python's path does not.
    """
    import ast

    if file.suffix != ".py":
        return {file}
    dotted = file.stem if name == "__main__" else name
    depth = dotted.count(".") + (file.stem == "__init__")
    root, installed, top = (
        file.parents[min(depth, len(file.parents) - 1)],
        _is_installed(file),
        dotted.partition(".")[0],
    )
    files: set[Path] = set()
    waiting = [(dotted, file)]
    while waiting:
        module, path = waiting.pop()
        if path in files:
            continue
        files.add(path)
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                start = ".".join([*above, *([node.module] if node.module else [])])
                names = [start, *(f"{start}.{alias.name}" for alias in node.names)]
            for wanted in names:
                parts = [part for part in wanted.split(".") if part]
                if not parts or parts[0] == "nodewise" or (installed and parts[0] != top):
                    continue
                for length in range(1, len(parts) + 1):  # a package's own file runs before its modules'
                    base = root.joinpath(*parts[:length])
                    waiting += [
                        (".".join(parts[:length]), one)
                        for one in (base.with_suffix(".py"), base / "__init__.py")
                        if one.is_file()
                    ]
    return files
