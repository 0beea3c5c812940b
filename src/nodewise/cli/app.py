"""The application: its commands, its own options, and the entry point of the process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from nodewise import __version__
from nodewise.cli import commands
from nodewise.cli.command import Group, remember_everywhere, show_help_when_alone
from nodewise.cli.failures import complain
from nodewise.cli.options import with_json_value

__all__ = ["app", "main"]

app = typer.Typer(
    name="nodewise",
    cls=Group,
    help=(
        "Tells you which nodes of a graph to label next, so that all others are predicted well from as few labels as"
        " possible."
    ),
    epilog="Every command takes --help. Bad input ends with 2, any other failure with 1, Ctrl-C with 130.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
commands.register(app)

# Usage errors come from click, or from the copy of it inside newer versions of typer; this is their class in both.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nodewise {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Results and errors only: no progress, no notes.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")] = False,
) -> None:
    """What ``nodewise`` does before, or without, a command."""
    remember_everywhere(ctx, quiet=quiet, debug=debug)
    show_help_when_alone(ctx)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: the arguments after the program's name; the process's own if None.

    Returns:
        The exit code: 0, 1 (failure), 2 (bad input) or 130 (Ctrl-C).
    """
    # read when torch is imported: threads without work sleep, since on a busy machine those that wait in a loop take
    # the time from those that work
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows '?', it does not end the command
    arguments = with_json_value(sys.argv[1:] if argv is None else argv)
    try:
        code = app(args=arguments, prog_name="nodewise", standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        return _usage(error, arguments)
    except BrokenPipeError:
        _stop_writing()
        return 1
    except (KeyboardInterrupt, typer.Abort):
        complain("nodewise: interrupted")
        return 130
    return code if isinstance(code, int) else 0


def _usage(error: Exception, arguments: Sequence[str]) -> int:
    """Says in one line what is wrong with the command line, what was received, and where to look."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command = context.command_path if context is not None else "nodewise"
    value = _received(getattr(parameter, "opts", ()), arguments)
    message = error.format_message().rstrip(". ")  # type: ignore[attr-defined]
    received = f" (received {value!r})" if value is not None and repr(value) not in message else ""
    complain(f"{command}: {message}{received}. Try '{command} --help'.")
    return 2


def _received(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """The value that the command line gives to an option, or None: not every version of typer tells it."""
    for position, argument in enumerate(arguments):
        for option in options:
            if argument == option and position + 1 < len(arguments):
                return arguments[position + 1]
            if option.startswith("-") and argument.startswith(f"{option}="):
                return argument[len(option) + 1 :]
    return None


def _stop_writing() -> None:
    """Sends what is left to nowhere, since the reader of the pipe is gone: the interpreter would complain at its
    end.
    """
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
