"""Names to things that plug in, and what tells one of them from another.

Things are registered, offered by installed packages, or named ``package.module:Name``. One is told from another by its
name, its settings, and its code: what comes with nodewise carries a ``version``, a whole number that a person raises
when results change; a digest is taken of other people's code alone.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from nodewise.ground.errors import InputError, UnknownNameError

__all__ = [
    "CallsOthers",
    "Identity",
    "check_name",
    "code_changed",
    "code_of",
    "find_plugin",
    "identity_of",
    "list_plugins",
    "own_object",
    "plugin_settings",
    "read_settings",
    "resolve_plugin",
]


def list_plugins(registry: Mapping[str, Any], group: str) -> list[str]:
    """The names there are: registered ones, then those that installed packages offer under the entry point group."""
    return [*registry, *sorted({point.name for point in entry_points(group=group)} - set(registry))]


def resolve_plugin(
    kind: str,
    name: str,
    registry: Mapping[str, Callable[..., Any]],
    group: str,
    settings: Mapping[str, Any] | None = None,
    *,
    imports: bool = True,
) -> Any:
    """Makes the thing of that name.

    Args:
        kind: what it is, for messages: ``"classifier"``.
        name: a registered name, the name of an entry point, or ``package.module:Name``.
        registry: name -> what makes it.
        group: of entry points, such as ``"nodewise.classifiers"``.
        settings: given to what makes it.
        imports: whether ``package.module:Name`` may be imported. What is read from a file must not be.

    Raises:
        UnknownNameError: there is none of that name.
        InputError: it could not be made with these settings, or may not be imported.
    """
    return _made(kind, name, find_plugin(kind, name, registry, group, imports=imports), settings or {})


def find_plugin(kind: str, name: str, registry: Mapping[str, Any], group: str, *, imports: bool = True) -> Any:
    """What is registered under a name, offered by an installed package under it, or named by ``package.module:Name``.

    Nothing is made of it.

    Raises:
        UnknownNameError: there is none of that name.
        InputError: it could not be imported, or may not be.
    """
    if name in registry:
        return registry[name]
    for point in entry_points(group=group):
        if point.name == name:
            try:
                return point.load()
            except Exception as error:
                raise InputError(
                    f"the {kind} {name!r} of an installed package could not be imported ({_said(error)}): mend"
                    f" {point.value!r}, or uninstall the package"
                ) from error
    if not imports and kind not in ("classifier", "strategy"):
        hint = (
            "Since opening a file imports no code, one of your own is registered by the file that makes it, which you"
            f" import first, or is an installed package's entry point of {group!r}."
        )
        raise UnknownNameError(kind, name, list_plugins(registry, group), hint)
    if ":" in name and not imports:
        raise InputError(
            f"the file names the {kind} {name!r}, which is somebody's own: opening a file imports no code, so give it,"
            f" as in {kind}=…"
        )
    return _imported(kind, name, registry, group)


def own_object(kind: str, thing: Any, settings: Mapping[str, Any] | None = None) -> Any:
    """What a caller gave in place of a name: an object as it is, or one made of the class that was given.

    Raises:
        InputError: settings were given, too; they go with names.
    """
    made = _made(kind, thing.__name__, thing, {}) if isinstance(thing, type) else thing
    if settings:
        raise InputError(
            f"the {kind} {getattr(made, 'name', made)!r} is an object already: its settings are its own, got"
            f" {dict(settings)}"
        )
    return made


def check_name(thing: Any, kind: str) -> None:
    """Refuse a classifier or strategy of one's own that has no name.

    Raises:
        InputError: says how it gets one.
    """
    name = getattr(thing, "name", None)
    if not isinstance(name, str) or not name.strip():
        called = type(thing).__name__
        raise InputError(
            f"the {kind} {called} has no name: write one in its class, such as name = {called.lower()!r}, by which"
            " results and messages call it"
        )


def plugin_settings(kind: str, name: str, registry: Mapping[str, Callable[..., Any]], group: str) -> set[str]:
    """The names of the settings that a thing of that name can be made with."""
    maker = find_plugin(kind, name, registry, group)
    if not callable(maker) or (not inspect.isclass(maker) and not inspect.isroutine(maker)):
        return set()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {key for key, parameter in inspect.signature(maker).parameters.items() if parameter.kind not in several}


def _imported(kind: str, name: str, registry: Mapping[str, Any], group: str) -> Any:
    """What ``package.module:Name`` names."""
    if ":" not in name:
        hint = (
            "One of your own is named package.module:Name, or offered by an installed package as an entry point of"
            f" {group!r}."
        )
        raise UnknownNameError(kind, name, list_plugins(registry, group), hint)
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(
            str(Path.cwd())
        )  # the installed command does not look in the folder it is run in, as python -m does
    try:
        thing: Any = import_module(module_name)
        for part in attribute.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"the {kind} {name!r} could not be imported ({error}): it must read package.module:Name, and lie on"
            " Python's path"
        ) from None
    except Exception as error:  # what somebody's own file raises while it is imported
        raise InputError(f"the {kind} {name!r} could not be imported ({_said(error)}): mend the file") from error
    return thing


def _said(error: Exception) -> str:
    """An error of somebody else's code in a line: its kind, what it says and where it was raised."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = (
        f", {Path(frames[-1].filename).name} line {frames[-1].lineno}"
        if frames and not isinstance(error, (ImportError, SyntaxError))
        else ""
    )
    return f"{type(error).__name__}: {error}{where}"


