"""stub"""

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
