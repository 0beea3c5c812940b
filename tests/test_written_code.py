"""The Python of README, of the pages and of the examples runs as it stands there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_documents import ROOT, TEXTS, blocks

LEFT_TO_THE_READER = {  # what a page calls yours
    "index.md": f"frame = {{'abstract': {TEXTS!r}}}\nmy_label = lambda node: ('fine', 'spam')[node % 2]",
    "graphs.md": (
        f"import nodewise as nw, numpy as np\ntexts, x = {TEXTS[:20]!r}, np.random.default_rng(0).normal(size=(20,"
        " 3))\nlabels = ['a', 'b'] * 10\nframe = {'abstract': texts, 'topic': labels, 'size':"
        " list(range(20))}\nclass model:\n    encode = staticmethod(lambda texts: np.array([[len(text),"
        " text.count('o')] for text in texts], float))"
    ),
}


@pytest.mark.slow
def test_the_readme_runs(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    environment = {**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    chosen, policy = (float(line.split(" ± ")[0]) for line in done.stdout.splitlines())
    assert 70 < policy < chosen < 100, "the default leads the paper's way, as the picture above says"
    assert len((tmp_path / "labels.csv").read_text(encoding="utf-8").splitlines()) == 1 + 1797


@pytest.mark.long  # make docs runs them as well
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path, clean_environment: dict[str, str]) -> None:
    environment = {**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", LEFT_TO_THE_READER)
def test_the_python_of_a_page_runs_with_what_it_leaves_to_the_reader(
    name: str, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    code = "\n\n".join([LEFT_TO_THE_READER[name], *blocks(ROOT / "docs" / name, "python")])
    environment = {**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
