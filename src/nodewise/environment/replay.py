"""Episodes on a GPU: one step is recorded as a CUDA graph, then replayed, so that no launch waits for Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nodewise.contracts import Strategy
from nodewise.environment.environment import Environment, step

__all__ = ["replay_episode"]


@dataclass
class _Recording:
    strategy: Strategy
    query: torch.cuda.CUDAGraph
    finish: torch.cuda.CUDAGraph


def replay_episode(
    environment: Environment, strategy: Strategy, each_query: Callable[[int], None] | None = None
) -> None:
    """Play an episode that has just been reset and begun, recording its step first if this pair has not been
    recorded.
    """
    recording = environment.recording
    if not (isinstance(recording, _Recording) and recording.strategy is strategy):
        recording = _record(environment, strategy)
        environment.recording = recording
        environment.reset(environment.seed, environment.splits)
        environment.begin(strategy)
    for done in range(1, environment.budget + 1):
        recording.query.replay()
        if each_query is not None:
            environment.step = done
            each_query(done)
    environment.step = environment.budget
    recording.finish.replay()


def _record(environment: Environment, strategy: Strategy) -> _Recording:
    environment.is_recording = True
    try:
        return _Recording(strategy, _capture(lambda: step(environment, strategy)), _capture(environment.learner.finish))
    finally:
        environment.is_recording = False


def _capture(work: Callable[[], None]) -> torch.cuda.CUDAGraph:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # the first calls compile kernels and set up libraries, which may not be recorded
        work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph
