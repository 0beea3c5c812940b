"""A classifier and a strategy from a file outside the package, exactly as docs/plugins.md shows them, through every
door.
"""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nodewise as nw
from nodewise.classifiers import Gcn, list_classifiers, make_classifier
from nodewise.cli import main
from nodewise.evaluation.engine import LocalEngine
from nodewise.graph import Graph
from nodewise.ground.errors import InputError, SessionError
from nodewise.ground.events import Event, Warned
from nodewise.policy import load_policy
from nodewise.policy.policy import STATE_FEATURES
from nodewise.strategies import list_strategies, make_strategy
from nodewise.testing import check_classifier, check_strategy
from nodewise.training import search_age_weights
from tests.small_graphs import block_graph
from tests.test_documents import ROOT, blocks

PAGE = ROOT / "docs" / "plugins.md"
FILE, MODELS, SUITES, USE, PARTS = blocks(PAGE, "python")
SHORT: dict[str, Any] = {"runs": 3, "seed": 1, "device": "cpu"}
OFFERED = """[nodewise.classifiers]
diffused = mine:Diffused

[nodewise.strategies]
closest = mine:Closest
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the page's file in it, which is on Python's path."""
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        sys, "dont_write_bytecode", True
    )  # a file that is corrected within a second looks unchanged to the cache
    importlib.invalidate_caches()
    sys.modules.pop("mine", None)
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.fixture
def mine(folder: Path) -> ModuleType:
    """The page's file, imported."""
    return importlib.import_module("mine")


@pytest.fixture
def installed(folder: Path) -> Path:
    """The same with the folder of an installed package that offers both by entry points."""
    info = folder / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(OFFERED)
    return folder


def graph() -> Graph:
    return block_graph(80, signal=3.0)


def truth(one: Graph, node: int) -> str:
    assert one.y is not None
    return one.class_names[one.y[node]]


def test_they_are_as_short_as_the_page_says_and_keep_their_contracts(mine: ModuleType) -> None:
    code = [line for line in FILE.splitlines() if line.strip() and not line.startswith(("import", "from"))]
    strategy = code[code.index("class Closest(Strategy):") :]
    assert len(strategy) == 5 and len(code) - len(strategy) <= 22
    check_classifier(mine.Diffused())
    check_strategy(mine.Closest())
    exec(SUITES, {})


@pytest.mark.slow
def test_models_of_other_libraries_run_as_the_page_shows_them(folder: Path) -> None:
    space: dict[str, Any] = {}
    exec(MODELS, space)
    assert space["result"].classifier == "GCN" and space["result"].micro.mean > 70
    assert [setting.classifier for setting in space["table"].settings] == [
        "views",
        "RandomForestClassifier (near)",
        "3 x RandomForestClassifier (near)",
    ]
    one, prediction = space["graph"], space["prediction"]
    right = sum(truth(one, node) == label for node, label in enumerate(prediction.names))
    assert right > 0.7 * one.num_nodes


@pytest.mark.gpu
def test_they_keep_their_contracts_on_a_gpu(mine: ModuleType) -> None:
    check_classifier(mine.Diffused(), "cuda")
    check_strategy(mine.Closest(), "cuda")


def test_the_page_s_python_runs(folder: Path) -> None:
    space: dict[str, Any] = {}
    exec(USE, space)
    assert space["result"].classifier == "diffused" and space["result"].strategy == "closest"
    assert space["result"].micro.mean > 60
    assert {(setting.classifier, setting.budget) for setting in space["table"].settings} == {
        (name, budget) for name in ("gcn", "diffused") for budget in (6, 9)
    }
    assert space["policy"].origin["training"]["classifier"] == {"name": "diffused", "settings": {"ridge": 0.1}}


def test_the_page_s_state_feature_and_network(folder: Path, registries: None) -> None:
    space: dict[str, Any] = {}
    exec(PARTS, space)
    policy = space["policy"]
    assert policy.settings.architecture == "plain" and policy.settings.state.features[-1] == "progress"
    assert nw.evaluate("wine", policy, budget=4, runs=2, device="cpu").classifier == "gcn"


