"""The names that users may rely on."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.client import Connection
from nodewise.evaluation import Comparison, Evaluation
from nodewise.fitted import Fitted
from nodewise.graph import Graph, NodeType, Relation, RelationalGraph
from nodewise.session import Session
from nodewise.session.files.export import Prediction
from nodewise.session.files.status import Status

PUBLIC = [
    "Classifier",
    "Fitted",
    "Graph",
    "NodewiseError",
    "Policy",
    "Session",
    "Strategy",
    "__version__",
    "compare",
    "connect",
    "evaluate",
    "fit",
    "knn_graph",
    "list_datasets",
    "load_fitted",
    "load_graph",
    "load_policy",
    "open_studio",
    "save_policy",
    "train_policy",
]


def test_the_public_names_are_these() -> None:
    assert sorted(nw.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves_and_is_listed(name: str) -> None:
    assert getattr(nw, name) is not None
    assert name in vars(nw), "used once, it is the package's own, and no further use looks for it"
    assert name in dir(nw)


ROOMS = sorted(path.parent.name for path in Path(nw.__file__).parent.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_that_a_room_offers_resolves(room: str) -> None:
    for name in importlib.import_module(f"nodewise.{room}").__all__:
        exec(f"from nodewise.{room} import {name}", {})  # a name, or a part of the room


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'grahp'"):
        _ = nw.grahp  # type: ignore[attr-defined]


def test_version_is_the_one_that_the_package_is_built_with() -> None:
    import re

    assert re.fullmatch(r"\d+\.\d+\.\d+([a-z0-9.]+)?", nw.__version__)


def test_import_is_light(clean_environment: dict[str, str]) -> None:
    code = (
        "import sys, nodewise; nodewise.__version__, nodewise.NodewiseError; print(*sorted({m.split('.')[0] for m in"
        " sys.modules}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean_environment
    ).stdout.split()
    heavy = {
        "torch",
        "torch_geometric",
        "networkx",
        "matplotlib",
        "duckdb",
        "ray",
        "sklearn",
        "scipy",
        "numpy",
        "typer",
        "rich",
        "fastapi",
        "uvicorn",
        "pydantic",
    }
    assert not heavy.intersection(loaded)


def test_typing_marker_lies_beside_the_package() -> None:
    assert (Path(nw.__file__).parent / "py.typed").is_file()


def test_help_begins_with_a_screen_that_names_everything() -> None:
    import pydoc

    screen = "\n".join(pydoc.render_doc(nw, renderer=pydoc.plaintext).splitlines()[:30])
    assert [name for name in PUBLIC if name != "__version__" and name not in screen] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("__version__", "NodewiseError")])
def test_every_public_name_says_what_it_is(name: str) -> None:
    import inspect

    assert len((inspect.getdoc(getattr(nw, name)) or "").split("\n")[0]) > 20


def test_mypy_is_shown_every_public_name() -> None:
    """A file that uses each of them passes mypy's strict mode, and its wrong lines do not: `make check` sees to it."""
    root = Path(__file__).parents[1]
    used = (root / "tests" / "typed_use.py").read_text(encoding="utf-8")
    assert [name for name in PUBLIC if f"nw.{name}" not in used] == []
    checked = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert "tests/typed_use.py" in checked["files"] and checked["strict"]


def test_the_page_of_public_names_has_every_name_that_a_guide_imports() -> None:
    docs = Path(__file__).parents[1] / "docs"
    listed = (docs / "api.md").read_text(encoding="utf-8")
    guides = [
        page for page in (*docs.glob("*.md"), *docs.glob("guides/*.md")) if page.stem not in ("api", "architecture")
    ]
    used = {
        name.strip().split(" as ")[0]
        for page in guides
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for names in re.findall(r"^from nodewise[\w.]* import \(?([^)\n]*)", block, re.MULTILINE)
        for name in names.split(",")
        if name.strip()
    }
    assert {"check_strategy", "register_state_feature", "read_tasks"} <= used
    missing = [name for name in used | {"search_age_weights"} if not re.search(rf"\.{name}\b", listed)]
    assert sorted(missing) == []


