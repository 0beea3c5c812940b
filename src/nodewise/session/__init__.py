"""A person's labelling job on one graph: ask, tell, skip, undo, resume, stop, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.session.files.export import Prediction
    from nodewise.session.files.status import Status
    from nodewise.session.learning.stopping import StopReport
    from nodewise.session.meaning.history import Query
    from nodewise.session.session import Session
    from nodewise.session.settings import SessionSettings

__all__ = ["Prediction", "Query", "Session", "SessionSettings", "Status", "StopReport"]

# the log can be used without numpy and torch
__getattr__ = lazy_names(
    __name__,
    {
        "Prediction": "files.export",
        "Query": "meaning.history",
        "Session": "session",
        "SessionSettings": "settings",
        "Status": "files.status",
        "StopReport": "learning.stopping",
    },
)
