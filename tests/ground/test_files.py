"""Result files appear whole or not at all, and short where that is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.ground.files import compact_json, rounded, write_json

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
