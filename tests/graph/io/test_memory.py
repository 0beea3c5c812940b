"""What reading a file takes, measured in children of limited memory: never more than the bound that
`nodewise.graph.io.files` tells.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nodewise.graph.io.files import MEMORY
from tests.graph.io.hostile import HOSTILE, LARGE, Maker

pytest.importorskip("resource", reason="memory is measured in another way there")

PARENT = """
import json, os, resource, sys
from pathlib import Path
import sklearn.feature_extraction.text, PIL.Image
from nodewise.graph import Graph, read_graph
from nodewise.graph.knn.knn import graph_from_things
from nodewise.ground.errors import GraphError

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

def read(path):
    if path.name == "nodes.csv":
        return Graph.from_csv(path)
    things = path.suffix == ".npy" or path.name in ("p", "things.csv")
    return graph_from_things(path, knn=1) if things else read_graph(path)

read(Path(sys.argv[1]))  # whatever is imported on the way
for path in map(Path, sys.argv[2:]):
    sys.stdout.flush()
    if child := os.fork():
        if os.waitpid(child, 0)[1]:
            print(json.dumps({"died": True}))
        continue
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
    before, said, nodes = peak(), "", 0
    try:
        nodes = read(path).num_nodes
    except GraphError as error:
        said = str(error)
    print(json.dumps({"took": peak() - before, "said": said, "nodes": nodes}), flush=True)
    os._exit(0)
"""


def read_each(makers: Mapping[str, Maker], folder: Path) -> dict[str, dict[str, Any]]:
    """For each case: bytes that reading took at its peak and may take, the sentence of a refusal, the nodes that were
    read.
    """
    (folder / "nodes.csv").write_text("id,size\na,1\nb,2\n")
    paths = {}
    for number, (case, make) in enumerate(makers.items()):
        (folder / str(number)).mkdir()
        paths[case] = make(folder / str(number))
    arguments = [sys.executable, "-c", PARENT, str(folder / "nodes.csv"), *map(str, paths.values())]
    process = subprocess.run(arguments, capture_output=True, text=True, timeout=500, check=True)
    results = dict(zip(paths, map(json.loads, process.stdout.splitlines()), strict=True))
    for case, path in paths.items():
        files = [path] if path.is_file() else list(path.iterdir())
        results[case]["bound"] = 2**26 + MEMORY * sum(file.stat().st_size for file in files)
    return results


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return read_each({case: make for case, (make, _) in HOSTILE.items()}, tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return read_each(LARGE, tmp_path_factory.mktemp("large"))


@pytest.mark.slow
@pytest.mark.parametrize("case", HOSTILE)
def test_a_small_file_cannot_take_much_memory(case: str, refusals: dict[str, dict[str, Any]]) -> None:
    result = refusals[case]
    assert result["took"] <= result["bound"]
    assert re.search(HOSTILE[case][1], result["said"])
    assert "\n" not in result["said"]


@pytest.mark.long
@pytest.mark.parametrize("case", LARGE)
def test_what_is_read_takes_no_more_than_is_told(case: str, readings: dict[str, dict[str, Any]]) -> None:
    result = readings[case]
    assert not result["said"]
    assert result["nodes"]
    assert result["took"] <= result["bound"]
