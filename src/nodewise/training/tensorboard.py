"""Training curves for TensorBoard, where it is installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nodewise.ground.errors import MissingExtraError

__all__ = ["tensorboard_log"]


@contextmanager
def tensorboard_log(folder: str | Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Gives a function for ``each_episode`` of `train_policy` that writes every line of the log to a TensorBoard
    folder.

    Raises:
        MissingExtraError: TensorBoard is not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own imports of deprecated names are no concern of ours
            from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtraError("tensorboard", "tensorboard") from None
    writer = SummaryWriter(str(folder))

    def write(line: dict[str, Any]) -> None:
        for name, reward in line["rewards"].items():
            writer.add_scalar(f"reward/{name}", reward, line["episode"])
        writer.add_scalar("reward/mean of last 100", line["mean_100"], line["episode"])

    try:
        yield write
    finally:
        writer.close()
