"""Training curves for TensorBoard, read back with TensorBoard's own reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.training import tensorboard_log


def test_every_line_of_the_log_is_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with tensorboard_log(tmp_path) as write:
        write({"episode": 1, "rewards": {"wine": 0.5}, "mean_100": 0.5})
        write({"episode": 2, "rewards": {"wine": 0.75}, "mean_100": 0.625})
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [(point.step, point.value) for point in events.Scalars("reward/wine")] == [(1, 0.5), (2, 0.75)]
    assert [point.value for point in events.Scalars("reward/mean of last 100")] == [0.5, 0.625]
