"""Splits as files, and a comparison that another program scores again."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.nn import SGConv

import nodewise as nw
from nodewise.classifiers import TorchClassifier
from nodewise.cli import main
from nodewise.environment import SplitSizes
from nodewise.environment.environment import split_arrays
from nodewise.evaluation import EvaluationProtocol, public_splits, read_splits, write_splits
from nodewise.graph.io.files import write_graph
from nodewise.ground.errors import InputError


def test_splits_that_were_written_give_the_same_scores(tmp_path: Path) -> None:
    graph = nw.load_graph("wine")
    file = write_splits(tmp_path / "splits.json", graph, runs=3, seed=2)
    assert graph.y is not None
    drawn, read = split_arrays(graph.y, "wine", 3, 2), split_arrays(graph.y, "wine", 3, 9, 0, read_splits(file, graph))
    assert (np.sort(drawn.test) == read.test).all() and (np.sort(drawn.validation) == read.validation).all()
    assert (drawn.pool == read.pool).all()
    usual, given = (nw.evaluate(graph, "random", budget=6, runs=3, seed=2, splits=splits) for splits in (None, file))
    assert usual.micro_f1.tolist() == given.micro_f1.tolist() and usual.queries.tolist() == given.queries.tolist()


def test_a_file_for_another_graph_is_refused(tmp_path: Path) -> None:
    graph = nw.load_graph("wine")
    file = write_splits(tmp_path / "splits.json", graph, runs=1)
    with pytest.raises(InputError, match="holds splits of wine, none of the graph 'karate'"):
        read_splits(file, nw.load_graph("karate"))
    assert graph.y is not None
    with pytest.raises(InputError, match="perhaps other labels"):
        read_splits(file, replace(graph, y=np.roll(graph.y, 1)))
    with pytest.raises(InputError, match="there is no file of splits"):
        nw.evaluate(graph, splits=tmp_path / "none.json")
    for text in ("{}", "[", '{"graphs": []}', '{"graphs": {"wine": {"nodes": 178, "splits": [{}]}}}'):
        (tmp_path / "odd.json").write_text(text)
        with pytest.raises(InputError):
            read_splits(tmp_path / "odd.json", graph)
    for nodes in ("12", [0.5, 1], [True, 2]):
        (tmp_path / "odd.json").write_text(
            json.dumps({"graphs": {"wine": {"nodes": 178, "splits": [{"test": nodes}]}}})
        )
        with pytest.raises(InputError, match="nodes are whole numbers"):
            read_splits(tmp_path / "odd.json", graph)
    record = {"nodes": 178, "splits": [{"test": [1, 2], "pool": [2, 3]}]}
    (tmp_path / "odd.json").write_text(json.dumps({"graphs": {"wine": record}}))
    with pytest.raises(InputError, match="held-out nodes in its pool"):
        read_splits(tmp_path / "odd.json", graph)


def test_public_splits_are_those_that_the_graph_carries() -> None:
    graph = nw.load_graph("wine")
    test, validation = np.zeros(178, dtype=bool), np.zeros(178, dtype=bool)
    test[:50], validation[50:80] = True, True
    carrying = replace(graph, extra={"test_mask": test, "val_mask": validation})
    given = public_splits(carrying)
    assert given.columns == (tuple(range(50)),) and given.validation == (tuple(range(50, 80)),)
    result = nw.evaluate(carrying, "random", budget=6, runs=2, splits="public")
    assert int(result.queries.min()) >= 80
    with pytest.raises(InputError, match="carries no public split"):
        nw.evaluate(graph, splits="public")


@pytest.mark.parametrize(
    ("given", "runs", "told"),
    [
        ("public", 2, "the public split, the same in every run"),
        ("public", 1, "the public split"),
        ("file", 3, "3 splits of splits.json"),
        ("file", 4, "3 splits of splits.json, in turn"),
        ("sizes", 2, "20 test and 10 validation nodes"),
    ],
)
def test_a_result_names_the_splits_that_were_given(tmp_path: Path, given: str, runs: int, told: str) -> None:
    masks = {"test_mask": np.arange(178) < 50, "val_mask": (np.arange(178) >= 50) & (np.arange(178) < 80)}
    graph = replace(nw.load_graph("wine"), extra=masks)
    file = write_splits(tmp_path / "splits.json", graph, runs=3, seed=7)
    splits = {"public": "public", "file": file, "sizes": SplitSizes(20, 10)}[given]
    usual = nw.evaluate(graph, "random", budget=6, runs=runs)
    assert "split" not in repr(usual) and "splits" not in usual.as_dict()
    result = nw.evaluate(graph, "random", budget=6, runs=runs, splits=splits)
    assert f"6 labels, {told}, {runs} run" in repr(result)
    assert result.as_dict()["splits"]["words"] == told and told in result._repr_html_()
    table = nw.compare(graph, ["random", "centrality"], budgets=[6], runs=runs, splits=splits)
    assert all(f"views on raw features; {told}; seed 0." in text for text in (table.to_markdown(), table.to_latex()))


def test_test_nodes_that_were_given_are_named() -> None:
    several = nw.evaluate("wine", "random", budget=6, runs=3, test_nodes=np.arange(356).reshape(178, 2) % 5 == 0)
    assert "2 splits given, in turn" in repr(several)
    assert "1 split given, the same in every run" in repr(
        nw.evaluate("wine", "random", budget=6, runs=3, test_nodes=range(9))
    )


def test_what_an_export_holds_is_read_back_and_written_alike(tmp_path: Path) -> None:
    shared = {"budgets": [6], "runs": 2, "protocol": EvaluationProtocol(noise=0.4)}
    file = nw.compare("wine", ["random", "gain"], **shared).export(tmp_path / "one.json")
    again = nw.compare("wine", ["random", "gain"], splits=file, **shared).export(tmp_path / "two.json")
    one, two = (json.loads(path.read_text()) for path in (file, again))
    assert one["graphs"] == two["graphs"]
    methods = one["settings"][0]["methods"]
    assert methods == two["settings"][0]["methods"]
    labels = nw.load_graph("wine").y
    assert labels is not None
    for method in methods.values():
        asked, said = np.concatenate(method["queries"]), np.concatenate(method["answers"])
        assert asked.shape == said.shape == (12,) and 0 < (said != labels[asked]).sum() < 12, (
            "an oracle that errs in two of five answers"
        )
    usual = nw.compare("wine", ["random"], budgets=[6], runs=2).export(tmp_path / "three.json")
    assert "answers" not in json.loads(usual.read_text())["settings"][0]["methods"]["random"]


def alike(name: str, shift: int) -> nw.Graph:
    """Graphs that share what is given as their name, with other labels each."""
    graph = nw.load_graph("wine")
    assert graph.y is not None
    return replace(graph, name=name, y=np.roll(graph.y, shift))


def test_graphs_of_one_name_are_exported_and_read_back(tmp_path: Path) -> None:
    graphs = [alike("g", 0), alike("g", 1), alike("g 2", 2)]
    first = nw.compare(graphs, ["random"], budgets=[6], runs=2).export(tmp_path / "one.json")
    again = nw.compare(graphs, ["random"], budgets=[6], runs=2, splits=first).export(tmp_path / "two.json")
    one, two = (json.loads(path.read_text()) for path in (first, again))
    assert list(one["graphs"]) == ["g", "g 3", "g 2"] and one["graphs"] == two["graphs"]
    assert [setting["methods"]["random"]["queries"] for setting in one["settings"]] == [
        setting["methods"]["random"]["queries"] for setting in two["settings"]
    ]
    written = write_splits(tmp_path / "written.json", graphs, runs=2)
    for graph in graphs:
        assert read_splits(written, graph) == read_splits(first, graph)


@pytest.mark.parametrize("how", ["python", "command line"])
def test_files_of_one_name_are_exported_and_read_back(tmp_path: Path, how: str) -> None:
    files = [tmp_path / folder / "mine.npz" for folder in ("a", "b")]
    for shift, file in enumerate(files):
        file.parent.mkdir()
        write_graph(alike("mine", shift), file)

    def export(name: str, splits: Path | None) -> Path:
        target, given = tmp_path / name, map(str, files)
        if how == "python":
            return nw.compare(list(files), ["random"], budgets=[6], runs=2, splits=splits).export(target)
        more = ["--splits", str(splits)] if splits else []
        shared = ["--strategies", "random", "--budgets", "6", "--runs", "2", "--quiet", "--export", str(target)]
        assert main(["compare", *given, *shared, *more]) == 0
        return target

    first = export("one.json", None)
    one, two = (json.loads(path.read_text()) for path in (first, export("two.json", first)))
    assert len(one["graphs"]) == 2 and one["graphs"] == two["graphs"]
    assert [setting["methods"] for setting in one["settings"]] == [setting["methods"] for setting in two["settings"]]


def test_different_splits_that_all_fit_a_graph_are_refused(tmp_path: Path) -> None:
    graph = nw.load_graph("wine")
    record = {"name": "wine", "nodes": 178, "splits": [{"test": [1, 2]}]}
    for other, said in ((record, None), ({**record, "splits": [{"test": [1, 3]}]}, "2 different lists of splits")):
        (tmp_path / "both.json").write_text(json.dumps({"graphs": {"wine": record, "wine 2": other}}))
        if said is None:
            assert read_splits(tmp_path / "both.json", graph).columns == ((1, 2),)
        else:
            with pytest.raises(InputError, match=said):
                read_splits(tmp_path / "both.json", graph)


SCRIPT = """
import json, sys, torch
from torch_geometric.datasets import KarateClub
from torch_geometric.nn import SGConv

