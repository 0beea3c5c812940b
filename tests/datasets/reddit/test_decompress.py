from __future__ import annotations

import sys
from pathlib import Path

import pytest
import zstandard

from nodewise.datasets.reddit.decompress import decompressed, packing_of
from nodewise.ground.errors import InputError, MissingExtraError
from tests.datasets.reddit.small_month import PACK

DATA = b"".join(b'{"id": "%d"}\n' % (number * number) for number in range(20_000))
PACKED = [ending for ending in PACK if ending]


@pytest.mark.parametrize("ending", PACK)
def test_every_packing_gives_the_bytes_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"RC_2014-01{ending}"
    path.write_bytes(PACK[ending](DATA))
    read: list[int] = []
    assert b"".join(decompressed(path, read.append)) == DATA
    assert read == sorted(read)
    assert read[-1] == path.stat().st_size


@pytest.mark.parametrize("ending", PACKED)
def test_several_streams_after_each_other_are_one_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"RC{ending}"
    path.write_bytes(PACK[ending](DATA) + PACK[ending](b"second\n") + PACK[ending](b""))
    assert b"".join(decompressed(path)) == DATA + b"second\n"


@pytest.mark.parametrize("ending", PACKED)
def test_a_name_without_ending_is_no_hindrance(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "RC_2014-01"
    path.write_bytes(PACK[ending](DATA))
    assert packing_of(path) == ending.lstrip(".")
    assert b"".join(decompressed(path)) == DATA


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("kept", [0.999, 0.5, 0.1])
def test_a_truncated_file_is_told_and_never_taken_for_a_short_one(tmp_path: Path, ending: str, kept: float) -> None:
    path = tmp_path / f"RC{ending}"
    packed = PACK[ending](DATA)
    path.write_bytes(packed[: int(kept * len(packed))])
    with pytest.raises(InputError, match=r"RC\.\w+ is truncated: .* Download it again"):
        list(decompressed(path))


@pytest.mark.parametrize("ending", PACKED)
def test_a_second_stream_that_is_truncated_is_told(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"RC{ending}"
    path.write_bytes(PACK[ending](DATA) + PACK[ending](DATA)[:-9])
    with pytest.raises(InputError, match="truncated"):
        list(decompressed(path))


@pytest.mark.parametrize("ending", PACKED)
def test_a_damaged_file_is_told(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"RC{ending}"
    packed = bytearray(PACK[ending](DATA))
    packed[len(packed) // 2 : len(packed) // 2 + 200] = bytes(200)
    path.write_bytes(packed)
    with pytest.raises(InputError, match=r"RC\.\w+ is (damaged|truncated)"):
        list(decompressed(path))


@pytest.mark.parametrize("ending", PACKED)
def test_rubbish_after_the_end_is_told(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"RC{ending}"
    path.write_bytes(PACK[ending](DATA) + b"<html>not found</html>")
    with pytest.raises(InputError, match="damaged"):
        list(decompressed(path))


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize(("data", "said"), [(b"", "is empty"), (b"<html>", "begins with b'<html>'")])
def test_an_ending_that_promises_another_packing_is_told(tmp_path: Path, ending: str, data: bytes, said: str) -> None:
    path = tmp_path / f"RC{ending}"
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"named like a {ending[1:]} file but {said}"):
        list(decompressed(path))


def test_a_window_of_two_gigabytes_is_accepted(tmp_path: Path) -> None:
    packed = PACK[".zst"](DATA)
    assert zstandard.get_frame_parameters(packed).window_size == 2**31
    path = tmp_path / "RC.zst"
    path.write_bytes(packed)
    assert b"".join(decompressed(path)) == DATA


def test_a_skippable_frame_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "RC.zst"
    path.write_bytes(b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + PACK[".zst"](DATA))
    assert b"".join(decompressed(path)) == DATA


def test_padding_between_streams_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "RC.xz"
    path.write_bytes(PACK[".xz"](DATA) + bytes(8) + PACK[".xz"](b"more") + bytes(4))
    assert b"".join(decompressed(path)) == DATA + b"more"


def test_without_zstandard_the_way_to_install_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "RC.zst"
    path.write_bytes(PACK[".zst"](DATA))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install '.*\[reddit\]'"):
        list(decompressed(path))
    plain = tmp_path / "RC"
    plain.write_bytes(DATA)
    assert b"".join(decompressed(plain)) == DATA
