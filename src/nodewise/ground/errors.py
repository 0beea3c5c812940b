"""Every error that nodewise raises on purpose.

    NodewiseError                 anything below
    ├── InputError                what the caller gave is wrong (the command line exits with 2)
    │   ├── GraphError            a graph, or the file it was read from
    │   ├── UnknownNameError      a misspelt or unknown name; says what was probably meant
    │   ├── WrongTypeError        a thing of another type than the one that is taken (a TypeError as well)
    │   ├── PolicyFileError       a policy file that cannot be used
    │   ├── FittedFileError       a fitted learner's file that cannot be used
    │   └── MissingExtraError     an optional dependency is not installed; says how to install it
    ├── ClusterError              a cluster is out of reach, of another version, or lost what it was given
    ├── DownloadError             a data set could not be fetched; says what to do instead
    └── SessionError              a labelling session that cannot go on as asked
        ├── AlreadyLabelledError  somebody else has labelled the node otherwise; says who
        └── SessionFileError      a session's file that cannot be used (an InputError as well)

Every `InputError` is a ``ValueError`` as well, so that code which knows nothing of nodewise can catch it. A message
says what is wrong, what was received, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "AlreadyLabelledError",
    "ClusterError",
    "DownloadError",
    "FittedFileError",
    "GraphError",
    "InputError",
    "MissingExtraError",
    "NodewiseError",
    "PolicyFileError",
    "SessionError",
    "SessionFileError",
    "UnknownNameError",
    "WrongTypeError",
    "install_command",
    "nearest_names",
]


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """The names that were probably meant, three at most, the nearest first."""
    folded = {each.casefold(): each for each in known}
    return [folded[match] for match in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]


class NodewiseError(Exception):
    """Anything that nodewise refuses or fails to do; the message says what is wrong and what to do.

    Example:
        >>> import nodewise as nw
        >>> try:
        ...     nw.load_graph("digit")
        ... except nw.NodewiseError as error:
        ...     print(error)
        unknown data set 'digit': did you mean 'digits'? ...
    """


class InputError(NodewiseError, ValueError):
    """What the caller gave is wrong."""


class GraphError(InputError):
    """A graph is not well formed, or a file does not hold one."""


class FittedFileError(InputError):
    """A fitted learner's file is missing, damaged, of another version, or made with another classifier."""


class UnknownNameError(InputError):
    """A name that is not known, with the nearest known ones.

    Args:
        kind: what the name stands for, such as ``"data set"``.
        name: what was given.
        known: the names there are.
        hint: one more sentence on what to do.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        near = nearest_names(name, names)
        meant = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {', '.join(names)}."
        super().__init__(f"unknown {kind} {name!r}: {meant}" + (f" {hint}" if hint else ""))
        self.name, self.suggestions = name, near


class WrongTypeError(InputError, TypeError):
    """What the caller gave is of another type than the one that is taken."""


class PolicyFileError(InputError):
    """A policy file is damaged, of another kind, or does not fit the task."""


class MissingExtraError(InputError):
    """An optional dependency is not installed.

    Args:
        package: the package that is missing.
        extra: nodewise's extra that brings it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}, which is not installed: run {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that installs an extra; for whoever runs nodewise from a checkout, in that folder."""
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "pyproject.toml").is_file() and (checkout / "src" / "nodewise").is_dir():
        return f"pip install '.[{extra}]' in {checkout}"
    return f"pip install 'nodewise[{extra}]'"


class ClusterError(NodewiseError):
    """A cluster is out of reach, its machines have other versions, or a task could not be played there."""


class DownloadError(NodewiseError):
    """A data set could not be fetched."""


class SessionError(NodewiseError):
    """A labelling session cannot do what was asked."""


class AlreadyLabelledError(SessionError):
    """A node has a label of somebody else's, who would be overruled without knowing.

    Args:
        node: what the node is called.
        label: its label.
        annotator: who gave it.
    """

    def __init__(self, node: str, label: str, annotator: str) -> None:
        super().__init__(
            f"node {node!r} was labelled {label!r} by {annotator!r}: nothing was changed; to overrule it knowingly, say"
            " so: --overrule, or overrule=True"
        )
        self.node, self.label, self.annotator = node, label, annotator


class SessionFileError(SessionError, InputError):
    """A session's file is missing, damaged, of another kind or from a newer version; it was left as it is."""
