"""Pictures of results as files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from nodewise.evaluation.results.plots import new_figure, save_figure
from nodewise.ground.files import part_path


def test_what_a_killed_process_left_of_a_picture_is_removed_by_the_next(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    part = part_path(tmp_path / "curves.png")
    left = tmp_path / part.name.replace(f"-{os.getpid()}-", f"-{process.pid}-")
    left.write_bytes(b"half of a picture")
    save_figure(new_figure(1, 1), tmp_path / "curves.png")
    assert [path.name for path in tmp_path.iterdir()] == ["curves.png"]
