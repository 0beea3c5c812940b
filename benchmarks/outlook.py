"""What the paper's outlook brings: policies that also see time and the whole graph, with the GCN and with `views`.

    python benchmarks/outlook.py --device cuda --jobs 9 --episodes 1000 --seconds 520 --pack build/gpu/outlook.tar.gz
    tar -xzf build/gpu/outlook.tar.gz -C benchmarks/results outlook.json && python benchmarks/outlook.py --page

Every job trains one policy as the paper trains (REINFORCE on a pair of its citation graphs, batch 5) with some state
features, in the environment of one classifier, and plays it on the pair's targets, 100 runs with seed 0, beside `gain`
and random choice. Jobs come pair by pair and seed by seed, so that an end by ``--seconds`` leaves whole seeds: the
first pair with three seeds alone (18 trainings) is a table. What is finished is in the file, a training that is not is
kept as a checkpoint beside it every minute and at the end of the time, and the same command goes on. It prints what is
left and what that will take, by the jobs that are done. ``--pack`` is one file with all of it, read at the start and
written after each job, for a machine whose disk does not stay. ``--page`` writes docs/outlook.md from
benchmarks/results/outlook.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from machine import describe_machine
from packing import pack, unpack

from nodewise.datasets import load_graph
from nodewise.evaluation import confidence_interval, evaluate, write_json
from nodewise.evaluation.results.tables import ResultTable, to_markdown
from nodewise.policy import Policy, PolicySettings
from nodewise.policy.policy import OUTLOOK_STATE_FEATURES, PAPER_STATE_FEATURES, StateSettings
from nodewise.training import train_policy

RESULT = Path(__file__).parent / "results" / "outlook.json"
TARGETS = {
    "cora+citeseer": ("pubmed", "coauthor-cs", "coauthor-physics"),
    "cora+pubmed": ("citeseer", "coauthor-cs", "coauthor-physics"),
    "citeseer+pubmed": ("cora", "coauthor-cs", "coauthor-physics"),
}
VARIANTS = {
    "the paper's five": PAPER_STATE_FEATURES,
    "and time": (*PAPER_STATE_FEATURES, *OUTLOOK_STATE_FEATURES[:1]),
    "and the graph": (*PAPER_STATE_FEATURES, *OUTLOOK_STATE_FEATURES[1:]),
    "and both": (*PAPER_STATE_FEATURES, *OUTLOOK_STATE_FEATURES),
}
BASELINES = ("gain", "random")
PACKED, ENDING = ("outlook.json", "trainings/*"), 12.0
"""What is packed; seconds in which trainings write their checkpoints before the end."""


class TimeIsUp(KeyboardInterrupt):
    """Ends a training."""


def trained(job: dict[str, Any], episodes: int, device: str, until: float, folder: Path) -> Policy:
    """A policy, trained as the paper trains; what was begun before goes on."""
    pair, environment, variant, seed = (job[name] for name in ("pair", "environment", "variant", "seed"))
    name = f"{pair}-{environment}-{list(VARIANTS).index(variant)}-{seed}-{episodes}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)

    def watch(line: dict[str, Any]) -> None:
        if time.time() > until:
            raise TimeIsUp

    return train_policy(
        [load_graph(name) for name in pair.split("+")],
        episodes=episodes,
        seed=seed,
        device=device,
        classifier=environment,
        policy=PolicySettings(state=StateSettings(VARIANTS[variant])),
        each_episode=watch,
        out=folder / name,
        resume=True,
    )


def reached(
    strategy: Policy | str, targets: tuple[str, ...], classifier: str, runs: int, device: str
) -> dict[str, Any]:
    """Micro-F1 with its interval over runs, and Macro-F1, by target."""
    rows = {}
    for target in targets:
        result = evaluate(load_graph(target), strategy, classifier=classifier, runs=runs, seed=0, device=device)
        rows[target] = [round(result.micro.mean, 3), round(result.micro.half_width, 3), round(result.macro.mean, 3)]
    return rows


def play(
    job: dict[str, Any], targets: tuple[str, ...], episodes: int, runs: int, device: str, until: float, folder: Path
) -> Any:
    """A job's line; None where its time was over."""
    torch.set_num_threads(1)
    begin = time.time()
    if "strategy" in job:
        found = reached(job["strategy"], targets, job["environment"], runs, device)
        return {**job, "targets": found, "seconds": round(time.time() - begin, 1)}
    try:
        policy = trained(job, episodes, device, until, folder)
    except TimeIsUp:
        return None
    line = {
        **job,
        "episodes": episodes,
        "episode": policy.origin["episode"],
        "reward": round(policy.origin["best_mean_reward_of_100"], 5),
        "training_seconds": round(time.time() - begin, 1),
        "targets": reached(policy, targets, job["environment"], runs, device),
    }
    if job["environment"] == "gcn" and job["variant"] == "the paper's five":  # the same policy in the other environment
        line["targets_with_views"] = reached(policy, targets, "views", runs, device)
    return {**line, "seconds": round(time.time() - begin, 1)}


