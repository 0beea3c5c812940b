"""The web page for labelling: a page without any framework, a REST API, and one worker that uses the session.

The page is plain HTML, CSS and JavaScript modules, which come with the package and need no network. That is so for two
reasons. A strict Content-Security-Policy makes it impossible that text from a graph is ever run. And a page whose state
is the session's file, and nothing on the server, survives reloads, restarts of the server and phones that sleep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.studio.app import create_app
    from nodewise.studio.server import address, bind, make_server, open_browser, require_extra
    from nodewise.studio.settings import StudioSettings

__all__ = ["StudioSettings", "address", "bind", "create_app", "make_server", "open_browser", "require_extra"]

# the settings need neither FastAPI nor torch
__getattr__ = lazy_names(
    __name__,
    {
        "StudioSettings": "settings",
        "address": "server",
        "bind": "server",
        "create_app": "app",
        "make_server": "server",
        "open_browser": "server",
        "require_extra": "server",
    },
)
