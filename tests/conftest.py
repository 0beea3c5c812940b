"""What all tests share: real graphs where they are, the command as a real process, and what cannot run here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# What is started in the background by a shell ignores Ctrl-C, and so would every command that a test starts and
# interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test fails for being slow: machines differ.
settings.register_profile("nodewise", deadline=None)
settings.load_profile("nodewise")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips, with the reason, what needs a GPU or a browser where there is none; gives long tests an hour before they
    count as hanging.
    """
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))
    needs = {
        "gpu": (_has_gpu, "needs a CUDA device"),
        "browser": (_has_browser, "needs Chromium on the PATH"),
    }
    for marker, (present, reason) in needs.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and not present():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def _has_browser() -> bool:
    return any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))


@pytest.fixture
def data_folder() -> Path:
    """The folder of real graphs that ``NODEWISE_DATA`` names."""
    folder = Path(os.environ.get("NODEWISE_DATA", ""))
    if not os.environ.get("NODEWISE_DATA") or not folder.is_dir():
        pytest.skip("needs real graphs: set NODEWISE_DATA to their folder")
    return folder


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """This process's environment without what would steer the command, finding this checkout's nodewise."""
    steering = {
        "NO_COLOR",
        "FORCE_COLOR",
        "COLUMNS",
        "LINES",
        "TERM",
        "TTY_COMPATIBLE",
        "PYTHONPATH",
        "NODEWISE_DATA",
        "NODEWISE_DEBUG",
    }
    environment = {key: value for key, value in os.environ.items() if key not in steering}
    return {**environment, "PYTHONPATH": str(ROOT / "src")}


@pytest.fixture
def nodewise(clean_environment: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the real command in a process of its own, in an empty folder: ``nodewise("datasets", "--json",
    NO_COLOR="1")``.
    """

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nodewise", *map(str, arguments)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env={**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment},
            check=False,
        )

    return run


@pytest.fixture
def registries() -> Iterator[None]:
    """State features and networks that a test registers are forgotten after it."""
    from nodewise.policy.policy import POLICY_NETWORKS, STATE_FEATURES

    kept = [(registry, dict(registry)) for registry in (STATE_FEATURES, POLICY_NETWORKS)]
    yield
    for registry, before in kept:
        for name in set(registry) - set(before):
            del registry[name]  # type: ignore[attr-defined]