data, found = KarateClub()[0], json.load(open(sys.argv[1]))
splits, method = found["graphs"]["karate"]["splits"], found["settings"][0]["methods"]["random"]
for split, queries, told in zip(splits, method["queries"], method["micro_f1"]):
    network = SGConv(data.num_features, 4, K=2)
    for weight in network.parameters():
        torch.nn.init.zeros_(weight)
    adam = torch.optim.Adam(network.parameters(), lr=0.05, weight_decay=5e-4)
    for _ in range(30):
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(data.x, data.edge_index)[queries], data.y[queries])
        loss.backward()
        adam.step()
    right = network(data.x, data.edge_index).argmax(1)[split["test"]] == data.y[split["test"]]
    print(round(100 * float(right.float().mean()), 3), round(told, 3))
"""


def plain_sgc(features: int, classes: int) -> torch.nn.Module:
    network = SGConv(features, classes, K=2)
    for weight in network.parameters():
        torch.nn.init.zeros_(weight)
    return network


@pytest.mark.slow
def test_an_exported_comparison_is_scored_again_by_pytorch_geometric_alone(tmp_path: Path) -> None:
    from torch_geometric.datasets import KarateClub

    assert len(SCRIPT.strip().splitlines()) <= 20
    graph = replace(nw.Graph.from_pyg(KarateClub()[0]), name="karate")
    learns = TorchClassifier(plain_sgc, epochs=30, learning_rate=0.05)
    table = nw.compare(graph, ["random"], classifiers=[learns], budgets=[8], runs=4, features="raw", device="cpu")
    file = table.export(tmp_path / "export.json")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    pairs = [line.split() for line in done.stdout.splitlines()]
    assert len(pairs) == 4 and all(ours == theirs for ours, theirs in pairs), pairs
    again = nw.compare(graph, ["random"], classifiers=[learns], budgets=[8], runs=4, features="raw", splits=file)
    assert (
        again.settings[0].outcomes["random"].queries.tolist() == table.settings[0].outcomes["random"].queries.tolist()
    )


def test_the_command_line_takes_splits_and_a_protocol(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write_splits(tmp_path / "splits.json", nw.load_graph("wine"), runs=2)
    shared = ["--runs", "2", "--splits", str(file), "--round-size", "2", "--start", "1", "--noise", "0.1"]
    assert main(["evaluate", "wine", "--budget", "8", *shared, "--scores", "log_loss", "--json", "-"]) == 0
    assert "log_loss" in json.loads(capfd.readouterr().out)
    out = tmp_path / "export.json"
    assert main(["compare", "wine", "--strategies", "random", "--budgets", "8", *shared, "--export", str(out)]) == 0
    assert json.loads(out.read_text())["settings"][0]["methods"]["random"]["queries"]
