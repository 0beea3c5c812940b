"""Names to things that plug in: registered ones, those that installed packages offer, and ``package.module:Name``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from nodewise.ground.errors import InputError, UnknownNameError

__all__ = [
    "find_plugin",
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
    import json

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
