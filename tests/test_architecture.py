"""The house rules that can be read off the source: who may import whom, and what a file may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "nodewise"

DOORS = {"__init__", "__main__"}
LEARNING = {"ground", "graph", "contracts"}
EDGES = {  # who may import whom; docs/architecture.md says why
    "ground": set(),
    "graph": {"ground"},
    "contracts": {"ground", "graph"},
    "datasets": {"ground", "graph"},
    "environment": LEARNING | {"datasets"},
    "classifiers": LEARNING,
    "policy": LEARNING,
    "strategies": LEARNING | {"environment", "policy", "classifiers"},
    "evaluation": LEARNING | {"datasets", "environment", "classifiers", "policy", "strategies"},
    "training": LEARNING | {"datasets", "environment", "classifiers", "policy", "strategies", "evaluation"},
    "experiments": {"ground", "graph", "datasets", "classifiers", "policy", "strategies", "evaluation", "training"},
    "testing": LEARNING | {"environment", "classifiers", "strategies"},
    "session": LEARNING | {"datasets", "environment", "classifiers", "policy", "strategies"},
    "fitted": LEARNING | {"environment", "classifiers", "session"},
    "adapters": {"ground", "graph", "contracts", "policy", "session"},
    "client": {"ground", "graph", "session"},
    "cluster": {"ground", "graph", "evaluation"},
    "studio": {"ground", "graph", "session", "fitted"},
    "cli": {
        "ground",
        "graph",
        "contracts",
        "datasets",
        "classifiers",
        "policy",
        "strategies",
        "evaluation",
        "training",
        "experiments",
        "session",
        "fitted",
        "cluster",
        "studio",
    },
}
INSIDE = {  # in each room, which part (a file or a folder) may import which; one that is not named imports none
    "ground": {
        "compute": {"errors"},
        "files": {"errors"},
        "locks": {"events"},
        "plugins": {"errors"},
    },
    "graph": {
        "graph": {"checks", "differences", "label_sets", "preparation", "relations", "weights"},
        "differences": {"preparation"},
        "relations": {"checks", "weights"},
        "relational": {"checks", "graph", "label_sets", "relations"},
        "label_sets": {"checks"},
        "show": {"graph"},
        "nodes": {"graph"},
        "structural": {"graph"},
        "features": {"graph", "structural"},
        "tensors": {"graph", "sparse_kernels", "structural"},
        "tables": {"checks"},
        "io": {"checks", "graph", "label_sets", "preparation", "relational", "relations", "tables"},
        "knn": {"graph", "io", "preparation", "tables", "tensors", "weights"},
        "convert": {"checks", "graph", "knn", "label_sets", "relational", "relations", "tables", "weights"},
    },
    "datasets": {
        "catalogue": {"info"},
        "downloads": {"info", "sources"},
        "included": {"info", "overlapping", "relational", "synthetic"},
        "load": {"catalogue", "downloads", "folder", "included", "info", "ogb_folder", "reddit"},
        "sources": {"reddit"},
    },
    "fitted": {
        "estimator": {"fitted"},
        "file": {"labels"},
        "fitted": {"extras", "file", "labels", "predictions"},
        "jobs": {"fitted"},
        "streaming": {"fitted", "predictions"},
    },
    "environment": {
        "cuda": {"backend", "prediction_kernels"},
        "runs": {"backend", "cuda"},
        "environment": {"runs", "set_scores"},
        "protocol": {"environment", "runs"},
    },
    "classifiers": {
        "wrapped": {"views"},
    },
    "policy": {
        "file": {"policy"},
        "policy": {"layer_kernels"},
    },
    "strategies": {
        "age": {"heuristics"},
        "anrmab": {"heuristics", "scoring"},
        "badge": {"planned", "scoring"},
        "bald": {"propagated"},
        "coreset": {"kmeans"},
        "diffusal": {"medoids", "propagated"},
        "expected_error": {"propagated"},
        "featprop": {"medoids", "planned", "propagated"},
        "gain": {"gain_kernels", "sampled"},
        "grain": {"influence", "planned", "propagated"},
        "graphpart": {"medoids", "partition", "planned", "propagated"},
        "heuristics": {"kmeans", "scoring"},
        "igp": {"influence"},
        "kcenter": {"kmeans"},
        "kmeans": {"scoring"},
        "medoids": {"scoring"},
        "partition": {"propagated"},
        "rim": {"influence", "propagated"},
        "typiclust": {"medoids", "planned", "propagated"},
    },
    "evaluation": {
        "compare": {"contest", "engine", "results", "task"},
        "contest": {"engine", "results", "scores", "splits", "task"},
        "results": {"scores"},
        "engine": {"task"},
        "evaluate": {"contest", "engine", "results", "task"},
        "processes": {"engine", "task"},
        "splits": {"task"},
        "task": {"scores"},
    },
    "training": {
        "reinforce": {"checkpoint"},
    },
    "testing": {
        "classifiers": {"promises"},
        "strategies": {"promises"},
    },
    "session": {
        "asking": {"answers", "learning", "meaning"},
        "files": {"answers", "learning", "log", "meaning", "settings"},
        "learning": {"answers", "log", "meaning", "settings"},
        "live": {"meaning"},
        "log": {"answers", "settings"},
        "meaning": {"answers", "log", "settings"},
        "job": {"answers", "asking", "files", "learning", "log", "meaning"},
        "session": {"answers", "files", "job", "learning", "log", "meaning", "settings"},
    },
    "cluster": {
        "connection": {"versions"},
        "engine": {"connection", "versions", "worker"},
        "worker": {"versions"},
    },
    "studio": {
        "api": {"guard", "settings", "work"},
        "app": {"api", "guard", "settings", "work"},
        "notebook": {"app", "guard", "server", "settings", "work"},
        "server": {"guard"},
        "settings": {"guard"},
        "work": {"layout", "settings"},
    },
    "cli": {
        "app": {"command", "commands", "failures", "options"},
        "command": {"failures", "screen"},
        "commands": {"command", "description", "failures", "loading", "options", "screen"},
        "failures": {"reporting"},
        "screen": {"reporting"},
    },
}
KNOWN_CYCLES: set[str] = set()
OFFERS_WHAT_LIES_ABOVE = {
    "nodewise.graph.graph",
    "nodewise.graph.relational",
}  # a record whose methods, such as Graph.from_csv, only hand on
SOURCES = {
    path: ast.parse(path.read_text(encoding="utf-8"), filename=str(path)) for path in sorted(PACKAGE.rglob("*.py"))
}

PARENTS = {child: node for tree in SOURCES.values() for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def part_of(path: Path) -> str:
    """The room, the ground module or the door that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def place(path: Path, node: ast.AST | None = None) -> str:
    return f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 1)}"


