"""Writes docs/policies.md and its picture from the training logs and the transfer results.

python benchmarks/policies_page.py
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from nodewise.evaluation.plots import colour_of, new_figure, save_figure
from nodewise.policy import load_policy, shipped_policies

HERE = Path(__file__).parent
LOGS = HERE / "results" / "training"
PAGE = HERE.parent / "docs" / "policies.md"
NAMES = ("cora+citeseer", "cora+pubmed", "citeseer+pubmed")


def read_means(path: Path) -> list[float]:
    """After each episode: the mean reward of the last 100, over all source graphs."""
    with gzip.open(path, "rt") as file:
        rewards = np.mean(list(json.load(file)["rewards"].values()), axis=0)
    return [float(rewards[max(0, last - 100) : last].mean()) for last in range(1, len(rewards) + 1)]


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" if i < 1 else "---:" for i in range(len(columns))) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def chosen(rows: list[dict[str, Any]], name: str) -> int:
    """The seed with the paper's batch whose best 100 episodes had the largest mean reward on the source graphs."""
    return int(max((row for row in rows if row["policy"] == name and row["batch"] == 5), key=lambda row: row["source_reward"])["seed"])


def transfer_table(rows: list[dict[str, Any]], name: str) -> str:
    targets = list(dict.fromkeys(row["graph"] for row in rows if row["policy"] == name))
    lines = []
    for seed in sorted({row["seed"] for row in rows if row["policy"] == name}):
        mine = {row["graph"]: row for row in rows if row["policy"] == name and row["seed"] == seed}
        first = next(iter(mine.values()))
        mark = " (shipped)" if name == NAMES[0] and seed == chosen(rows, name) else ""
        cells = [f"{mine[g]['micro_f1']:.1f} ± {mine[g]['micro_ci95']:.1f} / {mine[g]['macro_f1']:.1f}" for g in targets]
        lines.append([f"seed {seed}, batch {first['batch']}{mark}", str(first["episode"]), f"{first['source_reward']:.4f}", *cells])
    paper = {row["graph"]: row for row in rows if row["policy"] == name}
    lines.append(["the paper", "", "", *(f"{paper[g]['paper_micro']:.1f} / {paper[g]['paper_macro']:.1f}" for g in targets)])
    return table(["training", "episode", "source reward", *targets], lines)


def search_table(search: dict[str, Any], name: str) -> str:
    """Every training that the second rule chose among: the scores that it looks at, and the targets, which it does not."""
    rows = [row for row in search["rows"] if row["pair"] == name]
    targets = list(rows[0]["targets"])
    lines = []
    for row in rows:
        _, seed, batch = row["training"].rsplit("-", 2)
        mark = " (shipped)" if row["training"] == search["chosen"][name]["training"] else ""
        scores = [f"{row['kinds'][kind]['score']:.2f}" for kind in ("best", "last", "mean")]
        cells = [
            f"{row['targets'][g]['micro']:.1f} ± {row['targets'][g]['micro_ci95']:.1f} / {row['targets'][g]['macro']:.1f}" for g in targets
        ]
        lines.append([f"seed {seed}, batch {batch}{mark}", *scores, row["kind"], *cells])
    paper = rows[0]["targets"]
    lines.append(["the paper", "", "", "", "", *(f"{paper[g]['paper_micro']:.1f} / {paper[g]['paper_macro']:.1f}" for g in targets)])
    return table(["training", "best by reward", "last", "mean of weights", "chosen", *targets], lines)


def spread(rows: list[dict[str, Any]]) -> str:
    lines = []
    for graph in dict.fromkeys(row["graph"] for row in rows if row["policy"] == NAMES[0]):
        values = [(row["micro_f1"], row["macro_f1"]) for row in rows if row["policy"] == NAMES[0] and row["graph"] == graph]
        cells = [f"{fmean(v):.2f} ± {stdev(v):.2f} ({min(v):.1f} to {max(v):.1f})" for v in zip(*values, strict=True)]
        lines.append([graph, str(len(values)), *cells])
    return table(["target", "seeds", "Micro-F1, mean ± standard deviation (range)", "Macro-F1"], lines)


def reward_table() -> str:
    """Trajectory against step-wise reward on the same source graphs: mean reward of 100 episodes on the way."""
    kinds = {
        "trajectory": sorted(p for p in LOGS.glob("cora+citeseer-?.json.gz")),
        "stepwise": sorted(LOGS.glob("cora+citeseer-stepwise*.json.gz")),
    }
    logs = {kind: [read_means(path) for path in paths] for kind, paths in kinds.items()}
    if not logs["stepwise"]:
        return ""
    last = min(len(log) for log in logs["stepwise"])
    marks = [e for e in (100, 200, 400, 600, 800, 1000, 1500, 2000) if e <= last]
    rows = []
    for kind, some in logs.items():
        cells = [", ".join(f"{log[e - 1]:.3f}" for log in some) for e in marks]
        rows.append([f"{kind}, seeds {', '.join(str(i) for i in range(len(some)))}", *cells])
    return table(["reward", *(f"episode {e}" for e in marks)], rows)


