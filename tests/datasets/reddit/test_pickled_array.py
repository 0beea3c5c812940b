"""Pickles are read without being run: every form that numpy writes, and hostile ones."""

from __future__ import annotations

import contextlib
import datetime
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nodewise.datasets.reddit.pickled_array import PickleRefusedError, read_pickled_array

PROTOCOLS = range(6)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("dtype", ["float64", "int64", "float32", "int32", "uint8", "bool", ">f8"])
def test_every_protocol_and_kind_of_number(protocol: int, dtype: str) -> None:
    for array in (
        np.arange(12).reshape(3, 4).astype(dtype),
        np.asfortranarray(np.arange(6).reshape(2, 3).astype(dtype)),
        np.zeros(0, dtype),
    ):
        found = read_pickled_array(pickle.dumps(array, protocol=protocol))
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype and found.shape == array.shape


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_names_of_numpy_1_and_2(protocol: int) -> None:
    array = np.arange(5.0)
    new = pickle.dumps(array, protocol=protocol)
    names = {b"numpy._core.multiarray": b"numpy.core.multiarray", b"numpy._core.numeric": b"numpy.core.numeric"}
    old = new
    for one, other in names.items():
        if protocol >= 4:  # the names carry their length there, and the frame its own
            one, other = bytes([0x8C, len(one)]) + one, bytes([0x8C, len(other)]) + other
        old = old.replace(one, other)
    if protocol >= 4:
        frame = old.index(b"\x95")
        (length,) = struct.unpack("<Q", old[frame + 1 : frame + 9])
        old = old[: frame + 1] + struct.pack("<Q", length - (len(new) - len(old))) + old[frame + 9 :]
    for content in {new, old}:
        np.testing.assert_array_equal(read_pickled_array(content), array)


@given(arrays.arrays(np.float64, arrays.array_shapes(max_dims=3, max_side=4)), st.sampled_from(PROTOCOLS))
def test_what_numpy_reads_is_read(array: np.ndarray, protocol: int) -> None:
    np.testing.assert_array_equal(read_pickled_array(pickle.dumps(array, protocol=protocol)), array)


class Evil:
    """Would write a file if it were ever unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.write_text, (self.path, "run"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_is_refused_and_not_run(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "run"
    for thing in (Evil(path), [Evil(path)], np.array([Evil(path)], dtype=object)):
        content = pickle.dumps(thing, protocol=protocol)
        with pytest.raises(PickleRefusedError):
            read_pickled_array(content)
        assert not path.exists()
        pickle.loads(content)  # it is hostile indeed
        assert path.exists()
        path.unlink()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "thing",
    [
        [1, 2],
        {"a": 1},
        "text",
        7,
        None,
        (np.arange(3),),
        datetime.date(2020, 1, 1),
        np.float64(1),
        np.array(["a", "b"]),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.array([None]),
        np.array([1 + 2j]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.array([1, 2], mask=[0, 1]),
    ],
    ids=lambda thing: type(thing).__name__ + str(getattr(thing, "dtype", "")),
)
def test_whatever_is_not_a_plain_array_is_refused(thing: object, protocol: int) -> None:
    with pytest.raises(PickleRefusedError):
        read_pickled_array(pickle.dumps(thing, protocol=protocol))


def altered(change: str) -> bytes:
    """A pickle of two numbers with one thing changed, as no numpy writes it."""
    shape = {"huge": b"\x8a\x0a" + (10**20).to_bytes(10, "little"), "negative": b"J" + struct.pack("<i", -2)}.get(
        change, b"K\x02"
    )
    kind = {"object": b"X\x02\x00\x00\x00O8", "long": b"X\x03\x00\x00\x00f16"}.get(change, b"X\x02\x00\x00\x00f8")
    data = b"C\x10" + np.arange(2.0).tobytes()
    function = {"system": b"cposix\nsystem\n", "builtin": b"cbuiltins\neval\n"}.get(
        change, b"cnumpy.core.multiarray\n_reconstruct\n"
    )
    start = b"\x80\x03" + function + b"cnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01" + shape + b"\x85"
    dtype = (
        b"cnumpy\ndtype\n"
        + kind
        + b"K\x00K\x01\x87R(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )
    end = {"trailing": b"tb.more", "endless": b"tb"}.get(change, b"tb.")
    return start + dtype + b"\x89" + data + end


def test_the_unaltered_one_is_read() -> None:
    np.testing.assert_array_equal(read_pickled_array(altered("")), [0.0, 1.0])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("huge", "a shape of 800,000,000,000,000,000,000 bytes, but holds 16"),
        ("negative", "a shape that no array has"),
        ("object", "records or objects, not of numbers"),
        ("long", "records or objects, not of numbers"),
        ("system", "asks for posix.system"),
        ("builtin", "asks for builtins.eval"),
        ("trailing", "goes on after its end"),
        ("endless", "is damaged or no pickle"),
    ],
)
def test_altered_pickles_are_refused(change: str, told: str) -> None:
    with pytest.raises(PickleRefusedError, match=told):
        read_pickled_array(altered(change))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_torn_pickle_is_refused_wherever_it_is_torn(protocol: int) -> None:
    content = pickle.dumps(np.arange(9.0), protocol=protocol)
    for length in range(len(content)):
        with pytest.raises(PickleRefusedError):
            read_pickled_array(content[:length])


@given(st.binary(max_size=200))
def test_noise_is_refused(content: bytes) -> None:
    with pytest.raises(PickleRefusedError):
        read_pickled_array(b"\x80\x03" + content)


@given(st.integers(0, 150), st.integers(0, 255), st.sampled_from(PROTOCOLS))
def test_a_changed_byte_gives_numbers_or_a_refusal(place: int, value: int, protocol: int) -> None:
    content = bytearray(pickle.dumps(np.arange(3.0), protocol=protocol))
    content[place % len(content)] = value
    with contextlib.suppress(PickleRefusedError):
        assert read_pickled_array(bytes(content)).dtype.kind in "fiub"


def test_a_pile_of_parts_is_refused_early() -> None:
    with pytest.raises(PickleRefusedError, match="piles up"):
        read_pickled_array(b"\x80\x03" + b"(" * 100_000 + b".")
    with pytest.raises(PickleRefusedError, match="damaged"):  # a length of four exabytes that is not there
        read_pickled_array(b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"x")


def test_a_name_with_an_escape_that_is_none_is_refused_without_a_warning() -> None:
    with pytest.raises(PickleRefusedError):
        read_pickled_array(b"c" + b"nu\\umpy\n" + b"ndarray\n.")
