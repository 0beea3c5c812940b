"""A disk that fails in the middle of a write or a sync: what was acknowledged stays, what was not is refused in
words.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nodewise.session.answers import Draft
from nodewise.session.log.log import Log
from tests.session.log.test_log import WRITER, acknowledged

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C compiler")
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "faults.c"), "-ldl"], check=True
    )
    return library


def with_fault(path: Path, shim: Path, environment: dict[str, str], **fault: str) -> str:
    """What a writer of at most six events says before the disk fails it."""
    preload = {"LD_PRELOAD": str(shim), "FAULT_PATH": str(path), **fault}
    done = subprocess.run(
        [sys.executable, str(WRITER), str(path), "w", "6"],
        env={**environment, **preload},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("call", ["write", "sync"])
def test_no_acknowledged_event_is_lost_when_a_call_fails(
    call: str, lasting: bool, shim: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    refused = 0
    for at in range(1, 28 if call == "write" else 20, 2 if lasting else 1):
        path = tmp_path / f"job{at}"
        with Log.create(path, {}) as log:
            log.append([Draft("tell", "before", {"node": -1})])
        said = with_fault(
            path,
            shim,
            clean_environment,
            FAULT_CALL=call,
            FAULT_AT=str(at),
            **({"FAULT_LASTING": "1"} if lasting else {}),
        )
        kept = acknowledged(said)
        with Log.open(path) as log:  # on a disk that works again; checks the whole chain
            found = [(event.id, event.body["node"]) for event in log.events]
            assert found[0] == (1, -1) and found[1 : 1 + len(kept)] == kept
            assert len(found) <= 2 + len(kept)
            assert log.append([Draft("tell", "after", {"node": 99})])[0].id == len(found) + 1
        if "refused" in said:
            refused += 1
            assert "refused SessionError: " in said or "refused SessionFileError: " in said
            assert "disk is full" in said or "cannot be" in said
        else:
            assert len(kept) == 6
    assert refused > 8  # the faults did happen
