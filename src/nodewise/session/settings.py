"""A session's settings, each defined once: its name, type, default, check and help.

`Session.create`, ``nodewise session new``, the studio's HTTP body and its form are made from these records, and the
session's file keeps them. A new setting is a line of `NewSettings`, one of `SettingsByName` and one of `ABSENT_MEANS`,
and whatever uses it. It imports neither torch nor numpy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from nodewise.ground.errors import InputError, SessionFileError, UnknownNameError, WrongTypeError

if TYPE_CHECKING:
    from pathlib import Path

    from nodewise.contracts import Classifier, Strategy
    from nodewise.policy import Policy

__all__ = [
    "ABSENT_MEANS",
    "NewSettings",
    "SessionSettings",
    "SettingInfo",
    "SettingsByName",
    "check_choices",
    "setting",
    "settings_of",
    "takes_settings",
]

Kind = Literal["count", "duration", "name", "names", "flag", "mapping"]
"""What a setting's value is: a whole number; seconds, which people give in minutes; a name; a list of names; yes or no;
settings by name."""

_TYPES: Mapping[Kind, tuple[type, ...]] = {
    "count": (int,),
    "duration": (int, float),
    "name": (str,),
    "names": (list, tuple),
    "flag": (bool,),
    "mapping": (Mapping,),
}
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class SettingInfo:
    """What everybody has to know of one setting.

    Attributes:
        name: of the argument, the field and, with dashes, the flag.
        type: what a signature says.
        default: what it is where nobody gives it; None: it is left open, and decided when the session is made.
        kind: what its value is.
        help: what it is for, a sentence.
        unset: what is decided where it is left open, in words.
        least: the smallest number that it may be; a duration must be above it.
        most: the largest number that a new session may be given.
        title: what the form calls it; empty: the form and HTTP do not offer it, since it may name a file or code of
            this machine, or is asked in another way.
        front: whether the form shows it at once, not under "More".
        changes: whether an event of the log may change it later.
        metavar: what the command line's help shows for the value.
        flags: the command line's flags, where they are not the name with dashes.
        words: names to choose from, and what they mean.
        more: gives all names to choose from, those that installed packages offer as well; it may load torch.
    """

    name: str
    type: str
    default: Any
    kind: Kind
    help: str
    unset: str = ""
    least: float | None = None
    most: int | None = None
    title: str = ""
    front: bool = False
    changes: bool = False
    metavar: str = ""
    flags: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    more: Callable[[], Sequence[str]] | None = None

    def check(self, value: object, *, decided: bool) -> None:
        """Refuse a value that the setting cannot have.

        Args:
            value: what is given.
            decided: whether it is a session's, which leaves nothing open; else a new session's, which may.

        Raises:
            InputError: says what it may be.
        """
        wrong = {"count": _no_count, "duration": _no_duration, "flag": _no_flag, "mapping": _no_mapping}.get(self.kind)
        said = "" if wrong is None else wrong(self, value)
        if self.kind == "name" and decided and not isinstance(value, str):
            said = "a text"
        if self.kind == "names" and decided and not isinstance(value, (list, tuple)):
            said = "a list of names"
        if not said and not decided and self.most is not None and isinstance(value, int) and value > self.most:
            said = f"at most {self.most}"
        if said:
            fits = isinstance(value, _TYPES[self.kind]) and isinstance(value, bool) == (self.kind == "flag")
            wrong_kind = InputError if fits else WrongTypeError
            raise wrong_kind(f"a session's {self.name} must be {said}, got {str(value)[:40]!r}")

    @property
    def help_with_names(self) -> str:
        """The help for who works on this machine: with the names to choose from, and how one's own is named."""
        if not self.words:
            return self.help
        return f"{self.help.removesuffix('.')}: {', '.join(self.words)}, or your own as package.module:Name."

    def with_default(self, help: str) -> str:
        """A help, with the unit and what is decided where nobody gives a value."""
        unit = " In seconds." if self.kind == "duration" else ""
        return f"{help}{unit} By default {self.unset}." if self.unset else f"{help}{unit}"

    @property
    def is_fact(self) -> bool:
        """Whether its value is one number or word, which a page shows among the facts of a session."""
        return self.kind not in ("names", "mapping")

    def say(self, value: Any) -> str:
        """A value of it in words."""
        if self.kind == "duration":
            return f"{value / 60:g} min"
        if self.kind == "flag":
            return "yes" if value else "no"
        return "none" if value is None else f"{value:,}" if self.kind == "count" and value >= 10_000 else str(value)

    def choices(self) -> dict[str, str]:
        """Every name that may be chosen, and what it means as far as anybody has said."""
        names = self.words if self.more is None else self.more()
        return {name: self.words.get(name, "") for name in names}

    def as_dict(self) -> dict[str, Any]:
        """What a form needs to ask for it, as JSON can hold it."""
        shown = ("name", "kind", "default", "help", "unset", "least", "most", "title", "front")
        return {**{key: getattr(self, key) for key in shown}, "choices": self.choices()}


