"""``nodewise session class``, ``classes``, ``rename``, ``merge``, ``describe``, ``order``, ``guideline``, ``budget``,
``redundancy``: what may be changed.
"""

from __future__ import annotations

from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import JsonOption, SessionArgument, read_names
from nodewise.cli.screen import Screen

__all__ = [
    "add_class",
    "budget",
    "classes",
    "describe",
    "guideline",
    "merge",
    "order",
    "redundancy",
    "register",
    "rename",
]

ClassArgument = Annotated[str, typer.Argument(metavar="CLASS", help="The class's name.", show_default=False)]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What to say.", show_default=False)]


def add_class(
    screen: Screen,
    file: SessionArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new class.", show_default=False)],
    new_class: Annotated[
        bool, typer.Option("--new-class", help="Even if it looks like a known class misspelt.")
    ] = False,
) -> None:
    """Declare a class before it is used."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.add_class(name, new_class=new_class)
        screen.line(f"classes: {', '.join(session.classes)}")


def classes(screen: Screen, file: SessionArgument, json: JsonOption = None) -> None:
    """List the classes with their numbers, labels and guidelines."""
    from nodewise.session import Session

    with Session.open(file) as session:
        balance, guideline = session.status().balance, session.guideline
        listed = [
            {"number": each.number, "name": each.name, "labels": balance[each.name], "description": each.description}
            for each in session.class_list.in_order
        ]
    if json:
        screen.json({"schema": 1, "guideline": guideline, "classes": listed}, json)
        return
    screen.table(
        ("number", "class", "labels", "guideline"), [tuple(str(value) for value in each.values()) for each in listed]
    )
    if guideline:
        screen.line(guideline)


def rename(
    screen: Screen,
    file: SessionArgument,
    name: ClassArgument,
    new_name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called from now on.", show_default=False)],
) -> None:
    """Call a class something else: its labels, its number and every prediction stay."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.rename_class(name, new_name)
        number = session.class_list.find(new_name.strip())
        screen.line(f"{number}: {new_name.strip()}, once {name.strip()}")


def merge(
    screen: Screen,
    file: SessionArgument,
    name: ClassArgument,
    into: Annotated[
        str, typer.Argument(metavar="INTO", help="The class that its labels count as.", show_default=False)
    ],
) -> None:
    """Make one class of two: the labels of the first count as the second's."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.merge_classes(name, into)
        screen.line(f"{name} counts as {into} from now on")


def describe(screen: Screen, file: SessionArgument, name: ClassArgument, text: TextArgument) -> None:
    """Say what belongs to a class."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.describe_class(name, text)
        screen.line(f"{name}: {text.strip()}")


def guideline(screen: Screen, file: SessionArgument, text: TextArgument) -> None:
    """Say what everybody should know of the job."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.set_guideline(text)
        screen.line(session.guideline)


def order(
    screen: Screen,
    file: SessionArgument,
    names: Annotated[
        str, typer.Argument(metavar="A,B", help="The classes in the order wanted; others follow.", show_default=False)
    ],
) -> None:
    """Put the classes in an order for the screen; their numbers stay."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.order_classes(read_names(names, "A,B"))
        screen.line(f"classes: {', '.join(each.name for each in session.class_list.in_order)}")


def budget(
    screen: Screen,
    file: SessionArgument,
    labels: Annotated[int, typer.Argument(metavar="N", min=1, help="Labels to ask for in all.", show_default=False)],
) -> None:
    """Raise or lower the budget."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.set_budget(labels)
        screen.line(f"{session.status().told} of {labels} labels")


def redundancy(
    screen: Screen,
    file: SessionArgument,
    opinions: Annotated[
        int,
        typer.Argument(
            metavar="N", min=1, help="Annotators that every node should be labelled by.", show_default=False
        ),
    ],
) -> None:
    """Change how many people are to label each node."""
    from nodewise.session import Session

    with Session.open(file) as session:
        session.set_redundancy(opinions)
        screen.line(f"every node is to be labelled by {opinions}")


def register(group: typer.Typer) -> None:
    """Adds the commands."""
    add_command(group, "class", add_class, examples="nodewise session class job.nodewise spam")
    add_command(group, "classes", classes, examples="nodewise session classes job.nodewise")
    add_command(group, "rename", rename, examples="nodewise session rename job.nodewise spam unwanted")
    add_command(group, "merge", merge, examples="nodewise session merge job.nodewise adverts spam")
    add_command(
        group,
        "describe",
        describe,
        examples="nodewise session describe job.nodewise spam 'sent to many who did not ask'",
    )
    add_command(group, "guideline", guideline, examples="nodewise session guideline job.nodewise 'in doubt, skip'")
    add_command(group, "order", order, examples="nodewise session order job.nodewise fine,spam")
    add_command(group, "budget", budget, examples="nodewise session budget job.nodewise 80")
    add_command(group, "redundancy", redundancy, examples="nodewise session redundancy job.nodewise 2")
