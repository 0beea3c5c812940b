"""What the paper's outlook brings: policies that also see time and the whole graph, with the GCN and with `views`.

    python benchmarks/outlook.py --device cuda --jobs 9 --episodes 1000 --seconds 520 --pack build/gpu/outlook.tar.gz
    tar -xzf build/gpu/outlook.tar.gz -C build/outlook outlook.json
    python benchmarks/outlook.py --join build/outlook/outlook.json && python benchmarks/outlook_page.py

Every job trains one policy as the paper trains (REINFORCE on a pair of its citation graphs, batch 5) with some state
features, in the environment of one classifier, and plays it on the pair's targets, 100 runs with seed 0, beside `gain`
and random choice. Jobs come pair by pair and seed by seed, so that an end by ``--seconds`` leaves whole seeds: the
first pair with three seeds alone (18 trainings) is a table. What is finished is in the file, a training that is not is
kept as a checkpoint beside it every minute and at the end of the time, and the same command goes on. It prints what is
left and what that will take, by the jobs that are done. ``--pack`` is one file with all of it, read at the start and
written after each job, for a machine whose disk does not stay. ``--shipped`` trains nothing: it plays the policies
that come with nodewise, trained with the GCN, on the targets of their pairs with `views`.

`gain` and random choice know nothing of a pair: where benchmarks/results/outlook.json has a target of theirs with
another pair, it is not played again.

Every line names the machine and the commit that it was made with. ``--join`` adds another result's lines to
benchmarks/results/outlook.json and changes none that is there.

The two pairs with Pubmed were played on a CPU by a plan that was written down before: 600 and 500 episodes with `views`
and the paper's five, seed 0. Measured first, an episode of cora+pubmed takes 0.5 seconds of a core with `views` and 1.5
with the GCN, of citeseer+pubmed 0.5 and 4.2, and a run of the GCN on a coauthor graph above 5. The plan had 1,000
episodes, three seeds, and the GCN with and without time behind them; it was cut, by the time alone, before any reward
had been looked at.

A second plan, written down before anything of it was played, fills these pairs' tables with the GCN: the paper's five,
and time, and the graph, and both, seed 0, with as many episodes as `views` had there (600 and 500), in that order,
cora+pubmed first. Whatever is finished is reported, whole lines alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from machine import describe_machine
from packing import pack, unpack

from nodewise.datasets import load_graph
from nodewise.evaluation import evaluate, write_json
from nodewise.ground.compute import resolve_device
from nodewise.policy import Policy, PolicySettings, load_policy
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
BASELINES, RUNS = ("gain", "random"), 100
PACKED, ENDING = ("outlook.json", "trainings/*"), 12.0
"""What is packed; seconds in which trainings write their checkpoints before the end."""


class TimeIsUp(KeyboardInterrupt):
    """Ends a training."""


def trained(job: dict[str, Any], episodes: int, device: str, until: float, folder: Path) -> tuple[Policy, bool]:
    """A policy, trained as the paper trains, and whether what was begun before went on."""
    pair, environment, variant, seed = (job[name] for name in ("pair", "environment", "variant", "seed"))
    name = f"{pair}-{environment}-{list(VARIANTS).index(variant)}-{seed}-{episodes}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)

    def watch(line: dict[str, Any]) -> None:
        if time.time() > until:
            raise TimeIsUp

    begun = (folder / name).with_suffix(".checkpoint").exists()
    policy = train_policy(
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
    return policy, begun


def reached(strategy: Policy | str, targets: Sequence[str], classifier: str, runs: int, device: str) -> dict[str, Any]:
    """Micro-F1 with its interval over runs, and Macro-F1, by target."""
    rows = {}
    for target in targets:
        result = evaluate(load_graph(target), strategy, classifier=classifier, runs=runs, seed=0, device=device)
        rows[target] = [round(result.micro.mean, 3), round(result.micro.half_width, 3), round(result.macro.mean, 3)]
    return rows


def play(
    job: dict[str, Any], targets: Sequence[str], episodes: int, runs: int, device: str, until: float, folder: Path
) -> Any:
    """A job's line; None where its time was over."""
    torch.set_num_threads(1)
    begin = time.time()
    if "variant" not in job:
        who = load_policy(job["pair"]) if "shipped" in job else job["strategy"]
        found = reached(who, targets, job["environment"], runs, device)
        return {**job, "targets": found, "seconds": round(time.time() - begin, 1)}
    try:
        policy, resumed = trained(job, episodes, device, until, folder)
    except TimeIsUp:
        return None
    line = {
        **job,
        **({"resumed": True} if resumed else {}),  # its seconds are of the last part alone
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


def still_to_play(job: dict[str, Any], targets: Sequence[str], known: list[dict[str, Any]]) -> list[str]:
    """A job's targets; of a baseline, which knows nothing of a pair, those that it has in no line."""
    same = [line for line in known if "strategy" in job and key({**line, "pair": job["pair"]}) == key(job)]
    return [one for one in targets if not any(one in line["targets"] for line in same)]


def shipped_job(pair: str) -> dict[str, Any]:
    """The policy that comes with nodewise for a pair, trained with the GCN, in the other environment."""
    return {"pair": pair, "environment": "views", "shipped": "gcn"}


def key(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line.get(name) for name in ("pair", "environment", "strategy", "shipped", "variant", "seed"))


def read_lines(path: Path, runs: int) -> list[dict[str, Any]]:
    """A result's lines, each with its machine, which files from before name once for all.

    Raises:
        ValueError: they were played with another number of runs.
    """
    record = json.loads(path.read_text(encoding="utf-8"))
    if record["runs"] != runs:
        raise ValueError(f"{path} has {record['runs']} runs of each, not {runs}")
    once = {**record.get("machine", {}), "jobs": record.get("jobs")}
    return [{**line, "machine": line.get("machine", once)} for line in record["lines"]]


def joined(known: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The known lines as they are, and those of the others that are not among them.

    Raises:
        ValueError: one is there with other figures.
    """
    there = {key(line): line for line in known}
    for line in others:
        found = there.setdefault(key(line), line)
        if any(found.get(name) != line.get(name) for name in ("episodes", "targets", "targets_with_views")):
            who = " ".join(str(one) for one in key(line) if one is not None)
            raise ValueError(f"{who} is there with other figures: leave one of them out")
    return list(there.values())


def save(path: Path, runs: int, lines: list[dict[str, Any]]) -> None:
    """Writes a result file."""
    write_json(path, {"schema": 1, "benchmark": "outlook", "runs": runs, "lines": lines}, compact=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/outlook/outlook.json"))
    parser.add_argument("--pack", type=Path, help="one file with the result and all checkpoints: read first, written")
    parser.add_argument("--join", type=Path, help="only add this result's lines to benchmarks/results/outlook.json")
    parser.add_argument("--shipped", action="store_true", help="only play the shipped policies with views")
    parser.add_argument("--pairs", default=",".join(TARGETS))
    parser.add_argument("--targets", help="other targets for all pairs, with commas")
    parser.add_argument("--with-gcn", default=",".join(VARIANTS), help="state features with the GCN")
    parser.add_argument("--with-views", default="the paper's five,and both", help="state features with views")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--jobs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=520)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    if given.runs < 3:
        parser.error("an interval needs 3 runs at least")
    if given.join is not None:
        known, others = read_lines(RESULT, given.runs), read_lines(given.join, given.runs)
        lines = joined(known, others)
        save(RESULT, given.runs, lines)
        print(f"{len(lines) - len(known)} lines of {len(others)} were added")
        return
    begin = time.time()
    until = begin + given.seconds
    folder = given.out.parent
    folder.mkdir(parents=True, exist_ok=True)
    if given.pack is not None:
        print(f"{unpack(given.pack, folder)} files were packed", flush=True)
    kept = read_lines(given.out, given.runs) if given.out.exists() else []
    done = {key(line) for line in kept}
    variants = {name: each.split(",") for name, each in (("gcn", given.with_gcn), ("views", given.with_views)) if each}
    pairs = given.pairs.split(",")
    all_jobs = [shipped_job(pair) for pair in pairs] if given.shipped else jobs(pairs, given.seeds, variants)
    wanted = [job for job in all_jobs if key(job) not in done]
    machine = {**describe_machine(resolve_device(given.device).type), "jobs": given.jobs}
    print(f"{len(wanted)} jobs are left{expected(kept, wanted, given.jobs)}", flush=True)
    settings = (given.episodes, given.runs, given.device)
    own = tuple(given.targets.split(",")) if given.targets else None
    elsewhere = read_lines(RESULT, given.runs) if own is None and given.runs == RUNS else []
    left = [(job, still_to_play(job, own or TARGETS[job["pair"]], elsewhere)) for job in wanted]
    pool = ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn"))
    waiting = [
        pool.submit(play, job, targets, *settings, until - ENDING, folder / "trainings")
        for job, targets in left
        if targets
    ]
    try:
        for future in as_completed(waiting, timeout=max(1.0, until - time.time())):
            line = future.result()
            if line is not None:
                kept.append({**line, "machine": machine})
                print(f"{time.time() - begin:5.0f} s  {json.dumps(line)}", flush=True)
                save(given.out, given.runs, kept)
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
    each = {trains: [line["seconds"] for line in kept if ("variant" in line) == trains] for trains in (False, True)}
    known = [one for values in each.values() for one in values]
    means = {trains: sum(values or known) / len(values or known) for trains, values in each.items()}
    seconds = sum(means["variant" in job] for job in wanted) / jobs
    return f", about {seconds:.0f} s with {jobs} at a time"


if __name__ == "__main__":
    main()
