"""What training leaves on disk.

The best and the last policy, a log, and a checkpoint from which it can go on to the bit.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.files import whole_file
from nodewise.policy import Policy, load_policy, save_policy
from nodewise.policy.file import tensor_digest

__all__ = ["DEAD_AFTER", "Checkpoint", "describe_sources"]

DEAD_AFTER = 20
"""Episodes in a row in which a policy scores all nodes alike, after which it counts as dead.

Adam's momentum has died away by then.
"""

_SECONDS = 20.0  # between two checkpoints


def describe_sources(graphs: Sequence[Graph], settings: Any) -> dict[str, Any]:
    """Where a policy comes from, for its file."""
    from nodewise import __version__

    sources = [
        {
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "classes": graph.num_classes,
            "average_degree": round(2 * graph.num_edges / graph.num_nodes, 4),
            "budget": budget,
        }
        for graph, budget in zip(graphs, settings.budgets, strict=True)
    ]
    return {"source_graphs": sources, "training": settings.as_dict(), "nodewise_version": __version__}


class Running(Protocol):
    """What is known of a source graph's returns so far, as `nodewise.training.reinforce.RunningScale` keeps it."""

    mean: torch.Tensor | None
    square: torch.Tensor | None


class _Moment(NamedTuple):
    """All that a training goes on from: a copy, made between two episodes."""

    tensors: dict[str, torch.Tensor]
    record: dict[str, Any]


