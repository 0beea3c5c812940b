"""``nodewise studio`` as a user starts and ends it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from nodewise.session import Session
from nodewise.studio import bind
from tests.session.jobs import unlabelled
from tests.small_graphs import block_graph
from tests.studio.jobs import job
from tests.studio.serving import hear

pytestmark = pytest.mark.slow

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@contextmanager
def started(folder: Path, environment: dict[str, str], *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the address that it told."""
    command = [sys.executable, "-m", "nodewise", "studio", *arguments, "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def end(process: subprocess.Popen[str], how: signal.Signals = signal.SIGINT) -> tuple[int, str]:
    """Ends it; its exit code, and what it wrote beside the address."""
    process.send_signal(how)
    out, err = process.communicate()
    return process.returncode, out + err


@pytest.mark.slow
def test_the_address_is_told_and_ctrl_c_ends_it_with_everything_in_the_file(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    job(tmp_path).close()
    with started(tmp_path, clean_environment, "job.nodewise", "--port", "0") as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        node = httpx.post(f"{address}api/v1/ask", json={}, timeout=300).json()["queries"][0]["node"]
        told = httpx.post(f"{address}api/v1/tell", json={"labels": [{"node": node, "label": "a"}]}, timeout=300)
        assert told.status_code == 200 and (tmp_path / "job.nodewise-journal").exists()
        code, said = end(process)
    assert code == 0 and said.splitlines()[1:] == ["Ctrl-C ends the studio; every answer is in the session's file"]
    assert said.startswith("every user of this machine can open the page: with --token-file FILE")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.nodewise"]  # closed: the journal is gone
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.labels == {node: "a"}


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_long_work_ends_it_quietly_and_whoever_waits_is_told(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    with Session.create(
        tmp_path / "job.nodewise", unlabelled(block_graph(1500)), budget=300, strategy="age", classes=["a", "b"]
    ) as session:
        session.tell(list(range(200)), ["ab"[node % 2] for node in range(200)])
    with started(tmp_path, clean_environment, "job.nodewise", "--port", "0") as (process, address):
        answers: list[httpx.Response] = []
        waiting = threading.Thread(target=lambda: answers.append(httpx.get(f"{address}api/v1/report", timeout=300)))
        with hear(address.replace("http", "ws") + "api/v1/updates"):
            waiting.start()
            httpx.post(f"{address}api/v1/ask", json={}, timeout=300)  # by then the report is being made
            code, said = end(process)
        waiting.join()
    assert code == 0 and "Traceback" not in said and said.count("\n") == 2
    assert answers[0].status_code in (200, 503)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.nodewise"]


def test_without_a_session_the_sessions_of_this_folder_are_listed(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    job(tmp_path, "mine").close()
    with started(tmp_path, clean_environment, "--port", "0", "--quiet") as (process, address):
        found = httpx.get(f"{address}api/v1/studio", timeout=300).json()
        assert found["session"] is None and found["sessions"] == ["mine"]
        code, said = end(process, signal.SIGTERM)
    assert code == -signal.SIGTERM and said == ""


@pytest.mark.slow
def test_the_next_free_port_is_taken_unless_one_was_asked_for(
    nodewise: Run, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    with bind("127.0.0.1", 8080, exactly=False) as taken:
        port = taken.getsockname()[1]
        refused = nodewise("studio", "--port", str(port), "--no-browser")
        assert (
            refused.returncode == 2
            and f"port {port} of 127.0.0.1 is taken" in refused.stderr
            and refused.stderr.count("\n") == 1
        )
        with started(tmp_path, clean_environment) as (process, address):
            assert (
                int(address.rstrip("/").rsplit(":")[-1]) > 8080
                and httpx.get(f"{address}api/v1/studio", timeout=300).status_code == 200
            )
            assert end(process)[0] == 0


def test_an_address_that_others_can_reach_gets_a_token(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    with started(tmp_path, clean_environment, "--host", "0.0.0.0", "--port", "0") as (process, address):
        found = re.fullmatch(r"http://[\d.]+:(\d+)/\?token=([\w-]{32})", address)
        assert found is not None
        here = f"http://127.0.0.1:{found[1]}/api/v1/studio"
        assert httpx.get(here, timeout=300).status_code == 401
        assert httpx.get(here, headers={"Authorization": f"Bearer {found[2]}"}, timeout=300).status_code == 200
        assert end(process)[0] == 0


def test_a_token_of_ones_own_by_option_or_by_the_environment(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    given = {**clean_environment, "NODEWISE_TOKEN": "a-token-of-my-own"}
    with started(tmp_path, given, "--port", "0") as (process, address):
        assert address.endswith("/?token=a-token-of-my-own")
        assert httpx.get(address.split("?")[0] + "api/v1/studio", timeout=300).status_code == 401
        assert end(process)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.nodewise"], "there is no session 'missing.nodewise'"),
        (["--folder", "nowhere"], "there is no folder 'nowhere' for the studio's folder"),
        (["--pictures", "nowhere"], "there is no folder 'nowhere' for the studio's pictures"),
        (["--host", "192.0.2.1"], "cannot listen at '192.0.2.1'"),
        (["--token", "a b"], "a token must be"),
        (["--allow-host", "studio.example"], "it has no token"),
        (["--annotator-token", "a-token-of-theirs"], "needs another one for the owner"),
        (["--port", "70000"], "--port"),
    ],
)
def test_bad_input_is_one_line_and_2(nodewise: Run, arguments: list[str], said: str) -> None:
    done = nodewise("studio", *arguments, "--no-browser")
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize(
    ("module", "package"),
    [("fastapi", "fastapi"), ("python_multipart", "python-multipart"), ("websockets", "websockets")],
)
def test_a_missing_extra_is_told_with_how_to_install_it(
    module: str, package: str, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None; from nodewise.cli import main; sys.exit(main(['studio',"
        " '--no-browser']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=clean_environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    checkout = Path(__file__).parents[3]  # whoever works in one is told a command that works there
    assert (
        done.stderr
        == f"nodewise studio: this needs {package}, which is not installed: run pip install '.[studio]' in {checkout}\n"
    )


def test_the_browser_is_opened_at_the_address(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    opener.chmod(0o755)
    environment = {**clean_environment, "BROWSER": str(opener)}
    command = [sys.executable, "-m", "nodewise", "studio", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        while not (tmp_path / "opened").exists() or not (tmp_path / "opened").read_text():
            assert process.poll() is None
            time.sleep(0.01)
        assert (tmp_path / "opened").read_text().strip() == address
        assert httpx.get(f"{address}new", timeout=300).status_code == 200
        assert end(process)[0] == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def test_a_token_is_not_in_the_browsers_command_line(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened\n')
    opener.chmod(0o755)
    environment = {**clean_environment, "BROWSER": str(opener)}
    command = [sys.executable, "-m", "nodewise", "studio", "--port", "0", "--token-file", str(tmp_path / "token")]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        while not (tmp_path / "opened").exists() or not (tmp_path / "opened").read_text():
            assert process.poll() is None
            time.sleep(0.01)
        token, opened = (tmp_path / "token").read_text().strip(), (tmp_path / "opened").read_text().strip()
        assert token in address and token not in opened
        file = Path(opened.removeprefix("file://"))
        assert f"0;url={address}" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
        assert end(process)[0] == 0
        assert not file.exists(), "it goes with the studio"
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def test_the_page_is_there_before_torch(clean_environment: dict[str, str]) -> None:
    """The command loads it beside, while a person reads the page."""
    code = "import sys, nodewise.studio.app; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment
    )
    assert done.stdout == "False\n"


def test_a_missing_session_is_refused_before_anything_is_loaded(
    clean_environment: dict[str, str], tmp_path: Path
) -> None:
    code = (
        "import sys; from nodewise.cli import main; code = main(['studio', 'missing.nodewise']); print(code,"
        " {'torch', 'fastapi', 'uvicorn'}.intersection(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment, cwd=tmp_path
    )
    assert done.stdout == "2 set()\n"
    assert "there is no session 'missing.nodewise'" in done.stderr


def test_help_needs_nothing_heavy(clean_environment: dict[str, str]) -> None:
    code = (
        "import sys; from nodewise.cli import main; main(['studio', '--help']); print(*sorted({m.split('.')[0] for m in"
        " sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment
    )
    assert "--allow-host" in done.stdout
    assert not {"torch", "numpy", "fastapi", "uvicorn", "websockets"}.intersection(done.stdout.splitlines()[-1].split())
