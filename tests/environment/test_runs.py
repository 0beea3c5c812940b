"""What computes on the CPU, and that the decision process asks no device for its kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import nodewise.environment
from nodewise.environment.runs import CpuBackend, CpuClock, backend_of
from nodewise.ground.compute import numpy_generator

ROOM = Path(nodewise.environment.__file__).parent


def test_no_file_but_those_of_the_devices_asks_for_a_device_s_kind() -> None:
    asking = {path.name for path in ROOM.glob("*.py") if re.search(r"is_cuda|device\.type", path.read_text("utf-8"))}
    assert asking <= {"runs.py"}


def test_a_device_has_one_backend() -> None:
    assert isinstance(backend_of(torch.device("cpu")), CpuBackend)
    assert backend_of(torch.device("cpu")) is backend_of(torch.empty(0).device)


def test_the_clock_counts_writes_where_it_is_and_draws_by_seed_purpose_and_step() -> None:
    clock, table = CpuClock(), torch.zeros(2, 3, dtype=torch.int64)
    clock.reset(5)
    clock.tick()
    clock.write(table, torch.tensor([7, 8]))
    assert clock.count == 1 and clock.step.tolist() == [1] and clock.step.dtype == torch.int64
    assert table.tolist() == [[0, 7, 0], [0, 8, 0]]
    drawn = clock.uniform("noise", (2, 4), torch.float32)
    assert drawn.tolist() == numpy_generator(5, "noise", 1).random((2, 4), dtype="float32").tolist()
    clock.tick()
    assert not torch.equal(clock.uniform("noise", (2, 4), torch.float32), drawn)
    clock.reset(5)
    clock.tick()
    assert torch.equal(clock.uniform("noise", (2, 4), torch.float32), drawn)


@pytest.mark.parametrize(
    ("values", "among", "found"),
    [
        ([1.0, 2.0], None, False),
        ([1.0, float("nan")], None, True),
        ([float("inf"), float("-inf")], None, False),  # their sum is not a number, they are
        ([1.0, float("nan")], [True, False], False),
        ([1.0, float("nan")], [False, True], True),
    ],
)
def test_what_is_not_a_number_is_found_among_those_that_count(
    values: list[float], among: list[bool] | None, found: bool
) -> None:
    mask = None if among is None else torch.tensor([among])
    assert CpuBackend().has_nan(torch.tensor([values]), mask) == found
