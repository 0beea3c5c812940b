"""``nodewise session ask``, ``tell``, ``bulk``, ``skip``, ``settle``, ``note``, ``release``, ``undo``: the labelling
itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, OwnClassifierOption, OwnStrategyOption, SessionArgument
from nodewise.cli.screen import Screen
from nodewise.ground.events import count, percent

if TYPE_CHECKING:
    from nodewise.session import Query, Session

__all__ = ["AnnotatorOption", "ask", "bulk", "note", "register", "release", "settle", "skip", "tell", "undo"]

NodeArgument = Annotated[
    str,
    typer.Argument(
        metavar="NODE", help="The node's name where the graph has names, else its index.", show_default=False
    ),
]
LabelsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="LABEL...",
        help="The class's name; where a node may have several classes, all of them, as a b or 'a;b'.",
        show_default=False,
    ),
]
NoneFlag = Annotated[
    bool, typer.Option("--none", help="None of the classes, where a node may have several: an answer, not a skip.")
]
NewClassFlag = Annotated[
    bool, typer.Option("--new-class", help="The label is a new class, even if it looks like a known one.")
]
OverruleFlag = Annotated[bool, typer.Option("--overrule", help="The label counts, whatever others have said.")]
AnnotatorOption = Annotated[str, typer.Option("--annotator", metavar="A", help="Who is asked or says so.")]

TELL = """
nodewise session tell job.nodewise 17 spam --annotator ada
nodewise session tell topics.nodewise 17 sports politics
nodewise session tell topics.nodewise 18 --none
"""

_SHOWN = 300  # characters of a text


def ask(
    screen: Screen,
    file: SessionArgument,
    count: Annotated[int, typer.Option("-k", metavar="N", min=1, help="How many nodes to ask about at once.")] = 1,
    annotator: AnnotatorOption = "me",
    json: JsonOption = None,
    classifier: OwnClassifierOption = None,
    strategy: OwnStrategyOption = None,
) -> None:
    """Say which node to label next, why, and what is predicted for it now."""
    from nodewise.session import Session

    with Session.open(file, classifier=classifier, strategy=strategy, reporter=screen.report) as session:
        queries = session.ask(count, annotator)
        status = session.status()
        if json:
            shown = [
                {
                    **query.as_dict(),
                    "attributes": _attributes(session, query.node),
                    "suggested": _suggested(session, query),
                }
                for query in queries
            ]
            screen.json(
                {
                    "schema": 1,
                    "queries": shown,
                    "classes": list(status.classes),
                    "told": status.told,
                    "left": status.left,
                },
                json,
            )
            return
        for query in queries:
            _show(screen, session, query)
        screen.note(f"{status.told} of {status.budget} labels; classes: {', '.join(status.classes) or 'none yet'}")
        several = session.settings.several
        screen.note(
            f"answer: nodewise session tell {file} {queries[0].name} {'LABEL... or --none' if several else 'LABEL'}"
        )


def tell(
    screen: Screen,
    file: SessionArgument,
    node: NodeArgument,
    label: LabelsArgument = None,
    none: NoneFlag = False,
    annotator: AnnotatorOption = "me",
    new_class: NewClassFlag = False,
    overrule: OverruleFlag = False,
) -> None:
    """Give a node its label, whether it was asked for or not; tell again to change it."""
    from nodewise.session import Session

    with Session.open(file) as session:
        known = session.classes
        session.tell(node, _said(session, label, none), annotator, new_class=new_class, overrule=overrule)
        status = session.status()
        index = session.find(node)
        name, counts = session.name_of(index), session.labels.get(index)
        for fresh in [each for each in session.classes if each not in known]:
            screen.note(f"{fresh!r} is a new class")
        if counts is not None and (votes := status.disagreements.get(name)) is not None:
            said = ", ".join(f"{who} says {what}" for who, what in votes.items())
            screen.note(f"the annotators disagree: {said}; {counts!r} counts")
        screen.line(
            f"{name}: {_worded(session.refresh().votes[index][annotator.strip()])} ({status.told} of {status.budget}"
            " labels)"
        )
        if status.done:
            screen.note(f"the budget is spent: nodewise session predict {file}")


def bulk(
    screen: Screen,
    file: SessionArgument,
    label: Annotated[
        str,
        typer.Argument(
            metavar="LABEL", help="The class's name, or 'a;b' where a node may have several.", show_default=False
        ),
    ],
    nodes: Annotated[
        list[str], typer.Argument(metavar="NODE...", help="The nodes' names or indices.", show_default=False)
    ],
    annotator: AnnotatorOption = "me",
    new_class: NewClassFlag = False,
    overrule: OverruleFlag = False,
) -> None:
    """Give many nodes one label in one go: they train, spend no budget, and no accuracy is measured on them."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.tell_bulk(nodes, label, annotator, new_class=new_class, overrule=overrule)
        status = session.status()
        many = count(len(nodes), "node")
        said = _worded(session.refresh().labels[session.find(nodes[0])])
        screen.line(f"{many}: {said} (in bulk, {status.told} of {status.budget} labels)")


