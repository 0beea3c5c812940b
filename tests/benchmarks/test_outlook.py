"""Results of the paper's outlook from several machines: joined line by line, and a page that says what ran where."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GPU = {"cpu": "a Xeon", "gpu": "a GPU", "commit": "aaaaaaa", "jobs": 10}
CPU = {"cpu": "an EPYC", "commit": "bbbbbbb", "jobs": 2}
Line = dict[str, Any]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def line(environment: str, score: float, machine: Line, pair: str = "cora+citeseer", **who: Any) -> Line:
    targets = {"pubmed": [score, 0.5, score], "coauthor-cs": [score + 10, 0.5, score]}
    more = {"episodes": 1000, "training_seconds": 1800.0} if "variant" in who else {}
    return {"pair": pair, "environment": environment, **who, **more, "targets": targets, "machine": machine}


def trained(environment: str, scores: list[float], machine: Line, variant: str = "the paper's five") -> list[Line]:
    return [line(environment, score, machine, variant=variant, seed=seed) for seed, score in enumerate(scores)]


def baselines(machine: Line) -> list[Line]:
    scores = {"gcn": (74.0, 68.0), "views": (76.0, 70.0)}
    return [
        line(environment, score, machine, strategy=strategy)
        for environment, both in scores.items()
        for strategy, score in zip(("gain", "random"), both, strict=True)
    ]


def test_joining_adds_lines_with_their_own_machine_and_changes_none() -> None:
    from outlook import joined

    known = baselines(GPU) + trained("gcn", [78.0, 78.2], GPU)
    again = [{**one, "machine": CPU, "seconds": 9.0} for one in known]
    fresh = trained("views", [73.0, 73.4], CPU)
    found = joined(known, again + fresh)
    assert found == known + fresh, "what is there stays as it is, its machine too"


def test_a_line_that_is_there_with_other_figures_is_refused() -> None:
    from outlook import joined

    known = trained("gcn", [78.0], GPU)
    with pytest.raises(ValueError, match="cora.citeseer gcn the paper's five 0 is there with other figures"):
        joined(known, trained("gcn", [78.1], CPU))
    other = [{**known[0], "episodes": 500}]
    with pytest.raises(ValueError, match="other figures"):
        joined(known, other)


def test_a_file_from_before_names_its_machine_once(tmp_path: Path) -> None:
    from outlook import read_lines

    bare = {name: value for name, value in trained("gcn", [78.0], GPU)[0].items() if name != "machine"}
    path = tmp_path / "old.json"
    once = {name: value for name, value in GPU.items() if name != "jobs"}
    path.write_text(json.dumps({"machine": once, "jobs": 10, "runs": 100, "lines": [bare]}))
    assert [one["machine"] for one in read_lines(path, 100)] == [GPU]
    with pytest.raises(ValueError, match="100 runs of each, not 20"):
        read_lines(path, 20)


def test_the_page_says_what_ran_where_by_which_command_and_what_is_still_to_be_played() -> None:
    from outlook_page import page

    lines = baselines(GPU) + trained("gcn", [78.0, 78.2, 78.4], GPU) + trained("views", [73.0, 73.4], CPU)
    told = page([*lines, line("views", 72.0, CPU, shipped="gcn")], [])
    assert (
        "- a GPU, commit aaaaaaa: 3 trainings with `gcn`, `gain` and `random` with `gcn` on coauthor-cs and pubmed,"
        " `gain` and `random` with `views` on" in told
    )
    assert "- an EPYC, commit bbbbbbb: 2 trainings with `views`, the shipped policy with `views`, 1.0 hours" in told
    assert (
        '`python benchmarks/outlook.py --device cpu --pairs cora+citeseer --with-gcn "" --with-views "the paper\'s'
        ' five" --seeds 2 --episodes 1000 --jobs 2`' in told
    )
    assert "`python benchmarks/outlook.py --device cpu --pairs cora+citeseer --shipped`" in told
    assert (
        "Still to be played: all that is trained with `gcn` on cora and pubmed; all that is trained with `gcn` on"
        " citeseer and pubmed; 1 seed of “the paper's five” with `views` on cora and citeseer; all that is trained with"
        " `views` on cora and pubmed; all that is trained with `views` on citeseer and pubmed." in told
    )
    whole = [one for pair in ("cora+citeseer", "cora+pubmed", "citeseer+pubmed") for one in _of(lines[:-2], pair)]
    assert "Still to be played: all that is trained with `views`." in page(whole, [])
    further = trained("gcn", [78.0, 78.2, 78.4], GPU, "and time")
    assert "Still to be played: “and time” with `gcn` on cora and pubmed; “and time” with `gcn` on citeseer" in page(
        whole + further, []
    )


def _of(lines: list[Line], pair: str) -> list[Line]:
    return [{**one, "pair": pair} for one in lines]


def test_the_page_s_verdict_against_gain_follows_from_the_seeds() -> None:
    from outlook_page import page

    lines = baselines(GPU) + trained("gcn", [78.0, 78.2, 78.4], GPU) + trained("views", [73.0, 73.2, 73.4], CPU)
    told = page([*lines, *trained("views", [73.0, 76.0, 79.0], CPU, "and both")], [])
    assert "“the paper's five” with `gcn`: above `gain` on pubmed and coauthor-cs." in told
    assert "“the paper's five” with `views`: below `gain` on pubmed and coauthor-cs." in told
    assert "“and both” with `views`: not told from `gain` on pubmed and coauthor-cs." in told
    assert "With `views` no further state feature's lead can be told from zero" in told
    assert "differs by −5.0 ± 0.0 points from the same with the GCN, the mean over the targets and 3 seeds" in told
    assert "random choice differs by +2.0 between the two classifiers." in told
    assert "is below random choice" not in told
    assert "| views | policy, the paper's five | 1,000 | 3 | 73.2 ± 0.5 | 83.2 ± 0.5 | – | −2.8 ± 0.5 |" in told
    assert "| gcn | random | – | – | 68.0 ± 0.5 | 78.0 ± 0.5 | – | −6.0 |" in told


@pytest.mark.parametrize(
    ("scores", "cells"), [([60.0], "60.0 ± 0.5 (runs) | 70.0 ± 0.5 (runs)"), ([60.0, 60.0], "60.0 | 70.0")]
)
def test_one_seed_or_two_give_no_verdict_and_no_interval_over_seeds(scores: list[float], cells: str) -> None:
    from outlook_page import page

    told = page(baselines(GPU) + trained("views", scores, CPU), [])
    seeds = "1 seed" if len(scores) == 1 else "2 seeds"
    assert f"“the paper's five” with `views` has {seeds}, too few for an interval: nothing is said of it" in told
    assert f"is below random choice on pubmed with {len(scores)} of {seeds} (Macro-F1 60.0" in told
    assert f"| views | policy, the paper's five | 1,000 | {len(scores)} | {cells} | – | −16.0 |" in told
    assert "nan" not in told


def test_baselines_of_another_pair_and_trainings_of_another_length_stand_beside_a_pair() -> None:
    from outlook_page import page, whole_trainings

    machine = {**GPU, "commit": "ccccccc"}
    rows = [
        {"policy": "cora+pubmed", "seed": seed, "batch": batch, "graph": graph}
        | {"micro_f1": 64.0 + seed, "micro_ci95": 0.5, "macro_f1": 60.0}
        for seed, batch in ((0, 5), (1, 5), (2, 5), (10, 10))
        for graph in ("citeseer", "coauthor-cs", "digits")
    ]
    whole = whole_trainings({"machine": machine, "rows": rows})
    assert [(one["seed"], list(one["targets"]), one["episodes"]) for one in whole] == [
        (seed, ["citeseer", "coauthor-cs"], 2000) for seed in range(3)
    ]
    own = {"targets": {"citeseer": [66.0, 0.4, 60.0], "coauthor-cs": [90.0, 0.4, 60.0]}, "episodes": 600}
    one = {**line("views", 0.0, CPU, "cora+pubmed", variant="the paper's five", seed=0), **own}
    missing = {**line("views", 0.0, CPU, "cora+pubmed", strategy="gain"), "targets": {"citeseer": [67.0, 0.4, 60.0]}}
    told = page([*baselines(GPU), *trained("gcn", [78.0], GPU), missing, one], whole)
    section = told.partition("## Trained on cora and pubmed")[2]
    assert "| views | gain | – | – | 67.0 ± 0.4 | 86.0 ± 0.5 | – | – |" in section, "coauthor-cs is another pair's"
    assert "| gcn | random | – | – | – | 78.0 ± 0.5 | – | – |" in section, "what was not played is left open"
    assert "| gcn | policy, the paper's five | 2,000 | 3 | 65.0 ± 2.5 | 65.0 ± 2.5 | – | – |" in section
    assert (
        "| views | policy, the paper's five | 600 | 1 | 66.0 ± 0.4 (runs) | 90.0 ± 0.4 (runs) | – | +1.5 |" in section
    )
    assert "differs by +14.0 points from the same with the GCN (600 episodes against 2,000)" in section
    assert told.index("## Trained on cora and citeseer") < told.index("## Trained on cora and pubmed")
    assert "- a GPU, commit ccccccc: 3 trainings with `gcn`, 2,000 episodes" in told
    assert "1 training with `views`, `gain` with `views` on citeseer, 0.5 hours of training, 2 at a time" in told
    assert '--pairs cora+pubmed --with-gcn "" --with-views "the paper\'s five" --seeds 1 --episodes 600' in told
    longer = {**one, "pair": "citeseer+pubmed", "episodes": 500}
    both = page([*baselines(GPU), one, longer], whole)
    assert "--pairs citeseer+pubmed" in both and "--episodes 600 --jobs 2` and `python" in both, "a command for each"
    assert "Trainings of fewer than 800 episodes were ended by the time they took alone" in told
    assert "fewer than 800 episodes" not in page(baselines(GPU) + trained("gcn", [78.0], GPU), [])
    again = page([*baselines(GPU), {**one, "resumed": True}], whole)
    assert "1 training with `views`, 0.5 hours of training after they were last resumed, 2 at a time" in again


def test_a_baseline_is_played_once_a_target_and_a_policy_everywhere() -> None:
    from outlook import jobs, still_to_play

    targets, known = ("citeseer", "coauthor-cs"), baselines(GPU)
    left = {
        (job["environment"], job.get("strategy"), job.get("variant")): still_to_play(job, targets, known)
        for job in jobs(["cora+pubmed"], 1, {"views": ["the paper's five"]})
    }
    assert left == {
        ("views", "gain", None): ["citeseer"],
        ("views", "random", None): ["citeseer"],
        ("views", None, "the paper's five"): ["citeseer", "coauthor-cs"],
    }


def test_the_command_joins_into_the_tracked_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import outlook

    result, other = tmp_path / "outlook.json", tmp_path / "other.json"
    outlook.save(result, 100, baselines(GPU))
    outlook.save(other, 100, baselines(CPU) + trained("views", [73.0], CPU))
    monkeypatch.setattr(outlook, "RESULT", result)
    monkeypatch.setattr(sys, "argv", ["outlook.py", "--join", str(other)])
    outlook.main()
    assert outlook.read_lines(result, 100) == baselines(GPU) + trained("views", [73.0], CPU)


def test_a_policy_is_trained_and_played_and_its_line_names_the_machine(tmp_path: Path) -> None:
    out = tmp_path / "outlook.json"
    asked = ["--pairs", "wine+breast-cancer", "--targets", "wine", "--with-gcn", "", "--with-views", "the paper's five"]
    asked += ["--seeds", "1", "--episodes", "2", "--runs", "3", "--jobs", "1", "--seconds", "500", "--device", "cpu"]
    done = subprocess.run(
        [sys.executable, "benchmarks/outlook.py", *asked, "--out", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = json.loads(out.read_text())["lines"]
    assert [(one.get("strategy"), one.get("variant")) for one in lines] == [
        ("gain", None),
        ("random", None),
        (None, "the paper's five"),
    ]
    assert all(one["machine"]["commit"] and one["machine"]["jobs"] == 1 for one in lines)
    assert set(lines[-1]["targets"]) == {"wine"}
