"""What the documents say is true: their links lead somewhere, their commands parse, their Python runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from nodewise.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "_generated" not in path.parts)
GUIDES = [ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a document in one language; ``""`` for those without."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [text for name, text in fences if name == language]


def commands() -> list[str]:
    """Every command line of ours that a document shows, without the words beside it."""
    whole = (re.sub(r"\\\n\s*", "", block) for path in DOCUMENTS for block in blocks(path, "") + blocks(path, "bash"))
    lines = (line for block in whole for line in block.splitlines())
    return sorted({re.split(r"\s{2,}|\s#", line.strip())[0] for line in lines if line.startswith("nodewise ")})


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8"))
    made = "_generated/"  # pages that make docs makes, and whose links Sphinx checks
    assert not [target for target in targets if not target.startswith(("https://", made)) and not (path.parent / target).exists()]


def test_every_command_shown_exists_with_its_options(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(commands()) >= 5
    for command in commands():
        assert main([*shlex.split(command)[1:], "--help"]) == 0, capfd.readouterr().err


@pytest.mark.slow
def test_the_readme_runs(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    environment = {**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    chosen, random, _ = (float(line.split(" ± ")[0]) for line in done.stdout.splitlines())
    assert 70 < random < chosen < 100, "the policy leads random choice, as the picture above says"


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in GUIDES if blocks(path, "python")], ids=lambda path: path.name)
def test_the_python_of_a_guide_runs_as_typed(path: Path, tmp_path: Path, clean_environment: dict[str, str]) -> None:
    code = "\n\n".join(blocks(path, "python"))
    environment = {**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path, clean_environment: dict[str, str]) -> None:
    environment = {**clean_environment, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
