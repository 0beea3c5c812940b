"""The folder for what is on its way: nobody else's, and gone with its studio, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nodewise.studio.work.scratch import Scratch
from tests.studio.jobs import job
from tests.studio.serving import running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are found by locks that Windows has not")

STUDIO = """
import sys, time
from pathlib import Path
from nodewise.studio.work.scratch import Scratch
scratch = Scratch(Path(sys.argv[1]))
(scratch.path / "upload").mkdir()
(scratch.path / "upload" / "nodes.csv").write_text("secret")
print(scratch.path, flush=True)
time.sleep(600)
"""


def started(root: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", STUDIO, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_studio_left_is_removed_when_the_next_one_starts_and_a_living_ones_stays(tmp_path: Path) -> None:
    (killed, left), (living, used) = started(tmp_path), started(tmp_path)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert (left / "upload" / "nodes.csv").exists() and (used / "upload" / "nodes.csv").exists()
        scratch = Scratch(tmp_path)
        assert not left.exists() and (used / "upload" / "nodes.csv").read_text() == "secret"
        assert set(tmp_path.iterdir()) == {used, scratch.path}
        assert scratch.path.stat().st_mode & 0o777 == 0o700
        scratch.remove()
        scratch.remove()
        assert list(tmp_path.iterdir()) == [used]
    finally:
        for process in (killed, living):
            process.kill()
            process.communicate()


def test_nothing_else_is_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "in-use").touch()
    (tmp_path / "nodewise-studio-link").symlink_to(elsewhere)
    (tmp_path / "nodewise-studio-file").touch()
    (tmp_path / "nodewise-studio-without").mkdir()
    (tmp_path / "nodewise-studio-linked").mkdir()
    (tmp_path / "nodewise-studio-linked" / "in-use").symlink_to(elsewhere / "in-use")
    before = set(tmp_path.rglob("*"))
    Scratch(tmp_path).remove()
    assert set(tmp_path.rglob("*")) == before


def test_a_studio_has_one_while_it_runs(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path)) as client:
        client.look("/status")
        folder = client.studio.scratch
        assert folder.is_dir() and folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
