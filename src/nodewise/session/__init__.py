"""A person's labelling job on one graph: ask, tell, skip, undo, resume, stop, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nodewise.session.prediction import Prediction
    from nodewise.session.query import Query
    from nodewise.session.session import Session
    from nodewise.session.settings import SessionSettings
    from nodewise.session.status import Status
    from nodewise.session.stopping import StopReport

__all__ = ["Prediction", "Query", "Session", "SessionSettings", "Status", "StopReport"]

_HOME = {
    "Prediction": "prediction",
    "Query": "query",
    "Session": "session",
    "SessionSettings": "settings",
    "Status": "status",
    "StopReport": "stopping",
}


def __getattr__(name: str) -> Any:
    """Imports a name's file when it is first asked for: the log can be used without numpy and torch."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
