"""The command line's edges: one ``--json`` everywhere, narrow terminals, readers that leave, folders that cannot be
made, flags in the help.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.cli.options import with_json_value
from nodewise.ground.errors import MissingExtraError, install_command

Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = [
    "evaluate",
    "compare",
    "train",
    "datasets",
    "convert",
    "reproduce",
    "studio",
    "session new",
    "session ask",
    "policy show",
    "reddit build",
]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], []),
        (["datasets", "--json"], ["datasets", "--json", "-"]),
        (["datasets", "--json", "cora"], ["datasets", "--json", "-", "cora"]),
        (["datasets", "--json", "-"], ["datasets", "--json", "-"]),
        (["session", "ask", "--json", "job.nodewise"], ["session", "ask", "--json", "-", "job.nodewise"]),
        (["evaluate", "wine", "--json", "r.json", "-q"], ["evaluate", "wine", "--json", "r.json", "-q"]),
        (["evaluate", "wine", "--json", "--quiet"], ["evaluate", "wine", "--json", "-", "--quiet"]),
        (["session", "tell", "job", "--", "--json"], ["session", "tell", "job", "--", "--json"]),
    ],
)
def test_json_alone_means_standard_output_and_never_takes_a_session_for_its_file(
    given: list[str], meant: list[str]
) -> None:
    assert with_json_value(given) == meant


@pytest.mark.slow
def test_json_goes_to_a_file_from_every_kind_of_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["datasets", "wine", "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert main(["datasets", "wine", "--json", "wine.json"]) == 0
    assert json.loads(Path("wine.json").read_text()) == printed
    short = ["--runs", "2", "--device", "cpu", "-q"]
    assert (
        main(["compare", "wine", "--strategies", "random,centrality", "--budgets", "4", *short, "--json", "c.json"])
        == 0
    )
    assert [one["name"] for one in json.loads(Path("c.json").read_text())["settings"][0]["results"]] == [
        "random",
        "centrality",
    ]
    capfd.readouterr()
    assert main(["compare", "wine", "--strategies", "random", "--budgets", "4", *short, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["kind"] == "comparison"
    assert main(["session", "new", "job.nodewise", "wine", "--strategy", "random", "--budget", "3", "-q"]) == 0
    before = Path("job.nodewise").stat().st_size
    assert main(["session", "status", "--json", "job.nodewise", "--brief"]) == 0
    assert Path("job.nodewise").stat().st_size == before


def test_a_folder_that_cannot_be_made_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("in the way")
    for command in (["compare", "wine", "--strategies", "random"], ["reproduce", "datasets"]):
        assert main([*command, "--out", "file/results", "-q"]) == 2
        err = capfd.readouterr().err
        assert "--out got 'file/results', a folder that cannot be made" in err and err.count("\n") == 1
    assert main(["evaluate", "wine", "--json", "nowhere/r.json"]) == 2
    assert "--json got 'nowhere/r.json'" in capfd.readouterr().err


@pytest.mark.slow
def test_a_reader_that_leaves_ends_the_command_quietly(clean_environment: dict[str, str]) -> None:
    for arguments in ("datasets --json", "datasets", "--help"):
        command = f"{sys.executable} -m nodewise {arguments} | head -n 1"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=clean_environment, check=False)
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 1
        assert "Traceback" not in done.stderr and "Broken" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.slow
def test_help_names_no_value_for_a_flag_and_fits_40_columns(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in ([], *(name.split() for name in COMMANDS)):
        options = {}
        for columns in (40, 100):
            monkeypatch.setenv("COLUMNS", str(columns))
            assert main([*command, "--help"]) == 0
            out = capfd.readouterr().out
            assert "bool" not in out
            assert max(map(len, out.splitlines())) <= columns
            options[columns] = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", out.partition("Examples:")[0]))
        assert options[40] == options[100], "nothing is cut off"


def test_the_help_of_reproduce_says_the_place_of_every_experiment(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from nodewise.experiments.gpa import EXPERIMENTS
    from nodewise.experiments.gpa.experiments import find_experiments

    monkeypatch.setenv("COLUMNS", "100")
    assert main(["reproduce", "--help"]) == 0
    shown = " ".join(capfd.readouterr().out.replace("│", " ").split())
    for name, experiment in EXPERIMENTS.items():
        number = experiment.place.split(",")[0].split()[1]
        assert f"{name} (" in shown and f"{number}" in shown.split(f"{name} (")[1][:12]
    assert [one.name for one in find_experiments("table1")] == ["same-domain"]
    assert [one.name for one in find_experiments("Figure 2")] == ["budgets", "training-graphs"]
    assert main(["reproduce", "tabel1"]) == 2
    assert "unknown experiment 'tabel1': did you mean 'table1'" in capfd.readouterr().err
    assert main(["reproduce", "table9"]) == 2
    assert "unknown experiment 'table9'" in capfd.readouterr().err


def test_the_hint_to_install_an_extra_works_from_a_checkout_and_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = Path(__file__).parents[2]
    assert install_command("studio") == f"pip install '.[studio]' in {root}"
    assert "pip install '.[reddit]'" in str(MissingExtraError("duckdb", "reddit"))
    monkeypatch.setattr(
        "nodewise.ground.errors.__file__", str(tmp_path / "lib" / "site-packages" / "nodewise" / "ground" / "errors.py")
    )
    assert install_command("studio") == "pip install 'nodewise[studio]'"
