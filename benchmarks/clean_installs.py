"""Installs the wheel into fresh environments, alone and with every extra, and runs what the extra is for.

Writes a table into docs/installs.md.

    python benchmarks/clean_installs.py [--only plain,studio] [--others 3.12=/path/to/python3.12 3.14 …]
    [--install-others] [--page]

Every environment is made anew from an interpreter alone (nothing is taken from the system or this checkout) and deleted
afterwards. Further Pythons are asked for a dry run of the resolver, with every extra at once, or with
``--install-others`` installed into and run, too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "clean-installs.json"
PAGE = ROOT / "docs" / "installs.md"
SHORT = "nodewise evaluate wine --strategy random --runs 2"

STUDIO = """
import subprocess, sys, time, urllib.request
from pathlib import Path
server = subprocess.Popen([Path(sys.executable).with_name("nodewise"), "studio", "--no-browser", "--port", "8231"])
try:
    for _ in range(120):
        try:
            page = urllib.request.urlopen("http://127.0.0.1:8231/", timeout=5).read()
            break
        except OSError:
            time.sleep(0.5)
    assert b"<html" in page.lower()
finally:
    server.terminate()
    server.wait(30)
"""
PICTURES = """
from PIL import Image
from pathlib import Path
Path("photos").mkdir()
for i in range(6):
    Image.new("RGB", (8, 8), (40 * i, 90, 255 - 40 * i)).save(f"photos/{i}.png")
