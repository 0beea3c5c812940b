"""``nodewise session suggest``, ``models``: what models say beside people."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, SessionArgument
from nodewise.cli.screen import Screen
from nodewise.ground.events import count, percent

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.session.learning.estimates import Accuracy
    from nodewise.session.live import Fetched

__all__ = ["list_models", "register", "suggest"]


def suggest(
    screen: Screen,
    file: SessionArgument,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="What the model is called.", show_default=False)],
    rows: Annotated[
        str | None,
        typer.Argument(
            metavar="[ROWS]",
            help="A CSV file with a column that names the node, one with what the model says of it, and perhaps one"
            " with its confidence from 0 to 1; or the name of a column of the graph.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="URL",
            help="Ask an endpoint that speaks the chat-completions protocol, with the key in NODEWISE_SUGGEST_KEY. The"
            " rows' columns leave this machine; see them with --show first.",
            show_default=False,
        ),
    ] = None,
    asks_for: Annotated[
        str, typer.Option("--model", metavar="ID", help="The model's name at the endpoint; NAME by default.")
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="Print what would be sent, to the byte; send nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send what --show has shown.")] = False,
    calls: Annotated[
        int, typer.Option("--calls", metavar="N", help="Requests at most, repeated ones too.", min=1)
    ] = 100,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", help="Requests a minute at most.", min=0.01)
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", metavar="X", help="Of a thousand tokens, to tell what it cost.", min=0)
    ] = None,
) -> None:
    """Take what a model says of the nodes: the learner begins with it, and people's labels decide how far it counts."""
    from nodewise.ground.errors import InputError
    from nodewise.session import Session

    if (rows is None) == (url is None):
        raise InputError("suggestions come from a file of ROWS or --from a URL: give one of them")
    with Session.open(file) as session:
        if url is not None:
            _fetch(screen, session, url, name.strip(), asks_for, show, yes, calls, rate, price)
            return
        session.suggest(name, rows if rows in session.graph.attributes else Path(str(rows)))
        _tell(screen, session, name.strip())


def _tell(screen: Screen, session: Session, name: str) -> None:
    said = next(each for each in session.suggestions if each.name == name)
    answers = int((said.numbers > 0).sum())
    screen.line(f"{said.name} says something of {answers} of {session.graph.num_nodes} nodes")
    if said.unnamed:
        named_none = count(
            said.unnamed, "answer names no class of the job and was", "answers name no class of the job and were"
        )
        screen.line(f"{named_none} left out")


def _fetch(
    screen: Screen,
    session: Session,
    url: str,
    name: str,
    asks_for: str,
    show: bool,
    yes: bool,
    calls: int,
    rate: float | None,
    price: float | None,
) -> None:
    """Show what an endpoint would be sent, or send it and keep what it says."""
    from nodewise.ground.errors import InputError
    from nodewise.session.live import LiveSuggestions

    if show == yes:
        raise InputError("nothing was sent: look at what would be sent with --show, then send it with --yes")
    if yes and not LiveSuggestions.was_prepared(session.path, name):
        raise InputError(f"nothing was sent: what {name!r} would be sent has not been looked at: use --show first")
    live = LiveSuggestions.prepare(session.moment(), session.path, url, name, asks_for)
    waiting = live.waiting()
    if show:
        for body in live.show(calls):
            screen.text(body.decode() + "\n")
        screen.note(
            f"{count(len(waiting), 'node waits', 'nodes wait')}; --yes sends the {min(calls, len(waiting))} lines above"
            f" to {url}"
        )
        return
    done: Fetched | None = None
    had = {reply.node for reply in live.replies()}
    try:
        done = next(iter(deque(live.fetch(calls, rate=rate), 1)), None)
    finally:
        known = next((each.numbers for each in session.suggestions if each.name == name), None)
        answers = {
            reply.node: reply.label
            for reply in live.replies()
            if reply.label and (known is None or not known[reply.node] or reply.node not in had)
        }
        if answers:
            session.suggest(name, answers)
    if done is None:
        screen.line("nothing was sent: no node waits for an answer whose request was looked at with --show")
        return
    screen.line(
        f"{count(done.calls, 'request')}: {done.answered} name a class, {done.unnamed} name none,"
        f" {done.refused} refused"
    )
    if done.failed:
        screen.line(f"{count(done.failed, 'node')} got no reply; the same command asks again")
    if done.left:
        screen.line(
            f"{count(done.left, 'node is', 'nodes are')} left, since the budget of {count(calls, 'request')} is spent"
        )
    if price is not None:
        screen.line(f"{done.tokens} tokens cost {done.tokens / 1000 * price:.4g}")
    if known is not None or answers:
        _tell(screen, session, name)


def list_models(
    screen: Screen,
    file: SessionArgument,
    differing: Annotated[
        int, typer.Option("--differing", metavar="N", help="List N nodes where a model and the learner differ.", min=0)
    ] = 0,
    json: JsonOption = None,
) -> None:
    """How right each model is, by people's labels and by the audit, and where it and the learner differ."""
    from nodewise.session import Session

    with Session.open(file) as session:
        reports = session.model_reports()
        listed = session.model_disagreements(differing) if differing else []
    if json:
        from dataclasses import asdict

        models_found = [each.as_dict() for each in reports]
        screen.json({"schema": 1, "models": models_found, "differing": [asdict(each) for each in listed]}, json)
        return
    if not reports:
        screen.line("no model has said anything yet: session suggest FILE ROWS --as NAME")
        return
    screen.table(
        ("model", "answers", "left out", "right by labels", "right by the audit"),
        [
            (each.name, str(each.answers), str(each.unnamed), _share(each.by_labels), _share(each.by_audit))
            for each in reports
        ],
    )
    for each in reports:
        for label, share in each.classes.items():
            screen.line(f"{each.name}, {label}: {_share(share)}")
    if listed:
        screen.table(
            ("node", "model", "says", "predicted", "probability"),
            [(one.name, one.said_by, one.says, one.predicted, f"{one.probability:.2f}") for one in listed],
        )


def _share(found: Accuracy | None) -> str:
    if found is None:
        return "no label yet"
    return f"{percent(found.mean)} ({100 * found.low:.0f} to {100 * found.high:.0f}, of {found.nodes})"


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(
        group,
        "suggest",
        suggest,
        examples="nodewise session suggest job.nodewise answers.csv --as assistant\n"
        "nodewise session suggest job.nodewise --from https://host/v1/chat/completions --as assistant --show",
    )
    add_command(group, "models", list_models, examples="nodewise session models job.nodewise --differing 20")
