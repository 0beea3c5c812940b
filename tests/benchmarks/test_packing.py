"""One file with a folder's finished work."""

from __future__ import annotations

from pathlib import Path

from benchmarks.packing import pack, unpack


def test_what_is_packed_comes_back_and_nothing_else(tmp_path: Path) -> None:
    folder, file = tmp_path / "out", tmp_path / "gpu" / "work.tar.gz"
    (folder / "chunks" / "wine").mkdir(parents=True)
    for name in ("benchmark.json", "chunks/wine/a.json", "chunks/wine/a.json.part", "note.txt"):
        (folder / name).write_text(name)
    pack(folder, file, "benchmark.json", "chunks/*/*.json")
    assert [path.name for path in file.parent.iterdir()] == ["work.tar.gz"]
    assert unpack(file, tmp_path / "again") == 2 and unpack(tmp_path / "nothing.tar.gz", tmp_path / "again") == 0
    found = {str(path.relative_to(tmp_path / "again")) for path in (tmp_path / "again").rglob("*") if path.is_file()}
    assert found == {"benchmark.json", "chunks/wine/a.json"}
    assert (tmp_path / "again" / "chunks" / "wine" / "a.json").read_text() == "chunks/wine/a.json"