def _no_count(one: SettingInfo, value: object) -> str:
    wrong = isinstance(value, bool) or not isinstance(value, int) or (one.least is not None and value < one.least)
    return f"a whole number, at least {one.least}" if wrong else ""


def _no_duration(one: SettingInfo, value: object) -> str:
    wrong = isinstance(value, bool) or not isinstance(value, (int, float)) or not value > (one.least or 0)
    return f"a number of seconds above {one.least or 0}" if wrong else ""


def _no_flag(one: SettingInfo, value: object) -> str:
    return "" if isinstance(value, bool) else "yes or no"


def _no_mapping(one: SettingInfo, value: object) -> str:
    return "" if isinstance(value, Mapping) else "settings by name"


def setting(default: Any = None, *, kind: Kind, help: str, **more: Any) -> Any:
    """A field of `NewSettings`: its default, and the rest of what `SettingInfo` says of it."""
    return field(default=default, metadata={"setting": {"kind": kind, "help": help, **more}})


def _strategies() -> Sequence[str]:
    from nodewise.strategies import list_strategies

    return list_strategies()


def _classifiers() -> Sequence[str]:
    from nodewise.classifiers import list_classifiers

    return list_classifiers()


_STRATEGIES = {
    "gain": "where a label makes the most others more certain",
    "random": "by chance",
    "uncertainty": "where the classifier is least sure",
    "centrality": "the best connected",
    "centrality-pagerank": "the best connected, counting how well connected the neighbours are",
    "coreset": "far from what is known",
    "kcenter": "spread evenly",
    "age": "uncertain, central and typical",
    "anrmab": "a bandit over three of these",
    "margin": "where the two likeliest classes are closest",
    "least-confidence": "where the likeliest class is least sure",
    "typiclust": "a typical one of each cluster",
    "featprop": "spread evenly over what neighbours have",
    "badge": "unsure, and unlike each other",
    "graphpart": "the middles of each part of the graph",
    "graphpart-far": "the same, far from each other",
    "grain-ball": "reaching the most others, far from each other",
    "grain-nn": "reaching the most others, each close to one that is asked",
    "expected-error": "after whose answer the fewest others should be wrong",
    "rim": "reaching the most others, with wrong answers in mind",
    "igp": "whose answer makes its surroundings most certain",
    "bald": "where several guesses are sure and disagree",
    "bald-dropout": "the same, by a network that forgets at random",
    "diffusal": "important and undecided, where few are labelled",
    "policy": "learned on other graphs",
}
_CLASSIFIERS = {
    "views": "from what is alike and joined, at once: nothing is trained",
    "gcn": "a small neural network, trained anew as labels come",
}


