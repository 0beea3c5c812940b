"""What killed processes leave behind is removed at the next start; what living ones are writing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nodewise.ground.parts import part_path, remove_dead_parts, scratch_folder

HOLD = """
import sys, time
from pathlib import Path
from nodewise.ground.parts import part_path, scratch_folder
with scratch_folder() as folder:
    (folder / "secret").write_text("texts")
    part_path(Path(sys.argv[1])).write_text("half")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_what_a_killed_process_leaves_is_gone_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: dict[str, str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = tmp_path / "out.csv"
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target)], env={**clean_environment, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    left = Path(child.stdout.readline().strip())
    remove_dead_parts(tmp_path)
    with scratch_folder() as mine:
        assert left.is_dir() and mine != left and oct(mine.stat().st_mode)[-3:] == "700"  # it lives
    assert len([file for file in tmp_path.iterdir() if file.name.endswith(".part")]) == 1
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert left.is_dir()
    remove_dead_parts(tmp_path)
    with scratch_folder():
        assert not left.exists()
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    dead = part_path(tmp_path / "x").name.replace(f"-{os.getpid()}-", "-4194000-")
    elsewhere = dead.replace(dead.split(".")[2][:8], "00000000")
    for name in (dead, elsewhere, ".x.part", "x.part", f"x{dead}.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / f"{dead}-journal").symlink_to(tmp_path / "x.part")
    remove_dead_parts(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {elsewhere, ".x.part", "x.part", f"x{dead}.csv"}
    os.utime(tmp_path / elsewhere, (0, 0))  # of another machine, and old
    remove_dead_parts(tmp_path)
    assert not (tmp_path / elsewhere).exists()
    remove_dead_parts(tmp_path / "none")
