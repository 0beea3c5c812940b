"""Pages that are made from the code itself.

Every command from the command line, and the gallery by running its examples.
"""

from __future__ import annotations

import ast
import html
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

__all__ = ["draw_formula", "write_commands", "write_gallery"]


def write_commands(page: Path) -> None:
    """Writes the page of all commands, their arguments, options and examples."""
    import typer

    from nodewise.cli.app import app

    command = typer.main.get_command(app)
    lines = [
        "# Commands",
        "",
        _first(command.help),
        "",
        "Bad input ends with 2, any other failure with 1, Ctrl-C with 130.",
        "",
    ]
    _describe(command, "nodewise", lines)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _describe(command: Any, path: str, lines: list[str]) -> None:
    for name, one in getattr(command, "commands", {}).items():
        full = f"{path} {name}"
        if getattr(one, "commands", None):
            lines += [f"## {full}", "", _first(one.help), ""]
            _describe(one, full, lines)
            continue
        lines += [f"{'###' if path != 'nodewise' else '##'} {full}", "", inspect.cleandoc(one.help or ""), ""]
        lines += _table(one)
        if one.epilog and "Examples:" in one.epilog:
            examples = [line.strip() for line in one.epilog.split("Examples:")[1].splitlines() if line.strip()]
            lines += ["```bash", *examples, "```", ""]


def _table(command: Any) -> list[str]:
    rows = []
    for parameter in command.params:
        if parameter.name in ("quiet", "debug", "help"):
            continue
        if parameter.param_type_name == "argument":
            spelled = f"`{parameter.metavar or parameter.name.upper()}`"
        else:
            flags = ", ".join(f"`{flag}`" for flag in [*parameter.opts, *parameter.secondary_opts])
            value = parameter.metavar or ""
            spelled = flags + (f" `{value}`" if value and not getattr(parameter, "is_flag", False) else "")
        rows.append(f"| {_bar(spelled)} | {_bar(parameter.help or '')} | {_bar(_default(parameter))} |")
    return ["| argument or option | what it says | default |", "| --- | --- | --- |", *rows, ""] if rows else []


def _default(parameter: Any) -> str:
    shown = getattr(parameter, "show_default", None)
    if isinstance(shown, str):
        return shown
    if parameter.required:
        return "must be given"
    value = parameter.default
    return "" if value is None or callable(value) or value is False or value == [] else str(value)


def write_gallery(examples: Path, folder: Path) -> None:
    """Runs every example in a folder of its own, and writes a page for each with its code, what it printed and its
    pictures.

    An example is run again when it, or anything of nodewise, is newer than its page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scripts = sorted(examples.glob("*.py"))
    for left in {*folder.glob("*.md")} - {folder / f"{script.stem}.md" for script in scripts}:
        left.unlink()
    with ThreadPoolExecutor(2) as pool:
        titles = list(pool.map(lambda script: _page(script, folder), scripts))
    contents = [f"{script.stem}" for script in scripts]
    index = ["# Examples", "", "Each is a whole script, run when this site was built, on data that comes along.", ""]
    for script, title in zip(scripts, titles, strict=True):
        index += [f"## [{title}]({script.stem}.md)", ""]
        for picture in sorted((folder / script.stem).glob("*.png"))[:1]:
            index += [
                f"```{{image}} {script.stem}/{picture.name}",
                f":alt: {title}",
                ":width: 360px",
                f":target: {script.stem}.html",
                "```",
                "",
            ]
    index += ["", "```{toctree}", ":hidden:", "", *contents, "```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


def _page(script: Path, folder: Path) -> str:
    source = script.read_text(encoding="utf-8")
    tree = ast.parse(source)
    said = ast.get_docstring(tree) or script.stem
    title, _, rest = said.partition("\n")
    title = title.rstrip(".")
    body = "\n".join(source.splitlines()[tree.body[0].end_lineno or 0 :]).strip()
    work, page = folder / script.stem, folder / f"{script.stem}.md"
    sources = [script, Path(__file__), *(script.parents[1] / "src").rglob("*.py")]
    if page.exists() and page.stat().st_mtime > max(path.stat().st_mtime for path in sources):
        return title
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "error::UserWarning",
    }
    done = subprocess.run(
        [sys.executable, str(script)], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the example {script.name} failed:\n{done.stderr}")
    lines = [f"# {title}", "", rest.strip(), "", "```python", body, "```", ""]
    if done.stdout.strip():
        lines += ["It prints", "", "```text", done.stdout.rstrip(), "```", ""]
    lines += [f"![{title}]({script.stem}/{picture.name})\n" for picture in sorted(work.glob("*.png"))]
    lines += [f"The script: {{download}}`{script.name} <../../../examples/{script.name}>`"]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return title


def draw_formula(tex: str) -> str:
    """A formula as SVG, on the line's base and in the text's colour; a screen reader is told its TeX."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser, math_to_image

    text, prop = f"${' '.join(tex.split())}$", FontProperties(size=12)
    depth = MathTextParser("path").parse(text, dpi=72, prop=prop)[2]
    drawn = io.StringIO()
    math_to_image(text, drawn, prop=prop, format="svg")
    svg = drawn.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    look = (
        f'style="vertical-align:-{1.333 * depth:.1f}px" fill="currentColor" role="img" aria-label="{html.escape(tex)}"'
    )
    return svg.strip().replace("<svg", f"<svg {look}", 1)


def _first(text: str | None) -> str:
    return inspect.cleandoc(text or "").split("\n\n")[0].replace("\n", " ")


def _bar(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
