"""The command line: thin, no learning code. Each command is a small module in ``commands/``."""

from nodewise.cli.app import main

__all__ = ["main"]
