"""A session's learner, fitted to its labels so far: what is taken along, and what predicts rows for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.fitted.fitted import Fitted, fit
from nodewise.ground.events import Reporter

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["fit_session", "left_out_of"]


def fit_session(session: Session, classifier: str | None = None, reporter: Reporter | None = None) -> Fitted:
    """The session's classifier, fitted to the labels that count now, with the settings that the session has.

    Rows whose answers the owner knows train nothing here either.

    Args:
        session: whose.
        classifier: its name, where it is the caller's own; without it no code is imported that the file names.
        reporter: is told the progress.

    Raises:
        InputError: there is no class yet, a node may have several, or the classifier cannot learn from so few labels.
        SessionError: the classifier is not to be had here.
    """
    from nodewise.session.learning.rebuilding import stored_classifier
    from nodewise.session.meaning.changes import refuse_several

    settings = session.settings
    refuse_several(settings, session.path, "a fitted learner knows one a node: export its predictions instead")
    stored_classifier(settings, classifier)
    known = session.rules().known
    return fit(
        session.graph,
        {node: label for node, label in session.labels.items() if node not in known},
        classifier or settings.classifier,
        classes=session.classes,
        features="raw",
        seed=settings.seed,
        settings=settings.classifier_settings,
        reporter=reporter,
    )


def left_out_of(session: Session) -> str:
    """What of a session its fitted learner does not hold, in words; empty where it holds all."""
    names = [each.name for each in session.suggestions]
    lacks = [f"it has learned people's labels alone: what {', '.join(names)} said is left out"] if names else []
    if session.settings.trust:
        lacks.append("each label counts whole in it: how far the job trusts them is left out")
    return f"{'; '.join(lacks)}, so its predictions can differ from the session's" if lacks else ""
