"""A session's learner, fitted to its labels so far: what is taken along, and what predicts rows for its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.fitted.fitted import Fitted, fit
from nodewise.ground.events import Reporter

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["fit_session"]


def fit_session(session: Session, classifier: str | None = None, reporter: Reporter | None = None) -> Fitted:
    """The session's classifier, fitted to the labels that train it now, with the session's settings: it predicts what
    the session does.

    It begins with what models say of the rows, and trusts labels as far as the session does. The audit's labels, and
    those of rows whose answers the owner knows, train nothing here either: what the audit measures holds for it.

    Args:
        session: whose.
        classifier: its name, where it is the caller's own; without it no code is imported that the file names.
        reporter: gets the progress.

    Raises:
        InputError: there is no class yet, or the classifier cannot learn from so few labels.
        SessionError: the classifier is not to be had here.
    """
    from nodewise.graph.label_sets import SEPARATOR, split_set
    from nodewise.session.learning.rebuilding import stored_classifier
    from nodewise.session.meaning.trust import label_trust

    settings = session.settings
    stored_classifier(settings, classifier)
    history = session.refresh()
    learned, given = session.training(history)
    train = {label.node for label in (*learned, *given)}
    labels = {node: label for node, label in session.labels.items() if node in train}
    return fit(
        session.graph,
        {node: split_set(label, SEPARATOR) for node, label in labels.items()} if settings.several else labels,
        classifier or settings.classifier,
        classes=session.classes,
        several=settings.several,
        suggestions={each.name: (each.labels(history.classes), each.confidence) for each in session.suggestions},
        trust=label_trust(history, session.graph.num_nodes) if settings.trust else False,
        features="raw",
        seed=settings.seed,
        settings=settings.classifier_settings,
        reporter=reporter,
    )