def calls() -> Iterator[tuple[Path, ast.Call, str]]:
    """Every call in the source, with the name of what is called."""
    for path, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield path, node, ast.unparse(node.func)


def imports(path: Path, left_out: Set[ast.AST] = frozenset()) -> Iterator[str]:
    """Dotted names of everything of ours that a file imports, at its top or inside a function."""
    package = ["nodewise", *path.relative_to(PACKAGE).parent.parts]
    for node in (node for node in ast.walk(SOURCES[path]) if node not in left_out):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "nodewise")
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module.split(".")[0] == "nodewise":
                yield from (f"{module}.{alias.name}" for alias in node.names)


def module_name(path: Path) -> str:
    return ".".join(["nodewise", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


def module_of(name: str) -> str:
    """The module that a dotted name lies in or is."""
    while name not in SOURCE_OF:
        name = name.rpartition(".")[0]
    return name


def handing_on(module: str) -> set[ast.AST]:
    """The imports of methods that do nothing but import a function and return what it gives, where these are left out
    (`OFFERS_WHAT_LIES_ABOVE`).
    """
    found: set[ast.AST] = set()
    for node in ast.walk(SOURCES[SOURCE_OF[module]]) if module in OFFERS_WHAT_LIES_ABOVE else ():
        match node.body[-2:] if isinstance(node, ast.FunctionDef) else []:
            case [ast.ImportFrom(names=[alias]) as late, ast.Return(value=ast.Call(func=ast.Name(id=called)))]:
                rest = len(node.body) - 2 - (ast.get_docstring(node) is not None)
                found |= {late} if alias.name == called and not rest else set()
    return found


def imports_inside(room: str) -> dict[str, set[str]]:
    """Which part of a room imports which others; the room's ``__init__`` offers names and is left out."""
    found: dict[str, set[str]] = {}
    for module, imported in IMPORTED.items():
        if module.startswith(f"nodewise.{room}."):
            inside = [name for name in imported if f"{name}.".startswith(f"nodewise.{room}.")]
            part = module.split(".")[2]
            found.setdefault(part, set()).update({f"{name}.__init__".split(".")[2] for name in inside} - {part})
    return found


def on_a_cycle(graph: Mapping[str, Set[str]]) -> set[str]:
    """Whatever can be reached from itself."""
    reached = {name: set(others) for name, others in graph.items()}
    while True:
        further = {name: found.union(*(reached.get(other, ()) for other in found)) for name, found in reached.items()}
        if further == reached:
            return {name for name, found in reached.items() if name in found}
        reached = further


SOURCE_OF = {module_name(path): path for path in SOURCES}
IMPORTED = {
    name: {module_of(found) for found in imports(path, handing_on(name))} - {name} for name, path in SOURCE_OF.items()
}


def test_the_package_holds_nothing_but_the_rooms() -> None:
    parts = {part_of(path) for path in SOURCES}
    assert parts <= DOORS | set(EDGES)
    assert parts >= DOORS | {"ground", "graph", "datasets", "cli"}


def test_every_room_has_a_row_on_the_page() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", text, flags=re.MULTILINE)
    assert sorted(rows) == sorted(EDGES)


def test_the_page_says_of_each_room_what_it_may_import() -> None:
    """A row may begin with "the same", which is what the row above says; "but" and "without" leave rooms out."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    said: set[str] = set()
    for room, cell in re.findall(r"^\| `(\w+)(?:/|\.py)` \|.*\| ([^|]*) \|$", text, flags=re.MULTILINE):
        with_these, _, without = re.sub(" but |, without ", " WITHOUT ", cell).partition(" WITHOUT ")
        named, left_out = (set(re.findall(r"`(\w+)", part)) for part in (with_these, without))
        named |= said if cell.startswith("the same") else set(EDGES) if cell.startswith("every room") else set()
        said = named - left_out - {room}
        assert said == EDGES[room], room


def test_the_page_names_every_part_of_a_room_and_nothing_that_is_not_there() -> None:
    """A file or folder that lies in a room is named in its row, or in its own section; of strategies, which have one
    file each, the row says that.
    """
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1].rstrip("/"): line for line in text.splitlines() if line.startswith("| `")}
    missing = []
    for room in (path for path in sorted(PACKAGE.iterdir()) if path.name in EDGES and path.is_dir()):
        said = rows[room.name] + (text.partition("## The command line")[2] if room.name in ("cli", "studio") else "")
        parts = [path for path in room.iterdir() if path.name not in ("__init__.py", "__pycache__")]
        parts = [] if room.name == "strategies" else [path for path in parts if path.is_dir() or path.suffix == ".py"]
        missing += [
            f"{room.name}/{path.name}"
            for path in parts
            if not re.search(rf"\b{path.name}{'/' if path.is_dir() else ''}(?!\w)", said)
        ]
    assert missing == [], "not on the page"
    known = {path.relative_to(PACKAGE).as_posix() for path in SOURCES} | {path.name for path in SOURCES}
    named = set(re.findall(r"[\w/]+\.py\b", text)) - {"classifiers/NAME/NAME.py", "nodewise/__init__.py"}
    assert [name for name in sorted(named - known) if not (ROOT / name).is_file()] == [], "not in the package"


def test_a_room_imports_only_the_rooms_it_may() -> None:
    wrong = []
    for path in SOURCES:
        here = part_of(path)
        if here not in DOORS:
            allowed = {here, *EDGES[here], "__version__"}
            wrong += [
                f"{place(path)} imports {name}" for name in imports(path) if f"{name}.".split(".")[1] not in allowed
            ]
    assert not wrong


def test_a_room_imports_every_room_it_may() -> None:
    used: dict[str, set[str]] = {room: set() for room in EDGES}
    for module, imported in IMPORTED.items():
        if part_of(SOURCE_OF[module]) not in DOORS:
            used[part_of(SOURCE_OF[module])] |= {part_of(SOURCE_OF[name]) for name in imported}
    assert not {room: unused for room, allowed in EDGES.items() if (unused := allowed - used[room])}


def test_a_part_of_a_room_imports_the_parts_it_may_and_no_others() -> None:
    def lines(room: str, table: Mapping[str, Set[str]]) -> set[str]:
        return {f"{room}/{part} imports {room}/{other}" for part, others in table.items() for other in others}

    used = {line for room in EDGES for line in lines(room, imports_inside(room))}
    allowed = {line for room, table in INSIDE.items() for line in lines(room, table)}
    assert sorted(used - allowed) == [], "not permitted"
    assert sorted(allowed - used) == [], "permitted, but nobody does"


def test_no_two_parts_of_a_room_import_each_other() -> None:
    """Neither its parts nor its modules: whoever reads upwards never turns round. What is imported inside a function or
    for its type alone counts too.
    """
    turning = {}
    for room in EDGES:
        modules = {name: found for name, found in IMPORTED.items() if part_of(SOURCE_OF[name]) == room}
        if found := on_a_cycle(imports_inside(room)) | on_a_cycle(modules):
            turning[room] = found
    assert {room: found for room, found in turning.items() if room not in KNOWN_CYCLES} == {}
    assert turning.keys() >= KNOWN_CYCLES, "take those without a cycle off the list"


def test_a_cycle_is_seen() -> None:
    assert on_a_cycle({"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a", "b", "c"}}) == set()
    assert on_a_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}


def test_nothing_below_a_session_is_handed_one() -> None:
    """Helpers get a record of the moment, and never call the session back."""
    handed = []
    for path, tree in SOURCES.items():
        if part_of(path) == "session":
            for node in ast.walk(tree):
                said = ast.unparse(node.annotation) if isinstance(node, ast.arg) and node.annotation else ""
                handed += [place(path, node)] if re.search(r"\b(Session|Job)\b", said) else []
    assert not handed


def test_a_session_is_a_thin_face() -> None:
    """Its methods check what they are given and hand it on: no loop, no decision of their own, a few statements. Making
    one and opening one take its file back where that fails.
    """
    (face,) = [node for node in SOURCES[PACKAGE / "session" / "session.py"].body if isinstance(node, ast.ClassDef)]
    thick = []
    for method in face.body:
        if isinstance(method, ast.FunctionDef) and method.name not in ("create", "open"):
            inside = list(ast.walk(method))[1:]
            statements = [one for one in inside if isinstance(one, ast.stmt) and not isinstance(one, ast.ImportFrom)]
            works = [one for one in inside if isinstance(one, (ast.For, ast.While, ast.Try, ast.FunctionDef))]
            thick += [f"{method.name}: {len(statements)}"] if works or len(statements) > 10 else []
    assert not thick


def test_no_two_rooms_import_each_other() -> None:
    assert not on_a_cycle(EDGES)


def test_the_check_of_imports_sees_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
import nodewise.graph
from nodewise import datasets
def late():
    from nodewise.training import loop
    from ..policy import Policy
    from . import screen
    import numpy
"""
    path = PACKAGE / "cli" / "imagined.py"
    monkeypatch.setitem(SOURCES, path, ast.parse(source))
    assert set(imports(path)) == {
        "nodewise.graph",
        "nodewise.datasets",
        "nodewise.training.loop",
        "nodewise.policy.Policy",
        "nodewise.cli.screen",
    }


@pytest.mark.slow
def test_modules_that_benchmarks_and_tests_import_are_there() -> None:
    """A file that is moved is followed by all that import it, also by what no test runs."""
    missing = []
    for path in [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nodewise":
                module = PACKAGE.joinpath(*node.module.split(".")[1:])
                if not module.is_dir() and not module.with_suffix(".py").is_file():
                    missing.append(f"{path.relative_to(ROOT)}:{node.lineno} imports {node.module}")
    assert not missing


def test_no_file_is_a_drawer_for_odds_and_ends() -> None:
    drawers = {"utils", "util", "common", "helpers", "helper", "misc"}
    assert not [
        place(path)
        for path in SOURCES
        if drawers & {part.removesuffix(".py").strip("_") for part in path.relative_to(PACKAGE).parts}
    ]


def test_files_are_short_enough_to_read() -> None:
    """One theme in at most 600 lines. A class is never cut in two: of a longer file what lies around its longest class
    counts, and the class up to 800: a face has a method for everything that can be done.
    """
    long = []
    for path, tree in SOURCES.items():
        if path in (PACKAGE / "datasets" / "catalogue.py", PACKAGE / "contracts.py"):
            continue  # a list of data, a row a data set; and all that a plug-in must know, in one file
        lines = len(path.read_text(encoding="utf-8").splitlines())
        longest = max(
            (node.end_lineno - node.lineno for node in tree.body if isinstance(node, ast.ClassDef) and node.end_lineno),
            default=0,
        )
        long += [place(path)] if lines > 600 and (lines - longest > 100 or longest > 800) else []
    assert not long


def test_every_module_says_what_it_is() -> None:
    assert not [place(path) for path, tree in SOURCES.items() if not ast.get_docstring(tree)]


def test_the_library_never_prints_nor_sets_up_logging() -> None:
    nowhere = {"print", "logging.basicConfig", "sys.stdout.write"}
    outside = ("typer.", "sys.stderr.", "rich.")
    found = [
        f"{place(path, node)} calls {called}"
        for path, node, called in calls()
        if called in nowhere or (part_of(path) != "cli" and called.startswith(outside))
    ]
    assert not found


def test_no_randomness_comes_from_the_global_state() -> None:
    explicit = {"Generator", "SFC64", "PCG64", "Philox", "SeedSequence", "BitGenerator", "default_rng", "get_state"}
    found = []
    for path, node, called in calls():
        module, _, name = called.rpartition(".")
        if module in {"np.random", "numpy.random"} and name not in explicit:
            found.append(f"{place(path, node)} calls {called}")
        if module in {"random", "torch", "torch.cuda"} and (
            module == "random" or name in {"manual_seed", "manual_seed_all", "seed"}
        ):
            found.append(f"{place(path, node)} calls {called}")
        if name == "default_rng" and not node.args:
            found.append(f"{place(path, node)} makes a generator without a seed")
    assert not found


def test_classifier_and_policy_are_called_so() -> None:
    found = []
    for path, tree in SOURCES.items():
        for node in ast.walk(tree):
            name = getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "name", None)
            if isinstance(node, (ast.Name, ast.arg, ast.FunctionDef, ast.ClassDef)) and str(name).lower() in {
                "model",
                "models",
                "net",
                "nets",
            }:
                found.append(f"{place(path, node)} says {name}")
    assert not found


def test_names_say_what_they_are() -> None:
    """Words that once meant several things, or nothing in particular: `told` is a label that a person gave, in a
    session's status and in its rules, and no variable for whatever was read, written or said.
    """
    variables, definitions = {"told", "apart"}, {"race", "Field", "_plain", "_features"}
    found = [place(path) for path in SOURCES if path.stem in {"form", "race"}]
    for path, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in variables:
                in_a_record = node.id == "told" and part_of(path) in {"session", "studio"}
                found += [] if in_a_record and isinstance(PARENTS[node], ast.AnnAssign) else [place(path, node)]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in definitions:
                found.append(place(path, node))
            named = node.arg if isinstance(node, ast.arg) else node.name if isinstance(node, ast.FunctionDef) else ""
            found += [place(path, node)] if named in variables and part_of(path) != "session" else []
    made = re.compile(rf"\b(?:const|let|function) (?:{'|'.join(variables)})\b")  # what is taken out of a status is one
    for path in sorted((PACKAGE / "studio" / "page").glob("*.js")):
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [f"{path.name}:{number}" for number, line in enumerate(lines, start=1) if made.search(line)]
    assert not found


def test_the_decision_process_asks_its_backend_and_not_for_the_device() -> None:
    """What differs between devices is a backend's; one function chooses it."""
    asked = re.compile(r"\bis_cuda$|\bdevice\.type$|^isinstance\(.*Backend\)$")
    found = []
    for path, tree in SOURCES.items():
        if path.parent == PACKAGE / "environment" and path.stem not in ("cuda", "prediction_kernels"):
            for top in tree.body:
                expressions = [
                    ast.unparse(node) for node in ast.walk(top) if isinstance(node, (ast.Attribute, ast.Call))
                ]
                found += [f"{place(path, top)}: {each}" for each in expressions if asked.search(each)]
    assert [line for line in found if not line.endswith(": device.type")] == []
    assert len(found) == 1, "backend_of alone looks at the kind of device"


def test_a_room_lists_its_public_names() -> None:
    unlisted = []
    for path, tree in SOURCES.items():
        if path.name == "__init__.py" and path.parent.parent == PACKAGE:
            targets = [ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)]
            unlisted += [] if "__all__" in targets else [place(path)]
    assert not unlisted


def test_classifiers_and_strategies_carry_a_version() -> None:
    """A class of theirs that has a name has a version beside it (CONTRIBUTING.md, "When results change")."""
    without = []
    for path, tree in SOURCES.items():
        if part_of(path) in ("classifiers", "strategies"):
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    assigned = [one for one in node.body if isinstance(one, ast.Assign)]
                    held = {ast.unparse(target) for one in assigned for target in one.targets}
                    without += [place(path, node)] if "name" in held and "version" not in held else []
    assert not without, "write version = 1, then python -m tests.evaluation.test_versions"


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def test_lines_fit_120_columns_in_every_language() -> None:
    """Of the package every line; elsewhere a remark to mypy or ruff behind the code does not count, as ruff has it."""
    remark = re.compile(r"  # (?:type: ignore|noqa).*$")
    found = []
    for path in tracked_files():
        if path.suffix in {".py", ".js", ".css", ".html", ".yml", ".yaml", ".sh"} or path.name == "Makefile":
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                shown = [letter for letter in line if not unicodedata.combining(letter)]
                kept = shown if PACKAGE in path.parents else remark.sub("", "".join(shown))
                found += [f"{path.relative_to(ROOT)}:{number}"] if len(kept) > 120 else []
    assert not found


def test_no_line_is_kept_from_its_formatter() -> None:
    kept = re.compile(r"(?:fmt|yapf): ?(?:skip|off)|noqa: ?E501|(?:biome|prettier)-ignore")
    texts = [path for path in tracked_files() if path.suffix in {".py", ".js", ".css", ".html"}]
    named = [path for path in texts if kept.search(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(ROOT)) for path in named if path != Path(__file__)] == []


def test_nothing_names_a_folder_of_one_machine() -> None:
    absolute = re.compile(r"(?<![\w.:/])/(?:home|root|work|tmp|opt|mnt|Users)/[\w.]")
    texts = {".py", ".md", ".toml", ".txt", ".json", ".css", ".html", ".js", ".yml", ""}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in tracked_files()
        if path.suffix in texts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if absolute.search(line)
    ]
    assert not found


def test_no_file_is_too_large_for_a_repository() -> None:
    assert not [path.name for path in tracked_files() if path.stat().st_size > 1_000_000]


@pytest.mark.slow
def test_both_ways_through_the_house_pass_the_files_that_the_page_lists() -> None:
    from benchmarks.passages import LIMITS, PAGE, passages

    text = PAGE.read_text(encoding="utf-8")
    for way, files in passages().items():
        block = text.partition(f"<!-- {way} -->")[2].partition(f"<!-- /{way} -->")[0]
        listed = re.findall(r"^\d+\. `([\w/]+\.py)`", block, flags=re.MULTILINE)
        assert sorted(listed) == sorted(files), "python benchmarks/passages.py --write"
        assert len(files) <= LIMITS[way]
