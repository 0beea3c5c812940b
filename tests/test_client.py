"""`nw.connect` against a real studio: what Python users do elsewhere, what is refused, and where the token never is."""

from __future__ import annotations

import http.server
import json
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")

import nodewise as nw
from nodewise.ground.errors import InputError, SessionError, UnknownNameError, WrongTypeError
from nodewise.studio.guard.people import People
from tests.studio.jobs import job
from tests.studio.serving import running

TOKEN = "a-token-of-the-owner"
TEXTS = [f"the cat number {i} sat on a mat" for i in range(15)] + [
    f"stock {i} rose and fell at noon" for i in range(15)
]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a studio with a job of thirty texts, and its folder."""
    folder = tmp_path_factory.mktemp("client")
    session = nw.Session.create(
        folder / "pets.nodewise", nw.Graph.from_texts(TEXTS, k=3), budget=12, classes=["pet", "money"]
    )
    with running(folder, session, token=TOKEN) as client:
        yield str(client.base_url).rstrip("/"), folder


def test_a_job_from_the_first_question_to_the_exported_file(texts: tuple[str, Path], tmp_path: Path) -> None:
    url, _ = texts
    there = nw.connect(url, TOKEN, annotator="ada")
    for _ in range(6):
        query = there.ask()
        assert query.text == TEXTS[query.node] and query.annotator == "ada" and query.why
        event = there.tell(query.node, "pet" if "cat" in query.text else "money")
        assert isinstance(event, int)
    assert there.status()["told"] == 6 and not there.done
    many = there.ask(3)
    assert len(many) == 3 and many[0].predicted and sum(many[0].predicted.values()) == pytest.approx(1, abs=1e-3)
    there.skip(many[0].node)
    assert there.undo()["kind"] == "skip"
    predicted = there.predict()
    assert [each["node"] for each in predicted] == list(range(30))
    right = sum(each["predicted"] == ("pet" if each["node"] < 15 else "money") for each in predicted)
    assert right == 30
    assert set(predicted[0]["probabilities"]) == {"pet", "money"}
    assert [row["predicted"] for row in there.predict(["a cat, a cat", "the stock fell"])] == ["pet", "money"]
    there.export(tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text().startswith("node,name,label")
    there.export(tmp_path / "who.csv", format="votes")
    assert "ada" in (tmp_path / "who.csv").read_text()
    there.export(tmp_path / "all.npz")
    assert nw.load_graph(tmp_path / "all.npz").num_nodes == 30


def test_several_labels_names_and_a_models_answers(tmp_path: Path) -> None:
    graph = nw.Graph.from_texts(TEXTS, k=3, node_names=[f"row {i}" for i in range(30)])
    session = nw.Session.create(tmp_path / "named.nodewise", graph, budget=9, classes=["pet", "money"])
    with running(tmp_path, session) as client:
        there = nw.connect(str(client.base_url))
        assert there.tell(["row 0", 29], ["pet", "money"]) == [1, 2]
        assert there.tell(["row 1", "row 2"], "pet") == [3, 4]
        with pytest.raises(UnknownNameError, match="unknown node 'row 1x'"):
            there.tell("row 1x", "pet")
        with pytest.raises(WrongTypeError, match="by its index or its name, got 'True'"):
            there.skip(True)
        with pytest.raises(InputError, match="2 nodes but 3 labels"):
            there.tell([3, 4], ["pet", "pet", "pet"])
        assert there.suggest("rules", {"row 5": "pet", 20: "money"}, 0.8) == 5
        assert there.undo(5)["kind"] == "suggest"
        assert list(there.add_rows(["a cat that came later", "stocks, later"])) == [30, 31]
        assert there.status()["nodes"] == 32
        assert list(there.add_rows([{"text": "=a cat, as a formula"}])) == [32]
        assert "=a cat, as a formula" in there._get("/nodes/32")["text"]


def test_numbers_as_rows(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    session = nw.Session.create(tmp_path / "numbers.nodewise", nw.knn_graph(x, 3), budget=9, classes=["a", "b"])
    with running(tmp_path, session) as client:
        assert list(nw.connect(str(client.base_url)).add_rows(x[:2] + 0.01)) == [40, 41]


def test_what_the_studio_refuses_is_said_in_its_own_words(texts: tuple[str, Path], tmp_path: Path) -> None:
    url, _ = texts
    there = nw.connect(url, TOKEN)
    with pytest.raises(InputError, match="there is no node 4711"):
        there.tell(4711, "pet")
    with pytest.raises(SessionError, match="looks like the class 'pet' misspelt"):
        there.tell(3, "pett")
    with pytest.raises(InputError, match="there is no session 'other'"):
        nw.connect(url, TOKEN, session="other")
    with pytest.raises(InputError, match=r"cannot be exported to: give a file that ends in \.csv"):
        there.export(tmp_path / "labels.doc")
    with pytest.raises(InputError, match="as 'votes'"):
        there.export(tmp_path / "labels.json", format="votes")
    (tmp_path / "kept.csv").write_text("old")
    with pytest.raises(InputError, match="there is no session"):
        nw.client.Connection(url, TOKEN, "other", "me", 60).export(tmp_path / "kept.csv")
    assert (tmp_path / "kept.csv").read_text() == "old"


def test_a_persons_link_is_that_person_and_no_more(texts: tuple[str, Path]) -> None:
    url, folder = texts
    link = f"{url}/s/pets?token={People(folder).add('Eve', 'annotator')}"
    eve = nw.connect(link, annotator="somebody else")
    assert eve.session == "pets"
    assert eve.ask().annotator == "Eve"
    with pytest.raises(SessionError, match="owner|role"):
        eve.predict()
    People(folder).revoke("Eve")
    with pytest.raises(SessionError, match="token"):
        eve.ask()


def test_the_token_stands_nowhere(texts: tuple[str, Path], tmp_path: Path) -> None:
    url, _ = texts
    there = nw.connect(f"{url}/?token={TOKEN}")
    assert repr(there) == f"Connection({url!r}, annotator='me')"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(there)
    said: list[BaseException] = []
    for call in (
        lambda: nw.connect(url, "wrong-" + TOKEN),
        lambda: nw.connect(url, TOKEN + "\nX-Header: 1"),
        lambda: nw.connect(f"ftp://host/?token={TOKEN}"),
        lambda: nw.connect(f"http://[::1/?token={TOKEN}"),
        lambda: nw.connect(f"http://{TOKEN}@127.0.0.1"),
        lambda: nw.connect(f"{url}/?token={TOKEN}", "another"),
        lambda: nw.connect("http://127.0.0.1:9", TOKEN, timeout=5),
        lambda: there.tell(4711, "pet"),
    ):
        with pytest.raises(nw.NodewiseError) as caught:
            call()
        said.append(caught.value)
    chain: list[BaseException | None] = list(said)
    while chain:
        error = chain.pop()
        if error is not None:
            assert TOKEN not in f"{error!r} {error} {error.args}"
            chain += [error.__cause__, None if error.__suppress_context__ else error.__context__]


def test_an_answer_that_leads_elsewhere_is_not_followed() -> None:
    """Neither the token nor a label goes to another address than the one that was given."""
    heard: list[str] = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(302 if self.path.startswith("/api") else 200)
            self.send_header("location", "/stolen")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with pytest.raises(SessionError, match=r"is no nodewise studio \(status 302\)"):
            nw.connect(f"http://127.0.0.1:{server.server_port}", TOKEN)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert heard == ["/api/v1/status?annotator=me"]


def test_what_it_sends_is_what_the_api_documents(tmp_path: Path) -> None:
    """A client of one's own may send the same: the bodies are the documented ones."""
    with running(tmp_path, job(tmp_path)) as client:
        there = nw.connect(str(client.base_url), annotator="bo")
        query = there.ask()
        there.tell(query.node, "a")
        events = client.look("/events", asks=True)["events"]
        assert [(each["kind"], each["annotator"], each["node"]) for each in events] == [
            ("tell", "bo", query.node),
            ("ask", "bo", query.node),
        ]
        assert json.dumps(there.status()) == json.dumps(client.look("/status", annotator="bo"))
