"""The whole command killed at random moments: every label that it acknowledged is there, and the next query is the same
as undisturbed.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.session import Session

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ACKNOWLEDGED = " labels)\n"
"""How the command's answer ends when a label is kept."""


@pytest.mark.long
def test_twenty_kills_of_the_command_lose_no_label(
    nodewise: Run, clean_environment: dict[str, str], tmp_path: Path
) -> None:
    assert (
        nodewise("session", "new", "job", "karate", "--budget", "30", "--strategy", "age", "--hide-labels").returncode
        == 0
    )
    begun = time.monotonic()
    first = nodewise("session", "tell", "job", "0", "A")
    assert first.returncode == 0 and first.stdout.endswith(ACKNOWLEDGED)
    long = 1.5 * (time.monotonic() - begun)  # on this machine; some commands come to their end before they are killed
    moments = random.Random(5)
    told: dict[str, str] = {"0": "A"}
    unsure: set[str] = set()
    kills = 0
    while kills < 20:
        node = str(moments.randrange(20))  # fewer than the budget, so that there is always one to ask
        label = ("A", "B")[int(node) % 2]
        command = ["ask", "job"] if kills % 5 == 4 else ["tell", "job", node, label]
        process = subprocess.Popen(
            [sys.executable, "-m", "nodewise", "session", *command],
            cwd=tmp_path,
            env=clean_environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(moments.random() * (3 * long if command[0] == "ask" else long))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if command[0] == "tell":
            if out.endswith(ACKNOWLEDGED):
                told[node] = label
            else:
                unsure.add(node)
        with Session.open(tmp_path / "job") as session:
            labels = {str(place): name for place, name in session.labels.items()}
            assert told.items() <= labels.items() and set(labels) <= set(told) | unsure
            told = labels
    with Session.open(tmp_path / "job") as session:
        history, asked = session.history, session.refresh().open_queries()
    again = json.loads(nodewise("session", "ask", "job", "--json").stdout)["queries"][0]["node"]
    assert (
        nodewise("session", "new", "fresh", "karate", "--budget", "30", "--strategy", "age", "--hide-labels").returncode
        == 0
    )
    with Session.open(tmp_path / "fresh") as fresh:
        if asked:
            assert again == asked[0].node  # a query that was open stays open
        else:
            if history:
                fresh.tell([node for node, _ in history], [label for _, label in history])
            assert again == fresh.ask().node
