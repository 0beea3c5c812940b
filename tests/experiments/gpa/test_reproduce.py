"""Experiments from their records to their files, on small generated graphs that have the paper's names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.datasets.reddit import released
from nodewise.evaluation import evaluate
from nodewise.experiments.gpa import EXPERIMENTS, reproduce
from nodewise.experiments.gpa.reproduce import QUICK
from nodewise.experiments.gpa.trainings import AgeSettings, age_settings, find_trained
from nodewise.graph import read_graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Warned
from nodewise.strategies import Age


def play(name: str, out: Path, data: Path, policies: Path, **options: object) -> dict:  # type: ignore[type-arg]
    return reproduce(name, out, data_dir=data, policies=policies, device="cpu", **{"runs": 3, **options})  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in (folder / "chunks").rglob("*.json")}


@pytest.mark.slow
def test_a_table_stands_beside_the_papers(tmp_path: Path, small_data: Path, untrained: Path) -> None:
    record = play("policy-architecture", tmp_path, small_data, untrained)
    assert record == json.loads((tmp_path / "policy-architecture.json").read_text())
    assert (record["schema"], record["kind"], record["runs"], record["quick"]) == (1, "reproduction", 3, False)
    (part,) = record["parts"]
    setting = next(s for s in part["settings"] if s["graph"] == "pubmed")
    assert [r["name"] for r in setting["results"]] == ["GCN", "MLP"]
    assert setting["results"][1]["paper"] == {"micro_f1": 70.49, "macro_f1": 70.08}
    graph = read_graph(small_data / "pubmed.npz")
    assert setting["features"] == "row+center" and setting["budget"] == 15
    ours = setting["results"][0]["micro_f1"]
    text = (tmp_path / "policy-architecture.md").read_text()
    assert (
        "| pubmed | GCN |"
        f" {'**' if ours['mean'] >= setting['results'][1]['micro_f1']['mean'] else ''}{ours['mean']:.2f} ±" in text
    )
    assert "| 77.80 |" in text and f"{ours['mean'] - 77.80:+.2f}" in text
    assert len(setting["leads"]) == 1 and graph.num_nodes == 260


@pytest.mark.long
def test_scores_are_those_of_evaluate(tmp_path: Path, small_data: Path, untrained: Path) -> None:
    record = play("state-features", tmp_path, small_data, untrained)
    setting = record["parts"][0]["settings"][1]
    assert setting["graph"] == "reddit4" and setting["budget"] == 50
    policy = find_trained("reddit1+2-without-degree", untrained)
    assert policy is not None
    alone = evaluate(read_graph(small_data / "reddit4.npz"), policy, budget=50, runs=3, device="cpu")
    result = next(r for r in setting["results"] if r["name"] == "without degree")
    assert result["micro_f1"]["mean"] == pytest.approx(alone.micro_f1.mean())
    assert result["macro_f1"] == pytest.approx({"mean": alone.macro.mean, "ci95": alone.macro.half_width})
    assert [r["name"] for r in setting["results"]] == [
        "all features",
        *(f"without {n}" for n in ("entropy", "degree", "kl", "indicator")),
    ]


@pytest.mark.long
def test_what_two_experiments_share_is_played_once(tmp_path: Path, small_data: Path, untrained: Path) -> None:
    play("training-budget", tmp_path, small_data, untrained)
    before = files(tmp_path)
    assert len(before) == 25  # five policies at five budgets
    record = play("budgets", tmp_path, small_data, untrained)
    after = files(tmp_path)
    assert {path: after[path] for path in before} == before
    gpa = [next(r for r in s["results"] if r["name"] == "GPA") for s in record["parts"][0]["settings"]]
    assert len(after) - len(before) == 8 * 5  # eight baselines at five budgets; the five policies were there
    trained = json.loads((tmp_path / "training-budget.json").read_text())["parts"][0]["settings"]
    for place, (budget, mine) in enumerate(zip((10, 20, 30, 50, 100), gpa, strict=True)):
        other = trained[place]["results"][place]
        assert other["name"] == f"trained with {budget}" and other["micro_f1"] == mine["micro_f1"]
    told = {one["what"]: one for one in record["statements"]}
    random = next(r for r in record["parts"][0]["settings"][-1]["results"] if r["name"] == "random")["micro_f1"]["mean"]
    assert told["Micro-F1 of random with 100 labels"] == {
        "what": "Micro-F1 of random with 100 labels",
        "paper": 90.0,
        "ours": round(random, 2),
    }
    needed = [b for b, mine in zip((10, 20, 30, 50, 100), gpa, strict=True) if mine["micro_f1"]["mean"] >= random]
    one = told["labels with which GPA reaches what random reaches with 100"]
    assert one["paper"] == 30 and one["ours"] == (needed[0] if needed else None)
    assert "What the text says" in (tmp_path / "budgets.md").read_text()
    for name in ("budgets", "training-budget"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_quick_lowers_the_runs_alone(tmp_path: Path, small_data: Path, untrained: Path) -> None:
    record = play("case-study", tmp_path, small_data, untrained, runs=None, quick=True)
    assert QUICK == (10, 2) and (record["runs"], record["large_runs"], record["quick"]) == (10, 2, True)
    assert {r["runs"] for r in record["parts"][0]["settings"][0]["results"]} == {10}
    names = [one["name"] for one in record["sequences"]]
    assert names == ["random", "centrality", "AGE", "AGE, fixed weights", "GPA"]
    assert all(len(set(one["sequence"])) == 15 for one in record["sequences"])
    text = (tmp_path / "case-study.md").read_text()
    assert "90.41" in text and "84.74" in text and "case-study.png" in text
    assert "edges" not in record  # a result holds no graph


@pytest.mark.slow
def test_what_is_missing_is_told_with_the_command_that_makes_it(tmp_path: Path, small_data: Path) -> None:
    told: list[str] = []

    def listen(event: Event, /) -> None:
        if isinstance(event, Warned):
            told.append(event.message)

    empty = tmp_path / "empty"
    empty.mkdir()
    record = reproduce(
        "training-graphs", tmp_path, runs=2, policies=empty, data_dir=small_data, device="cpu", reporter=listen
    )
    assert {r["name"] for s in record["parts"][0]["settings"] for r in s["results"]} == {"random"}
    assert any(f"nodewise reproduce trainings --only reddit1+2+3 --policies {empty}" in line for line in told)
    assert "Left out:" in (tmp_path / "training-graphs.md").read_text()
    reproduce("case-study", tmp_path, runs=2, policies=empty, data_dir=small_data, device="cpu", reporter=listen)
    assert any("--only age-cora,age-citeseer" in line for line in told)
    assert any("pretrain_cora+citeseer.pkl" in line for line in told)
    with pytest.raises(
        InputError, match="nothing of 'state-features' can be played.*trainings --only reddit1\\+2-without-kl"
    ):
        reproduce("state-features", tmp_path, runs=2, policies=empty, data_dir=small_data, device="cpu")


def test_a_shipped_policy_serves_where_it_was_trained_as_the_experiment_says(tmp_path: Path, untrained: Path) -> None:
    for name in ("cora+citeseer", "cora+pubmed", "citeseer+pubmed"):
        shipped = find_trained(name, tmp_path)
        assert shipped is not None and shipped.origin["training"]["episodes"] == 2000
        own = find_trained(name, untrained)
        assert own is not None and own.origin == {}  # a file in the folder comes first
    for name in ("cora+citeseer-mlp", "reddit1+2"):
        assert find_trained(name, tmp_path) is None


@pytest.mark.slow
def test_a_graph_that_is_not_there_is_left_out(
    tmp_path: Path, small_data: Path, untrained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(released, "ADDRESS", "http://127.0.0.1:9/nobody/listens")
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("reddit3", "reddit5"):
        (folder / f"{name}.npz").write_bytes((small_data / f"{name}.npz").read_bytes())
    record = play("state-features", tmp_path, folder, untrained)
    part, again = record["parts"]
    assert [s["graph"] for s in part["settings"]] == [s["graph"] for s in again["settings"]] == ["reddit3", "reddit5"]
    assert [one["what"] for one in part["missing"]] == ["reddit4"] and "reddit4 could not be downloaded" in part[
        "missing"
    ][0]["why"]


def test_ages_parameters_are_the_mean_over_the_sources(tmp_path: Path, untrained: Path) -> None:
    def settings(
        sources: tuple[str, ...], fixed: bool, budget: int | None = None, folder: Path = untrained
    ) -> AgeSettings | None:
        return age_settings(sources, fixed, budget, folder)

    assert settings(("cora", "pubmed"), True) == AgeSettings({"weights": (0.1, 0.5, 1.0)}, True)
    assert settings(("cora", "pubmed"), False) == AgeSettings({"basef": 0.91}, True)
    assert settings(("cora",), False, 7) == AgeSettings({"basef": 0.9}, False)  # nobody searched with seven labels
    assert settings(("reddit1",), True, 30) == AgeSettings({"weights": (0.8, 0.5, 1.0)}, True)
    assert settings(("cora", "pubmed"), True, folder=tmp_path) is None
    assert settings(("cora", "pubmed"), False, folder=tmp_path) == AgeSettings({"basef": 0.95}, False)  # its authors'
    (tmp_path / "age-cora.json").write_text("{}")
    for fixed in (True, False):
        with pytest.raises(InputError, match="does not hold AGE's weights"):
            settings(("cora",), fixed, folder=tmp_path)


@pytest.mark.slow
def test_age_is_played_with_what_was_found_for_its_budget(tmp_path: Path, small_data: Path, untrained: Path) -> None:
    found = {str(budget): {"weights": [0, 1, 0], "basef": budget / 200} for budget in (10, 20, 30, 50, 100)}
    for name in untrained.iterdir():
        (tmp_path / name.name).write_bytes(name.read_bytes())
    for source in ("reddit1", "reddit2"):
        (tmp_path / f"age-{source}.json").write_text(json.dumps({"budgets": found}))
    record = play("budgets-cora", tmp_path / "out", small_data, tmp_path, runs=1)
    (part,) = record["parts"]
    told = {(one["name"], one["budget"]): one for one in part["age"]}
    assert [told["AGE", budget]["basef"] for budget in (7, 14, 21, 35, 70)] == [0.05, 0.1, 0.15, 0.25, 0.5]
    assert all(one["searched"] for one in told.values()) and told["AGE, fixed weights", 7]["weights"] == [0, 1, 0]
    graph = read_graph(small_data / "cora.npz")
    setting = next(one for one in part["settings"] if one["budget"] == 14)
    alone = evaluate(graph, Age(basef=0.1), classifier="gcn", budget=14, runs=1, device="cpu", features="raw")
    assert next(r for r in setting["results"] if r["name"] == "AGE")["micro_f1"]["mean"] == pytest.approx(
        alone.micro.mean
    )
    assert (
        "AGE with 14 labels: basef 0.1, found on reddit1 and reddit2"
        in (tmp_path / "out" / "budgets-cora.md").read_text()
    )


@pytest.mark.long
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs(name: str, tmp_path: Path, small_data: Path, untrained: Path) -> None:
    if name == "datasets":
        for i in range(1, 6):
            assert (small_data / f"reddit{i}.npz").is_file()
    record = play(name, tmp_path, small_data, untrained)
    missing = {one["what"] for part in record.get("parts", []) for one in part["missing"]}
    assert missing <= {"GPA, authors' policy"}
    assert (tmp_path / f"{name}.md").read_text().startswith(f"# {EXPERIMENTS[name].title}\n")
    assert (tmp_path / f"{name}.png").is_file() == bool(EXPERIMENTS[name].figure)


@pytest.mark.slow
def test_the_table_of_real_graphs_explains_every_difference(tmp_path: Path, data_folder: Path) -> None:
    record = reproduce("datasets", tmp_path, data_dir=data_folder)
    assert [row["graph"] for row in record["rows"]] == [
        "cora",
        "citeseer",
        "pubmed",
        "coauthor-physics",
        "coauthor-cs",
        "reddit",
    ]
    for row in record["rows"]:
        different = [name for name in row["ours"] if row["ours"][name] != row["paper"][name]]
        explained = [reason.split(":")[0] for reason in row["reasons"]]
        assert set(different) <= set(explained) and not any("not explained" in reason for reason in row["reasons"])
    assert record["rows"][0]["reasons"] == []
