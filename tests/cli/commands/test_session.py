"""``nodewise session`` through the real command."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.datasets import load_graph
from nodewise.graph import Graph, write_graph
from nodewise.session import Session
from tests.session.endpoint import serving
from tests.session.jobs import answer_when_asked

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run(capfd: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> tuple[str, str]:
    assert main(["session", *map(str, arguments)]) == code, capfd.readouterr().err
    return capfd.readouterr()  # type: ignore[return-value]


@pytest.fixture
def job(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "job.nodewise"
    run(
        capfd,
        "new",
        path,
        "karate",
        "--budget",
        "6",
        "--strategy",
        "age",
        "--classes",
        "Mr. Hi,Officer",
        "--hide-labels",
    )
    return path


@pytest.mark.long
def test_a_whole_job(nodewise: Run, tmp_path: Path) -> None:
    made = nodewise("session", "new", "job", "karate", "--budget", "4", "--audit", "2", "--seed", "1")
    assert made.returncode == 0, made.stderr
    assert (
        made.stdout.startswith("job: karate, 34 nodes, a budget of 4 and an audit of 2, strategy gain")
        and "left out of sight" in made.stderr
    )
    classes = json.loads(nodewise("session", "status", "job", "--json").stdout)["classes"]
    for number in range(6):
        asked = json.loads(nodewise("session", "ask", "job", "--json").stdout)
        (query,) = asked["queries"]
        assert (
            asked["schema"] == 1
            and query["why"]
            and set(query) >= {"node", "name", "rank", "predicted", "guess", "sure", "audit", "features"}
        )
        told = nodewise("session", "tell", "job", query["name"], classes[number % 2], "--annotator", "me")
        assert told.returncode == 0, told.stderr
    assert "the budget is spent" in told.stderr
    finished = nodewise("session", "ask", "job")
    assert (
        finished.returncode == 1
        and finished.stderr.count("\n") == 1
        and "budget of 4 labels is spent" in finished.stderr
    )
    status = json.loads(nodewise("session", "status", "job", "--json").stdout)
    assert (
        status["told"] == 4 and status["left"] == 0 and status["done"] and status["audit"] == {"labelled": 2, "of": 2}
    )
    assert status["stop"]["audit"]["nodes"] == 2 and status["stop"]["words"]
    rows = list(csv.DictReader(io.StringIO(nodewise("session", "predict", "job").stdout)))
    assert (
        len(rows) == 34 and {row["from"] for row in rows} == {"", "told", "audit"} and rows[0]["predicted"] in classes
    )
    for ending in ("csv", "json", "npz", "pt"):
        assert nodewise("session", "export", "job", f"out.{ending}").returncode == 0
    assert nodewise("session", "backup", "job", "copy").returncode == 0
    assert json.loads(nodewise("session", "status", "copy", "--json", "--brief").stdout)["told"] == 4
    assert {file.name for file in tmp_path.iterdir()} - {"cache"} == {
        "job",
        "copy",
        *(f"out.{e}" for e in ("csv", "json", "npz", "pt")),
    }


def test_tell_skip_undo_and_change(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first = json.loads(run(capfd, "ask", job, "--json")[0])["queries"][0]["name"]
    out, _ = run(capfd, "tell", job, first, "Mr. Hi")
    assert out == f"{first}: Mr. Hi (1 of 6 labels)\n"
    refused = run(capfd, "tell", job, first, "Officer", "--annotator", "ada", code=1)[1]
    assert f"node '{first}' was labelled 'Mr. Hi' by 'me'" in refused and "--overrule" in refused
    assert (
        "annotators disagree: me says Mr. Hi, ada says Officer; 'Officer' counts"
        in run(capfd, "tell", job, first, "Officer", "--annotator", "ada", "--overrule")[1]
    )
    assert run(capfd, "undo", job)[0] == f"undone: tell Officer of node {first} by ada\n"
    second = json.loads(run(capfd, "ask", job, "-k", "2", "--json")[0])["queries"]
    assert len(second) == 2 and first not in {query["name"] for query in second}
    assert run(capfd, "skip", job, second[0]["name"])[0] == f"{second[0]['name']}: skipped\n"
    run(capfd, "class", job, "Neither")
    run(capfd, "budget", job, "9")
    status = json.loads(run(capfd, "status", job, "--json", "--brief")[0])
    assert (status["told"], status["left"], status["skipped"]) == (1, 8, 1) and status["classes"] == [
        "Mr. Hi",
        "Officer",
        "Neither",
    ]
    assert (
        run(capfd, "undo", job)[0] == "undone: budget 9 by me\n"
        and run(capfd, "undo", job)[0] == "undone: class Neither by me\n"
    )
    text, _ = run(capfd, "status", job)
    assert "1 of 6" in text and "cross-validated" not in text


def test_classes_notes_bulk_answers_and_released_queries(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, "bulk", job, "Officer", "30", "31", "32")[0] == "3 nodes: Officer (in bulk, 0 of 6 labels)\n"
    assert run(capfd, "rename", job, "Officer", "Captain")[0] == "2: Captain, once Officer\n"
    run(capfd, "describe", job, "Captain", "wears a hat")
    run(capfd, "guideline", job, "look twice")
    run(capfd, "order", job, "Captain,Mr. Hi")
    run(capfd, "note", job, "30", "odd one", "--annotator", "ada")
    out = run(capfd, "classes", job)[0]
    assert out.index("Captain") < out.index("Mr. Hi") and "wears a hat" in out and "look twice" in out
    listed = json.loads(run(capfd, "classes", job, "--json")[0])
    assert [(each["number"], each["name"], each["labels"]) for each in listed["classes"]] == [
        (2, "Captain", 3),
        (1, "Mr. Hi", 0),
    ]
    assert run(capfd, "merge", job, "Mr. Hi", "Captain")[0] == "Mr. Hi counts as Captain from now on\n"
    assert run(capfd, "undo", job)[0] == "undone: merge by me\n"
    run(capfd, "ask", job, "--annotator", "ada")
    assert (
        run(capfd, "release", job, "ada")[0] == "ada: 1 query freed\n"
        and run(capfd, "release", job, "ada")[0] == "ada: 0 queries freed\n"
    )
    status = json.loads(run(capfd, "status", job, "--json", "--brief")[0])
    assert status["bulk"] == 3 and status["told"] == 0 and status["notes"] == 1 and status["open"] == {}


def test_people_who_agree_are_told_by_kappa(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for who in ("ada", "bob"):
        for node in ("0", "33"):
            run(capfd, "tell", job, node, "Mr. Hi" if node == "0" else "Officer", "--annotator", who)
    out = run(capfd, "status", job, "--brief")[0]
    assert (
        "100 % of pairs of votes, Fleiss' kappa 1.00" in out
        and "ada and bob: kappa 1.00 on 2 nodes" in out
        and "Officer 1.00" in out
    )


def test_a_disagreement_is_settled_and_opinions_are_asked_for(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(capfd, "redundancy", job, "2")[0] == "every node is to be labelled by 2\n"
    for who, label in (("ada", "Mr. Hi"), ("bob", "Officer")):
        run(capfd, "tell", job, "0", label, "--annotator", who)
    assert "disagreement on 0: ada says Mr. Hi, bob says Officer" in run(capfd, "status", job, "--brief")[0]
    assert run(capfd, "settle", job, "0", "Officer", "--annotator", "eve")[0] == "0: settled as Officer\n"
    assert "disagreement" not in run(capfd, "status", job, "--brief")[0]
    assert run(capfd, "undo", job)[0] == "undone: settle Officer of node 0 by eve\n"
    assert run(capfd, "class", job, "Oficer", "--new-class")[0] == "classes: Mr. Hi, Officer, Oficer\n"


@pytest.mark.slow
def test_formulas_in_an_export_are_harmless_unless_kept(
    job: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(capfd, "tell", job, "0", "=1+1", "--new-class")
    for flag, cell in (((), "'=1+1"), (("--keep-formulas",), "=1+1")):
        run(capfd, "export", job, tmp_path / "out.csv", *flag)
        with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
            assert next(csv.DictReader(file))["label"] == cell
        assert next(csv.DictReader(io.StringIO(run(capfd, "predict", job, *flag)[0])))["label"] == cell


def test_the_full_export_has_votes_and_notes(job: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(capfd, "tell", job, "0", "Officer", "--annotator", "ada")
    run(capfd, "note", job, "0", "hard to say", "--annotator", "bob")
    run(capfd, "export", job, tmp_path / "all.csv", "--format", "full")
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["label"], first["vote of ada"], first["notes"]) == ("Officer", "Officer", "bob: hard to say")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["tell", "JOB", "0", "Oficer"], "did you mean 'Officer'"),
        (["tell", "JOB", "99", "Officer"], "99"),
        (["tell", "JOB", "nobody", "Officer"], "nobody"),
        (["tell", "JOB", "0", "Officer", "--annotator", " "], "annotator"),
        (["skip", "JOB", "99"], "99"),
        (["undo", "JOB", "--event", "7"], "no event 7"),
        (["new", "JOB", "karate"], "already"),
        (["new", "OTHER", "karate", "--strategy", "randm"], "did you mean 'random'"),
        (["new", "OTHER", "karate", "--budget", "99"], "more than the 34 nodes"),
        (["new", "OTHER", "karate", "--classes", "a,,b"], "--classes"),
        (["new", "no-folder/OTHER", "karate"], "no folder"),
        (["ask", "OTHER"], "there is no session"),
        (["export", "JOB", "out.xls"], ".csv, .json, .npz, .pt"),
        (["backup", "JOB", "JOB"], "already"),
        (["ask", "TEXT"], "not a session"),
    ],
)
def test_bad_input_is_one_line_and_2(
    job: Path, tmp_path: Path, arguments: list[str], expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("hello")
    places = {
        "JOB": str(job),
        "OTHER": str(tmp_path / "other"),
        "TEXT": str(tmp_path / "text"),
        "out.xls": str(tmp_path / "out.xls"),
    }
    before = job.read_bytes()
    out, err = run(capfd, *(places.get(part, part) for part in arguments), "--quiet", code=2)
    assert (
        out == "" and err.count("\n") == 1 and err.startswith(f"nodewise session {arguments[0]}: ") and expected in err
    )
    assert job.read_bytes() == before and not (tmp_path / "other").exists()


def test_nothing_to_undo_ends_with_1(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "nothing to undo" in run(capfd, "undo", job, code=1)[1]


def test_a_row_with_a_known_answer_is_told_like_any_other(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Session.open(job) as session:
        session.set_known({5: "Officer"}, "olga", percent=10)
        answer_when_asked(session, "ada", {5: "Officer"})
    out, err = run(capfd, "tell", job, "5", "Mr. Hi", "--annotator", "ada")  # a change of mind
    assert "(0 of 6 labels)" in out and "disagree" not in err
    assert "(1 of 6 labels)" in run(capfd, "tell", job, "5", "Mr. Hi", "--annotator", "bo")[0], "nobody asked bo"
    assert "1 node: " in run(capfd, "bulk", job, "Mr. Hi", "5", "--annotator", "cy")[0]
    out, err = run(capfd, "known", job, "--percent", "5", "--annotator", "olga")
    assert "the answers of 0 rows are known" in out and "1 row more became ordinary by a label" in " ".join(err.split())


def test_before_the_first_label_the_class_is_unknown(job: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, err = run(capfd, "predict", job)
    assert "unknown" in err and {row["predicted"] for row in csv.DictReader(out.splitlines())} == {""}
    assert "  predicted: unknown\n" in run(capfd, "ask", job)[0]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["tell JOB 3 Officer", "skip JOB 3", "status JOB --brief", "backup JOB COPY"])
def test_what_needs_no_classifier_loads_no_torch(
    job: Path, tmp_path: Path, command: str, clean_environment: dict[str, str]
) -> None:
    arguments = [part.replace("JOB", str(job)).replace("COPY", str(tmp_path / "copy")) for part in command.split()]
    code = (
        f"import sys; from nodewise.cli import main; code = main({['session', *arguments]!r}); assert 'torch' not in"
        " sys.modules; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean_environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_closed_list_of_classes_and_words_for_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job"
    new = ("new", path, "karate", "--budget", "3", "--hide-labels", "--closed-classes")
    assert "classes 1, 2 and no others" in run(capfd, *new, "--classes", "1,2")[0]
    assert "2: 1 (1 of 3" in run(capfd, "tell", path, "2", "1.0")[0]
    for label in ("3", "none", "Officer"):
        assert "its list of classes is closed" in run(capfd, "tell", path, "3", label, "--new-class", code=2)[1]
    assert (
        "'none' means unlabelled and is no class here: skip the node"
        in run(capfd, "tell", path, "3", "none", code=2)[1]
    )
    assert "closed" in run(capfd, "class", path, "3", code=2)[1]


def test_a_model_s_answers_by_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    job, rows = tmp_path / "job.nodewise", tmp_path / "rows.csv"
    run(capfd, "new", job, "karate", "--budget", "6", "--classes", "Mr. Hi,Officer", "--hide-labels")
    assert "no model has said anything yet" in run(capfd, "models", job)[0]
    rows.write_text("node,label,confidence\n0,Mr. Hi,0.9\n33,Officer,0.8\n5,nobody,1\n")
    out, _ = run(capfd, "suggest", job, rows, "--as", "assistant")
    assert "assistant says something of 2 of 34 nodes" in out
    assert "1 answer names no class of the job and was left out" in out
    run(capfd, "tell", job, "0", "Mr. Hi")
    found = json.loads(run(capfd, "models", job, "--differing", "3", "--json", "-")[0])["models"][0]
    assert (found["name"], found["answers"], found["unnamed"]) == ("assistant", 2, 1)
    assert found["by_labels"]["mean"] == 1 and found["by_audit"] is None
    assert "right by the audit" in run(capfd, "models", job)[0]
    rows.write_text("row,said\n0,Mr. Hi\n")
    assert "suggestions need one that names the node" in run(capfd, "suggest", job, rows, "--as", "x", code=2)[1]


def test_a_job_begins_with_models_answers_by_the_command_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    job, rows = tmp_path / "job.nodewise", tmp_path / "rows.csv"
    rows.write_text("node,label\n0,Mr. Hi\n33,Officer\n")
    new = ("new", job, "karate", "--budget", "6", "--classes", "Mr. Hi,Officer", "--hide-labels")
    for wrong in ("rules", "=rows.csv", "rules="):
        assert "--suggest takes NAME=ROWS" in run(capfd, *new, "--suggest", wrong, code=2)[1]
    assert "no file nowhere.csv" in run(capfd, *new, "--suggest", "rules=nowhere.csv", code=2)[1]
    assert not job.exists()
    out, _ = run(capfd, *new, "--suggest", f"rules={rows}", "--suggest", f"assistant={rows}")
    assert "rules says something of 2 of 34 nodes" in out and "assistant says something of 2" in out
    assert [each["name"] for each in json.loads(run(capfd, "models", job, "--json", "-")[0])["models"]] == [
        "rules",
        "assistant",
    ]


def test_a_question_says_what_models_say_and_keeps_it_back_in_the_audit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    graph, job = tmp_path / "mails.npz", tmp_path / "job.nodewise"
    columns = {"text": [f"mail {number}" for number in range(12)], "answer": ["spam", "ham"] * 6}
    write_graph(Graph.build([range(11), range(1, 12)], attributes=columns), graph)
    new = ("--budget", "6", "--classes", "spam,ham", "--suggest", "assistant=answer")
    run(capfd, "new", job, graph, *new)
    query = json.loads(run(capfd, "ask", job, "--json")[0])["queries"][0]
    said = columns["answer"][query["node"]]
    assert query["suggested"] == {"assistant": said} and set(query["attributes"]) == {"text"}
    shown, _ = run(capfd, "ask", job)
    assert f"assistant says: {said}" in shown and "answer:" not in shown
    run(capfd, "new", tmp_path / "audit.nodewise", graph, *new, "--audit", "6")
    queries = json.loads(run(capfd, "ask", tmp_path / "audit.nodewise", "-k", "6", "--json")[0])["queries"]
    audit = [query for query in queries if query["audit"]]
    assert audit and all(query["suggested"] == {} and set(query["attributes"]) == {"text"} for query in audit)


def test_a_model_is_asked_only_what_was_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    graph, job = tmp_path / "mails.npz", tmp_path / "job.nodewise"
    texts = [f"mail number {number}, naïve" for number in range(12)]
    write_graph(Graph.build([range(11), range(1, 12)], attributes={"text": texts}), graph)
    run(capfd, "new", job, graph, "--budget", "4", "--classes", "spam,ham")
    with serving() as endpoint:
        asked = ("suggest", job, "--from", endpoint.url, "--as", "assistant")
        assert "use --show first" in run(capfd, *asked, "--yes", code=2)[1]
        assert "nothing was sent" in run(capfd, *asked, code=2)[1]
        assert "give one of them" in run(capfd, "suggest", job, "--as", "assistant", code=2)[1]
        shown, _ = run(capfd, *asked, "--show", "--calls", "5")
        assert not endpoint.bodies
        out, _ = run(capfd, *asked, "--yes", "--calls", "5", "--price", "2")
        assert [body.decode() for body in endpoint.bodies] == shown.splitlines()
        assert "5 requests: 5 name a class" in out and "50 tokens cost 0.1" in out
        assert "assistant says something of 5 of 12 nodes" in out
        endpoint.script = ["ham", "what?"]
        assert "nothing was sent" in run(capfd, *asked, "--yes")[0] and len(endpoint.bodies) == 5
        run(capfd, *asked, "--show")
        out, _ = run(capfd, *asked, "--yes")
        assert "7 requests: 6 name a class, 1 name none" in out and "something of 11 of 12 nodes" in out
        assert "nothing was sent" in run(capfd, *asked, "--yes")[0] and len(endpoint.bodies) == 12
        with next(tmp_path.glob("*.replies.jsonl")).open("a") as replies:  # of a row that an older copy does not have
            replies.write('{"node": 12, "text": "ham", "tokens": 1}\n')
        assert "nothing was sent" in run(capfd, *asked, "--yes")[0]


def test_the_type_to_be_labelled_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    library, job = tmp_path / "library", tmp_path / "job.nodewise"
    write_graph(load_graph("library"), library)
    _, refused = run(capfd, "new", job, library, "--budget", "3", "--labelled", "reader", code=2)
    assert "has no type 'reader' to be labelled" in refused
    made, _ = run(capfd, "new", job, library, "--budget", "3", "--labelled", "author")
    assert "library, 200 nodes" in made
