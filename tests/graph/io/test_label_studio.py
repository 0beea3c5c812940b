"""Label Studio's JSON: what it exports is read, what a session exports comes back, and anything else is refused with a
sentence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nodewise as nw
from nodewise.cli import main
from nodewise.graph.io.label_studio import read_tasks
from nodewise.graph.knn.knn import graph_from_things, knn_from_tasks
from nodewise.ground.errors import GraphError, InputError, UnknownNameError

TEXTS = ["the cat sat", "a cat ran", "stocks fell", "stocks rose fast", "bond stocks"]


def annotation(*choices: str, by: Any = None, **more: Any) -> dict[str, Any]:
    value = {
        "from_name": "sentiment",
        "to_name": "text",
        "type": "choices",
        "id": "Dx_aB91ISN",
        "value": {"choices": list(choices)},
    }
    return {
        "id": 1001,
        "completed_by": by,
        "result": [value] if choices else [],
        "was_cancelled": False,
        "lead_time": 4.2,
        **more,
    }


def written(path: Path, tasks: Any) -> Path:
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def project() -> list[dict[str, Any]]:
    """As Label Studio exports it, with what a real project has beside labels."""
    votes = [
        [annotation("Animal", by=1)],
        [
            annotation("Money", by={"id": 2, "email": "bo@example.com"}),
            annotation("Animal", by=1),
            annotation("Animal", by=3),
        ],
        [annotation("Animal", by=1), annotation("Money", by=2, ground_truth=True)],
        [annotation("Animal", by=1, was_cancelled=True)],
        [annotation(by=1)],
    ]
    return [
        {
            "id": 10 + i,
            "project": 83,
            "data": {"text": text, "page": i},
            "annotations": votes[i],
            "predictions": [{"result": []}],
            "drafts": [],
        }
        for i, text in enumerate(TEXTS)
    ]


def test_a_project_becomes_a_table(tmp_path: Path) -> None:
    table = read_tasks(written(tmp_path / "tasks.json", project()))
    assert table.columns == {
        "id": ["10", "11", "12", "13", "14"],
        "text": TEXTS,
        "page": ["0", "1", "2", "3", "4"],
        "label": ["Animal", "Animal", "Money", "", ""],
        "annotator": ["1", "bo@example.com, 1, 3", "1, 2", "", ""],
    }


def test_a_project_becomes_a_graph_of_its_texts(tmp_path: Path) -> None:
    source = written(tmp_path / "tasks.json", project())
    assert main(["convert", str(source), str(tmp_path / "tasks.npz"), "--knn", "1"]) == 0
    graph = nw.load_graph(str(tmp_path / "tasks.npz"))
    assert graph.class_names == ("Animal", "Money") and graph.y is not None and graph.y.tolist() == [0, 0, 1, -1, -1]
    assert graph.node_names == ("10", "11", "12", "13", "14") and list(graph.attributes["text"]) == TEXTS
    assert graph.equals(knn_from_tasks(source, 1, text="text", label="sentiment"))
    texts = nw.Graph.from_texts(TEXTS, k=1)
    assert (graph.dense_features() == texts.dense_features()).all(), "nothing but the texts is a feature"


def test_what_a_session_exports_comes_back(tmp_path: Path) -> None:
    graph = nw.Graph.from_dataframe(
        {"id": [f"r{i}" for i in range(5)], "body": TEXTS, "page": list(range(5))}, text="body", k=1
    )
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=4, redundancy=3) as session:
        session.tell("r0", "Animal", "ada")
        for who, label in (("ada", "Money"), ("bo", "Animal"), ("cy", "Animal")):
            session.tell("r1", label, who, new_class=True)
        session.tell("r2", "Animal", "ada")
        session.tell("r2", "Money", "bo")
        session.settle("r2", "Money", "cy")
        labels, prediction = dict(session.labels), session.predict()
    assert (
        main(
            [
                "session",
                "export",
                str(tmp_path / "job.nodewise"),
                str(tmp_path / "out.json"),
                "--format",
                "label-studio",
            ]
        )
        == 0
    )
    tasks = json.loads((tmp_path / "out.json").read_text())
    assert len(tasks) == 5 and tasks[0]["data"] == {"node": "r0", "text": TEXTS[0], "page": "0"}
    result = {
        "from_name": "label",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": ["Animal"]},
        "meta": {"annotator": "ada"},
    }
    assert tasks[0]["annotations"] == [{"result": [result], "was_cancelled": False, "ground_truth": False}]
    assert [task["predictions"][0]["result"][0]["value"]["choices"] for task in tasks] == [
        [name] for name in prediction.names
    ]
    assert [task["predictions"][0]["score"] for task in tasks] == pytest.approx(
        prediction.confidence.tolist(), abs=1e-6
    )
    back = graph_from_things(tmp_path / "out.json", knn=1)
    assert back.y is not None and {
        int(i): back.class_names[back.y[i]] for i in range(5) if back.y[i] >= 0
    } == labels == {
        0: "Animal",
        1: "Animal",
        2: "Money",
    }
    assert back.node_names == graph.node_names and (back.edge_index == graph.edge_index).all()
    assert list(back.attributes["annotator"])[:3] == ["ada", "ada, bo, cy", "ada, bo"]


def test_labels_that_came_with_the_graph_and_nodes_without_texts(tmp_path: Path) -> None:
    graph = nw.knn_graph([[0.0], [1.0], [9.0]], 1, "euclidean", y=["a", None, "b"], node_names=["x", "y", "z"])
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=1) as session:
        session.export(tmp_path / "out.json", format="label-studio")
    assert [task["data"] for task in json.loads((tmp_path / "out.json").read_text())] == [
        {"node": name, "text": name} for name in "xyz"
    ]
    assert read_tasks(tmp_path / "out.json").columns["label"] == ["a", "", "b"]


def test_one_of_several_choices_is_named(tmp_path: Path) -> None:
    tasks = project()
    other = {"from_name": "language", "to_name": "text", "type": "choices", "value": {"choices": ["en"]}}
    tasks[0]["annotations"][0]["result"].append(other)
    source = written(tmp_path / "tasks.json", tasks)
    with pytest.raises(
        GraphError,
        match=(
            r"several choices for each task, 'sentiment', 'language': say which one is the label \(label=…, --label\)"
        ),
    ):
        read_tasks(source)
    with pytest.raises(GraphError, match="no choice called 'mood': its choices are 'sentiment', 'language'"):
        read_tasks(source, "mood")
    assert read_tasks(source, "language").columns["label"] == ["en", "", "", "", ""]


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ({"tasks": []}, "no array of Label Studio's tasks, received an object with 'tasks'"),
        ([], "no array of Label Studio's tasks, received an array of 0"),
        (
            [{"text": "a", "sentiment": "x"}],
            "task 1: a task needs an object 'data' with what is shown, received an object with 'text', 'sentiment'",
        ),
        ([{"data": {}, "annotations": 3}], "task 1: 'annotations' must be a list, received '3'"),
        ([{"data": {}, "annotations": [5]}], "task 1: an annotation needs a list 'result' of objects, received '5'"),
        (
            [{"data": {}, "annotations": [annotation("a", "b")]}],
            "task 1: 2 choices at once ('a', 'b'), but a node has one class",
        ),
        (
            [{"data": {}, "annotations": [{"result": [{"type": "choices", "value": {"choices": "a"}}]}]}],
            "needs 'value' with a list 'choices' of texts",
        ),
        (
            [{"data": {}, "annotations": [{"result": [{"type": "rectanglelabels"}]}]}],
            "holds 'rectanglelabels', but no choices",
        ),
        ([{"data": {f"key {i}": 0}} for i in range(50)], "hardly two the same"),
    ],
)
def test_what_is_no_project_of_choices_is_refused(tmp_path: Path, tasks: Any, said: str) -> None:
    with pytest.raises(GraphError) as refused:
        read_tasks(written(tmp_path / "tasks.json", tasks))
    assert said in str(refused.value) and str(tmp_path / "tasks.json") in str(refused.value)


@pytest.mark.parametrize("content", [b"[{", b"\xff\xfe[", b"[" * 200_000, b"[" + b"9" * 10_000 + b"]", b"nan nan"])
def test_damaged_and_hostile_files_are_refused_in_a_sentence(
    tmp_path: Path, content: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tasks.json").write_bytes(content)
    assert main(["convert", str(tmp_path / "tasks.json"), str(tmp_path / "out.npz"), "--knn", "2"]) == 2
    said = capfd.readouterr().err.strip()
    assert "tasks.json" in said and "Traceback" not in said and not (tmp_path / "out.npz").exists()


def test_the_text_must_be_known_and_pictures_at_hand(tmp_path: Path) -> None:
    tasks = [{"data": {"one": "old cat", "two": "new stocks"}} for _ in range(3)]
    with pytest.raises(
        GraphError, match=r"the fields 'one', 'two', and none says that it is the text: name it \(text=…, --text\)"
    ):
        knn_from_tasks(written(tmp_path / "tasks.json", tasks), 1)
    assert knn_from_tasks(tmp_path / "tasks.json", 1, text="two").num_edges >= 2
    tasks = [{"data": {"image": f"https://example.com/{i}.jpg"}} for i in range(3)]
    with pytest.raises(
        GraphError, match="names pictures by addresses such as 'https://example.com/0.jpg': download them"
    ):
        knn_from_tasks(written(tmp_path / "tasks.json", tasks), 1)


def test_the_format_and_the_ending_must_fit(tmp_path: Path) -> None:
    with nw.Session.create(tmp_path / "job.nodewise", nw.Graph.from_texts(TEXTS, k=1), budget=1) as session:
        with pytest.raises(InputError, match="cannot export label-studio to 'out.csv': it is written as .json"):
            session.export(tmp_path / "out.csv", format="label-studio")
        with pytest.raises(UnknownNameError, match="did you mean 'label-studio'"):
            session.export(tmp_path / "out.json", format="label_studio")  # type: ignore[arg-type]
        session.export(tmp_path / "out.json", format="label-studio")
    assert [task["annotations"] for task in json.loads((tmp_path / "out.json").read_text())] == [[]] * 5