def test_an_installed_package_s_state_feature_and_network_on_the_command_line(
    installed: Path, registries: None, capfd: pytest.CaptureFixture[str]
) -> None:
    (installed / "parts.py").write_text(PARTS.partition("shape =")[0].replace("@register", "# "))
    with (installed / "mine-1.0.dist-info" / "entry_points.txt").open("a") as file:
        file.write(
            "\n[nodewise.state_features]\nprogress = parts:progress\n\n[nodewise.policy_networks]\nplain ="
            " parts:Plain\n"
        )
    options = [
        "--architecture",
        "plain",
        "--state",
        "entropy,progress",
        "--classifier",
        "diffused",
        "--set",
        "ridge=0.7",
    ]
    assert (
        main(
            [
                "train",
                "wine",
                "--budget",
                "3",
                "--episodes",
                "2",
                "--batch",
                "2",
                "--out",
                "own.safetensors",
                *options,
                "--quiet",
            ]
        )
        == 0
    )
    policy = load_policy("own.safetensors")
    assert policy.settings.architecture == "plain" and policy.settings.state.features == ("entropy", "progress")
    assert policy.origin["training"]["classifier"] == {"name": "diffused", "settings": {"ridge": 0.7}}
    assert main(["train", "wine", "--out", "no.safetensors", "--architecture", "plian"]) == 2
    assert "unknown policy architecture 'plian': did you mean 'plain'?" in capfd.readouterr().err


def test_evaluate(mine: ModuleType) -> None:
    one = nw.evaluate(graph(), mine.Closest(), classifier=mine.Diffused(), budget=6, **SHORT)
    assert (one.strategy, one.classifier, one.policy) == ("closest", "diffused", None)
    named = nw.evaluate(graph(), "mine:Closest", classifier="mine:Diffused", budget=6, **SHORT)
    assert np.array_equal(one.micro_f1, named.micro_f1) and np.array_equal(one.queries, named.queries)
    other = nw.evaluate(
        graph(), "mine:Closest", classifier="mine:Diffused", settings={"ridge": 50.0}, budget=6, **SHORT
    )
    assert not np.array_equal(one.micro_f1, other.micro_f1)
    by_class = nw.evaluate(graph(), mine.Closest, classifier=mine.Diffused, budget=6, **SHORT)
    assert np.array_equal(one.micro_f1, by_class.micro_f1)


