"""Figures that authors of later methods print, and programs written again from libraries alone, beside our strategies.

Two of the methods come with a notebook that prints its scores: GraphPart (40 labels on Cora, one seed) and GRAIN (140
labels on Cora, one training). Each is played here with the network, the epochs, the labels and the nodes of its
notebook: by our strategies, and by choices made with networkx, scikit-learn and numpy alone, which share no line with
ours. FeatProp is played in GraphPart's setting, BADGE in rounds with a network of PyTorch Geometric. Their authors
print no figure for graphs that are here.

    python benchmarks/printed_figures.py [--seeds 10]       measures, into benchmarks/results/printed-figures.json: what
                                                           is not there, and our rows of another version
    python benchmarks/printed_figures.py --page            docs/methods.md's tables, from that result and from
                                                           that of graphpart_steps.py
"""

from __future__ import annotations

import argparse
import copy
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from machine import describe_machine
from marks import fill
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize
from torch_geometric.nn import GCNConv

import nodewise as nw
from nodewise.evaluation import write_json
from nodewise.strategies import make_strategy

RESULTS = Path(__file__).parent / "results" / "printed-figures.json"
STEPS = RESULTS.with_name("graphpart-steps.json")
PAGE = Path(__file__).parents[1] / "docs" / "methods.md"
PRINTED: dict[str, dict[str, Any]] = {
    "graphpart": {"micro_f1": 81.43, "macro_f1": 79.85, "seeds": 1},
    "graphpart-far": {"micro_f1": 79.62, "macro_f1": 77.03, "seeds": 1},
    "random": {"micro_f1": 60.64, "macro_f1": 56.56, "seeds": 1},
    "grain-nn": {"micro_f1": 83.3, "seeds": 1},
    "grain-ball": {"micro_f1": 84.2, "seeds": 1},
}
"""As their authors' notebooks print them: GraphPart's main.ipynb (github.com/Mars-tin/GraphPart), GRAIN's Test.ipynb
(github.com/zwt233/Grain)."""


