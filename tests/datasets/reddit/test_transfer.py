"""From dumps to transfer, by the real commands: a policy trained on two built graphs chooses labels on a third."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nodewise.graph import read_graph
from tests.datasets.reddit.small_month import write_month

SUBREDDITS = ("cats", "dogs", "birds", "fish")
GROUP = 160  # posts in each of three groups


def month(seed: int = 0) -> tuple[list[bytes], list[bytes], bytes]:
    """Three groups of posts; most users keep to a subreddit, but some wander, which makes one graph of them; so do half
    of the words.
    """
    rng = np.random.default_rng(seed)
    posts, comments = [], []
    for place in range(3 * GROUP):
        topic = int(rng.integers(4))
        words = [
            f"{SUBREDDITS[topic]}{rng.integers(3)}" if rng.random() < 0.5 else f"word{rng.integers(20)}"
            for _ in range(6)
        ]
        names = [f"{SUBREDDITS[topic]}-{user}" for user in rng.choice(16, 5, replace=False)]
        names += [f"wanderer-{user}" for user in rng.choice(20, 2, replace=False)]
        posts.append(
            {
                "id": f"p{place}",
                "author": names[0],
                "created_utc": place,
                "subreddit": SUBREDDITS[topic],
                "title": " ".join(words),
                "url": "",
            }
        )
        comments += [
            {"id": f"c{place}-{i}", "link_id": f"t3_p{place}", "parent_id": f"t3_p{place}", "author": n}
            for i, n in enumerate(names[1:])
        ]
    vocabulary = [f"{name}{i}" for name in SUBREDDITS for i in range(3)] + [f"word{i}" for i in range(20)]
    glove = "".join(f"{word} {' '.join(f'{v:.4f}' for v in rng.normal(size=16))}\n" for word in vocabulary)
    return [json.dumps(p).encode() for p in posts], [json.dumps(c).encode() for c in comments], glove.encode()


@pytest.mark.long
def test_a_policy_trained_on_two_built_graphs_transfers_to_a_third(
    nodewise: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    posts, comments, vectors = month()
    submissions, answers, glove = map(str, write_month(tmp_path / "in", "", posts, comments, vectors))
    graphs, policy, result = str(tmp_path / "graphs"), str(tmp_path / "p.safetensors"), tmp_path / "result.json"
    build = f"reddit build --submissions {submissions} --comments {answers} --glove {glove} --out {graphs}"
    for command in (
        f"{build} --group-size {GROUP} --ranks 1-4 --width 16",
        f"train reddit1 reddit2 --data-dir {graphs} --episodes 12 --budget 8 --out {policy} --device cpu",
        (
            f"evaluate reddit3 --data-dir {graphs} --strategy policy --policy {policy} --budget 12 --runs 10 --device"
            f" cpu --json {result}"
        ),
    ):
        done = nodewise(*command.split())
        assert done.returncode == 0, done.stderr
    for number in (1, 2, 3):
        graph = read_graph(f"{graphs}/reddit{number}.npz")
        assert set(graph.class_names) == set(SUBREDDITS)
        assert 0.5 < (graph.homophily or 0) < 0.99
        assert graph.y is not None
        assert np.bincount(graph.y).max() < 0.4 * graph.num_nodes  # so that no class alone gives a good score
    found = json.loads(result.read_text())
    assert (found["graph"], found["budget"], found["runs"]) == ("reddit3", 12, 10)
    assert found["micro_f1"]["mean"] > 60, "four classes, none of them with 40 % of the nodes"
