"""``nodewise demo``, the real command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable


def test_the_demo_introduces_an_embedded_graph(nodewise: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    shown = nodewise("demo")
    assert shown.returncode == 0, shown.stderr
    for part in ("digits", "nodes", "1,797", "edges", "features", "64", "classes", "homophily"):
        assert part in shown.stdout