class Network(torch.nn.Module):
    """Two layers of GCNConv, with dropout before each."""

    def __init__(self, features: int, hidden: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.first, self.second = GCNConv(features, hidden, cached=True), GCNConv(hidden, classes, cached=True)
        self.dropout = dropout

    def hidden(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.first(F.dropout(x, self.dropout, self.training), edges).relu()

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.second(F.dropout(self.hidden(x, edges), self.dropout, self.training), edges)


class Setting:
    """A graph as the notebooks have it: features, both directions of edges, labels, public split."""

    def __init__(self, name: str, rows_sum_to_one: bool) -> None:
        graph = nw.load_graph(name)
        dense = np.asarray(graph.x.todense() if sp.issparse(graph.x) else graph.x, dtype=np.float32)
        dense = normalize(dense, "l1").astype(np.float32) if rows_sum_to_one else dense
        self.graph = nw.Graph.build(
            graph.edge_index, x=dense, y=np.asarray(graph.y), num_nodes=graph.num_nodes, name=f"{name}-again"
        )
        self.x, self.y = torch.from_numpy(dense), torch.from_numpy(np.asarray(graph.y).astype(np.int64))
        ends = torch.from_numpy(np.asarray(graph.edge_index).astype(np.int64))
        self.edges = torch.cat([ends, ends.flip(0)], 1)
        self.classes = int(self.y.max()) + 1
        fields = graph.extra if hasattr(graph, "extra") else {}
        self.test, self.validation = (np.asarray(fields[f"planetoid_{part}"]) for part in ("test", "val"))
        count = graph.num_nodes
        self.adjacency = sp.csr_matrix((np.ones(self.edges.shape[1]), self.edges.numpy()), (count, count))
        loops = self.adjacency + sp.eye(count)
        scale = sp.diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
        self.step = (scale @ loops @ scale).tocsr()
        self.propagated = np.asarray(self.step @ (self.step @ dense))

    def train(self, nodes: np.ndarray, hidden: int, dropout: float, rate: float, epochs: int, seed: int) -> Network:
        torch.manual_seed(seed)
        network = Network(self.x.shape[1], hidden, self.classes, dropout)
        optimiser = torch.optim.Adam(network.parameters(), rate, weight_decay=5e-4)
        labelled, best = torch.from_numpy(nodes), (-1.0, network)
        for _ in range(epochs):
            network.train()
            optimiser.zero_grad()
            F.cross_entropy(network(self.x, self.edges)[labelled], self.y[labelled]).backward()
            optimiser.step()
            if dropout:  # GRAIN's notebook takes the last epoch of those that are best on the validation nodes
                right = self.accuracy(network, self.validation)
                best = (right, copy.deepcopy(network)) if right >= best[0] else best
        return best[1] if dropout else network

    @torch.no_grad()
    def predicted(self, network: Network) -> torch.Tensor:
        network.eval()
        return network(self.x, self.edges).argmax(1)

    def accuracy(self, network: Network, nodes: np.ndarray) -> float:
        return float((self.predicted(network) == self.y)[nodes].float().mean())


def ours(setting: Setting, strategy: str, budget: int, seed: int, pool: np.ndarray | None = None) -> np.ndarray:
    """What a session with the strategy asks, in its order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.nodewise"
        options = {} if pool is None else {"candidates": pool}
        with nw.Session.create(
            path,
            setting.graph,
            strategy=strategy,
            classifier="gcn",
            features="raw",
            budget=budget,
            seed=seed,
            **options,
        ) as session:  # type: ignore[arg-type]
            return np.array([query.node for query in session.ask(budget)])


def featprop(setting: Setting, budget: int, seed: int) -> np.ndarray:
    """The nodes nearest to the centres of scikit-learn's k-means."""
    return nearest_to_centres(setting.propagated, np.arange(len(setting.propagated)), budget, seed, [])


def nearest_to_centres(
    points: np.ndarray, part: np.ndarray, count: int, seed: int, asked: list[int], far: bool = False
) -> np.ndarray:
    """Of one part's nodes those nearest to its centres.

    In the far form the distance to earlier parts' queries is taken off.
    """
    inside, chosen = points[part], []
    centres = KMeans(count, init="k-means++", n_init=1, random_state=seed).fit(inside).cluster_centers_
    away = np.min([np.linalg.norm(inside - points[node], axis=1) for node in asked], 0) if far and asked else 0.0
    for centre in centres:
        distance = np.linalg.norm(inside - centre, axis=1) - away
        distance[chosen] = np.inf
        chosen.append(int(distance.argmin()))
    return part[chosen]


def graphpart(setting: Setting, budget: int, seed: int, far: bool = False) -> np.ndarray:
    """Communities of networkx, joined by Ward's cost of their mean features to seven parts, as Cora has there."""
    parts = [
        np.array(sorted(part))
        for part in nx.community.greedy_modularity_communities(nx.from_scipy_sparse_array(setting.adjacency))
    ]
    features = setting.x.numpy()
    while len(parts) > 7:
        sizes = np.array([len(part) for part in parts])
        means = np.stack([features[part].mean(0) for part in parts])
        distances = np.linalg.norm(means[:, None] - means[None], axis=2)
        cost = distances * (sizes[:, None] * sizes) / (sizes[:, None] + sizes) + np.diag(np.full(len(parts), np.inf))
        first, second = sorted(divmod(int(cost.argmin()), len(parts)))
        parts[first] = np.concatenate([parts[first], parts.pop(second)])
    parts.sort(key=len, reverse=True)
    asked: list[int] = []
    for turn, part in enumerate(parts):
        count = budget // 7 + (turn < budget % 7)
        asked.extend(nearest_to_centres(setting.propagated, np.sort(part), count, seed, asked, far).tolist())
    return np.array(asked)


def grain(setting: Setting, budget: int, pool: np.ndarray, ball: bool) -> np.ndarray:
    """The greedy choice over all nodes of the pool, by dense matrices."""
    reach = (setting.step @ setting.step).toarray() != 0
    squares = (setting.propagated**2).sum(1)
    distance = np.sqrt(np.maximum(squares[:, None] + squares - 2 * setting.propagated @ setting.propagated.T, 0))
    np.fill_diagonal(distance, 0)
    distance /= distance.max()
    balls = reach.astype(np.float32) @ (distance <= 0.05).astype(np.float32) > 0
    influenced, covered, least = np.zeros(len(reach), bool), np.zeros(len(reach), bool), np.ones(len(reach))
    left, chosen = list(pool), []
    for _ in range(budget):
        if ball:  # the released program counts the balls alone
            worth = (balls[left] | covered).sum(1).astype(float)
        else:
            worth = (reach[left] | influenced).sum(1) + (1 - np.minimum(distance[left], least)).sum(1)
        node = left.pop(int(worth.argmax()))
        influenced, covered, least = influenced | reach[node], covered | balls[node], np.minimum(least, distance[node])
        chosen.append(node)
    return np.array(chosen)


def badge_rounds(
    setting: Setting,
    choose: Callable[[Network, np.ndarray, int], np.ndarray],
    seed: int,
    rounds: int = 5,
    size: int = 7,
) -> np.ndarray:
    """Labels after some rounds, the first at random, a new network in each."""
    labelled = np.random.default_rng(seed).permutation(len(setting.y))[:size]
    for number in range(1, rounds):
        network = setting.train(labelled, 16, 0.0, 0.01, 200, seed)
        labelled = np.concatenate([labelled, choose(network, labelled, seed * 100 + number)])
    return labelled


def badge_of_libraries(setting: Setting) -> Callable[[Network, np.ndarray, int], np.ndarray]:
    """k-means++ of scikit-learn over the gradients, written out."""

    def choose(network: Network, labelled: np.ndarray, seed: int) -> np.ndarray:
        with torch.no_grad():
            network.eval()
            hidden, p = network.hidden(setting.x, setting.edges), network(setting.x, setting.edges).softmax(1)
        error = p - F.one_hot(p.argmax(1), setting.classes)
        pool = np.setdiff1d(np.arange(len(p)), labelled)
        gradients = (error[:, :, None] * hidden[:, None]).flatten(1).numpy()[pool]
        return pool[kmeans_plusplus(gradients, 7, random_state=seed, n_local_trials=1)[1]]

    return choose


def badge_of_ours(setting: Setting) -> Callable[[Network, np.ndarray, int], np.ndarray]:
    """Our drawing of a batch from the same network's output."""
    from nodewise.strategies.badge import gradients
    from nodewise.strategies.scoring import gumbel_scores

    def choose(network: Network, labelled: np.ndarray, seed: int) -> np.ndarray:
        draws = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            network.eval()
            embedded = gradients(
                network(setting.x, setting.edges).softmax(1)[None], network.hidden(setting.x, setting.edges)[None]
            )
        left = torch.ones(1, len(setting.y), dtype=torch.bool)
        left[0, labelled] = False
        nodes: list[int] = []
        distance = embedded.squares
        for number in range(7):
            score = (
                distance
                if number == 0
                else gumbel_scores(distance.clamp_min(1e-30), torch.rand(left.shape, generator=draws))
            )
            node = score.masked_fill(~left, -torch.inf).argmax(1)
            fresh = embedded.squared_distance(node)
            distance = fresh if number == 0 else torch.minimum(distance, fresh)
            left[0, node] = False
            nodes.append(int(node))
        return np.array(nodes)

    return choose


def scored(values: list[tuple[float, float]]) -> dict[str, Any]:
    """Mean and Student's interval of Micro- and Macro-F1, percent."""
    from nodewise.evaluation import confidence_interval

    table = 100 * np.array(values)
    return {
        name: dict(zip(("mean", "ci95"), confidence_interval(table[:, column]), strict=True))
        | {"values": table[:, column].round(2).tolist()}
        for column, name in enumerate(("micro_f1", "macro_f1"))
    }


def write_page() -> None:
    """The table of docs/methods.md, from the result."""
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = {(row["method"], row["by"]): row for row in record["rows"]}

    def cell(row: dict[str, Any] | None, metric: str) -> str:
        return "" if row is None else f"{row[metric]['mean']:.1f} ± {row[metric]['ci95']:.1f}"

    def printed(method: str) -> str:
        figures = record["printed"].get(method, {})
        return " / ".join(f"{figures[name]:.1f}" for name in ("micro_f1", "macro_f1") if name in figures)

    lines = [
        "| method | labels | printed, one run | written again from libraries | nodewise | version | the same nodes |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for method in dict.fromkeys(row["method"] for row in record["rows"]):
        again, here = rows.get((method, "libraries")), rows.get((method, "nodewise"))
        cells = [" / ".join(filter(None, (cell(row, "micro_f1"), cell(row, "macro_f1")))) for row in (again, here)]
        same = "" if here is None or "same_nodes" not in here else f"{here['same_nodes']} of {here['labels']}"
        labels = (again or here or {})["labels"]
        version = "" if here is None else here.get("version", "not recorded")
        lines.append(f"| `{method}` | {labels} | {printed(method)} | {cells[0]} | {cells[1]} | {version} | {same} |")
    fill(PAGE, {"printed": "\n".join(lines), "steps": "\n".join(steps_table())})


def steps_table() -> list[str]:
    """What each step of GraphPart is worth, from `graphpart_steps.py`'s result."""
    rows = json.loads(STEPS.read_text(encoding="utf-8"))["rows"]
    lines = [f"| who makes which step, {rows[0]['runs']} seeds | parts | Micro-F1 |", "| --- | --- | ---: |"]
    for row in rows:
        score = row["micro_f1"]
        name = row["step"] if row["step"] in ("libraries", "all ours") else f"libraries, but {row['step']}"
        sizes = ", ".join(map(str, row["parts"][0])) if len(row["parts"]) == 1 else "others with each seed"
        lines.append(f"| {name} | {sizes} | {score['mean']:.1f} ± {score['ci95']:.1f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", help="only these, with commas")
    parser.add_argument("--page", action="store_true", help="write the table into docs/methods.md")
    given = parser.parse_args()
    if given.page:
        write_page()
        return
    record: dict[str, Any] = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    rows: dict[tuple[str, str], dict[str, Any]] = {(one["method"], one["by"]): one for one in record.get("rows", ())}
    chosen = given.methods.split(",") if given.methods else None

    def row(
        setting: str,
        method: str,
        labels: int,
        by: str,
        values: Callable[[], list[tuple[float, float]]],
        same_nodes: Callable[[], int] | None = None,
    ) -> None:
        version = make_strategy(method).version if by == "nodewise" else None
        known = rows.get((method, by))
        if (known is not None and known.get("version") == version) or (chosen is not None and method not in chosen):
            return
        begin, found = time.process_time(), values()
        about = {"setting": setting, "method": method, "labels": labels, "by": by, "runs": len(found), **scored(found)}
        if version is not None:
            about["version"] = version
        about["machine"], about["processor_seconds"] = describe_machine(), round(time.process_time() - begin, 1)
        if same_nodes is not None:
            about["same_nodes"] = same_nodes()
        rows[method, by] = about
        print(method, by, {name: round(about[name]["mean"], 1) for name in ("micro_f1", "macro_f1")}, flush=True)
        once = {"machine": record["machine"]} if "machine" in record else {}  # of rows that do not name one
        save = {"schema": 1, "benchmark": "printed figures", **once, "printed": PRINTED, "rows": list(rows.values())}
        write_json(given.out, save, compact=True)

    part = Setting("cora", rows_sum_to_one=False)

    def whole(nodes: np.ndarray, seed: int) -> tuple[float, float]:
        predicted = part.predicted(part.train(nodes, 16, 0.0, 0.01, 300, seed))
        return f1_score(part.y, predicted, average="micro"), f1_score(part.y, predicted, average="macro")

    def each(choose: Callable[[int], np.ndarray]) -> list[tuple[float, float]]:
        return [whole(choose(s), s) for s in seeds]

    seeds, few = range(given.seeds), range((given.seeds + 1) // 2)  # one choice of nodes, so only trainings differ
    everything = np.arange(len(part.y))
    row(
        "graphpart",
        "random",
        40,
        "libraries",
        lambda: [whole(np.random.default_rng(s).permutation(everything)[:40], s) for s in seeds],
    )
    for method, again in (
        ("graphpart", lambda s: graphpart(part, 40, s)),
        ("graphpart-far", lambda s: graphpart(part, 40, s, far=True)),
        ("featprop", lambda s: featprop(part, 40, s)),
    ):
        row("graphpart", method, 40, "libraries", partial(each, again))
        row("graphpart", method, 40, "nodewise", partial(each, partial(ours, part, method, 40)))
    for by, choose in (("libraries", badge_of_libraries(part)), ("nodewise", badge_of_ours(part))):
        row("badge", "badge", 35, by, partial(each, partial(badge_rounds, part, choose)))

    cover = Setting("cora", rows_sum_to_one=True)
    pool = np.setdiff1d(everything, np.concatenate([cover.test, cover.validation]))

    def public(nodes: np.ndarray, seed: int) -> tuple[float, float]:
        network = cover.train(nodes, 128, 0.85, 0.05, 400, seed)
        predicted, truth = cover.predicted(network)[cover.test], cover.y[cover.test]
        return f1_score(truth, predicted, average="micro"), f1_score(truth, predicted, average="macro")

    def trainings(choose: Callable[[], np.ndarray]) -> list[tuple[float, float]]:
        nodes = choose()
        return [public(nodes, s) for s in few]

    def shared(one: Callable[[], np.ndarray], other: Callable[[], np.ndarray]) -> int:
        return len(np.intersect1d(one(), other()))

    for method in ("grain-nn", "grain-ball"):
        nodes = partial(grain, cover, 140, pool, method == "grain-ball")
        mine = partial(ours, cover, method, 140, 0, pool)
        row("grain", method, 140, "libraries", partial(trainings, nodes))
        row("grain", method, 140, "nodewise", partial(trainings, mine), partial(shared, nodes, mine))


if __name__ == "__main__":
    main()
