"""The web page for labelling: a page without any framework, a REST API, and one worker that uses the session.

The page is plain HTML, CSS and JavaScript modules, which come with the package and need no network. That is so for two reasons. A strict
Content-Security-Policy makes it impossible that text from a graph is ever run. And a page whose state is the session's file, and nothing
on the server, survives reloads, restarts of the server and phones that sleep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodewise.studio.app import create_app
    from nodewise.studio.server import address, bind, make_server, require_extra
    from nodewise.studio.settings import StudioSettings

__all__ = ["StudioSettings", "address", "bind", "create_app", "make_server", "require_extra"]

_HOME = {
    "StudioSettings": "settings",
    "address": "server",
    "bind": "server",
    "create_app": "app",
    "make_server": "server",
    "require_extra": "server",
}


def __getattr__(name: str) -> Any:
    """Imports a name's file when it is first asked for: the settings need neither FastAPI nor torch."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
