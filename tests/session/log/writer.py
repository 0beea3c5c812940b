"""A process that appends to a session's log and says so on standard output, each time after the log has taken it."""

from __future__ import annotations

import sys

from nodewise.ground.errors import NodewiseError
from nodewise.session.answers import Draft
from nodewise.session.log.log import Log


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(path: str, name: str, most: int = 1_000_000, attach: int = 0) -> None:
    """The file, the annotator's name, how many events, and how many bytes are attached to each."""
    assert "torch" not in sys.modules and "numpy" not in sys.modules
    with Log.open(path, wait=60) as log:
        say("ready")
        for number in range(most):
            try:
                content = f"{name}-{number}".encode().ljust(attach, b".")
                parts = {"rows": content} if attach else {}
                events = log.append([Draft("tell", name, {"node": number, "label": f"{name}-{number}"}, parts)])
            except NodewiseError as error:
                say(f"refused {type(error).__name__}: {error}")
                return
            say(f"{events[0].id} {number}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
