"""What a release needs: one version everywhere, a changelog that knows it, and distributions that a package index would
take.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import nodewise as nw

ROOT = Path(__file__).parents[1]


def test_one_version_everywhere() -> None:
    """The version stands in the package; the changelog's first heading and the citation say the same."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+) \((not released|\d{4}-\d{2}-\d{2})\)$", changelog, flags=re.MULTILINE)
    assert headings and headings[0][0] == nw.__version__
    assert [state for _, state in headings[1:]].count("not released") == 0
    assert f"\nversion: {nw.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_extras_are_told_in_the_readme_and_tried_by_the_public_ci() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = project.split("[project.optional-dependencies]")[1].split("[project.scripts]")[0]
    extras = set(re.findall(r"^(\w+) = \[", section, flags=re.MULTILINE)) - {"all", "dev"}
    readme, matrix = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", ".github/workflows/ci.yml"))
    assert [extra for extra in sorted(extras) if f"| `{extra}` |" not in readme] == []
    assert [extra for extra in sorted(extras - {"docs"}) if not re.search(rf"extra: \[.*\b{extra}\b.*\]", matrix)] == []
    told = set(re.findall(r"^\| `(\w+)` \| ", readme, flags=re.MULTILINE))
    tried = {name for names in re.findall(r"extra: \[(.*)\]", matrix) for name in names.split(", ")}
    assert (told | tried) - extras == set(), "an extra that does not exist"
    supported = re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    assert [version for version in supported if f'"{version}"' not in matrix] == []


def test_every_pin_can_be_had_on_the_oldest_python_or_says_that_it_cannot() -> None:
    """A pin without a marker that the oldest Python cannot take sends pip's resolver through every version of
    everything else.
    """
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    oldest = {"python_version": "3.11", "python_full_version": "3.11.0"}
    wrong = []
    for pin in (Requirement(line) for line in lines if not line.startswith("#")):
        try:
            installed = metadata(pin.name)
        except PackageNotFoundError:
            continue
        needs, applies = installed["Requires-Python"] or "", pin.marker is None or pin.marker.evaluate(oldest)
        if applies and pin.specifier.contains(installed["Version"]) and not SpecifierSet(needs).contains("3.11.0"):
            wrong.append(f"{pin} needs Python {needs}")
    assert wrong == []


def test_the_page_of_clean_installs_is_made_from_the_result() -> None:
    from benchmarks.clean_installs import PAGE, RESULT, page

    record = json.loads(RESULT.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == page(record)
    assert [row for row in record["rows"] if row["failed"] is not None and row["how"] == "installed"] == []


@pytest.mark.slow
def test_the_distributions_pass_twine_and_the_source_one_builds(tmp_path: Path) -> None:
    pytest.importorskip("build")
    pytest.importorskip("twine")
    source, dist = tmp_path / "source", tmp_path / "dist"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    files = sorted(dist.iterdir())
    assert [path.name for path in files] == [
        f"nodewise-{nw.__version__}-py3-none-any.whl",
        f"nodewise-{nw.__version__}.tar.gz",
    ]
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with tarfile.open(files[1]) as archive:
        packed = {name.partition("/src/nodewise/")[2] for name in archive.getnames()}
    package = source / "src" / "nodewise"
    there = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert {Path(name).suffix for name in there} >= {".py", ".safetensors", ".html", ".css", ".js"}
    assert there - packed == set(), "every file of the package is packed"