def _made(kind: str, name: str, maker: Any, settings: Mapping[str, Any]) -> Any:
    if not callable(maker) or (not inspect.isclass(maker) and not inspect.isroutine(maker)):
        if settings:
            raise InputError(
                f"the {kind} {name!r} is an object already, which takes no settings: leave out {', '.join(settings)}"
            )
        return maker
    try:
        known = inspect.signature(maker).parameters
    except (TypeError, ValueError):
        known = {}  # type: ignore[assignment]
    open_ended = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
    for key in settings:
        if key not in known and not open_ended:
            raise UnknownNameError(f"setting of the {kind} {name!r}", key, known or ["(it takes none)"])
    try:
        return maker(**settings)
    except TypeError as error:
        raise InputError(f"the {kind} {name!r} could not be made with {dict(settings)} ({error})") from None


def read_settings(texts: list[str]) -> dict[str, Any]:
    """The settings that ``key=value`` texts give: numbers, true, false, none and JSON as such, anything else as text.

    Raises:
        InputError: a text has no ``=``.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"a setting reads key=value, such as hidden=32; got {text!r}")
        try:
            settings[key.strip()] = json.loads(
                {"True": "true", "False": "false", "None": "null", "none": "null"}.get(value, value)
            )
        except ValueError:
            settings[key.strip()] = value
    return settings


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


class CallsOthers:
    """What a class of ours inherits from that calls functions or classes of somebody's own, as part of what it does.

    Attributes:
        code: these functions and classes. A corrected one gives other results, so it counts for the identity.
    """

    code: Sequence[Any] = ()


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
    classes of somebody's own that an object of ours calls, which `CallsOthers` lists, count as well: ``version
    1, 3f…``. What was typed into a shell has neither.
    """
    kind = type(thing)
    holders = [thing, *kind.__mro__]
    speaks = next((one for one in holders if _held_by(one).get("version") is not None), None)
    called = [one for one in map(_unwrapped, thing.code if isinstance(thing, CallsOthers) else ()) if not _is_ours(one)]
    if speaks is not None and ((speaks is thing and not called) or not _is_ours(speaks)):
        return f"version {thing.version}"
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
    if inspect.isfunction(kind) and "<" in kind.__qualname__:  # a lambda, or one that another function makes
        try:
            digest.update(pickle.dumps(_told_by(kind)))
        except (ValueError, TypeError, AttributeError, pickle.PicklingError):
            return None
    return digest.hexdigest()


def _told_by(function: Any) -> list[Any]:
    """What tells a function from another of its name and file: its code, its defaults and what it holds of others."""

    def parts(code: CodeType) -> list[Any]:
        constants = [parts(one) if isinstance(one, CodeType) else one for one in code.co_consts]
        return [code.co_code, code.co_names, constants]

    held = [cell.cell_contents for cell in function.__closure__ or ()]
    return [parts(function.__code__), function.__defaults__, function.__kwdefaults__, held]


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
