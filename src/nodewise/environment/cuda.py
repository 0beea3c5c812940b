"""Episodes on a GPU: kernels for the state, and one step recorded as a CUDA graph, then replayed, so that no launch
waits for Python.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import torch

from nodewise.contracts import Strategy
from nodewise.environment.backend import Episode
from nodewise.environment.prediction_kernels import divergences, predictions
from nodewise.graph.sparse_kernels import uniform
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed

__all__ = ["CudaBackend", "DeviceClock"]


class CudaBackend:
    """The state by kernels; a step is replayed where strategy and learner can be recorded, else played as on the
    CPU.
    """

    plays_protocols = False

    def clock(self, device: torch.device) -> DeviceClock:
        """A clock at step 0."""
        return DeviceClock(device)

    def predictions(self, logits: torch.Tensor) -> torch.Tensor:
        """log p, p and Σ p log p side by side, in one pass."""
        return predictions(logits)

    def divergences(self, graph: GraphTensors, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Both divergences in one pass over the edges, which have no weights."""
        return divergences(graph, packed)

    def has_nan(self, values: torch.Tensor, among: torch.Tensor | None = None) -> bool:
        """False: to look would mean to wait for the device, which a recorded step cannot."""
        return False

    def play(self, episode: Episode, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """Replay the recorded step, recording it first if this pair has not been recorded."""
        if not (strategy.recordable and episode.learner.recordable):
            episode.play_steps(strategy, each_query)
            return
        recording = episode.recording
        if not (isinstance(recording, _Recording) and recording.strategy is strategy):
            recording = _record(episode, strategy)
            episode.recording = recording
            episode.restart(strategy)
        for done in range(1, episode.budget + 1):
            recording.query.replay()
            if each_query is not None:
                episode.clock.count = done
                each_query(done)
        episode.clock.count = episode.budget
        recording.finish.replay()


class DeviceClock:
    """Counts queries and draws numbers without the host, so that a recorded step can be replayed.

    Attributes:
        step: queries made since the reset, int64 [1]. count: the same, as Python knows it.
    """

    def __init__(self, device: torch.device) -> None:
        self.count = 0
        self._seed = torch.zeros(1, dtype=torch.int64, device=device)
        self.step = torch.zeros(1, dtype=torch.int64, device=device)

    def reset(self, seed: int) -> None:
        """Back to step 0, with an episode's seed."""
        self.count = 0
        self._seed.fill_(derive_seed(seed, "noise"))
        self.step.zero_()

    def tick(self) -> None:
        """One step on."""
        self.count += 1
        self.step.add_(1)

    def write(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write values [run, ...] at the present step of a table [run, step, ...]."""
        table.index_copy_(1, self.step, values.unsqueeze(1))

    def uniform(self, purpose: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        return uniform(
            torch.empty(shape, dtype=dtype, device=self._seed.device),
            self._seed,
            self.step,
            zlib.crc32(purpose.encode()),
        )


@dataclass
class _Recording:
    strategy: Strategy
    query: torch.cuda.CUDAGraph
    finish: torch.cuda.CUDAGraph


def _record(episode: Episode, strategy: Strategy) -> _Recording:
    episode.is_recording = True
    try:
        return _Recording(strategy, _capture(lambda: episode.take_step(strategy)), _capture(episode.finish))
    finally:
        episode.is_recording = False


def _capture(work: Callable[[], None]) -> torch.cuda.CUDAGraph:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # the first calls compile kernels and set up libraries, which may not be recorded
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The CUDA Graph is empty")  # a learner may have nothing to do at the end
        with torch.cuda.graph(graph):
            work()
    return graph