def note(
    screen: Screen,
    file: SessionArgument,
    node: NodeArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to write.", show_default=False)],
    annotator: AnnotatorOption = "me",
) -> None:
    """Write a note to a node, for everybody to read."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.add_note(node, text, annotator)
        index = session.find(node)
        for each in session.notes[index]:
            screen.line(f"{session.name_of(index)}: {each.text} ({each.annotator})")


def release(
    screen: Screen,
    file: SessionArgument,
    annotator: Annotated[
        str, typer.Argument(metavar="A", help="Who has left, or goes by another name now.", show_default=False)
    ],
) -> None:
    """Free the queries that an annotator has not answered, so that others are asked."""
    from nodewise.session import Session

    with Session.open(file) as session:
        freed = session.release(annotator)
    screen.line(f"{annotator}: {freed} {'query' if freed == 1 else 'queries'} freed")


def settle(
    screen: Screen,
    file: SessionArgument,
    node: NodeArgument,
    label: LabelsArgument = None,
    none: NoneFlag = False,
    annotator: AnnotatorOption = "me",
) -> None:
    """Decide a disagreement: the label counts, whatever the votes say."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.settle(node, _said(session, label, none), annotator)
        index = session.find(node)
        screen.line(f"{session.name_of(index)}: settled as {_worded(session.refresh().labels[index])}")


def skip(screen: Screen, file: SessionArgument, node: NodeArgument, annotator: AnnotatorOption = "me") -> None:
    """Pass over a node that cannot be labelled; it spends no budget."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.skip(node, annotator)
        screen.line(f"{session.name_of(session.find(node))}: skipped")


def undo(
    screen: Screen,
    file: SessionArgument,
    event: Annotated[
        int | None,
        typer.Option("--event", metavar="N", min=1, help="Which event of the log.", show_default="the last change"),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option("--annotator", metavar="A", help="Whose last change.", show_default="anybody's")
    ] = None,
) -> None:
    """Take back the last label or skip."""
    from nodewise.session import Session

    with Session.open(file) as session:
        gone = session.undo(event, annotator)
        named = {key: gone.body[key] for key in ("label", "name", "budget", "event", "text") if key in gone.body}
        what = " ".join(
            _worded(";".join(each) or ";") if isinstance(each, list) else str(each) for each in named.values()
        )
        where = f" of node {session.name_of(int(gone.body['node']))}" if "node" in gone.body else ""
        where = f" of {count(len(gone.body['nodes']), 'node')}" if "nodes" in gone.body else where
        screen.line(f"undone: {gone.kind}{f' {what}' if what else ''}{where} by {gone.annotator}")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "ask", ask, examples="nodewise session ask job.nodewise -k 5 --json")
    add_command(group, "tell", tell, examples=TELL)
    add_command(group, "bulk", bulk, examples="nodewise session bulk job.nodewise spam 17 18 19")
    add_command(group, "note", note, examples="nodewise session note job.nodewise 17 'the picture is blurred'")
    add_command(group, "release", release, examples="nodewise session release job.nodewise ada")
    add_command(group, "settle", settle, examples="nodewise session settle job.nodewise 17 spam --annotator ada")
    add_command(group, "skip", skip, examples="nodewise session skip job.nodewise 17")
    add_command(group, "undo", undo, examples="nodewise session undo job.nodewise")


def _said(session: Session, labels: list[str] | None, none: bool) -> Any:
    """What a node is labelled with: a class, or the classes where it may have several.

    Raises:
        InputError: nothing, or too much.
    """
    from nodewise.ground.errors import InputError

    given = labels or []
    if none and (given or not session.settings.several):
        what = f"but {given} as well" if given else "where a node has one class"
        raise InputError(f"--none was given, {what}: give the label, or skip the node")
    if not none and not given:
        further = ", or --none" if session.settings.several else ""
        raise InputError(f"no label was given: give the class's name{further}; to pass over the node, skip it")
    return given[0] if len(given) == 1 else given


def _worded(label: str) -> str:
    return "none of them" if label == ";" else label


def _attributes(session: Session, node: int) -> dict[str, Any]:
    """What the row holds, less the columns that could sway who answers."""
    from nodewise.session.meaning.suggestions import swaying_columns

    kept_back = swaying_columns(session.refresh())
    return {key: str(values[node]) for key, values in session.graph.attributes.items() if key not in kept_back}


def _suggested(session: Session, query: Query) -> dict[str, str]:
    """Model -> what it says of the node; nothing where the prediction is kept back as well, as in an audit."""
    if not query.predicted:
        return {}
    classes = session.refresh().classes
    numbers = {each.name: int(each.numbers[query.node]) for each in session.suggestions}
    return {name: classes.name(number) for name, number in numbers.items() if number}


def _show(screen: Screen, session: Session, query: Query) -> None:
    screen.line(f"node {query.name}" + (" (audit)" if query.audit else ""))
    for key, text in _attributes(session, query.node).items():
        screen.line(f"  {key}: {text[:_SHOWN]}{' …' if len(text) > _SHOWN else ''}")
    if query.given is not None:
        screen.line(f"  would be given: {_worded(query.guess or ';')}")
    for name, label in _suggested(session, query).items():
        screen.line(f"  {name} says: {label}")
    if query.predicted:
        screen.line(
            "  predicted: " + ", ".join(f"{name} {percent(chance)}" for name, chance in query.predicted.items())
        )
    elif query.unknown:
        screen.line("  predicted: unknown")
    for reason in query.why:
        screen.line(f"  why: {reason}")
