"""``nodewise reddit build``: graphs from a month of posts and comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command, make_group
from nodewise.cli.options import JsonOption
from nodewise.cli.screen import Screen
from nodewise.ground.errors import InputError

__all__ = ["build", "register"]

EXAMPLES = """
nodewise reddit build --submissions RS_2014-01.zst --comments RC_2014-01.zst --glove glove.840B.300d.txt --out graphs
nodewise reddit build --submissions 'dumps/RS_*' --comments 'dumps/RC_*' --glove glove.zip --out graphs --groups all
"""


def build(
    screen: Screen,
    submissions: Annotated[
        list[str],
        typer.Option(
            "--submissions",
            metavar="F",
            help="Dump of posts: file, folder or quoted glob; repeatable.",
            show_default=False,
        ),
    ],
    comments: Annotated[
        list[str],
        typer.Option(
            "--comments",
            metavar="F",
            help="Dump of comments: file, folder or quoted glob; repeatable.",
            show_default=False,
        ),
    ],
    glove: Annotated[
        list[str],
        typer.Option("--glove", metavar="F", help="GloVe vectors: text, .gz or .zip; repeatable.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the graphs and the report go.", show_default=False)
    ],
    groups: Annotated[
        str, typer.Option("--groups", metavar="N|all", help="Groups that become graphs, from the earliest on.")
    ] = "5",
    group_size: Annotated[int, typer.Option("--group-size", metavar="N", min=1, help="Posts in one group.")] = 300_000,
    ranks: Annotated[
        str, typer.Option("--ranks", metavar="A-B", help="Ranks of the subreddits kept, by posts in the group.")
    ] = "11-20",
    shared_users: Annotated[
        int, typer.Option("--shared-users", metavar="N", min=1, help="Users that two posts must share.")
    ] = 2,
    width: Annotated[int, typer.Option("--width", metavar="N", min=1, help="Numbers in a GloVe vector.")] = 300,
    exclude_bots: Annotated[
        bool, typer.Option("--exclude-bots", help="Accounts known to be programs join no posts.")
    ] = False,
    exclude_user: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude-user", metavar="NAME", help="This account joins no posts; repeatable.", show_default=False
        ),
    ] = None,
    max_edges: Annotated[
        int, typer.Option("--max-edges", metavar="N", min=1, help="Refuse a graph with more edges.")
    ] = 10_000_000,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="NAME", help="The graphs are called NAME1, NAME2, …")
    ] = "reddit",
    memory_gb: Annotated[
        float, typer.Option("--memory-gb", metavar="N", min=1, help="Memory for everything, in GB.")
    ] = 8.0,
    threads: Annotated[
        int | None,
        typer.Option("--threads", metavar="N", min=1, help="Threads of the join engine.", show_default="one a core"),
    ] = None,
    work: Annotated[
        Path | None, typer.Option("--work", metavar="DIR", help="Scratch folder.", show_default="a hidden one in --out")
    ] = None,
    keep_work: Annotated[
        bool, typer.Option("--keep-work", help="Keep the scratch folder, to build again with other numbers.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace graphs that --out holds already.")] = False,
    json: JsonOption = None,
) -> None:
    """Build the paper's kind of graphs from a month of posts and comments.

    A build that was stopped goes on where it was when the same command is given again. The graphs appear when all is
    done.
    """
    from json import loads

    from nodewise.datasets.reddit import Limits, RedditSettings, build_reddit
    from nodewise.ground.events import count

    first, last = _ranks(ranks)
    settings = RedditSettings(
        group_size=group_size,
        first_rank=first,
        last_rank=last,
        shared_users=shared_users,
        groups=_groups(groups),
        width=width,
        exclude_bots=exclude_bots,
        exclude_users=tuple(exclude_user or ()),
        prefix=prefix,
        max_edges=max_edges,
    )
    limits = Limits(memory_gb=memory_gb, threads=threads)
    with screen.reporting() as reporter:
        report = build_reddit(
            submissions,
            comments,
            glove,
            out,
            settings,
            limits=limits,
            work=work,
            keep_work=keep_work,
            overwrite=overwrite,
            reporter=reporter,
        )
    if json:
        screen.json(loads(report.as_json()), json)
        return
    for table in report.tables():
        screen.table(table.columns, table.rows, title=table.title)
    screen.line(f"{count(len(report.graphs), 'graph')} in {out}: {', '.join(report.graphs)}")


def _groups(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--groups got {text!r}: give a whole number above 0, or all")
    return int(text)


def _ranks(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        raise InputError(f"--ranks got {text!r}: give the first and the last rank joined by a dash, such as 11-20")
    return int(first), int(last)


def register(app: typer.Typer) -> None:
    """Adds the group and its command."""
    group = make_group("Graphs from dumps of Reddit.")
    add_command(group, "build", build, examples=EXAMPLES)
    app.add_typer(group, name="reddit", rich_help_panel="Graphs")
