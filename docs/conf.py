"""The documentation site: `make docs` builds it; the commands' page and the gallery are made anew at every build."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from generate import draw_formula, write_commands, write_gallery  # noqa: E402

import nodewise  # noqa: E402

project = "nodewise"
author = "the nodewise authors"
copyright = "MIT licence"
version = release = nodewise.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
default_role = "code"
add_module_names = False
html_math_renderer = "drawn"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_numpy_docstring = False
napoleon_attr_annotations = False
copybutton_exclude = ".linenos, .gp, .go"
suppress_warnings = ["myst.header"]  # included pages begin where they begin
nitpicky = True  # whatever a signature names is described on some page
nitpick_ignore_regex = [
    (
        "py:.*",
        r"(torch|numpy|np|npt|scipy|sp|pd|nx|pathlib|collections)\..*",
    ),  # other libraries: the site is built without a network
    ("py:class", "Path|Data|HeteroData|Figure|Axes"),
    (
        "py:class",
        "Features|Metric|Log|Nodes|SettingsByName|nodewise.fitted.extras.Extras",
    ),  # names of unions and choices that the sentence beside them explains; what a session and a learner keep inside
    ("py:class", r"tuple\[(int|float)"),  # Sphinx cuts a tuple's type at its comma
]

html_theme = "furo"
html_title = f"nodewise {release}"
html_static_path = ["images"]
html_theme_options = {"light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"}}
html_show_copyright = False


def add_pages(app: Any, name: str, source: list[str]) -> None:
    """Puts the pages that the start page does not list where it says so: none is left out."""
    if name == "index":
        listed = source[0].split()
        others = [page.stem for page in sorted(HERE.glob("*.md")) if page.stem not in (*listed, "index")]
        source[0] = source[0].replace("@pages@", "\n".join(others))


def show_formula(page: Any, node: Any) -> None:
    """Draws a formula into the page itself: the site needs no network and no LaTeX."""
    from docutils import nodes

    drawn = draw_formula(node.astext())
    page.body.append(f'<p style="text-align:center">{drawn}</p>' if node.tagname == "math_block" else drawn)
    raise nodes.SkipNode


def keep_sentence(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Leaves a property's sentence whole: napoleon takes what stands before a colon for its type."""
    if what == "property":
        lines[:] = [*(inspect.getdoc(thing) or "").splitlines(), ""]


def shorten_defaults(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Writes three dots for a default that has no form in Python, such as a function, which Sphinx could not read."""
    return None if signature is None else (re.sub(r"<[^<>]*>", "...", signature), returns)


def setup(app: Any) -> None:
    """Makes the generated pages before Sphinx looks for sources."""
    app.connect("autodoc-process-docstring", keep_sentence, priority=900)  # after napoleon
    app.connect("autodoc-process-signature", shorten_defaults)
    app.connect("source-read", add_pages)
    app.add_html_math_renderer("drawn", (show_formula, None), (show_formula, None))
    folder = HERE / "_generated"
    folder.mkdir(exist_ok=True)
    write_commands(folder / "commands.md")
    write_gallery(HERE.parent / "examples", folder / "gallery")