def stepwise_targets() -> str:
    """What the policies of the step-wise reward reach on the graphs that they were not trained on."""
    rows = json.loads((HERE / "results" / "stepwise.json").read_text())["rows"]
    cells = [[row["graph"], str(row["seed"]), f"{row['micro_f1']:.2f} ± {row['micro_ci95']:.2f}", f"{row['macro_f1']:.2f}"] for row in rows]
    return table(["target", "seed", "Micro-F1", "Macro-F1"], cells)


def draw(path: Path) -> None:
    figure = new_figure(9, 3)
    for axes, name in zip(figure.subplots(1, 3), NAMES, strict=True):
        for place, log in enumerate(sorted(p for p in LOGS.glob(f"{name}-*.json.gz") if p.name[len(name) + 1].isdigit())):
            means = read_means(log)
            axes.plot(
                np.arange(100, len(means) + 1), means[99:], color=colour_of(place), linewidth=1, label=log.name.split("-")[-1].split(".")[0]
            )
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel("episode")
        axes.grid(alpha=0.25, linewidth=0.6)
        axes.legend(title="seed", frameon=False, fontsize="x-small", title_fontsize="x-small")
    figure.axes[0].set_ylabel("mean reward of 100 episodes")
    save_figure(figure, path)


def main() -> None:
    record = json.loads((HERE / "results" / "transfer.json").read_text())
    rows = record["rows"]
    parts = ["# The shipped policies", "<!-- generated by benchmarks/policies_page.py, do not edit -->"]
    search = json.loads((HERE / "results" / "policy-search.json").read_text())
    offers = sum(one["of"] for one in search["chosen"].values())
    parts.append(
        "Three policies come with nodewise, each trained on two citation graphs by `nodewise train` with the paper's settings on one GPU "
        f"({record['machine'].get('gpu', 'GPU')}). Which training is shipped is decided without a look at its target graphs; every training is shown with what it "
        f"reaches there: Micro-F1 ± 95 % interval / Macro-F1 over {record['runs']} runs with seed 0, the largest probability first.\n\n"
        "**cora+citeseer** was chosen by the best mean validation reward of 100 successive episodes on the source graphs, among five seeds.\n\n"
        "**cora+pubmed** and **citeseer+pubmed** were chosen by a second rule, since the reward on the sources hardly tells seeds apart that differ by ten "
        "points on a target (the tables of earlier trainings below show it). The rule was written into `benchmarks/policy_search.py` before its first "
        "training: each training offers its best policy by reward, its last one, and the mean of its weights at episodes 1600 to 2000; each "
        "plays 100 runs on seven labelled graphs that are not its targets (the two sources, three citation graphs, two generated graphs with denser edges), "
        f"and the best mean of Micro- and Macro-F1 over the seven is shipped, whatever it then reaches. {offers} policies of "
        f"{len(search['rows'])} trainings were tried. The results on the targets of the earlier trainings were known when the rule was "
        "written; those of the trainings that it chose among were not. Seeds 24 to 26 were trained later, in the hope of better ones; none scored higher, so "
        "the shipped ones stayed."
    )
    for name in NAMES:
        policy = load_policy(shipped_policies()[name])
        training = policy.origin["training"]
        batch = "" if training["batch"] == 5 else f" --batch {training['batch']}"
        parts.append(
            f"## {name}\n\n```\nnodewise train {name.replace('+', ' ')} --seed {training['seed']}{batch} --device cuda --out {name}.safetensors\n```\n\n"
            + (
                f"{search_table(search, name)}\n\nThe shipped file is that of the column *chosen* (`last` is the `.last.safetensors` beside the policy). Earlier trainings, with the best policy by reward:\n\n"
                if name in search["chosen"]
                else ""
            )
            + transfer_table(rows, name)
        )
    parts.append(f"## How much the seed matters\n\n{NAMES[0]}, the same settings with different seeds:\n\n{spread(rows)}")
    parts.append("![mean reward on the source graphs during training](images/training.png)")
    rewards = reward_table()
    if rewards:
        parts.append(
            "## Trajectory or step-wise reward\n\nSection 3.2 of the paper claims that the final score as the reward of every step is more stable than each "
            "step's own gain. Cora and Citeseer, batch 5, mean validation reward of the last 100 episodes, the same measure for both:\n\n"
            + rewards
            + "\n\nWhat the two step-wise policies reach on the targets, to be set beside the spread of seeds above:\n\n"
            + stepwise_targets()
        )
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n")
    draw(PAGE.parent / "images" / "training.png")


if __name__ == "__main__":
    main()