class Checkpoint:
    """Keeps a training's files. Without ``out`` everything stays in memory.

    Args:
        settings: what a training that is resumed must have in common with the one that was stopped.
        keep_every: episodes after which the policy of the moment is kept beside the others; 0: never.
    """

    def __init__(
        self,
        out: str | Path | None,
        policy: Policy,
        adam: torch.optim.Adam,
        scales: Sequence[Running],
        settings: Mapping[str, Any],
        keep_every: int = 0,
    ) -> None:
        self._out = None if out is None else Path(out)
        if self._out is not None and self._out.suffix != ".safetensors":
            raise InputError(f"a policy file ends with .safetensors, got {self._out.name!r}")
        if self._out is not None and not self._out.absolute().parent.is_dir():
            raise InputError(
                f"there is no folder {str(self._out.parent)!r} to write {self._out.name!r} into: make it first"
            )
        if isinstance(keep_every, bool) or not isinstance(keep_every, int) or keep_every < 0:
            raise InputError(f"keep_every must be a whole number of episodes, 0 for never, got {keep_every!r}")
        if keep_every and self._out is None:
            raise InputError("keep_every needs out: policies along the way are kept beside the policy file")
        self._policy, self._adam, self._scales, self._settings = policy, adam, scales, dict(settings)
        self._keep_every = keep_every
        self._best, self._best_score, self._best_episode = deepcopy(policy.state_dict()), float("-inf"), -1
        self._episode, self._saved_at, self._recent = -1, time.monotonic(), deque[float]()
        self._idle, self._restarts = 0, list[int]()
        self._moment: _Moment | None = None

    def _beside(self, ending: str) -> Path:
        assert self._out is not None
        return self._out.with_name(self._out.name.removesuffix(".safetensors") + ending)

    def start(self) -> int:
        """Begin anew; refuses to overwrite a training that could be resumed. Returns the first episode."""
        if self._out is not None and self._beside(".checkpoint").exists():
            raise InputError(
                f"{str(self._beside('.checkpoint'))!r} holds an unfinished training: use --resume to go on with it, or"
                " delete it"
            )
        return 0

    def finished(self) -> Policy | None:
        """The policy, if this very training has ended already: there is nothing to resume.

        Raises:
            InputError: another training has ended there; what it reached is not written over.
        """
        if self._out is None or not self._out.is_file() or self._beside(".checkpoint").exists():
            return None
        policy = load_policy(self._out)
        if {key: policy.origin.get(key) for key in self._settings} != json.loads(json.dumps(self._settings)):
            raise InputError(
                f"{str(self._out)!r} is the finished policy of a training with other graphs or settings, so there is"
                " nothing to resume: name another file, or train anew without --resume"
            )
        return policy

    def restore(self, recent: deque[float]) -> int:
        """Take up the training where the checkpoint left it. Returns the first episode to play."""
        if self._out is None or not self._beside(".checkpoint").exists():
            return self.start()
        path = self._beside(".checkpoint")
        try:
            with safe_open(path, framework="pt") as file:
                texts = file.metadata() or {}
                record = json.loads(texts["record"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        except (SafetensorError, OSError, KeyError, ValueError, RecursionError) as error:
            raise InputError(f"{str(path)!r} cannot be read ({error}): delete it and train anew") from None
        # a checkpoint from before there were digests has none; one whose name is damaged is a text of another name
        if {*texts} - {"record", "digest"} or ("digest" in texts and texts["digest"] != tensor_digest(texts, tensors)):
            raise InputError(f"{str(path)!r} does not hold what was written to it: delete it and train anew")
        if record["settings"] != json.loads(json.dumps(self._settings)):
            raise InputError(
                f"{str(path)!r} belongs to a training with other graphs or settings: use the same command, or delete it"
                " and train anew"
            )
        self._policy.load_state_dict({name[7:]: t for name, t in tensors.items() if name.startswith("policy.")})
        self._best = {name[5:]: t for name, t in tensors.items() if name.startswith("best.")}
        for number, parameter in enumerate(self._policy.parameters()):
            kept = {
                key: tensors[f"adam.{number}.{key}"]
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"adam.{number}.{key}" in tensors
            }
            if kept:
                self._adam.state[parameter] = {
                    key: t.to(parameter.device if key != "step" else "cpu") for key, t in kept.items()
                }
        for number, scale in enumerate(self._scales):
            scale.mean, scale.square = (
                tensors[f"scale.{number}.{key}"].to(next(self._policy.parameters()).device)
                for key in ("mean", "square")
            )
        recent.extend(record["recent"])
        self._best_score, self._best_episode, self._episode = (
            record["best_score"],
            record["best_episode"],
            record["episode"],
        )
        # checkpoints of before there were restarts know nothing of them
        self._idle, self._restarts = record.get("idle", 0), list(record.get("restarts", ()))
        self._recent, self._moment = recent, _Moment(tensors, record)
        log = self._beside(".jsonl")
        lines = log.read_text().splitlines(keepends=True) if log.exists() else []
        log.write_text("".join(lines[: self._episode + 1]))
        return self._episode + 1

    def is_dead(self, alive: bool) -> bool:
        """Told of every episode whether the policy was alive: whether it has been dead for too long."""
        self._idle = 0 if alive else self._idle + 1
        return self._idle >= DEAD_AFTER

    def begin_anew(self, episode: int, recent: deque[float]) -> None:
        """Forget what the dead policy reached, but for this episode, whose line is still to be written."""
        self._restarts.append(episode + 1)
        self._idle, self._best_score, self._best_episode = 0, float("-inf"), -1
        last = recent[-1]
        recent.clear()
        recent.append(last)

    def after_episode(self, episode: int, rewards: Mapping[str, float], recent: deque[float]) -> dict[str, Any]:
        """Note an episode: the log, the best policy so far, from time to time a checkpoint. Returns the log's line."""
        self._episode, self._recent = episode, recent
        mean = sum(recent) / len(recent)
        if len(recent) == recent.maxlen and mean > self._best_score:
            self._best, self._best_score, self._best_episode = deepcopy(self._policy.state_dict()), mean, episode
        line = {"episode": episode + 1, "rewards": dict(rewards), "mean_100": mean}
        if self._out is not None:
            with self._beside(".jsonl").open("a" if episode else "w") as file:
                file.write(json.dumps(line) + "\n")
            if self._keep_every and (episode + 1) % self._keep_every == 0:
                kept = deepcopy(self._policy)
                kept.origin = {**self._policy.origin, "episode": episode + 1}
                save_policy(kept, self._beside(f".{episode + 1}.safetensors"))
            self._moment = (
                self._now()
            )  # after the log: what is resumed cuts a log that is too long, but cannot lengthen one
            if time.monotonic() - self._saved_at > _SECONDS:
                self._save(self._moment)
        return line

    def interrupt(self) -> None:
        """Save what can be resumed: the end of the last whole episode, whatever the present one has changed since."""
        if self._moment is not None:
            self._save(self._moment)

    def finish(self) -> Policy:
        """Write the best and the last policy, remove the checkpoint.

        Returns the best policy (the last one below 100 episodes).
        """
        last = deepcopy(self._policy.state_dict())
        if self._best_episode < 0:
            self._best, self._best_episode, self._best_score = (
                last,
                self._episode,
                sum(self._recent) / max(1, len(self._recent)),
            )
        origin = self._policy.origin
        for ending, weights, episode in (
            (".last.safetensors", last, self._episode),
            (".safetensors", self._best, self._best_episode),
        ):
            self._policy.load_state_dict(weights)
            self._policy.origin = {**origin, "episode": episode + 1, "best_mean_reward_of_100": self._best_score}
            if self._restarts:
                self._policy.origin["restarts"] = self._restarts
            if self._out is not None:
                save_policy(self._policy, self._beside(ending))
        if self._out is not None:
            self._beside(".checkpoint").unlink(missing_ok=True)
        return self._policy

    def _now(self) -> _Moment:
        tensors = {f"policy.{name}": t for name, t in self._policy.state_dict().items()}
        tensors |= {f"best.{name}": t for name, t in self._best.items()}
        for number, parameter in enumerate(self._policy.parameters()):
            tensors |= {f"adam.{number}.{key}": t for key, t in self._adam.state.get(parameter, {}).items()}
        for number, scale in enumerate(self._scales):
            assert scale.mean is not None and scale.square is not None
            tensors |= {f"scale.{number}.mean": scale.mean, f"scale.{number}.square": scale.square}
        record = {
            "settings": self._settings,
            "episode": self._episode,
            "recent": list(self._recent),
            "best_score": self._best_score,
            "best_episode": self._best_episode,
            "idle": self._idle,
            "restarts": list(self._restarts),
        }
        return _Moment({name: t.detach().clone() for name, t in tensors.items()}, record)

    def _save(self, moment: _Moment) -> None:
        tensors = {name: t.cpu().contiguous() for name, t in moment.tensors.items()}
        texts = {"record": json.dumps(moment.record)}
        texts["digest"] = tensor_digest(texts, tensors)
        with whole_file(self._beside(".checkpoint")) as file:
            file.write(save(tensors, metadata=texts))
        self._saved_at = time.monotonic()
