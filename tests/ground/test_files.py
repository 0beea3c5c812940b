"""Result files appear whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.evaluation import write_json


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"schema": 1, "values": [1.5, None]})
    assert json.loads((tmp_path / "r.json").read_text()) == {"schema": 1, "values": [1.5, None]}
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), object()])
def test_what_json_cannot_hold_leaves_the_old_file_as_it_was(bad: object, tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"old": True})
    with pytest.raises((ValueError, TypeError)):
        write_json(tmp_path / "r.json", {"value": bad})
    assert json.loads((tmp_path / "r.json").read_text()) == {"old": True}
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
