"""What a command says and returns when it fails: one line on standard error and an exit code.

2 when the input is wrong, 1 for any other failure, 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from nodewise.cli.reporting import printable
from nodewise.ground.errors import InputError, NodewiseError

__all__ = ["complain", "debugging", "exit_codes", "make_folder"]


@contextmanager
def exit_codes(command: str, debug: bool = False) -> Iterator[None]:
    """Turns what goes wrong inside into a line on standard error and typer's exit.

    Args:
        command: as the user typed it, such as ``"nodewise convert"``; opens the line.
        debug: show the traceback as well; so does the environment variable ``NODEWISE_DEBUG``.
    """
    try:
        yield
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        complain(f"{command}: interrupted")
        raise typer.Exit(130) from None
    except Exception as error:
        if _follows_interrupt(error):
            complain(f"{command}: interrupted")
            raise typer.Exit(130) from None
        if debug or debugging():
            traceback.print_exc()
        complain(f"{command}: {_sentence(error)}")
        raise typer.Exit(2 if isinstance(error, InputError) else 1) from None


def complain(message: str) -> None:
    """Writes one line to standard error, whatever the message holds."""
    sys.stderr.write(printable(" ".join(message.split())) + "\n")
    sys.stderr.flush()


def make_folder(folder: Path, option: str) -> None:
    """Makes a folder for what a command writes, before the work begins.

    Raises:
        InputError: it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{option} got {str(folder)!r}, a folder that cannot be made ({error.strerror}): give another one"
        ) from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"{option} got {str(folder)!r}, a folder that cannot be written to: give another one")


def debugging() -> bool:
    """Whether the environment asks for tracebacks."""
    return os.environ.get("NODEWISE_DEBUG", "") not in ("", "0")


def _follows_interrupt(error: BaseException) -> bool:
    """Whether something failed only while Ctrl-C was ending it."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _sentence(error: Exception) -> str:
    if isinstance(error, NodewiseError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return "not enough memory: use a smaller graph or fewer runs at once"
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"unexpected failure, {what} (run it again with --debug, or NODEWISE_DEBUG=1, to see where)"
