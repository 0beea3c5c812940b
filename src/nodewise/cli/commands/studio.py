"""``nodewise studio``: the web page for labelling."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from nodewise.cli.command import add_command
from nodewise.cli.options import OwnClassifierOption, OwnStrategyOption
from nodewise.cli.screen import Screen
from nodewise.ground.errors import InputError

__all__ = ["register", "studio"]

EXAMPLES = """
nodewise studio
nodewise studio job.nodewise
nodewise studio job.nodewise --port 9000 --no-browser
nodewise studio job.nodewise --host 0.0.0.0
nodewise studio job.nodewise --token-file ~/.nodewise-token
"""

_PORT = 8080


def studio(
    screen: Screen,
    session: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SESSION]", help="The session's file; without it, a page that makes one.", show_default=False
        ),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; others can reach any but 127.0.0.1.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            help="The port; 0 for any.",
            show_default="8080, or the next free one",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="T",
            help="What whoever connects must know.",
            envvar="NODEWISE_TOKEN",
            show_default="none on 127.0.0.1 where nobody has a link, else one is made and shown",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with the token that its owner alone can read; made with a new one if missing.",
            show_default=False,
        ),
    ] = None,
    annotator_token: Annotated[
        str | None,
        typer.Option(
            "--annotator-token",
            metavar="T",
            help="A second token, by which people may label and look, and nothing else.",
            envvar="NODEWISE_ANNOTATOR_TOKEN",
            show_default=False,
        ),
    ] = None,
    annotator_token_file: Annotated[
        Path | None,
        typer.Option(
            "--annotator-token-file",
            metavar="FILE",
            help="The same in a file; made with a new one if missing.",
            show_default=False,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A further name that the page is reached by; repeatable.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="Where sessions are found and made.",
            show_default="the session's folder, else this one",
        ),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            "--pictures", metavar="DIR", help="The only folder whose pictures are shown.", show_default="none is shown"
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")
    ] = True,
    classifier: OwnClassifierOption = None,
    strategy: OwnStrategyOption = None,
) -> None:
    """Label in the browser; without a session, from an uploaded CSV. Ctrl-C ends it; every label is in the
    session's file.
    """
    import sys
    import threading

    from nodewise.session.log.database import check_header
    from nodewise.studio import require_extra
    from nodewise.studio.guard.origins import is_loopback
    from nodewise.studio.guard.people import People
    from nodewise.studio.guard.tokens import new_token, token_from_file

    if session is not None:
        check_header(session)
    require_extra()
    from nodewise.session import Session
    from nodewise.studio import StudioSettings, address, bind, create_app, make_server, open_browser

    if token is not None and token_file is not None:
        raise InputError("both --token and --token-file (or NODEWISE_TOKEN) are given: give one of them")
    if token_file is not None:
        token = token_from_file(token_file)
    if annotator_token is not None and annotator_token_file is not None:
        raise InputError(
            "both --annotator-token and --annotator-token-file (or NODEWISE_ANNOTATOR_TOKEN) are given: give one of"
            " them"
        )
    if annotator_token_file is not None:
        annotator_token = token_from_file(annotator_token_file)
    where = folder if folder is not None else session.absolute().parent if session is not None else Path()
    if token is None and (not is_loopback(host) or People(where).all()):  # else whoever has a link would be the owner
        token = new_token()
    opened = (
        None
        if session is None
        else Session.open(session, classifier=classifier, strategy=strategy, reporter=screen.report)
    )
    try:
        listening = bind(host, _PORT if port is None else port, exactly=port is not None)
        number: int = listening.getsockname()[1]
        settings = StudioSettings(
            host, number, token, tuple(allow_host or ()), where, pictures, annotator_token=annotator_token
        )
        server = make_server(create_app(settings, opened))
    except BaseException:
        if opened is not None:
            opened.close()
        raise
    page = address(host, number, token)
    with suppress(KeyboardInterrupt):  # how it is meant to end
        screen.line(page)
        if token is None:
            screen.note(
                "every user of this machine can open the page: with --token-file FILE only those who can read that file"
            )
        if annotator_token is not None:
            screen.note(f"for annotators: {address(host, number, annotator_token)}")
        screen.note("Ctrl-C ends the studio; every answer is in the session's file")
        threading.Thread(target=_load_torch, daemon=True).start()
        if browser:
            # where there is no browser, the address has been printed
            threading.Thread(target=open_browser, args=(server, page), daemon=True).start()
        sys.setswitchinterval(0.001)  # the event loop gets its turn soon, however much Python the worker runs
        server.run(sockets=[listening])


def _load_torch() -> None:
    """So that the first query comes sooner. What it brings stays: the collector of garbage, which stops every thread,
    need not look there again.
    """
    import gc
    from importlib import import_module

    import_module("nodewise.session.learning.learner")
    gc.collect()
    gc.freeze()


def register(app: typer.Typer) -> None:
    """Adds the command."""
    add_command(app, "studio", studio, examples=EXAMPLES, panel="Labelling")
