"""The wheel, as a user gets it: built, installed in a clean environment outside the repository, and run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import nodewise as nw

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("setuptools", minversion="77")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(source),
    ]
    subprocess.run(build, check=True, cwd=folder)
    (built,) = folder.glob("nodewise-*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_what_it_needs_beside_code(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"nodewise-{nw.__version__}.dist-info/METADATA").decode()
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "nodewise").rglob("*.py")}
    assert modules <= names
    assert "nodewise/py.typed" in names
    shipped = ROOT / "src" / "nodewise" / "policy" / "shipped"
    assert {
        path.relative_to(ROOT / "src").as_posix()
        for path in shipped.glob("*.*")
        if path.suffix in (".safetensors", ".json")
    } <= names
    page = ROOT / "src" / "nodewise" / "studio" / "page"
    assert {path.relative_to(ROOT / "src").as_posix() for path in page.rglob("*.*")} <= names
    assert not [name for name in names if name.startswith("tests") or name.endswith((".npz", ".pyc"))]
    assert f"Version: {nw.__version__}" in metadata
    assert "License-Expression: MIT" in metadata


@pytest.mark.long
def test_the_installed_wheel_runs_the_demo_outside_the_repository(wheel: Path, tmp_path: Path) -> None:
    """nodewise comes from the wheel; what it depends on comes from this environment, so that nothing is downloaded
    again.
    """
    home = tmp_path / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    site = next((home / "lib").glob("python3*/site-packages"))
    python, command = home / "bin" / "python", home / "bin" / "nodewise"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(install, check=True, cwd=tmp_path)
    dependencies = tmp_path / "dependencies"
    dependencies.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "nodewise" not in entry.name:  # neither this checkout nor the link to it
            (dependencies / entry.name).symlink_to(entry)
    (site / "dependencies.pth").write_text(f"{dependencies}\n")

    environment = {
        key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV", "NODEWISE_DATA"}
    }
    where = subprocess.run(
        [python, "-c", "import nodewise; print(nodewise.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=environment,
    )
    assert Path(where.stdout.strip()).is_relative_to(site)

    version = subprocess.run(
        [command, "--version"], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert version.stdout == f"nodewise {nw.__version__}\n"
    shown = subprocess.run(
        [command, "demo"], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert shown.returncode == 0, shown.stderr
    assert "digits" in shown.stdout