def test_a_corrected_strategy_gives_no_stale_score(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []
    play = LocalEngine.play_one

    def count(engine: LocalEngine, task: Any, report: Any) -> Any:
        played.append(task.strategy.name)
        return play(engine, task, report)

    monkeypatch.setattr(LocalEngine, "play_one", count)

    def scores(module: ModuleType) -> np.ndarray:
        played.clear()
        table = nw.compare(
            graph(),
            ["random", module.Closest()],
            classifiers=[module.Diffused()],
            budgets=[4, 7],
            store=folder / "kept",
            **SHORT,
        )
        return np.concatenate([setting.outcomes["closest"].micro_f1 for setting in table.settings])

    wrong = FILE.replace("best[..., -1] - best[..., 0]", "best[..., 0] - best[..., -1]")
    assert wrong != FILE
    (folder / "mine.py").write_text(wrong)
    first = importlib.import_module("mine")
    mistaken = scores(first)
    assert played == ["random", "closest"]
    assert np.array_equal(scores(first), mistaken) and played == [], "what is finished is not played again"
    (folder / "mine.py").write_text(FILE)
    assert np.array_equal(scores(first), mistaken) and played == [], "the file was edited, but not what runs"
    corrected = importlib.reload(first)
    right = scores(corrected)
    assert "closest" in played
    assert np.array_equal(
        right,
        np.concatenate(
            [
                nw.evaluate(
                    graph(), corrected.Closest(), classifier=corrected.Diffused(), budget=budget, **SHORT
                ).micro_f1
                for budget in (4, 7)
            ]
        ),
    )
    assert not np.array_equal(right, mistaken)


def test_a_comparison_goes_on_where_it_was_stopped(
    mine: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(Exception):
        pass

    how: dict[str, Any] = {
        "classifiers": [mine.Diffused()],
        "budgets": [5],
        "runs": 23,
        "seed": 1,
        "device": "cpu",
        "store": tmp_path / "kept",
    }
    play, count = LocalEngine.play_one, [0]

    def stop_at_the_third(engine: LocalEngine, task: Any, report: Any) -> Any:
        count[0] += 1
        if count[0] == 3:
            raise Stopped
        return play(engine, task, report)

    monkeypatch.setattr(LocalEngine, "play_one", stop_at_the_third)
    with pytest.raises(Stopped):
        nw.compare(graph(), [mine.Closest()], **how)
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 2
    resumed = nw.compare(graph(), [mine.Closest()], **how)
    assert count[0] == 4, "the two finished chunks were not played again"
    undisturbed = nw.compare(graph(), [mine.Closest()], **{**how, "store": None})
    assert np.array_equal(
        resumed.settings[0].outcomes["closest"].micro_f1, undisturbed.settings[0].outcomes["closest"].micro_f1
    )


def test_what_nothing_tells_the_code_of_is_kept_in_memory_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ModuleType("typed")  # as in a shell: there is no file
    monkeypatch.setitem(sys.modules, "typed", typed)
    space = vars(typed)
    exec(FILE, space)
    nw.compare(
        graph(), [space["Closest"]()], classifiers=[space["Diffused"]()], budgets=[4], store=folder / "kept", **SHORT
    )
    assert not list((folder / "kept").rglob("*.json"))
    for kind in ("Closest", "Diffused"):
        space[kind].version = 1
    nw.compare(
        graph(), [space["Closest"]()], classifiers=[space["Diffused"]()], budgets=[4], store=folder / "kept", **SHORT
    )
    assert len(list((folder / "kept").rglob("*.json"))) == 1


def test_two_classes_of_one_name_are_not_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nodewise.evaluation import ChunkStore

    store, scores = ChunkStore(), []
    for number, code in enumerate((FILE, FILE.replace("9 * self.x", "-9 * self.x"))):
        typed = ModuleType(f"typed{number}")
        monkeypatch.setitem(sys.modules, typed.__name__, typed)
        exec(code, vars(typed))
        table = nw.compare(graph(), ["random"], classifiers=[typed.Diffused()], budgets=[8], store=store, **SHORT)
        scores.append(table.settings[0].outcomes["random"].micro_f1.mean())
    assert scores[1] < scores[0], "the second, whose sign is wrong, was played for itself"


def test_train_policy_and_a_policy_that_brings_its_classifier(installed: Path) -> None:
    classifier = make_classifier("diffused")
    policy = nw.train_policy(
        [graph()], classifier=classifier, budgets=(3,), episodes=11, batch=2, seed=1, device="cpu", out="p.safetensors"
    )
    same = nw.train_policy([graph()], classifier="diffused", budgets=(3,), episodes=11, batch=2, seed=1, device="cpu")
    assert policy.digest() == same.digest()
    result = nw.evaluate(graph(), load_policy("p.safetensors"), budget=4, **SHORT)
    assert result.classifier == "diffused", "the classifier that the policy was trained with"
    assert nw.evaluate(graph(), policy, classifier="gcn", budget=4, **SHORT).classifier == "gcn"


def test_a_policy_whose_classifier_is_not_to_be_had_says_so(mine: ModuleType) -> None:
    policy = nw.train_policy([graph()], classifier=mine.Diffused(), budgets=(3,), episodes=1, batch=2, device="cpu")
    with pytest.raises(InputError, match="unknown classifier 'diffused'"):
        nw.evaluate(graph(), policy, budget=4, **SHORT)
    assert nw.evaluate(graph(), policy, classifier=mine.Diffused(), budget=4, **SHORT).classifier == "diffused"


def test_the_search_of_age_s_weights(mine: ModuleType) -> None:
    result = search_age_weights(graph(), classifier=mine.Diffused(), budget=3, runs=1, parts=1, device="cpu")
    assert len(result.scores) == 3 and 0 < max(result.scores) <= 100


def test_a_session(mine: ModuleType, folder: Path) -> None:
    one = graph()
    own: dict[str, Any] = {"classifier": mine.Diffused(), "strategy": mine.Closest()}
    with nw.Session.create("job", one, budget=6, use_labels=False, **own) as session:
        assert (session.settings.classifier, session.settings.strategy) == ("diffused", "closest")
        assert session.settings.classifier_settings == {"ridge": 0.1}
        for _ in range(4):
            node = session.ask().node
            session.tell(node, truth(one, node))
        expected = session.ask().node
        predicted = session.predict().probabilities
    with nw.Session.open("job", **own) as session:
        assert session.ask().node == expected
        assert np.array_equal(session.predict().probabilities, predicted)
        gone = session.undo()
        assert gone.kind == "tell"
        session.tell(int(gone.body["node"]), str(gone.body["label"]))
        assert np.array_equal(session.predict().probabilities, predicted), (
            "an undo and the same label again leave nothing behind"
        )
    with nw.Session.open("job", classifier="mine:Diffused", strategy="mine:Closest") as session:
        assert session.ask().node == expected


@pytest.mark.slow
def test_a_session_tells_that_the_code_of_its_plug_ins_has_changed(
    mine: ModuleType, folder: Path, nodewise: Run
) -> None:
    one = graph()
    with nw.Session.create(
        "job", one, budget=6, use_labels=False, classifier=mine.Diffused(), strategy=mine.Closest()
    ) as session:
        session.tell(3, truth(one, 3))
        assert session.settings.classifier_digest == session.settings.strategy_digest is not None
    told: list[Event] = []
    with nw.Session.open("job", classifier=mine.Diffused(), strategy=mine.Closest(), reporter=told.append) as session:
        before = session.ask().node
    assert not told, "the same code"
    (folder / "mine.py").write_text(FILE + "\n# corrected\n")
    sys.modules.pop("mine")
    new = importlib.import_module("mine")
    with nw.Session.open("job", classifier=new.Diffused(), strategy=new.Closest(), reporter=told.append) as session:
        assert session.labels and not told, "nothing is made, and nothing said, before it is needed"
        assert session.ask().node == before
        session.predict()
    assert [type(event) for event in told] == [Warned, Warned]
    for kind, event in zip(("classifier 'diffused'", "strategy 'closest'"), told, strict=True):
        assert isinstance(event, Warned) and event.message.startswith(
            f"the code of the {kind} has changed since the session was begun ("
        )
    with (
        nw.Session.open("job", classifier=new.Diffused(), strategy=new.Closest()) as session,
        pytest.warns(UserWarning, match="the code of the") as seen,
    ):
        session.predict()
    assert len(seen) == 2
    done = nodewise("session", "predict", "job", "--classifier", "mine:Diffused", "--strategy", "mine:Closest")
    assert done.returncode == 0 and done.stderr.count("warning: the code of the ") == 2


def test_a_session_tells_that_the_version_of_what_is_ours_was_raised(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with nw.Session.create("job", graph(), budget=6, use_labels=False, classifier="gcn", strategy="random") as session:
        session.tell(3, truth(graph(), 3))
        assert (session.settings.classifier_digest, session.settings.strategy_digest) == ("version 1", "version 1")
    told: list[Event] = []
    with nw.Session.open("job", reporter=told.append) as session:
        session.predict()
    assert not told
    monkeypatch.setattr(Gcn, "version", 2)
    with nw.Session.open("job", reporter=told.append) as session:
        session.predict()
    assert "the code of the classifier 'gcn' has changed since the session was begun (version 1, now version 2)" in str(
        told
    )


def test_opening_a_session_imports_no_code(mine: ModuleType, folder: Path) -> None:
    one = graph()
    with nw.Session.create(
        "job", one, budget=6, use_labels=False, classifier="mine:Diffused", strategy="mine:Closest"
    ) as session:
        session.tell(3, truth(one, 3))
    sys.modules.pop("mine")
    with nw.Session.open("job") as session:
        assert session.labels == {3: truth(one, 3)}, "what was told can be read without any code"
        with pytest.raises(
            SessionError, match="the session's (classifier|strategy) is not to be had here.*takes your own"
        ):
            session.ask()
    assert "mine" not in sys.modules
    other = importlib.import_module("mine")
    with (
        nw.Session.open("job", classifier=other.Diffused(ridge=7.0), strategy=other.Closest()) as session,
        pytest.raises(SessionError, match="give that one"),
    ):
        session.ask()


def test_a_file_that_names_a_module_is_refused(mine: ModuleType, folder: Path) -> None:
    """Whoever writes `os:system` into a session's file gains nothing."""
    import sqlite3

    nw.Session.create("job", graph(), budget=6, use_labels=False, strategy="random").close()
    with sqlite3.connect("job") as file:
        (table,) = [
            name
            for (name,) in file.execute("select name from sqlite_master where type = 'table'")
            if _holds_settings(file, name)
        ]
        column = next(
            row[1] for row in file.execute(f"pragma table_info({table})") if _names_strategy(file, table, row[1])
        )
        file.execute(f"update {table} set {column} = replace({column}, '\"random\"', '\"mine:Closest\"')")
    sys.modules.pop("mine")
    with nw.Session.open("job") as session, pytest.raises(SessionError, match="opening a file imports no code"):
        session.ask()
    assert "mine" not in sys.modules


def _names_strategy(file: Any, table: str, column: str) -> bool:
    return any('"random"' in str(value) for (value,) in file.execute(f"select {column} from {table}"))


def _holds_settings(file: Any, table: str) -> bool:
    return any(_names_strategy(file, table, row[1]) for row in file.execute(f"pragma table_info({table})"))


def test_names_that_an_installed_package_offers(installed: Path) -> None:
    assert "diffused" in list_classifiers() and "closest" in list_strategies()
    assert make_classifier("diffused", {"ridge": 0.3}).identity() == {"ridge": 0.3}
    assert make_strategy("closest").name == "closest"
    result = nw.evaluate(graph(), "closest", classifier="diffused", budget=4, **SHORT)
    assert (result.strategy, result.classifier) == ("closest", "diffused")
    with nw.Session.create(
        "job", graph(), budget=6, use_labels=False, strategy="closest", classifier="diffused"
    ) as session:
        asked = session.ask().node
    with nw.Session.open("job") as session:
        assert session.ask().node == asked, "entry points are resolved by name when a file is opened"


@pytest.mark.slow
def test_the_page_s_commands(folder: Path, nodewise: Run, capfd: pytest.CaptureFixture[str]) -> None:
    commands = [shlex.split(line)[1:] for block in blocks(PAGE, "bash") for line in block.splitlines()]
    assert len(commands) == 5
    done = nodewise(*commands[0])  # a process finds the file in the folder that it is started in
    assert done.returncode == 0, done.stderr
    for command in commands[1:]:
        assert main(command) == 0, capfd.readouterr().err
    assert (
        "next: nodewise session ask own.nodewise --classifier mine:Diffused --strategy mine:Closest\n"
        in capfd.readouterr().err
    )
    comparison = json.loads((folder / "results" / "comparison.json").read_text())
    assert {setting["classifier"] for setting in comparison["settings"]} == {"gcn", "diffused"}
    assert main(["session", "tell", "own.nodewise", "0", "class_0"]) == 0, "telling needs no code"
    refused = nodewise("session", "predict", "own.nodewise")
    assert (
        refused.returncode in (1, 2)
        and "--classifier package.module:Name" in refused.stderr
        and refused.stderr.count("\n") == 1
    )


def test_what_cannot_be_imported_or_made_is_told(folder: Path) -> None:
    for name, said in (
        ("nowhere:Closest", "the strategy 'nowhere:Closest' could not be imported"),
        ("mine:Margn", "could not be imported"),
        ("mine:Diffused", "is no strategy"),
        ("closest", "unknown strategy 'closest'.*package.module:Name"),
    ):
        with pytest.raises(InputError, match=said):
            make_strategy(name)
    with pytest.raises(
        InputError, match="unknown setting of the classifier 'mine:Diffused' 'rigde': did you mean 'ridge'"
    ):
        make_classifier("mine:Diffused", {"rigde": 1.0})


def test_a_registered_name_before_the_colon_wins(folder: Path) -> None:
    (folder / "random.py.txt").write_text("")
    with pytest.raises(InputError, match="only policy:NAME|FILE and age:A/B/C"):
        make_strategy("random:Closest")


def test_a_state_feature_is_named_by_module_and_function_on_the_command_line(
    folder: Path, registries: None, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "states.py").write_text(
        "def share(observation, settings):\n"
        "    return (observation.step / observation.budget).to(observation.graph.dtype)\n"
        "def alone(observation):\n"
        "    return observation.noise\n"
    )
    monkeypatch.delitem(sys.modules, "states", raising=False)
    train = ["train", "wine", "--budget", "4", "--episodes", "12", "--out", "mine.safetensors"]
    assert main([*train, "--state", "entropy,degree,states:share"]) == 0, capfd.readouterr().err
    del STATE_FEATURES["states:share"]
    evaluate = ["evaluate", "wine", "--policy", "mine.safetensors", "--budget", "4", "--runs", "2"]
    assert main(evaluate) == 2
    assert "import it (on the command line: --state states:share)" in capfd.readouterr().err
    assert main([*evaluate, "--state", "states:share"]) == 0, capfd.readouterr().err
    assert main([*train, "--state", "states:nothing"]) == 2
    assert main([*train, "--state", "states:alone"]) == 2
    assert "give a function of two arguments, observation and settings" in capfd.readouterr().err