"""
PARQUET = """
import duckdb
from pathlib import Path
from nodewise.studio.work.table_files import normalise_table
duckdb.sql("COPY (SELECT 'a' AS text, 'x' AS label) TO 'table.parquet'")
normalise_table(Path("table.parquet"), "table.parquet", Path("table.csv"))
assert Path("table.csv").read_text().split() == ["text,label", "a,x"]
"""
PANDAS = """
import nodewise as nw
frame = nw.evaluate(nw.load_graph("wine"), "random", runs=2, budget=5).to_dataframe()
assert len(frame)
"""
REDDIT = """
import duckdb, zstandard
from nodewise.datasets.reddit import build_reddit
"""

# What is run for each extra, beside the short command: what it says in the table, and the commands themselves.
TRIED: dict[str, tuple[str, list[list[str]]]] = {
    "plain": (
        "`nodewise demo`, `convert --knn` of a folder of pictures",
        [
            ["nodewise", "demo"],
            ["python", "-c", PICTURES],
            ["nodewise", "convert", "photos", "photos.npz", "--knn", "2"],
        ],
    ),
    "studio": ("`nodewise studio` answers with its page", [["python", "-c", STUDIO]]),
    "cluster": (
        "`compare --engine ray`",
        [["nodewise", "compare", "wine", "--strategies", "random", "--runs", "2", "--engine", "ray", "--out", "out"]],
    ),
    "reddit": (
        "DuckDB, zstandard and the builder are imported",
        [["python", "-c", REDDIT], ["nodewise", "reddit", "build", "--help"]],
    ),
    "ogb": ("ogb's reader is imported", [["python", "-c", "from ogb.nodeproppred import NodePropPredDataset"]]),
    "parquet": ("a Parquet table is read", [["python", "-c", PARQUET]]),
    "tensorboard": (
        "`train --tensorboard`",
        [
            [
                "nodewise",
                "train",
                "wine",
                "--episodes",
                "1",
                "--budget",
                "4",
                "--out",
                "p.safetensors",
                "--tensorboard",
                "logs",
            ]
        ],
    ),
    "pandas": ("`to_dataframe()`", [["python", "-c", PANDAS]]),
    "docs": (
        "Sphinx with this site's theme and parser",
        [["python", "-c", "import furo, myst_parser, sphinx, sphinx_copybutton"]],
    ),
}


@cache
def torch_version() -> str:
    """The version of torch that the tests are held to."""
    return str(re.findall(r"^torch==(\S+)", (ROOT / "constraints.txt").read_text(), flags=re.MULTILINE)[0])


def run(command: list[str], folder: Path, bin: Path | None = None) -> str | None:
    """None where a command ends well, else the last lines that it said."""
    environment = {
        key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV", "NODEWISE_DATA"}
    }
    environment |= {"XDG_CACHE_HOME": str(folder / "cache")} if bin is not None else {}
    program = command if bin is None else [str(bin / command[0]), *command[1:]]
    done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = (done.stderr or done.stdout).strip().splitlines() or ["nothing was said"]
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return None if done.returncode == 0 else (errors or said[-3:])[0][-600:]


def distributions(folder: Path) -> Path:
    """Builds wheel and source distribution, has twine check them, and returns the wheel."""
    source = folder / "source"  # a copy: nothing is built inside the checkout
    shutil.copytree(
        ROOT,
        source,
        ignore=shutil.ignore_patterns(".*", "build", "dist", "node_modules", "shared", "*.egg-info", "__pycache__"),
    )
    for command in (
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(source)],
        [
            sys.executable,
            "-m",
            "twine",
            "check",
            "--strict",
            *(str(folder / "dist" / f"*{ending}") for ending in (".whl", ".tar.gz")),
        ],
    ):
        if said := run(command, folder):
            sys.exit(f"{' '.join(command[:4])} failed: {said}")
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def install(python: str, extra: str, wheel: Path, folder: Path) -> dict[str, Any]:
    """One environment: made, filled, tried, deleted."""
    home, work = folder / "environment", folder / "work"
    work.mkdir()
    try:
        what = str(wheel) if extra == "plain" else f"{wheel}[{extra}]"
        pip = ["python", "-m", "pip", "--no-input"]
        failed = (
            run([python, "-m", "venv", str(home)], folder)
            or run(
                [*pip, "install", "--prefer-binary", "-c", str(ROOT / "constraints.txt"), what],
                folder / "work",
                home / "bin",
            )
            or run([*pip, "check"], work, home / "bin")
        )
        for command in [["nodewise", "--version"], SHORT.split(), *TRIED[extra][1]]:
            failed = failed or run(command, work, home / "bin")
        listed = subprocess.run(
            [home / "bin" / "python", "-m", "pip", "list", "--format", "json"],
            capture_output=True,
            text=True,
            check=False,
        )
        packages = {each["name"].lower(): each["version"] for each in json.loads(listed.stdout or "[]")}
        version = subprocess.run(
            [home / "bin" / "python", "-V"], capture_output=True, text=True, check=True
        ).stdout.split()[1]
        return {
            "python": version,
            "extra": extra,
            "how": "installed",
            "failed": failed,
            "packages": len(packages),
            "torch": packages.get("torch"),
        }
    finally:
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(work, ignore_errors=True)


def stand_in(folder: Path) -> Path:
    """A folder with an empty wheel that has the name, version and requirements of torch for the CPU."""
    folder.mkdir(exist_ok=True)
    info = f"torch-{torch_version()}+cpu.dist-info"
    needs = ["filelock", "typing-extensions>=4.10.0", "setuptools>=77.0.3", "sympy>=1.13.3", "networkx>=2.5.1"]
    needs += ["jinja2", "fsspec>=0.8.5"]
    told = [
        f"Metadata-Version: 2.1\nName: torch\nVersion: {torch_version()}+cpu",
        *(f"Requires-Dist: {one}" for one in needs),
    ]
    with zipfile.ZipFile(folder / f"torch-{torch_version()}+cpu-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join(told) + "\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return folder


@cache
def torch_wheels() -> str:
    """The names of torch's wheels for Linux in the package index that pip uses, a line each."""
    from pip._internal.models.index import PyPI

    index = os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/")
    with urllib.request.urlopen(f"{index}/torch/", timeout=60) as answer:
        names = re.findall(rf">(torch-{re.escape(torch_version())}-[^<]*x86_64\.whl)<", answer.read().decode())
    return "\n".join(names)