@dataclass(frozen=True, kw_only=True)
class NewSettings:
    """The settings that a new session is asked to have; each field carries its `SettingInfo`. None leaves one open."""

    budget: int | None = setting(
        kind="count",
        least=1,
        help="Labels to ask for; it can be raised later.",
        unset="the paper's for its graphs, else five a class",
        title="Budget: labels to spend",
        front=True,
        changes=True,
    )
    classes: Sequence[str] | None = setting(
        kind="names",
        help="The classes, if known; more may come, unless the list is closed.",
        unset="those of the graph",
        title="Classes",
        front=True,
        metavar="A,B",
    )
    closed_classes: bool = setting(
        False,
        kind="flag",
        help="Whether these are all classes there will be: a label with another name is refused.",
        title="These are all the classes",
        front=True,
        flags="--closed-classes/--open-classes",
    )
    several: bool = setting(
        False,
        kind="flag",
        help="Whether each may have several classes at once, or none; a file whose labels name several is read so.",
        title="A row may have several classes",
        front=True,
        flags="--several/--one-class",
    )
    strategy: str | Strategy | Policy | None = setting(
        kind="name",
        help="How the next question is chosen.",
        unset="gain, or the policy where one is given",
        title="Which rows are asked",
        words=_STRATEGIES,
        more=_strategies,
    )
    policy: str | Path | Policy | None = setting(
        kind="name",
        help="For the strategy 'policy': which one.",
        unset="the default shipped one",
        metavar="NAME|FILE",
    )
    classifier: str | Classifier | None = setting(
        kind="name",
        help="What learns from the labels, and predicts the others.",
        unset="the policy's own, else views",
        title="How the rest is predicted",
        words=_CLASSIFIERS,
        more=_classifiers,
    )
    classifier_settings: Mapping[str, Any] | None = setting(
        kind="mapping", help="What the classifier is made with, where it is given by name.", unset="nothing"
    )
    strategy_settings: Mapping[str, Any] | None = setting(
        kind="mapping", help="What the strategy is made with, where it is given by name.", unset="nothing"
    )
    seed: int = setting(
        0, kind="count", least=0, help="Where all randomness comes from: same seed, same result.", title="Seed"
    )
    audit: int = setting(
        0,
        kind="count",
        least=0,
        help="How many are drawn at random on top of the budget, to measure the accuracy: their labels train nothing.",
        title="Audit: rows drawn at random, on top",
        front=True,
    )
    redundancy: int = setting(
        1,
        kind="count",
        least=1,
        most=100,
        help="How many people are asked about each; above 1, disagreements are shown.",
        title="Labels for each row",
        changes=True,
    )
    control: int = setting(
        0,
        kind="count",
        least=0,
        most=50,
        help="Of a hundred questions, how many are about rows with known answers, to see how right people are.",
        title="Questions with known answers, of a hundred",
        changes=True,
    )
    look_for_classes: int = setting(
        0,
        kind="count",
        least=0,
        most=1000,
        help=(
            "Every how many questions one is about a row unlike all labelled ones, in search of a class that nobody has"
            " named; 0: never."
        ),
        title="Look for a class that nobody has named, every so many questions",
    )
    trust: bool = setting(
        False,
        kind="flag",
        help="Whether a label that the others contradict counts less; no answer is changed by it.",
        title="Let labels that may be wrong count less",
        flags="--trust/--no-trust",
    )
    release_after: float = setting(
        3600.0,
        kind="duration",
        help="When an unanswered question may go to somebody else.",
        title="Minutes to wait for an answer",
        metavar="MINUTES",
    )
    use_labels: bool | None = setting(
        kind="flag",
        help="Whether labels in the graph count as given; otherwise nobody looks at them.",
        unset="yes, unless all nodes have one",
        flags="--use-labels/--hide-labels",
    )
    features: str | None = setting(
        kind="name",
        help="Preprocessing: raw, paper, unit, … or several joined by '+'. Features that were preprocessed stay.",
        unset="the classifier's own",
        metavar="F",
    )

    @classmethod
    def by_name(cls, given: Mapping[str, Any]) -> NewSettings:
        """The settings that keyword arguments give.

        Raises:
            UnknownNameError: there is no setting of such a name.
        """
        known = [one.name for one in settings_of(cls)]
        if unknown := [name for name in given if name not in known]:
            raise UnknownNameError("setting of Session.create", unknown[0], known)
        return cls(**given)

    def __post_init__(self) -> None:
        types = {one.name: str(one.type) for one in fields(self)}
        for one in settings_of(type(self)):
            value = getattr(self, one.name)
            if value is not None or not types[one.name].endswith("None"):
                one.check(value, decided=isinstance(self, SessionSettings))


class SettingsByName(TypedDict, total=False):
    """The fields of `NewSettings` as keyword arguments, for type checkers; a test holds it to them."""

    budget: int | None
    classes: Sequence[str] | None
    closed_classes: bool
    several: bool
    strategy: str | Strategy | Policy | None
    policy: str | Path | Policy | None
    classifier: str | Classifier | None
    classifier_settings: Mapping[str, Any] | None
    strategy_settings: Mapping[str, Any] | None
    seed: int
    audit: int
    redundancy: int
    control: int
    look_for_classes: int
    trust: bool
    release_after: float
    use_labels: bool | None
    features: str | None


