"""The command line's frame, through the real process: help, version, completion, exit codes, streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nodewise as nw
from nodewise.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_version_from_the_command_and_the_module(nodewise: Run) -> None:
    shown = nodewise("--version")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, f"nodewise {nw.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_lists_every_command(nodewise: Run, arguments: tuple[str, ...]) -> None:
    shown = nodewise(*arguments)
    assert shown.returncode == 0
    for name in (
        "demo",
        "datasets",
        "convert",
        "train",
        "evaluate",
        "compare",
        "reproduce",
        "session",
        "studio",
        "people",
        "reddit",
        "policy",
    ):
        assert f" {name} " in shown.stdout


@pytest.mark.parametrize("group", ["session", "people", "policy", "reddit"])
def test_a_group_alone_shows_its_help(group: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([group]) == 0
    assert f"nodewise {group} [OPTIONS] COMMAND" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["datsets"], ["No such command 'datsets'", "Did you mean 'datasets'", "Try 'nodewise --help'"]),
        (["convert", "only-one"], ["nodewise convert: Missing argument 'OUT'", "Try 'nodewise convert --help'"]),
        (["convert", "a", "b", "--knnn", "3"], ["No such option: --knnn"]),
        (["convert", "a.csv", "b.npz", "--knn", "many"], ["'--knn'", "valid integer", "'many'"]),
        (["convert", "a.csv", "b.npz", "--knn=many"], ["'--knn'", "'many'"]),
        (["convert", "a.csv", "b.npz", "--knn", "0"], ["'--knn'", "0"]),
        (["convert", "a.csv", "b.npz", "--metric", "taxi"], ["'taxi'", "cosine", "euclidean"]),
        (["session", "tell", "job.nodewise"], ["nodewise session tell: Missing argument 'NODE'"]),
    ],
)
def test_a_wrong_command_line_gets_one_line_and_2(
    arguments: list[str], expected: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("nodewise")
    for part in expected:
        assert part in err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["convert", "--help"], ["session", "new", "--help"]])
def test_help_and_version_import_nothing_heavy(arguments: list[str], clean_environment: dict[str, str]) -> None:
    code = (
        "import sys; from nodewise.cli import main; code = main(sys.argv[1:]); print('LOADED', *sys.modules);"
        " sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=clean_environment, check=True
    )
    loaded = {name.split(".")[0] for name in done.stdout.rpartition("LOADED")[2].split()}
    assert not loaded & {
        "torch",
        "torch_geometric",
        "sklearn",
        "networkx",
        "matplotlib",
        "duckdb",
        "ray",
        "scipy",
        "numpy",
    }


def complete(words: str, environment: dict[str, str]) -> tuple[list[str], set[str]]:
    """What bash would be offered after ``words``, and what was imported to find out."""
    asked = {"_NODEWISE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    code = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); from nodewise.cli import"
        " main; sys.exit(main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**environment, **asked}, check=False
    )
    return done.stdout.split(), {name.split(".")[0] for name in done.stderr.split()}


def test_completion_knows_commands_options_and_data_sets_and_stays_light(clean_environment: dict[str, str]) -> None:
    commands, _ = complete("nodewise re", clean_environment)
    assert set(commands) == {"reproduce", "reddit"}
    options, _ = complete("nodewise convert --me", clean_environment)
    assert options == ["--metric"]
    graphs, loaded = complete("nodewise train cor", clean_environment)
    assert "cora" in graphs
    assert not loaded & {"torch", "torch_geometric"}


def test_completion_can_be_shown_for_a_shell(nodewise: Run) -> None:
    shown = nodewise("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert shown.returncode == 0
    assert "_NODEWISE_COMPLETE=complete_bash" in shown.stdout


PROBE = """
import os, signal, sys
from nodewise.cli.app import app, main
from nodewise.cli.command import add_command
from nodewise.ground.errors import DownloadError, GraphError
from nodewise.ground.events import Note, Warned

def probe(screen, how: str):
    "A command for this test."
    with screen.reporting() as report:
        report(Note("a note"))
        report(Warned("a warning"))
        if how == "interrupt":
            signal.raise_signal(signal.SIGINT)
        if how == "interrupt, and a failure on the way out":
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                raise ConnectionError("the other side is gone")
        if how == "input":
            raise GraphError("no edges\\nreceived 0: give \\x1b[31msome")
        if how == "download":
            raise DownloadError("no network: try later")
        if how == "bug":
            raise ZeroDivisionError("by zero")
        if how == "disk":
            open(os.path.join("no", "such", "folder"))
        if how == "flood":
            for _ in range(100_000):
                screen.line("x" * 50)
    screen.line("done")

