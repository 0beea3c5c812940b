"""A session's classifier and strategy, made again from what its file says of them; no code is imported for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from nodewise.ground.errors import InputError, SessionError
from nodewise.ground.events import Reporter, Warned, listening
from nodewise.ground.files import scratch_folder
from nodewise.ground.plugins import code_changed, code_of
from nodewise.session.log.contents import Contents, code_on
from nodewise.session.settings import SessionSettings

if TYPE_CHECKING:
    from nodewise.contracts import Classifier, Strategy

__all__ = ["Rebuilding", "changed_code", "stored_classifier", "stored_strategy"]

Plugged = TypeVar("Plugged", "Classifier", "Strategy")


class Rebuilding:
    """Gives a session's classifier and strategy, made anew at each call.

    Args:
        contents: what the session's file says of them.
        classifier: the caller's own, which must be the one that the session was begun with.
        strategy: the same of the strategy.
        reporter: hears, at the first call, where their code has changed since; without one it is a Python warning.
    """

    def __init__(
        self,
        contents: Contents,
        classifier: str | Classifier | None = None,
        strategy: str | Strategy | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        self._contents, self._classifier, self._strategy, self._reporter = contents, classifier, strategy, reporter
        self._warned = False

    def __call__(self) -> tuple[Classifier, Strategy]:
        settings = self._contents.settings
        classifier = stored_classifier(settings, self._classifier)
        strategy = stored_strategy(settings, self._contents.policy, self._strategy)
        if not self._warned:
            with listening(self._reporter, progress=False) as report:
                for sentence in changed_code(self._contents, classifier, strategy):
                    report(Warned(sentence))
            self._warned = True
        return classifier, strategy


def stored_strategy(settings: SessionSettings, weights: bytes | None, given: str | Strategy | None = None) -> Strategy:
    """The strategy of a session from what its file holds; nothing is imported for it.

    Args:
        weights: the policy's file.
        given: the caller's own, which must be the one that the session was begun with.
    """
    from nodewise.policy import load_policy
    from nodewise.strategies import Learned, make_strategy

    if given is not None:
        return _same(
            "strategy",
            make_strategy(given, settings=_kept(given, settings.strategy_settings)),
            settings.strategy,
            settings.strategy_settings,
            isinstance(given, str),
        )
    if settings.strategy != "policy" or weights is None:
        return _resolved(
            "strategy", lambda: make_strategy(settings.strategy, settings=settings.strategy_settings, imports=False)
        )
    with scratch_folder() as folder:
        file = folder / "policy.safetensors"
        file.write_bytes(weights)
        return Learned(load_policy(file))


def stored_classifier(settings: SessionSettings, given: str | Classifier | None = None) -> Classifier:
    """The classifier of a session from what its file holds; nothing is imported for it."""
    from nodewise.classifiers import make_classifier

    if given is not None:
        return _same(
            "classifier",
            make_classifier(given, _kept(given, settings.classifier_settings)),
            settings.classifier,
            settings.classifier_settings,
            isinstance(given, str),
        )
    return _resolved(
        "classifier", lambda: make_classifier(settings.classifier, settings.classifier_settings, imports=False)
    )


def changed_code(contents: Contents, classifier: Classifier, strategy: Strategy) -> list[str]:
    """What a user should know where the code of a session's classifier or strategy is not what it was begun with.

    Nothing where neither a version nor a digest shows it.
    """
    settings, said = contents.settings, []
    for kind, thing, begun, now in (
        ("classifier", classifier, settings.classifier_digest, code_on(contents.graph, classifier)),
        ("strategy", strategy, settings.strategy_digest, code_of(strategy)),
    ):
        if code_changed(begun, now):
            said.append(
                f"the code of the {kind} {thing.name!r} has changed since the session was begun ({begun}, now {now}):"
                " what is asked and predicted may differ from before; the labels are not touched. To go on exactly as"
                " begun, install the version that it was begun with"
            )
    return said


def _resolved(kind: str, make: Callable[[], Plugged]) -> Plugged:
    try:
        return make()
    except InputError as error:
        said = str(error) if str(error).endswith((".", "?")) else f"{error}."
        raise SessionError(
            f"the session's {kind} is not to be had here: {said} Session.open(…, {kind}=…) takes your own, as does"
            f" --{kind} package.module:Name."
        ) from None


def _kept(given: object, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The settings that the session was begun with, for what is given by name."""
    return settings if isinstance(given, str) else None


def _same(kind: str, thing: Plugged, name: str, settings: Mapping[str, Any], named: bool) -> Plugged:
    """The thing, if it is the one that the session was begun with.

    What is ``named`` has a setting that came after that at its default.
    """
    own = json.loads(json.dumps(dict(thing.identity())))
    seen = {key: value for key, value in own.items() if key in settings} if named else own
    if thing.name != name or (seen != dict(settings) and settings):
        raise SessionError(
            f"the session was begun with the {kind} {name!r} and the settings {dict(settings)}, not with {thing.name!r}"
            f" and {own}: give that one"
        )
    return thing