@dataclass(frozen=True, kw_only=True)
class SessionSettings(NewSettings):
    """The settings that a session was made with: nothing is left open. Its file keeps them, and they never change.

    Attributes:
        budget: labels to ask for at first; an event may raise it.
        classes: the classes known at the start, in order.
        strategy: how nodes are chosen, by name.
        policy: the policy's name or file where the strategy is ``"policy"``; its weights are stored in the session.
        classifier: what learns from the labels, by name.
        features: what was done to the graph's features, for the record.
        reason: why this strategy, in words.
        classifier_digest: the classifier's version, or a digest of somebody's own code; None where nothing tells it.
        strategy_digest: the same of the strategy.
    """

    budget: int
    classes: tuple[str, ...] = ()
    strategy: str
    policy: str | None = None
    classifier: str
    classifier_settings: Mapping[str, Any] = field(default_factory=dict)
    strategy_settings: Mapping[str, Any] = field(default_factory=dict)
    use_labels: bool = True
    features: str = "raw"
    reason: str = ""
    classifier_digest: str | None = None
    strategy_digest: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        if not isinstance(self.reason, str):
            raise InputError(f"a session's reason must be a text, got {str(self.reason)[:40]!r}")
        if any(not name.strip() for name in self.classes) or len(set(self.classes)) < len(self.classes):
            raise InputError(f"classes must have names, each another one, got {str(list(self.classes))[:200]}")
        if self.closed_classes and not self.classes:
            raise InputError("the list of classes is to be closed, but it is empty: name the classes")
        if self.closed_classes and self.look_for_classes:
            raise InputError(
                "the list of classes is to be closed, so there is no other class to look for: leave look_for_classes or"
                " closed_classes out"
            )

    @classmethod
    def decide(cls, wanted: NewSettings, **decided: Any) -> SessionSettings:
        """What was wanted, with what was left open decided."""
        return cls(**{one.name: getattr(wanted, one.name) for one in settings_of(type(wanted))} | decided)

    def facts(self) -> dict[str, str]:
        """What never changes of it, for people: what it is called, and its value in words."""
        fixed = [one for one in settings_of(type(self)) if one.is_fact and not one.changes]
        said = {one.name.replace("_", " "): one.say(getattr(self, one.name)) for one in fixed}
        return {**said, "why this strategy": self.reason}

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "classes": list(self.classes)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SessionSettings:
        """The inverse of `as_dict`; what an older file lacks means what `ABSENT_MEANS` says.

        Raises:
            SessionFileError: there are settings that this version does not know.
        """
        if not isinstance(record, Mapping):
            raise SessionFileError(
                f"the session's settings cannot be used (they are {str(record)[:40]!r}): go on from a backup"
            )
        known = {one.name for one in fields(cls)}
        if unknown := set(record) - known:
            raise SessionFileError(
                f"the session has settings that this version does not know, {sorted(unknown)}: update nodewise"
            )
        try:
            return cls(**{**ABSENT_MEANS, **record})
        except (TypeError, InputError) as error:
            raise SessionFileError(f"the session's settings cannot be used ({error}): go on from a backup") from None


ABSENT_MEANS: Mapping[str, Any] = {
    "classes": (),
    "closed_classes": False,
    "several": False,
    "strategy": "policy",
    "policy": None,
    "classifier": "gcn",
    "classifier_settings": {},
    "strategy_settings": {},
    "seed": 0,
    "audit": 0,
    "redundancy": 1,
    "control": 0,
    "look_for_classes": 0,
    "trust": False,
    "release_after": 3600.0,
    "use_labels": True,
    "features": "raw",
    "reason": "",
    "classifier_digest": None,
    "strategy_digest": None,
}
"""Field -> what its absence means in files of form 1 and 2: what the session did when it was written.

These are not today's defaults, and do not change with them. The budget stands in every file.
"""


def settings_of(record: type[NewSettings]) -> tuple[SettingInfo, ...]:
    """The settings of `NewSettings`, or of a record made from it, in order."""
    found: dict[str, SettingInfo] = {}
    for kind in reversed(record.__mro__):
        for one in getattr(kind, "__dataclass_fields__", {}).values():
            known = dict(one.metadata.get("setting", ()))
            if known:
                found[one.name] = SettingInfo(one.name, str(one.type), one.default, **known)
    return tuple(found.values())


def check_choices(given: Mapping[str, Any]) -> None:
    """Refuse a name that is none of its setting's choices, so that nobody afar names code or files of this machine.

    Raises:
        UnknownNameError: says which there are.
    """
    for one in settings_of(NewSettings):
        value = given.get(one.name)
        if one.more is not None and value is not None and value not in one.choices():
            raise UnknownNameError(one.name, str(value), list(one.choices()))


def takes_settings(function: Function) -> Function:
    """Spell the settings that a function takes as ``**settings`` out in its signature and its docstring.

    Type checkers read `SettingsByName`; people and ``help()`` read this.
    """
    rows = settings_of(NewSettings)
    keyword = inspect.Parameter.KEYWORD_ONLY
    taken = [inspect.Parameter(one.name, keyword, default=one.default, annotation=one.type) for one in rows]
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    parameters = [one for one in own if one.kind is not keyword] + taken + [one for one in own if one.kind is keyword]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    lines = []
    for line in (function.__doc__ or "").splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.lstrip().startswith("settings:"):
            lines += [f"{indent}{one.name}: {one.with_default(one.help_with_names)}" for one in rows]
        else:
            lines.append(line)
    function.__doc__ = "\n".join(lines)
    return function
