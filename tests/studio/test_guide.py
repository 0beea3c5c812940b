"""The calls that the guide to the studio shows are answered, in their order, by a real studio."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")

from nodewise.session import Session
from tests.studio.browsing import notes, studio, write_csv

GUIDE = Path(__file__).parents[2] / "docs" / "studio.md"


@pytest.mark.slow
def test_every_call_of_the_guide_works(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    calls = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("curl ")]
    assert len(calls) >= 10
    write_csv(
        tmp_path / "letters.csv",
        [{"id": f"letter {row['title']}", "title": row["title"], "text": row["text"]} for row in notes()],
    )
    later = [{"id": f"later {row['title']}", "title": row["title"], "text": row["text"]} for row in notes(5)]
    for name in ("next-week.csv", "others.csv"):
        write_csv(tmp_path / name, later)
    changed = {"id": later[0]["id"], "title": "Another", "text": "what it should have said"}
    write_csv(tmp_path / "corrected.csv", [changed])
    with studio(tmp_path) as server:
        for call in calls:
            if "colleague" in call and not (tmp_path / "colleague.nodewise").exists():
                shutil.copy(tmp_path / "backup.nodewise", tmp_path / "colleague.nodewise")
                with Session.open(tmp_path / "colleague.nodewise") as other:
                    other.tell(31, other.classes[0])
            command = shlex.split(re.sub(r"http://127\.0\.0\.1:8080", server.address, call))
            done = subprocess.run(
                [*command, "--fail-with-body"], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{call}\n{done.stdout}{done.stderr}"
            if "-o" not in command:
                assert "error" not in json.loads(done.stdout), call
        assert (tmp_path / "labels.csv").read_text(encoding="utf-8").startswith("node,name,label")
        assert (tmp_path / "backup.nodewise").stat().st_size > 1000