def jobs(pairs: list[str], seeds: int, variants: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """What is to be done, in order."""
    for pair in pairs:
        for environment in variants:
            for strategy in BASELINES:
                yield {"pair": pair, "environment": environment, "strategy": strategy}
        for seed in range(seeds):
            for environment, names in variants.items():
                for variant in names:
                    yield {"pair": pair, "environment": environment, "variant": variant, "seed": seed}


def key(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line.get(name) for name in ("pair", "environment", "strategy", "variant", "seed"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/outlook/outlook.json"))
    parser.add_argument("--pack", type=Path, help="one file with the result and all checkpoints: read first, written")
    parser.add_argument("--page", action="store_true", help="only write docs/outlook.md")
    parser.add_argument("--pairs", default=",".join(TARGETS))
    parser.add_argument("--targets", help="other targets for all pairs, with commas")
    parser.add_argument("--with-gcn", default=",".join(VARIANTS), help="state features with the GCN")
    parser.add_argument("--with-views", default="the paper's five,and both", help="state features with views")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=520)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    if given.page:
        write_pages()
        return
    if given.runs < 3:
        parser.error("an interval needs 3 runs at least")
    begin = time.time()
    until = begin + given.seconds
    folder = given.out.parent
    folder.mkdir(parents=True, exist_ok=True)
    if given.pack is not None:
        print(f"{unpack(given.pack, folder)} files were packed", flush=True)
    kept = json.loads(given.out.read_text())["lines"] if given.out.exists() else []
    done = {key(line) for line in kept}
    variants = {name: each.split(",") for name, each in (("gcn", given.with_gcn), ("views", given.with_views)) if each}
    wanted = [job for job in jobs(given.pairs.split(","), given.seeds, variants) if key(job) not in done]
    print(f"{len(wanted)} jobs are left{expected(kept, wanted, given.jobs)}", flush=True)
    settings = (given.episodes, given.runs, given.device)
    own = tuple(given.targets.split(",")) if given.targets else None
    pool = ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn"))
    waiting = [
        pool.submit(play, job, own or TARGETS[job["pair"]], *settings, until - ENDING, folder / "trainings")
        for job in wanted
    ]
    try:
        for future in as_completed(waiting, timeout=max(1.0, until - time.time())):
            line = future.result()
            if line is not None:
                kept.append(line)
                print(f"{time.time() - begin:5.0f} s  {json.dumps(line)}", flush=True)
                machine = {"machine": describe_machine(given.device), "jobs": given.jobs, "runs": given.runs}
                write_json(given.out, {"schema": 1, "benchmark": "outlook", **machine, "lines": kept})
                if given.pack is not None:
                    pack(folder, given.pack, *PACKED)
    except TimeoutError:
        print("the time is over", flush=True)
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
    if given.pack is not None:
        pack(folder, given.pack, *PACKED)


def expected(kept: list[dict[str, Any]], wanted: list[dict[str, Any]], jobs: int) -> str:
    """What the jobs that are left will take, by those that are done."""
    if not kept or not wanted:
        return ""
    each = {kind: [line["seconds"] for line in kept if kind in line] for kind in ("strategy", "variant")}
    known = [one for values in each.values() for one in values]
    means = {kind: sum(values or known) / len(values or known) for kind, values in each.items()}
    seconds = sum(means["strategy" if "strategy" in job else "variant"] for job in wanted) / jobs
    return f", about {seconds:.0f} s with {jobs} at a time"


def write_pages() -> None:
    """docs/outlook.md."""
    record = json.loads(RESULT.read_text())
    Path("docs/outlook.md").write_text(page(record), encoding="utf-8")


def page(record: dict[str, Any]) -> str:
    """The page, from the result file alone."""
    lines, machine = record["lines"], record["machine"]
    trainings = [line for line in lines if "variant" in line]
    episodes = sorted({line["episodes"] for line in trainings})
    parts = [
        "# The paper's outlook: time, and the whole graph",
        "<!-- generated by benchmarks/outlook.py, do not edit -->",
        "The paper's policy sees five numbers of every node. Its outlook names time and the whole graph. Here policies"
        " are trained with further state features: `budget_used`, the share of the budget that is used (time); and"
        " `mean_degree`, `class_share` (the share of the labels so far that are of the node's predicted class) and"
        " `edge_agreement` (the share of edges whose ends are predicted alike). They are trained as the"
        " paper trains, by"
        f" REINFORCE on a pair of its citation graphs, {' or '.join(f'{one:,}' for one in episodes)} episodes where the"
        " paper has 2,000, in the environment of the paper's GCN and in that of `views`; the policy whose last 100"
        f" episodes had the best reward on the sources is played on graphs that it never saw, {record['runs']} runs"
        " each.",
        "Micro-F1, the mean over training seeds ± Student's 95 % interval over seeds; with few seeds it"
        " is wide. “lead”"
        " is the mean difference to the paper's five with the same seeds, environment and target, with its interval."
        " `gain` and random choice need no training; their interval is over runs."
        f" {machine['gpu'] if 'gpu' in machine else machine['cpu']},"
        f" {len(trainings)} trainings, {sum(line['training_seconds'] for line in trainings) / 3600:.1f} hours of"
        f" {record['jobs']} at a time.",
        "```bash\npython benchmarks/outlook.py --device cuda --out benchmarks/results/outlook.json\n```",
    ]
    missing = [one for one in ("gcn", "views") if not any(line["environment"] == one for line in trainings)]
    parts += [
        f"Policies trained in the environment of `{one}` are still to be played: a first series met a defect of a GPU's"
        " kernel, by which they saw other runs' predictions (see the changelog), and was taken out."
        for one in missing
    ]
    unplayed = [pair.replace("+", " and ") for pair in TARGETS if not any(line["pair"] == pair for line in trainings)]
    parts += [f"So are those of the pairs {' and of '.join(unplayed)}."] if missing and unplayed else []
    for pair in dict.fromkeys(line["pair"] for line in lines):
        own = [line for line in lines if line["pair"] == pair]
        if any("variant" in line for line in own):
            parts += [f"## Trained on {pair.replace('+', ' and ')}", to_markdown(_table(own)), _said(own)]
    return "\n\n".join(parts) + "\n"


def _table(lines: list[dict[str, Any]]) -> ResultTable:
    targets = list(lines[0]["targets"])
    rows: list[tuple[str, ...]] = []
    for environment in ("gcn", "views"):
        for strategy in BASELINES:
            for line in lines:
                if (line.get("strategy"), line["environment"]) == (strategy, environment):
                    cells = [f"{line['targets'][one][0]:.1f} ± {line['targets'][one][1]:.1f}" for one in targets]
                    rows.append((environment, strategy, "–", *cells, "–"))
        for variant in VARIANTS:
            for field, played in (("targets", environment), ("targets_with_views", "views, trained with gcn")):
                found = {
                    line["seed"]: line[field]
                    for line in lines
                    if line.get("variant") == variant and line["environment"] == environment and field in line
                }
                if found:
                    five = _seeds(lines, environment, "the paper's five")
                    cells = [_interval([found[seed][one][0] for seed in found]) for one in targets]
                    pairs = [
                        seed for seed in found if seed in five and field == "targets" and variant != "the paper's five"
                    ]
                    leads = [
                        sum(found[seed][one][0] - five[seed][one][0] for one in targets) / len(targets)
                        for seed in pairs
                    ]
                    lead = _interval(leads, "+") if leads else "–"
                    rows.append((played, f"policy, {variant}", str(len(found)), *cells, lead))
    columns = ("classifier", "who asks", "seeds", *targets, "lead")
    return ResultTable("", columns, tuple(rows), ("The lead is the mean over the targets.",), text_columns=2)


def _said(lines: list[dict[str, Any]]) -> str:
    """Which further state features bring something, by the intervals of their leads."""
    said = []
    for environment in ("gcn", "views"):
        five, known = _seeds(lines, environment, "the paper's five"), []
        for variant in list(VARIANTS)[1:]:
            found = _seeds(lines, environment, variant)
            leads = [
                sum(found[seed][one][0] - five[seed][one][0] for one in five[seed]) / len(five[seed])
                for seed in found
                if seed in five
            ]
            interval = confidence_interval(leads) if len(leads) > 1 else None
            if interval is not None and abs(interval.mean) > interval.half_width:
                known.append(f"“{variant}” {'leads' if interval.mean > 0 else 'falls behind'}")
        if five:
            told = ", ".join(known) or "no further state feature's lead can be told from zero with so few seeds"
            said.append(f"With `{environment}` {told}.")
    return " ".join(said)


def _seeds(lines: list[dict[str, Any]], environment: str, variant: str) -> dict[int, dict[str, list[float]]]:
    chosen = [line for line in lines if line.get("variant") == variant and line["environment"] == environment]
    return {line["seed"]: line["targets"] for line in chosen}


def _interval(values: list[float], sign: str = "") -> str:
    found = confidence_interval(values)
    width = "" if found.half_width != found.half_width else f" ± {found.half_width:.1f}"
    return f"{found.mean:{sign}.1f}{width}".replace("-", "−")


if __name__ == "__main__":
    main()
