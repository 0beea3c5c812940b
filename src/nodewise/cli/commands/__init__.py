"""The commands, one small module each; each module adds its own by ``register``."""

from __future__ import annotations

import typer

from nodewise.cli.commands import (
    benchmark,
    compare,
    convert,
    datasets,
    demo,
    evaluate,
    people,
    policy,
    predict,
    reddit,
    reproduce,
    session,
    studio,
    train,
)

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds every command, in the order in which ``nodewise --help`` lists them."""
    for command in (
        demo,
        datasets,
        convert,
        session,
        predict,
        studio,
        people,
        train,
        evaluate,
        compare,
        benchmark,
        reproduce,
        policy,
        reddit,
    ):
        command.register(app)