OBJECTS = {
    "session": Session,
    "job": Connection,
    "fitted": Fitted,
    "table": Comparison,
    "result": Evaluation,
    "Session": Session,
    "Fitted": Fitted,
    "Graph": Graph,
    "RelationalGraph": RelationalGraph,
    "Status": Status,
    "Prediction": Prediction,
}
"""What the guides call things, and what these are."""
FILES = {("session", "py"), ("job", "nodewise")}


def test_every_method_that_a_guide_uses_is_there_described_and_on_the_page_of_public_names() -> None:
    root = Path(__file__).parents[1]
    listed = (root / "docs" / "api.md").read_text(encoding="utf-8")
    used: set[tuple[str, str]] = set()
    for page in (*root.glob("docs/*.md"), *root.glob("docs/guides/*.md"), root / "README.md"):
        if page.stem not in ("api", "architecture"):
            code = re.findall(r"```python\n.*?```|`[^`\n]+`", page.read_text(encoding="utf-8"), re.DOTALL)
            used |= {pair for part in code for pair in re.findall(rf"\b({'|'.join(OBJECTS)})\.([a-z]\w*)", part)}
    used -= FILES
    newest = {"change_rows", "erase_rows", "suggest", "withdraw", "preview_join", "likely_mistakes", "set_known"}
    assert newest <= {name for what, name in used if what == "session"}
    for what, name in sorted(used):
        kind = OBJECTS[what]
        entry = re.search(rf"autoclass:: [\w.]+\.{kind.__name__}\n((?:   :.*\n)*)", listed)
        assert entry is not None, kind
        described = any(re.search(rf"\b{name}\b.*:", base.__doc__ or "") for base in kind.__mro__)
        member = getattr(kind, name, None)
        is_member = isinstance(member, property | cached_property) or callable(member)
        assert described or (is_member and member.__doc__), f"{what}.{name} says nothing of itself"
        left_out, chosen = (re.search(rf":{option}: (.+)", entry[1]) for option in ("exclude-members", "members"))
        hidden = left_out is not None and name in left_out[1].split(", ")
        chosen_out = chosen is not None and name not in chosen[1].split(", ")
        assert described or not (hidden or chosen_out or "no-members" in entry[1]), f"{what}.{name} is not on the page"


def test_what_one_is_given_shows_itself_in_a_line_and_in_notebooks(tmp_path: Path) -> None:
    evil = "<b>"
    graph = nw.load_graph("wine")
    fitted = nw.fit(graph, {0: evil, 1: "fine", 2: evil})
    by = Relation(evil, "paper", "author", np.array([[0, 1], [0, 1]]))
    relational = RelationalGraph((NodeType("paper", 4), NodeType("author", 2)), (by,), "paper")
    with Session.create(tmp_path / "job", graph, classes=[evil, "fine"], strategy="random") as session:
        session.tell([0, 1], [evil, "fine"])
        session.suggest("a model", dict.fromkeys(range(30), evil), 0.7)
        (report,) = session.model_reports()
        shown = [session, session.status(), session.stop_report(), session.predict()]
        shown += [fitted, fitted.predict(), relational]
        for thing in shown:
            assert thing._repr_html_().startswith("<table>") and evil not in thing._repr_html_(), type(thing)
        for thing in (*shown, report):
            assert len(repr(thing)) <= 120 and "\n" not in repr(thing) and "0x" not in repr(thing), repr(thing)
    assert repr(fitted.predict()) == f"Predictions(178 rows, {len(fitted.classes)} classes, 0 like nothing seen)"
    assert repr(report) == "ModelReport('a model': 30 answers, right: 50 % of 2 labels of people)"


def test_the_library_has_a_logger_that_says_nothing_until_it_is_asked() -> None:
    script = """
import logging
from nodewise.ground.events import Silent, Warned
Silent()(Warned("heard?"))
assert logging.getLogger().handlers == []
logging.basicConfig(format="%(name)s: %(message)s")
Silent()(Warned("heard!"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nodewise: heard!\n")