add_command(app, "probe", probe)
sys.exit(main())
"""


def run_probe(environment: dict[str, str], *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROBE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**environment, **extra}, check=False)


@pytest.mark.parametrize(
    ("how", "code", "last_line"),
    [
        ("nothing", 0, ""),
        ("input", 2, "nodewise probe: no edges received 0: give  [31msome"),
        ("download", 1, "nodewise probe: no network: try later"),
        ("disk", 1, "nodewise probe: No such file or directory: no/such/folder"),
        (
            "bug",
            1,
            (
                "nodewise probe: unexpected failure, ZeroDivisionError: by zero (run it again with --debug, or"
                " NODEWISE_DEBUG=1, to see where)"
            ),
        ),
        ("interrupt", 130, "nodewise probe: interrupted"),
        ("interrupt, and a failure on the way out", 130, "nodewise probe: interrupted"),
    ],
)
def test_how_a_command_ends(how: str, code: int, last_line: str, clean_environment: dict[str, str]) -> None:
    done = run_probe(clean_environment, "probe", how)
    assert done.returncode == code
    assert done.stderr.splitlines() == ["a note", "warning: a warning", *filter(None, [last_line])]
    assert done.stdout == ("done\n" if how == "nothing" else "")


@pytest.mark.parametrize("arguments", [("--debug", "probe", "bug"), ("probe", "bug", "--debug"), ("probe", "bug")])
def test_debug_shows_the_traceback_and_keeps_the_exit_code(
    arguments: tuple[str, ...], clean_environment: dict[str, str]
) -> None:
    extra = {} if "--debug" in arguments else {"NODEWISE_DEBUG": "1"}
    done = run_probe(clean_environment, *arguments, **extra)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert 'raise ZeroDivisionError("by zero")' in done.stderr or "ZeroDivisionError: by zero" in done.stderr


@pytest.mark.parametrize("arguments", [("--quiet", "probe", "nothing"), ("probe", "nothing", "-q")])
def test_quiet_leaves_the_result_alone(arguments: tuple[str, ...], clean_environment: dict[str, str]) -> None:
    done = run_probe(clean_environment, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_quiet_still_tells_errors(clean_environment: dict[str, str]) -> None:
    done = run_probe(clean_environment, "probe", "download", "--quiet")
    assert (done.returncode, done.stderr) == (1, "nodewise probe: no network: try later\n")


def test_a_reader_that_leaves_early_is_no_failure_of_ours(clean_environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROBE, "probe", "flood", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"x" * 50 + b"\n"
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (1, b"")


def test_a_terminal_without_unicode_gets_question_marks(nodewise: Run) -> None:
    shown = nodewise("datasets", "digits", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("extra", "coloured"), [({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), ({}, False)]
)
def test_colours_only_where_they_are_wanted(nodewise: Run, extra: dict[str, str], coloured: bool) -> None:
    shown = nodewise("datasets", TERM="xterm-256color", **extra)
    assert shown.returncode == 0
    assert ("\x1b[3" in shown.stdout or "\x1b[1;3" in shown.stdout) is coloured


def test_json_is_never_coloured(nodewise: Run) -> None:
    shown = nodewise("datasets", "digits", "--json", FORCE_COLOR="1")
    assert json.loads(shown.stdout)["name"] == "digits"


def test_python_dash_m_and_the_entry_point_are_the_same_function() -> None:
    from importlib.metadata import PackageNotFoundError, entry_points

    source = (Path(nw.__file__).parent / "__main__.py").read_text(encoding="utf-8")
    assert "from nodewise.cli import main" in source
    try:
        (entry,) = entry_points(group="console_scripts", name="nodewise")
    except (PackageNotFoundError, ValueError):
        pytest.skip("nodewise is not installed here, only on the path")
    assert entry.load() is main


@pytest.mark.parametrize(("given", "expected"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_that_wait_sleep_unless_the_user_says_otherwise(given: str | None, expected: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"} | (
        {"OMP_WAIT_POLICY": given} if given else {}
    )
    code = (
        "import os, sys; from nodewise.cli import main; assert 'torch' not in sys.modules; main(['--version']);"
        " print(os.environ['OMP_WAIT_POLICY'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.split()[-1] == expected
