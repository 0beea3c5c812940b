"""``nodewise people``: who has a link of their own to the studio of a folder."""

from __future__ import annotations

import enum
import time
from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command, make_group
from nodewise.cli.options import JsonOption
from nodewise.cli.screen import Screen

__all__ = ["add_person", "list_people", "register", "revoke_person"]

_Folder = Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where the sessions lie that the studio shows.")]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Who, as it is kept with every label.", show_default=False)]


class RoleName(enum.StrEnum):
    """What somebody may do."""

    annotator = "annotator"
    reviewer = "reviewer"
    onlooker = "onlooker"
    owner = "owner"


def add_person(
    screen: Screen,
    name: _Name,
    role: Annotated[
        RoleName,
        typer.Option(
            "--role",
            help="An annotator labels, a reviewer settles and reads, an onlooker looks, an owner does everything.",
        ),
    ] = RoleName.annotator,
    folder: _Folder = Path(),
    address: Annotated[
        str, typer.Option("--address", metavar="URL", help="Where the studio is opened, for the link that is shown.")
    ] = "http://127.0.0.1:8080/",
    json: JsonOption = None,
) -> None:
    """Give somebody a link of their own. It is shown once; a studio that runs knows it at once."""
    from nodewise.studio.guard.people import People

    token = People(folder).add(name, role.value)
    link = f"{address.rstrip('/')}/?token={token}"
    if json:
        screen.json({"schema": 1, "name": name, "role": role.value, "token": token, "link": link}, json)
        return
    screen.line(link)
    screen.note(f"for {name} alone: whoever has this link goes by that name; nodewise people revoke takes it away")


def list_people(screen: Screen, folder: _Folder = Path(), json: JsonOption = None) -> None:
    """List who has a link, and who had one."""
    from nodewise.studio.guard.people import People

    people = People(folder).all()
    if json:
        rows = [{"name": each.name, "role": each.role, "added": each.added, "revoked": each.revoked} for each in people]
        screen.json({"schema": 1, "people": rows}, json)
        return
    if not people:
        screen.note("nobody has a link: nodewise people add NAME")
        return
    cells = [(each.name, each.role, _day(each.added), _day(each.revoked) if each.revoked else "") for each in people]
    screen.table(("name", "role", "since", "taken away"), cells)


def revoke_person(screen: Screen, name: _Name, folder: _Folder = Path()) -> None:
    """Take somebody's link away. Their next request is refused; what they have labelled stays."""
    from nodewise.studio.guard.people import People

    person = People(folder).revoke(name)
    screen.line(f"{person.name} has no link any more")


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def register(app: typer.Typer) -> None:
    """Adds the group and its commands."""
    group = make_group("Links to the studio, one for each person: who has one, and what they may do.")
    add_command(group, "add", add_person, examples="nodewise people add ada\nnodewise people add rita --role reviewer")
    add_command(group, "list", list_people, examples="nodewise people list")
    add_command(group, "revoke", revoke_person, examples="nodewise people revoke ada")
    app.add_typer(group, name="people", rich_help_panel="Labelling")
