"""What training leaves on disk, and that it can be stopped at any moment."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from nodewise.classifiers import Gcn
from nodewise.contracts import Observation
from nodewise.ground.errors import InputError
from nodewise.policy import PolicySettings, load_policy
from nodewise.policy.policy import STATE_FEATURES, StateSettings, register_state_feature
from nodewise.training import train_policy
from tests.conftest import ROOT
from tests.small_graphs import random_graph

pytestmark = pytest.mark.slow

SHORT: dict[str, Any] = {
    "budgets": (2, 3),
    "episodes": 16,
    "batch": 2,
    "classifier": Gcn(closing_epochs=1),
    "device": "cpu",
}


def graphs() -> list[Any]:
    return [random_graph("sparse"), random_graph("dense", seed=1)]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def undisturbed(tmp_path: Path) -> dict[str, bytes]:
    """The files of a training that nobody disturbed."""
    (tmp_path / "whole").mkdir()
    train_policy(graphs(), out=tmp_path / "whole" / "p.safetensors", **SHORT)
    return files_of(tmp_path / "whole")


def test_the_best_and_the_last_policy_and_the_log_are_kept(undisturbed: dict[str, bytes]) -> None:
    assert set(undisturbed) == {"p.safetensors", "p.last.safetensors", "p.jsonl"}
    lines = [json.loads(line) for line in undisturbed["p.jsonl"].splitlines()]
    assert [line["episode"] for line in lines] == list(range(1, 17))
    assert set(lines[0]["rewards"]) == {"random sparse", "random dense"}
    means = [sum(line["rewards"].values()) / 2 for line in lines]
    assert [line["mean_100"] for line in lines] == pytest.approx([sum(means[: n + 1]) / (n + 1) for n in range(16)])


def test_the_best_policy_is_the_one_with_the_best_hundred_episodes_behind_it(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    settings = {**SHORT, "budgets": (1,), "episodes": 130, "batch": 1, "classifier": Gcn(closing_epochs=0)}
    returned = train_policy([random_graph()], out=tmp_path / "p.safetensors", each_episode=lines.append, **settings)
    best, last = load_policy(tmp_path / "p.safetensors"), load_policy(tmp_path / "p.last.safetensors")
    full = lines[99:]
    top = max(full, key=lambda line: line["mean_100"])
    assert best.origin["episode"] == top["episode"] and last.origin["episode"] == 130
    assert best.origin["best_mean_reward_of_100"] == top["mean_100"]
    assert torch.equal(returned.output, best.output)
    assert torch.equal(best.output, last.output) is (top["episode"] == 130)
    shorter = (
        train_policy([random_graph()], **{**settings, "episodes": top["episode"]}) if top["episode"] == 100 else None
    )
    assert shorter is None or torch.equal(shorter.output, best.output)


class Stop(Exception):
    """Raised in the middle of a training by a test."""


@pytest.fixture
def stopping() -> Iterator[list[Any]]:
    """A state feature that raises what stands first in the list once it was computed as often as the second says."""
    plan: list[Any] = [KeyboardInterrupt, -1]

    @register_state_feature("stopping")
    def feature(observation: Observation, settings: StateSettings) -> torch.Tensor:
        plan[1] -= 1
        if plan[1] == 0:
            raise plan[0]
        return torch.zeros(1, 1)

    yield plan
    del STATE_FEATURES["stopping"]


@pytest.mark.parametrize("after", [5 * 13 + 1, 5 * 13 + 3, 5 * 13 + 5])
def test_ctrl_c_in_the_middle_of_an_episode_saves_what_goes_on_to_the_same_bits(
    after: int, stopping: list[Any], tmp_path: Path
) -> None:
    """Five queries an episode: the interrupt comes in the fourteenth, on the first graph, on the second, at its last
    query.
    """
    settings = {**SHORT, "policy": PolicySettings(state=StateSettings(features=("entropy", "degree", "stopping")))}
    for folder in ("whole", "stopped"):
        (tmp_path / folder).mkdir()
    train_policy(graphs(), out=tmp_path / "whole" / "p.safetensors", **settings)
    stopping[1] = after
    with pytest.raises(KeyboardInterrupt):
        train_policy(graphs(), out=tmp_path / "stopped" / "p.safetensors", **settings)
    assert set(files_of(tmp_path / "stopped")) == {"p.checkpoint", "p.jsonl"}
    assert (tmp_path / "stopped" / "p.jsonl").read_text().count("\n") == 13
    lines: list[dict[str, Any]] = []
    train_policy(
        graphs(), out=tmp_path / "stopped" / "p.safetensors", resume=True, each_episode=lines.append, **settings
    )
    assert [line["episode"] for line in lines] == [14, 15, 16]
    assert files_of(tmp_path / "stopped") == files_of(tmp_path / "whole")


def test_ctrl_c_before_the_first_episode_is_over_leaves_nothing_to_resume(stopping: list[Any], tmp_path: Path) -> None:
    settings = {**SHORT, "policy": PolicySettings(state=StateSettings(features=("stopping",)))}
    stopping[1] = 4
    with pytest.raises(KeyboardInterrupt):
        train_policy(graphs(), out=tmp_path / "p.safetensors", **settings)
    assert not list(tmp_path.iterdir())
    train_policy(graphs(), out=tmp_path / "p.safetensors", resume=True, **settings)
    assert "p.safetensors" in files_of(tmp_path)


def interrupted(folder: Path, episodes: int = 6, **changed: Any) -> Path:
    """A training that was stopped after some episodes."""

    def stop(line: dict[str, Any]) -> None:
        if line["episode"] == episodes:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_policy(graphs(), out=folder / "p.safetensors", each_episode=stop, **{**SHORT, **changed})
    return folder / "p.safetensors"


@pytest.mark.parametrize("episodes", [1, 10, 12, 16])
def test_a_training_that_was_stopped_goes_on_to_the_same_bits(
    episodes: int, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "stopped").mkdir()
    out = interrupted(tmp_path / "stopped", episodes)
    train_policy(graphs(), out=out, resume=True, **SHORT)
    assert files_of(out.parent) == undisturbed


@pytest.mark.gpu
def test_a_training_on_a_gpu_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Sums on a GPU have no fixed order, so the bits may differ; everything else goes on."""
    out = interrupted(tmp_path, episodes=12, device="cuda")
    lines: list[dict[str, Any]] = []
    train_policy(graphs(), out=out, resume=True, each_episode=lines.append, **{**SHORT, "device": "cuda"})
    assert [line["episode"] for line in lines] == [13, 14, 15, 16]
    assert set(files_of(tmp_path)) == {"p.safetensors", "p.last.safetensors", "p.jsonl"}
    logged = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [line["episode"] for line in logged] == list(range(1, 17)) and logged[12:] == lines


