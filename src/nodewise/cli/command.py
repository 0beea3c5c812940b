"""How a function becomes a command: a screen goes in, ``--quiet`` and ``--debug`` are added, failures become exit
codes.
"""

from __future__ import annotations

import functools
import inspect
import shutil
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Concatenate, ParamSpec

import typer
from typer.core import TyperCommand, TyperGroup

from nodewise.cli.failures import exit_codes
from nodewise.cli.screen import Screen

__all__ = ["Command", "Group", "add_command", "make_group", "remember_everywhere", "show_help_when_alone"]

P = ParamSpec("P")


_NARROW = 60
"""Columns below which boxes would cut options off, and the help is plain lines."""


class _Help:
    """Help that shows nothing where a flag takes nothing (newer versions of typer say ``<bool>``), and everything in a
    narrow terminal.
    """

    rich_markup_mode: Any

    def get_help(self, ctx: Any) -> str:
        columns = shutil.get_terminal_size().columns
        if columns >= _NARROW:
            return str(super().get_help(ctx))  # type: ignore[misc]
        kept, self.rich_markup_mode = self.rich_markup_mode, None
        try:
            formatter = ctx.formatter_class(width=max(20, columns - 1))
            formatter.write_dl = functools.partial(
                formatter.write_dl, col_max=14
            )  # what an option says begins below it
            self.format_help(ctx, formatter)  # type: ignore[attr-defined]
        finally:
            self.rich_markup_mode = kept
        return str(formatter.getvalue()).rstrip("\n")

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return parameters


class Command(_Help, TyperCommand):
    """A command."""


class Group(_Help, TyperGroup):
    """A group of commands."""


_EVERYWHERE = (
    ("quiet", Annotated[bool, typer.Option("--quiet", "-q", help="Results and errors only: no progress, no notes.")]),
    ("debug", Annotated[bool, typer.Option("--debug", help="Show the traceback of a failure.")]),
)


def add_command(
    app: typer.Typer,
    name: str,
    function: Callable[Concatenate[Screen, P], None],
    *,
    examples: str = "",
    panel: str | None = None,
    options: Sequence[inspect.Parameter] = (),
) -> None:
    """Adds ``function`` to ``app`` as the command ``name``.

    Args:
        app: the application, or a group of commands.
        name: what the user types.
        function: takes the :class:`Screen`, then the command's arguments and options as typer declares them. Its
            docstring is the help text. It returns when done, and raises :class:`~nodewise.ground.errors.NodewiseError`
            when it cannot.
        examples: command lines, one a line, shown below the help.
        panel: the heading under which the list of commands shows it.
        options: further ones, which the function takes as keyword arguments; listed after its arguments.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        context: typer.Context = kwargs.pop("ctx")
        quiet, debug = (kwargs.pop(key) or context.meta.get(f"nodewise.{key}", False) for key, _ in _EVERYWHERE)
        with exit_codes(context.command_path, debug):
            function(Screen.open(quiet), *args, **kwargs)

    declared = [
        parameter
        for parameter in list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    required = [parameter for parameter in declared if parameter.default is inspect.Parameter.empty]
    declared = [*required, *options, *declared[len(required) :]]
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    added = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for key, kind in _EVERYWHERE
    ]
    taken = [context, *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in declared), *added]
    run.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
    app.command(name, cls=Command, help=_unfolded(function), epilog=_listing(examples), rich_help_panel=panel)(run)


def make_group(help_text: str) -> typer.Typer:
    """An empty group of commands, such as ``nodewise session``; alone it shows its help."""
    group = typer.Typer(cls=Group, help=help_text, rich_markup_mode="rich", add_completion=False)
    group.callback(invoke_without_command=True)(show_help_when_alone)
    return group


def remember_everywhere(ctx: typer.Context, *, quiet: bool, debug: bool) -> None:
    """Keeps what was said before the command's name: ``nodewise --quiet convert`` is ``nodewise convert --quiet``."""
    ctx.meta.update({"nodewise.quiet": quiet, "nodewise.debug": debug})


def show_help_when_alone(ctx: typer.Context) -> None:
    """Prints the help of a group that was called without one of its commands."""
    if ctx.invoked_subcommand is None:
        if text := ctx.get_help():  # empty where typer has drawn it already
            typer.echo(text)
        raise typer.Exit()


def _unfolded(function: Callable[..., None]) -> str:
    """The docstring without the line breaks that only the source needs."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)


def _listing(examples: str) -> str | None:
    lines = inspect.cleandoc(examples).splitlines()
    return "Examples:\n\n" + "\n\n".join(f"  {line}" for line in lines) if lines else None