def resolve(name: str, python: str, wheel: Path, folder: Path) -> dict[str, Any]:
    """A dry run of a Python's resolver over wheels alone, with every extra at once.

    Without a program this Python's resolver looks for the other's wheels. An empty wheel stands in for torch, whose
    builds for CUDA would be fetched with gigabytes of what they need; the index is asked whether it has torch's own.
    """
    command = [
        python or sys.executable,
        "-m",
        "pip",
        "--no-input",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--only-binary=:all:",
        "--quiet",
        "--report",
        "report.json",
    ]
    command += [] if python else ["--python-version", name, "--target", "nowhere"]
    command += ["--use-feature=fast-deps", "--find-links", str(stand_in(folder / "stand-in"))]
    failed = run([*command, "-c", str(ROOT / "constraints.txt"), f"{wheel}[all,docs]"], folder)
    if not failed and f"-cp{name.replace('.', '')}-" not in torch_wheels():
        failed = f"the index has no wheel of torch {torch_version()} for Python {name}"
    report = folder / "report.json"
    found = (
        {
            each["metadata"]["name"].lower(): each["metadata"]["version"]
            for each in json.loads(report.read_text())["install"]
        }
        if not failed
        else {}
    )
    report.unlink(missing_ok=True)
    return {
        "python": name,
        "extra": "all, docs",
        "how": "resolved",
        "failed": failed,
        "packages": len(found),
        "torch": torch_version() if found else None,
    }


def page(record: dict[str, Any]) -> str:
    """The table as a page."""
    lines = [
        "# Clean installs",
        "",
        "<!-- generated by benchmarks/clean_installs.py, do not edit -->",
        "",
        (
            "The wheel, checked by twine as is the source distribution, installed into fresh environments that hold"
            " nothing else, with the versions of"
        ),
        (
            f"`constraints.txt`; in each `pip check`, `nodewise --version`, `{SHORT}`, and what the extra is for. Where"
            " it says *resolved*, pip found wheels for"
        ),
        "everything on that Python, and nothing was run; torch was not fetched, the index was asked for its wheel.",
        "Where no such Python was at hand, another one's pip looked for its wheels: so for 3.14.",
        "",
        "| Python | extra | what was run | packages | torch | outcome |",
        "| --- | --- | --- | ---: | --- | --- |",
    ]
    order = [*TRIED, "all, docs"]
    for row in sorted(record["rows"], key=lambda row: (row["how"], order.index(row["extra"]), row["python"])):
        tried = TRIED[row["extra"]][0] if row["how"] == "installed" else "a dry run of the resolver"
        outcome = (
            {"installed": "runs", "resolved": "resolved"}[row["how"]]
            if row["failed"] is None
            else "**fails**: " + row["failed"].splitlines()[-1].replace("|", "\\|")
        )
        lines.append(f"| {row['python']} | {row['extra']} | {tried} | {row['packages']} | {row['torch']} | {outcome} |")
    commits = ", ".join(dict.fromkeys(row["commit"] for row in record["rows"]))
    lines += ["", f"Linux, {record['machine']['cores']} cores, {record['date']}; built from commit {commits}.", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(TRIED), help="which extras, by comma")
    parser.add_argument("--others", nargs="*", default=[], metavar="3.X[=PROGRAM]", help="further Pythons")
    parser.add_argument(
        "--install-others", action="store_true", help="install into them, too, instead of a dry run alone"
    )
    parser.add_argument("--python", default=sys.executable, help="the one that every extra is tried on")
    parser.add_argument("--page", action="store_true", help="write the page from the stored result alone")
    given = parser.parse_args()
    if not given.page:
        from machine import commit, describe_machine

        rows = json.loads(RESULT.read_text())["rows"] if RESULT.is_file() else []
        record = {"schema": 1, "date": time.strftime("%Y-%m-%d"), "machine": describe_machine(), "rows": rows}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            wheel = distributions(folder)
            others = {name: program for name, _, program in (other.partition("=") for other in given.others)}
            jobs: list[Any] = [lambda name=name: resolve(name, others[name], wheel, folder) for name in others]
            jobs += [
                lambda extra=extra: install(given.python, extra, wheel, folder)
                for extra in given.only.split(",")
                if extra
            ]
            jobs += [
                lambda name=name: install(others[name], "plain", wheel, folder)
                for name, program in others.items()
                if given.install_others and program
            ]
            for job in jobs:
                row = {**job(), "commit": commit()}
                print(row, flush=True)
                same = ("python", "extra", "how")
                rows[:] = [old for old in rows if any(old[key] != row[key] for key in same)] + [row]
                RESULT.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(page(json.loads(RESULT.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
