"""The page's modules by a type checker and a linter, as ``make page`` runs them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_the_modules_pass_the_type_checker_and_the_linter() -> None:
    if shutil.which("npm") is None:
        pytest.skip("needs npm")
    if not (ROOT / "node_modules" / ".bin" / "tsc").exists():
        pytest.skip("needs what `make page` installs")
    done = subprocess.run(["npm", "run", "--silent", "check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
