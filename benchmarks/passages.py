"""Which files data pass on the two ways through the house, in order.

Modules with an executed function, ``__init__`` aside.

    python benchmarks/passages.py            prints both lists and the counts
    python benchmarks/passages.py --write    also writes them into docs/architecture.md

The first way is a person's: CSV, graph, session, ask, tell, predict, export. The second is a researcher's: graphs,
training, policy, evaluation, table. Each is walked once to have everything imported, so that what modules do when they
are imported does not count, and then once more, watched.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import nodewise as nw
from nodewise.datasets import synthetic_graph
from nodewise.evaluation.results.comparison import score_table
from nodewise.evaluation.results.tables import to_markdown
from nodewise.graph import write_graph
from nodewise.policy import load_policy

PACKAGE = Path(nw.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
LIMITS = {"person": 36, "researcher": 29}
"""Files on each way at most. The goal is 30 on either. On a person's way kin views (products and nearest neighbours,
a file of their own, and how all sizes of graphs diffuse) took four more, how new rows become features one, the job
that rows may join one, views as gain looks at them one; that the number of a row, as a query gives it, is not looked
up took one off."""


def write_csv(folder: Path) -> None:
    """A small graph as two tables, as a person has them."""
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 2
    x = rng.normal(size=(60, 4)) + 2 * kinds[:, None]
    rows = [",".join(map(str, (f"n{node}", *values.round(3)))) for node, values in enumerate(x)]
    (folder / "nodes.csv").write_text("\n".join(["id,a,b,c,d", *rows]) + "\n")
    pairs = [(a, b) for a, b in rng.integers(0, 60, (300, 2)) if a < b and kinds[a] == kinds[b]]
    (folder / "edges.csv").write_text(
        "\n".join(["source,target", *(f"n{a},n{b}" for a, b in dict.fromkeys(pairs))]) + "\n"
    )


def write_graphs(folder: Path) -> None:
    """Three small labelled graphs, as a researcher has them."""
    for seed, name in enumerate(("one", "two", "three")):
        write_graph(synthetic_graph(nodes=60, classes=2, features=4, seed=seed, name=name), folder / f"{name}.npz")


def person(folder: Path) -> None:
    """CSV → graph → session → ask → tell → predict → export."""
    graph = nw.Graph.from_csv(folder / "nodes.csv", folder / "edges.csv")
    session = nw.Session.create(folder / "job.nodewise", graph, budget=4, classes=["even", "odd"])
    while not session.done:
        query = session.ask()
        session.tell(query.node, ("even", "odd")[query.node % 2])
    session.predict()
    session.export(folder / "labels.csv")
    session.close()
    (folder / "job.nodewise").unlink()


def researcher(folder: Path) -> None:
    """Graphs → train → policy → evaluate → table."""
    sources = [nw.load_graph(folder / "one.npz"), nw.load_graph(folder / "two.npz")]
    nw.train_policy(sources, budgets=(3, 3), episodes=11, batch=2, device="cpu", out=folder / "policy.safetensors")
    policy = load_policy(folder / "policy.safetensors")
    table = nw.compare(folder / "three.npz", ["random", policy], classifiers=["gcn"], budgets=4, runs=4, device="cpu")
    to_markdown(score_table(table))


WAYS: dict[str, Callable[[Path], None]] = {"person": person, "researcher": researcher}


def watched(way: Callable[[], None]) -> list[str]:
    """The package's files of which a function ran, in the order of the first."""
    passed: dict[str, None] = {}
    seen: set[Any] = set()

    def look(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or code in seen:
            return
        seen.add(code)
        file = Path(code.co_filename)
        if (
            code.co_flags & inspect.CO_OPTIMIZED and PACKAGE in file.parents and file.name != "__init__.py"
        ):  # no module's or class's body
            passed.setdefault(file.relative_to(PACKAGE).as_posix())

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        way()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return list(passed)


def passages() -> dict[str, list[str]]:
    """The files that each way passes."""
    lists = {}
    for name, way in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            write_csv(Path(folder))
            write_graphs(Path(folder))
            way(Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            write_csv(Path(folder))
            write_graphs(Path(folder))
            lists[name] = watched(lambda way=way, folder=folder: way(Path(folder)))  # type: ignore[misc]
    return lists


def summary(file: str) -> str:
    """What a module says it is: the first paragraph of its docstring, on one line."""
    text = ast.get_docstring(ast.parse((PACKAGE / file).read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the lists into docs/architecture.md")
    given = parser.parse_args()
    lists = passages()
    text = PAGE.read_text(encoding="utf-8")
    for name, files in lists.items():
        ground = sum(file.startswith("ground/") for file in files)
        print(f"{name}: {len(files)} files, {ground} of them the ground's (at most {LIMITS[name]})")
        rows = [f"{number}. `{file}`: {summary(file)}" for number, file in enumerate(files, start=1)]
        print(*rows, sep="\n", end="\n\n")
        block = f"<!-- {name} -->\n" + "\n".join(rows) + f"\n<!-- /{name} -->"
        text = re.sub(rf"<!-- {name} -->.*?<!-- /{name} -->", lambda _, block=block: block, text, flags=re.DOTALL)  # type: ignore[misc]
    if given.write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
