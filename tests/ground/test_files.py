"""What is written appears whole or not at all; what killed processes leave behind is removed, what living ones are
writing stays.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from nodewise.ground.files import compact_json, part_path, remove_dead_parts, rounded, scratch_folder, write_json

RECORD = {
    "schema": 1,
    "values": [1 / 3] * 60,
    "rows": [{"name": f"row {i}", "mean": 53.51500278711319 + i} for i in range(4)],
    "none": None,
}


@pytest.mark.parametrize("compact", [False, True])
def test_what_is_written_can_be_read(compact: bool, tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"schema": 1, "values": [1.5, None]}, compact=compact)
    assert json.loads((tmp_path / "r.json").read_text()) == {"schema": 1, "values": [1.5, None]}
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), object()])
def test_what_json_cannot_hold_leaves_the_old_file_as_it_was(bad: object, compact: bool, tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"old": True})
    with pytest.raises((ValueError, TypeError)):
        write_json(tmp_path / "r.json", {"value": bad}, compact=compact)
    assert json.loads((tmp_path / "r.json").read_text()) == {"old": True}
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_compact_json_has_nine_digits_and_a_line_a_list() -> None:
    text = compact_json(RECORD)
    assert '"mean": 53.5150028}' in text
    assert len([line for line in text.splitlines() if "0.333333333" in line]) == 1
    assert json.loads(text) == rounded(RECORD)
    assert compact_json({"a": [1, 2.0], "b": {"c": True}}) == '{"a": [1, 2.0], "b": {"c": true}}'


HOLD = """
import sys, time
from pathlib import Path
from nodewise.ground.files import part_path, scratch_folder
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
        [sys.executable, "-c", HOLD, str(target)],
        env={**clean_environment, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
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
