"""The names that users may rely on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nodewise as nw

PUBLIC = [
    "Graph",
    "NodewiseError",
    "Policy",
    "Session",
    "__version__",
    "compare",
    "evaluate",
    "list_datasets",
    "load_graph",
    "train_policy",
]


def test_the_public_names_are_these() -> None:
    assert sorted(nw.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(nw, name) is not None
    assert name in dir(nw)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'grahp'"):
        _ = nw.grahp  # type: ignore[attr-defined]


def test_version_is_the_one_that_the_package_is_built_with() -> None:
    import re

    assert re.fullmatch(r"\d+\.\d+\.\d+([a-z0-9.]+)?", nw.__version__)


def test_import_is_light(clean_environment: dict[str, str]) -> None:
    code = "import sys, nodewise; nodewise.__version__, nodewise.NodewiseError; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment).stdout.split()
    heavy = {
        "torch",
        "torch_geometric",
        "networkx",
        "matplotlib",
        "duckdb",
        "ray",
        "sklearn",
        "scipy",
        "numpy",
        "typer",
        "rich",
        "fastapi",
        "uvicorn",
        "pydantic",
    }
    assert not heavy.intersection(loaded)


def test_typing_marker_lies_beside_the_package() -> None:
    assert (Path(nw.__file__).parent / "py.typed").is_file()