def test_the_policy_moves_once_after_each_graph_from_the_eleventh_episode_on(tmp_path: Path) -> None:
    interrupted(tmp_path, episodes=13)
    with safe_open(tmp_path / "p.checkpoint", framework="pt") as file:
        steps = {float(file.get_tensor(f"adam.{number}.step")) for number in range(5)}
    assert steps == {3.0 * 2}


def test_an_unfinished_training_is_not_overwritten(tmp_path: Path) -> None:
    out = interrupted(tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(
        InputError, match="p.checkpoint' holds an unfinished training: use --resume to go on with it, or delete it"
    ):
        train_policy(graphs(), out=out, **SHORT)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    "changed", [{"seed": 1}, {"episodes": 17}, {"batch": 3}, {"budgets": (3, 2)}, {"learning_rate": 0.02}]
)
def test_resuming_with_other_settings_is_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    out = interrupted(tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(InputError, match="belongs to a training with other"):
        train_policy(graphs(), out=out, resume=True, **{**SHORT, **changed})
    assert files_of(tmp_path) == before


def test_resuming_on_other_graphs_is_refused(tmp_path: Path) -> None:
    out = interrupted(tmp_path, budgets=(3, 3))
    with pytest.raises(InputError, match="belongs to a training with other"):
        train_policy(graphs()[::-1], out=out, resume=True, **{**SHORT, "budgets": (3, 3)})


def test_a_damaged_checkpoint_is_told(tmp_path: Path) -> None:
    out = interrupted(tmp_path)
    kept = tmp_path / "p.checkpoint"
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(InputError, match="p.checkpoint' cannot be read .*: delete it and train anew"):
        train_policy(graphs(), out=out, resume=True, **SHORT)


def test_no_flipped_bit_of_a_checkpoint_is_taken_up(tmp_path: Path) -> None:
    out = interrupted(tmp_path, 12)
    kept = out.with_name("p.checkpoint")
    content, chance = kept.read_bytes(), random.Random(2)
    length = 8 + int.from_bytes(content[:8], "little")
    for start, end in ((8, length), (length, len(content))):
        for _ in range(10):
            damaged = bytearray(content)
            damaged[chance.randrange(start, end - 8)] ^= 1 << chance.randrange(8)
            kept.write_bytes(damaged)
            with pytest.raises(InputError, match="cannot be read|does not hold what was written|other graphs"):
                train_policy(graphs(), out=out, resume=True, **SHORT)
            assert kept.read_bytes() == bytes(damaged)


def test_a_checkpoint_of_before_there_were_restarts_goes_on(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    out = interrupted(tmp_path / "old", 12)
    kept = out.with_name("p.checkpoint")
    with safe_open(kept, framework="pt") as file:
        record = json.loads(file.metadata()["record"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    old = {key: value for key, value in record.items() if key not in ("idle", "restarts")}
    assert len(old) == len(record) - 2
    save_file(tensors, kept, metadata={"record": json.dumps(old)})
    train_policy(graphs(), out=out, resume=True, **SHORT)
    assert files_of(out.parent) == undisturbed


def test_resuming_without_a_checkpoint_begins(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "fresh").mkdir()
    train_policy(graphs(), out=tmp_path / "fresh" / "p.safetensors", resume=True, **SHORT)
    assert files_of(tmp_path / "fresh") == undisturbed


def test_without_a_file_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: dict[str, bytes]
) -> None:
    monkeypatch.chdir(tmp_path / "whole")
    policy = train_policy(graphs(), **SHORT)
    assert files_of(tmp_path / "whole") == undisturbed
    assert torch.equal(policy.output, load_policy(tmp_path / "whole" / "p.safetensors").output)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and fork")
def test_killed_at_any_moment_and_resumed_it_ends_with_the_same_bits(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    """Thirty real kills at random moments; the log and both policies are those of a training that nobody disturbed."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.training.killed import main; main(sys.argv[1], 30)"
    )
    environment = {**clean_environment, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    kills, starts = map(int, done.stdout.split())
    assert kills >= 5 and starts > kills
    left = files_of(tmp_path / "killed")
    assert {name: content for name, content in left.items() if not name.endswith(".part")} == files_of(
        tmp_path / "whole"
    )


def test_a_training_that_has_ended_is_not_done_again(tmp_path: Path) -> None:
    out = tmp_path / "p.safetensors"
    first = train_policy(graphs(), out=out, **SHORT)
    before, stamp = files_of(tmp_path), out.stat().st_mtime_ns
    again = train_policy(graphs(), out=out, resume=True, **SHORT)
    assert again.origin == first.origin and torch.equal(again.output, first.output)
    assert files_of(tmp_path) == before and out.stat().st_mtime_ns == stamp
    with pytest.raises(InputError, match="is the finished policy of a training with other graphs or settings"):
        train_policy(graphs(), out=out, resume=True, **{**SHORT, "seed": 1})
    assert files_of(tmp_path) == before, "what another training reached is not written over"


def test_policies_along_the_way_are_kept_and_change_nothing(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    (tmp_path / "kept").mkdir()
    train_policy(graphs(), out=tmp_path / "kept" / "p.safetensors", keep_every=8, **SHORT)
    kept = files_of(tmp_path / "kept")
    assert set(kept) - set(undisturbed) == {"p.8.safetensors", "p.16.safetensors"}
    last, end = (load_policy(tmp_path / "kept" / f"p.{name}.safetensors") for name in ("16", "last"))
    assert last.origin["episode"] == 16
    assert all(torch.equal(one, end.state_dict()[name]) for name, one in last.state_dict().items())
    assert any(
        not torch.equal(one, end.state_dict()[name])
        for name, one in load_policy(tmp_path / "kept" / "p.8.safetensors").state_dict().items()
    )


@pytest.mark.parametrize(("every", "message"), [(-1, "whole number"), (2.5, "whole number"), (5, "needs out")])
def test_keeping_policies_refuses_what_cannot_be(every: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_policy(graphs(), keep_every=every, **SHORT)
