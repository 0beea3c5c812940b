"""What every room stands on: errors, events, seeds, devices."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from threading import Event as Signal
from threading import Thread

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nodewise.ground import compute, errors
from nodewise.ground.compute import derive_seed, numpy_generator, one_thread, resolve_device
from nodewise.ground.errors import InputError, MissingExtraError, NodewiseError, UnknownNameError
from nodewise.ground.events import Event, Note, Progress, Silent, Warned


def test_the_tree_of_errors_is_as_drawn() -> None:
    for name in (name for name in errors.__all__ if name[0].isupper()):
        assert issubclass(getattr(errors, name), NodewiseError)
        assert f" {name} " in f" {errors.__doc__} ".replace("\n", " ")
    for name in ("GraphError", "UnknownNameError", "PolicyFileError", "MissingExtraError"):
        assert issubclass(getattr(errors, name), InputError)
    assert issubclass(InputError, ValueError)
    assert not issubclass(errors.DownloadError, InputError)


def test_an_unknown_name_is_told_the_nearest_or_all() -> None:
    near = UnknownNameError("fruit", "Aple", ["pear", "apple", "plum"])
    assert str(near) == "unknown fruit 'Aple': did you mean 'apple'?"
    assert (near.name, near.suggestions) == ("Aple", ["apple"])
    far = UnknownNameError("fruit", "xyz", ["pear", "apple"], "See the market.")
    assert str(far) == "unknown fruit 'xyz': known: apple, pear. See the market."
    assert far.suggestions == []


def test_a_missing_extra_is_told_with_the_command() -> None:
    told = str(MissingExtraError("duckdb", "reddit"))
    assert (
        told == f"this needs duckdb, which is not installed: run {errors.install_command('reddit')}"
        and "[reddit]'" in told
    )


@pytest.mark.parametrize("event", [Progress("train", 1, 2, {"reward": 0.5}), Note("a"), Warned("b")])
def test_events_cannot_be_changed(event: Event) -> None:
    field = dataclasses.fields(event)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(event, field, "other")
    assert Silent()(event) is None


def test_seeds_are_the_same_on_every_machine() -> None:
    """Written down: if one changes, every result with a seed changes."""
    assert derive_seed(0) == 4246866556266386882
    assert derive_seed(0, "split", 3) == 1446741371596194827
    assert numpy_generator(7, "noise", 1).integers(0, 1000, 4).tolist() == [437, 644, 616, 973]


@given(st.integers(0, 2**63), st.lists(st.integers(0, 9) | st.sampled_from(["split", "noise"]), max_size=3))
def test_a_seed_is_a_number_that_every_generator_takes(seed: int, path: list[int | str]) -> None:
    derived = derive_seed(seed, *path)
    assert 0 <= derived < 2**63 and derived == derive_seed(seed, *path)
    torch.Generator().manual_seed(derived)
    np.random.default_rng(derived)


def test_different_paths_give_unrelated_numbers() -> None:
    paths = [
        (seed, *path) for seed in range(5) for path in ((), ("a",), ("b",), ("a", 1), ("a", 2), ("a", "b"), ("b", "a"))
    ]
    assert len({derive_seed(*path) for path in paths}) == len(paths)
    draws = np.stack([numpy_generator(*path).random(2000) for path in paths])
    correlation = np.corrcoef(draws)
    assert np.abs(correlation - np.eye(len(paths))).max() < 0.12


def test_the_cpu_is_always_there() -> None:
    assert resolve_device("cpu") == torch.device("cpu")
    assert resolve_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert resolve_device() == resolve_device("auto")


@pytest.mark.parametrize("name", ["tpu", "", "cpu:0", "cuda:x", "cuda:-1", "CUDA", "mps"])
def test_an_unknown_device_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown device .*: use auto, cpu, cuda or cuda:N"):
        resolve_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cuda:7"])
def test_a_gpu_that_is_not_there_is_refused_not_replaced(name: str) -> None:
    with pytest.raises(
        InputError, match=f"device '{name}' was asked for, but torch sees no CUDA GPU here: choose the device cpu"
    ):
        resolve_device(name)


@pytest.mark.gpu
def test_a_gpu_by_number() -> None:
    assert resolve_device("cuda") == torch.device("cuda", torch.cuda.current_device())
    assert resolve_device("cuda:0") == torch.device("cuda", 0)
    many = torch.cuda.device_count()
    with pytest.raises(InputError, match=f"there are {many} GPUs"):
        resolve_device(f"cuda:{many}")


def test_blocks_cover_every_row_once_whatever_the_threads_and_blocks_may_have_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for threads in (1, 3):
        monkeypatch.setattr(compute, "cores", lambda threads=threads: threads)
        done = np.zeros((10, 7), np.int64)

        def outer(first: int, end: int, done: np.ndarray = done) -> None:
            def inner(left: int, right: int) -> None:
                done[first:end, left:right] += 1

            compute.in_blocks(7, 2, inner)

        compute.in_blocks(10, 3, outer)
        assert (done == 1).all()

    def fails(first: int, end: int) -> None:
        if first == 3:
            raise ValueError(f"row {first}")

    with pytest.raises(ValueError, match="row 3"):
        compute.in_blocks(10, 3, fails)
    with pytest.raises(ValueError, match="row 3"), one_thread():
        compute.in_blocks(10, 3, fails)


def test_whoever_waits_for_blocks_takes_part_where_torch_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "cores", lambda: 2)
    own, seen = threading.get_ident(), list[int]()
    turn = threading.Barrier(2)

    def work(first: int, end: int) -> None:
        turn.wait(60)  # two threads work on two blocks at once
        seen.append(threading.get_ident())
        assert torch.get_num_threads() == 1

    with one_thread():
        compute.in_blocks(2, 1, work)
    assert len(set(seen)) == 2 and own in seen
    seen.clear()
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        compute.in_blocks(2, 1, work)
    finally:
        torch.set_num_threads(threads)
    assert len(set(seen)) == 2 and own not in seen


@pytest.mark.parametrize(
    ("kind", "line"), [("", "0::/slurm/job_7/step_0"), ("memory", "5:cpu,memory:/slurm/job_7/step_0")]
)
def test_a_limit_on_a_group_around_the_process_counts(
    kind: str, line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own").write_text(f"3:freezer:/elsewhere\n{line}\n")
    for folder, limit in (("slurm", "max"), ("slurm/job_7", "3000000"), ("slurm/job_7/step_0", "max")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "most").write_text(f"{limit}\n")
        (tmp_path / folder / "now").write_text("1200000\n")
        (tmp_path / folder / "memory.stat").write_text("anon 900000\nfiles 200000\n")
    monkeypatch.setattr(compute, "_OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(compute, "_CGROUPS", ((kind, tmp_path, "most", "now", "files"),))
    assert compute.free_memory() == 3_000_000 - 1_200_000 + 200_000


def test_torch_has_its_threads_again_when_two_blocks_of_one_thread_have_overlapped() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    counts: dict[str, int] = {}
    second_is_inside, first_has_left = Signal(), Signal()

    def second() -> None:
        with compute.one_thread():
            counts["inside"] = torch.get_num_threads()
            second_is_inside.set()
            assert first_has_left.wait(60)
            counts["still inside"] = torch.get_num_threads()
        counts["after"] = torch.get_num_threads()

    try:
        with compute.one_thread():
            thread = Thread(target=second)
            thread.start()  # it meets torch for the first time
            assert second_is_inside.wait(60) and torch.get_num_threads() == 1
        counts["first"] = torch.get_num_threads()
        first_has_left.set()
        thread.join(60)
        later = Thread(target=lambda: counts.update(later=torch.get_num_threads()))
        later.start()
        later.join(60)
        assert counts == {"inside": 1, "still inside": 1, "after": 3, "first": 3, "later": 3}
    finally:
        torch.set_num_threads(before)


def test_gradients_are_off_in_a_block_of_one_thread_and_as_before_after_it() -> None:
    with compute.one_thread():
        with torch.enable_grad(), compute.one_thread():
            assert not torch.is_grad_enabled()
        assert not torch.is_grad_enabled() and torch.get_num_threads() == 1
    assert torch.is_grad_enabled()
