"""``nodewise session ask``, ``tell``, ``bulk``, ``skip``, ``settle``, ``note``, ``release``, ``undo``: the labelling
itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, OwnClassifierOption, OwnStrategyOption, SessionArgument
from nodewise.cli.screen import Screen

if TYPE_CHECKING:
    from nodewise.session import Query, Session

__all__ = ["AnnotatorOption", "ask", "bulk", "note", "register", "release", "settle", "skip", "tell", "undo"]

NodeArgument = Annotated[
    str,
    typer.Argument(
        metavar="NODE", help="The node's name where the graph has names, else its index.", show_default=False
    ),
]
NewClassFlag = Annotated[
    bool, typer.Option("--new-class", help="The label is a new class, even if it looks like a known one.")
]
OverruleFlag = Annotated[bool, typer.Option("--overrule", help="The label counts, whatever others have said.")]
AnnotatorOption = Annotated[str, typer.Option("--annotator", metavar="A", help="Who is asked or says so.")]

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
            shown = [{**query.as_dict(), "attributes": _attributes(session, query.node)} for query in queries]
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
        screen.note(f"{status.told} of {status.budget} labels told; classes: {', '.join(status.classes) or 'none yet'}")
        screen.note(f"answer: nodewise session tell {file} {queries[0].name} LABEL")


def tell(
    screen: Screen,
    file: SessionArgument,
    node: NodeArgument,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The class's name.", show_default=False)],
    annotator: AnnotatorOption = "me",
    new_class: NewClassFlag = False,
    overrule: OverruleFlag = False,
) -> None:
    """Give a node its label, whether it was asked for or not; tell again to change it."""
    from nodewise.session import Session

    with Session.open(file) as session:
        known = session.classes
        session.tell(node, label, annotator, new_class=new_class, overrule=overrule)
        status = session.status()
        index = session.find(node)
        name, counts = session.name_of(index), session.labels[index]
        if session.classes != known:
            screen.note(f"{label.strip()!r} is a new class")
        if (votes := status.disagreements.get(name)) is not None:
            said = ", ".join(f"{who} says {what}" for who, what in votes.items())
            screen.note(f"the annotators disagree: {said}; {counts!r} counts")
        screen.line(
            f"{name}: {session.refresh().votes[index][annotator.strip()]} ({status.told} of {status.budget} labels"
            " told)"
        )
        if status.done:
            screen.note(f"the budget is spent: nodewise session predict {file}")


def bulk(
    screen: Screen,
    file: SessionArgument,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The class's name.", show_default=False)],
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
        many = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
        screen.line(
            f"{many}: {session.labels[session.find(nodes[0])]} (in bulk, {status.told} of {status.budget} labels told)"
        )


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
    label: Annotated[str, typer.Argument(metavar="LABEL", help="The class that counts.", show_default=False)],
    annotator: AnnotatorOption = "me",
) -> None:
    """Decide a disagreement: the label counts, whatever the votes say."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.settle(node, label, annotator)
        screen.line(f"{session.name_of(session.find(node))}: settled as {label}")


def skip(screen: Screen, file: SessionArgument, node: NodeArgument, annotator: AnnotatorOption = "me") -> None:
    """Pass over a node that cannot be told; it spends no budget."""
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
    """Take back the last thing told or skipped."""
    from nodewise.session import Session

    with Session.open(file) as session:
        gone = session.undo(event, annotator)
        what = " ".join(str(gone.body[key]) for key in ("label", "name", "budget", "event", "text") if key in gone.body)
        where = f" of node {session.name_of(int(gone.body['node']))}" if "node" in gone.body else ""
        where = f" of {len(gone.body['nodes'])} nodes" if "nodes" in gone.body else where
        screen.line(f"undone: {gone.kind}{f' {what}' if what else ''}{where} by {gone.annotator}")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "ask", ask, examples="nodewise session ask job.nodewise -k 5 --json")
    add_command(group, "tell", tell, examples="nodewise session tell job.nodewise 17 spam --annotator ada")
    add_command(group, "bulk", bulk, examples="nodewise session bulk job.nodewise spam 17 18 19")
    add_command(group, "note", note, examples="nodewise session note job.nodewise 17 'the picture is blurred'")
    add_command(group, "release", release, examples="nodewise session release job.nodewise ada")
    add_command(group, "settle", settle, examples="nodewise session settle job.nodewise 17 spam --annotator ada")
    add_command(group, "skip", skip, examples="nodewise session skip job.nodewise 17")
    add_command(group, "undo", undo, examples="nodewise session undo job.nodewise")


def _attributes(session: Session, node: int) -> dict[str, Any]:
    return {key: str(values[node]) for key, values in session.graph.attributes.items()}


def _show(screen: Screen, session: Session, query: Query) -> None:
    screen.line(f"node {query.name}" + (" (audit)" if query.audit else ""))
    for key, text in _attributes(session, query.node).items():
        screen.line(f"  {key}: {text[:_SHOWN]}{' …' if len(text) > _SHOWN else ''}")
    if query.predicted:
        screen.line("  predicted: " + ", ".join(f"{name} {chance:.0%}" for name, chance in query.predicted.items()))
    elif query.unknown:
        screen.line("  predicted: unknown")
    for reason in query.why:
        screen.line(f"  why: {reason}")
