"""Finding, opening and making sessions over HTTP."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from nodewise.session import Session
from nodewise.session.settings import NewSettings, settings_of
from nodewise.strategies import list_strategies
from nodewise.studio.api.studio_responses import NameResponse, PreviewResponse, SettingsFormResponse, StudioResponse
from tests.studio.jobs import EVIL, job
from tests.studio.serving import API, Client, hear, running

pytestmark = pytest.mark.slow

WORDS = ["apple pie", "apple tart", "pear tart", "pear juice", "engine oil", "engine part", "car part", "car oil"]
TABLE = "key,body,kind,link\n" + "".join(
    f"k{n},{WORDS[n % 8]} number {n},{['food', 'cars', ''][n % 3]},https://x.org/{n}\n" for n in range(24)
)
EDGES = "source,target\n" + "".join(f"k{n},k{(n + 1) % 24}\n" for n in range(24))


def make(client: Client, table: str = TABLE, edges: str | None = None, **fields: Any) -> Any:
    files = {"nodes": ("my table.csv", table.encode())} | (
        {"edges": ("ends.csv", edges.encode())} if edges is not None else {}
    )
    return client.post(
        f"{API}/session", files=files, data={"name": "made", "text": "body", "knn": 3, "budget": 5, **fields}
    )


def refused(client: Client, status: int, **fields: Any) -> str:
    answer = make(client, **fields)
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"])


def test_the_studio_lists_the_sessions_of_its_folder_by_name(tmp_path: Path) -> None:
    job(tmp_path, "b").close()
    (tmp_path / ".hidden.nodewise").write_text("")
    (tmp_path / "folder.nodewise").mkdir()
    (tmp_path / "notes.txt").write_text("")
    with running(tmp_path, job(tmp_path, "a")) as client:
        found = client.look("/studio", StudioResponse)
        assert (
            found["sessions"] == ["a", "b"] and found["can_create"] and found["limits"]["upload_bytes"] == 256 * 2**20
        )
        assert found["session"] == {"name": "a", "graph": "blocks", "file": "a.nodewise"}


def test_a_session_may_begin_with_a_column_of_a_models_answers(tmp_path: Path) -> None:
    head, *rows = TABLE.splitlines()
    table = "\n".join(
        [f"{head},machine,sureness", *(f"{row},{['food', 'cars'][n % 8 > 3]},0.5" for n, row in enumerate(rows))]
    )
    with running(tmp_path, job(tmp_path, "a")) as client:
        columns = {"suggestions": "machine", "confidence": "sureness"}
        assert make(client, table, classes="food, cars", id="key", **columns).status_code == 201
        (model,) = client.look("/suggestions", session="made")["models"]
        assert (model["name"], model["answers"]) == ("machine", 24)
        wrong = {"table": table, "name": "other", "classes": "food, cars"}
        assert "no column 'nobody'" in refused(client, 400, suggestions="nobody", **wrong)
        assert "numbers from 0 to 1" in refused(client, 400, suggestions="machine", confidence="link", **wrong)
        assert "names a class of the job" in refused(client, 400, suggestions="link", **wrong)
        assert client.look("/studio", StudioResponse)["sessions"] == ["a", "made"], "what was refused left nothing"


def test_several_sessions_are_open_at_a_time_and_each_request_names_its_own(tmp_path: Path) -> None:
    job(tmp_path, "b").close()
    with running(tmp_path, job(tmp_path, "a")) as client:
        client.say("/session/open", name="b")
        client.say("/tell", session="b", labels=[{"node": 1, "label": "a"}, {"node": 2, "label": "b"}])
        client.say("/tell", session="a", labels=[{"node": 3, "label": "b"}])
        client.say(
            "/tell", labels=[{"node": 4, "label": "b"}]
        )  # without a name: the one that the studio was started with
        assert [client.look("/status", session=name)["told"] for name in "ab"] == [2, 2]
        assert (
            client.look("/nodes/1", session="b")["label"] == "a"
            and client.look("/nodes/1", session="a")["label"] is None
        )
        assert (
            client.look("/map/colours", session="b")["labelled"].count(-1) == 58
            and client.look("/report", session="b")["labels"] == 2
        )
        assert client.look("/events", session="b")["events"][0]["node"] == 2
        assert (
            client.get("/", follow_redirects=False).headers["location"] == "/s/a"
            and client.get("/s/b").status_code == 200
        )
        assert client.get("/s/c", follow_redirects=False).headers["location"] == "/new"


def test_of_many_sessions_those_used_least_lately_are_closed_and_open_again_by_themselves(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(12)]
    for name in names:
        job(tmp_path, name).close()
    with running(tmp_path) as client:
        for name in names:
            client.say("/tell", session=name, labels=[{"node": 1, "label": "a"}])
        while len(client.studio.sessions.opened()) > 8:
            time.sleep(0.05)
        opened = {one.name for one in client.studio.sessions.opened()}
        assert {"s0", "s11"} <= opened and "s1" not in opened
        assert [client.look("/status", session=name)["told"] for name in names] == [1] * 12


def test_another_session_can_be_opened_by_its_listed_name_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    job(outside, "secret").close()
    folder = tmp_path / "folder"
    folder.mkdir()
    job(folder, "b").close()
    with running(folder, job(folder, "a")) as client:
        client.say("/tell", labels=[{"node": 1, "label": "a"}])
        assert client.say("/session/open", NameResponse, name="b") == {"name": "b"}
        assert client.look("/status", session="b")["told"] == 0 and client.look("/studio")["session"]["name"] == "a"
        for name in ("c", "../outside/secret", str(outside / "secret"), "..", "a.nodewise", "*"):
            assert "no session" in client.refused(404, "POST", "/session/open", json={"name": name})
            assert "no session" in client.refused(404, "GET", "/status", params={"session": name})
        assert client.look("/status")["told"] == 1


def test_a_report_in_the_making_does_not_keep_another_session_from_being_opened(tmp_path: Path) -> None:
    job(tmp_path, "b").close()
    with running(tmp_path, job(tmp_path, "a", graph=None, budget=50)) as client:
        client.say("/tell", labels=[{"node": node, "label": "ab"[node % 2]} for node in range(45)])
        answers: list[int] = []
        making = threading.Thread(target=lambda: answers.append(client.get(f"{API}/report").status_code))
        making.start()
        client.say("/session/open", name="b")
        client.say("/tell", session="b", labels=[{"node": 1, "label": "a"}, {"node": 2, "label": "b"}])
        making.join()
        assert answers == [200]
        assert client.look("/report", session="b")["labels"] == 2


def test_a_file_that_is_no_session_is_refused_and_the_open_one_stays(tmp_path: Path) -> None:
    (tmp_path / "broken.nodewise").write_bytes(b"no session" * 100)
    with running(tmp_path, job(tmp_path, "a")) as client:
        assert "is not a session, or its beginning is damaged" in client.refused(
            409, "POST", "/session/open", json={"name": "broken"}
        )
        assert client.look("/status")["name"] == "a"
    assert (tmp_path / "broken.nodewise").read_bytes() == b"no session" * 100


def test_a_preview_says_what_the_columns_seem_to_hold_and_keeps_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        answer = client.post(f"{API}/preview", files={"nodes": ("my.csv", TABLE.encode())})
        assert answer.status_code == 200
        PreviewResponse.model_validate(answer.json())
        found = answer.json()
        assert found["rows"] == 24 and found["guess"] == {"text": "body", "label": None, "id": "key"}
        assert {each["name"]: each["kind"] for each in found["columns"]} == {
            "key": "id",
            "body": "text",
            "kind": "label",
            "link": "other",
        }
        assert found["columns"][1]["examples"] == [f"{WORDS[n]} number {n}" for n in range(3)]
        bad = client.post(f"{API}/preview", files={"nodes": ("my.csv", b"")})
        assert bad.status_code == 400 and bad.json()["error"].startswith("my.csv is empty")
        assert client.scratch_files == []
        assert "'nodes'" in client.refused(400, "POST", "/preview", files={"other": ("my.csv", b"a,b\n1,2\n")})


def test_a_session_is_made_from_a_table_of_texts(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        assert client.get("/", follow_redirects=False).headers["location"] == "/new"
        answer = make(client, label="kind", classes="toys, food", audit=2, redundancy=2, seed=7)
        assert answer.status_code == 201 and answer.json() == {"name": "made"}
        now = client.look("/status")
        assert (now["name"], now["graph"], now["nodes"], now["budget"], now["given"]) == ("made", "made", 24, 5, 16)
        assert now["classes"] == ["toys", "food", "cars"] and now["audit"]["of"] == 2
        card = client.look("/nodes/3")
        assert card["name"] == "k3" and card["text"] == "pear juice number 3" and card["link"] == "https://x.org/3"
        assert (card["label"], card["from"]) == ("food", "given") and card["degree"] >= 3
        assert client.say("/ask")["queries"][0]["node"] % 3 == 2  # one that has no label yet
        assert client.get("/", follow_redirects=True).url.path == "/s/made"
        assert client.scratch_files == []
    with Session.open(tmp_path / "made.nodewise") as session:
        assert session.settings.redundancy == 2 and session.settings.seed == 7


def test_a_session_takes_every_setting_that_the_form_is_told_of(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        described = client.look("/session/settings", SettingsFormResponse)["settings"]
        offered = [one for one in settings_of(NewSettings) if one.title]
        assert [one["name"] for one in described] == [one.name for one in offered]
        for told, one in zip(described, offered, strict=True):
            assert (told["title"], told["help"], told["default"], told["kind"], told["least"]) == (
                one.title,
                one.help,
                one.default,
                one.kind,
                one.least,
            )
        by_name = {one["name"]: one for one in described}
        assert set(by_name["strategy"]["choices"]) == set(list_strategies()) and by_name["budget"]["choices"] == {}
        body = client.get("/api/openapi.json").json()["components"]["schemas"]["Body_new_session_api_v1_session_post"]
        assert {one.name for one in offered} < set(body["properties"])
        assert body["properties"]["redundancy"]["maximum"] == 100 and body["properties"]["seed"]["default"] == 0
        given = {"classifier": "gcn", "strategy": "age", "release_after": 90, "redundancy": 3, "seed": 4, "audit": 1}
        assert make(client, classes="a;b", **given).status_code == 201
    with Session.open(tmp_path / "made.nodewise") as session:
        assert {name: getattr(session.settings, name) for name in given} == given
        assert session.settings.classes == ("a", "b")


def test_a_column_that_nobody_calls_labels_is_shown_and_trains_nothing(tmp_path: Path) -> None:
    table = TABLE.replace("key,body,kind", "key,body,label")
    with running(tmp_path) as client:
        assert make(client, table=table).status_code == 201
        now = client.look("/status")
        assert now["given"] == 0 and now["classes"] == []
        assert client.look("/nodes/0")["attributes"] == {"label": "food"}


def test_a_session_is_made_from_nodes_and_edges(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        assert make(client, edges=EDGES, id="key", classes=["a", "b"]).status_code == 201
        assert [client.look(f"/nodes/{node}")["degree"] for node in range(24)] == [2] * 24
        assert client.look("/nodes/3")["text"] == "pear juice number 3" and client.look("/status")["classes"] == [
            "a",
            "b",
        ]


def test_a_session_is_made_from_numbers(tmp_path: Path) -> None:
    table = "x,y\n" + "".join(f"{n % 5},{n // 5}\n" for n in range(25))
    with running(tmp_path) as client:
        assert make(client, table=table, text="", metric="euclidean").status_code == 201
        assert client.look("/status")["nodes"] == 25 and client.look("/nodes/12")["degree"] >= 3


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        (
            {"text": "boddy"},
            400,
            "my table.csv has no column 'boddy'; its columns are 'key', 'body', 'kind', 'link': did you mean 'body'?",
        ),
        ({"label": "none"}, 400, "no column 'none'"),
        ({"id": "kind"}, 400, "my table.csv, line 4: the id in column 'kind' is empty"),
        ({"knn": 24}, 400, "k must be a whole number from 1 to 23"),
        ({"knn": 0}, 400, "'knn'"),
        ({"metric": "manhattan"}, 400, "'metric'"),
        ({"budget": 25}, 400, "a budget of 25 is more than the 24 nodes"),
        ({"budget": ""}, 400, "no budget and no classes are given"),
        ({"strategy": "luck"}, 400, "unknown strategy 'luck'"),
        ({"strategy": "os:abort"}, 400, "unknown strategy 'os:abort'"),
        ({"strategy": "policy:mine.safetensors"}, 400, "unknown strategy 'policy:mine.safetensors'"),
        ({"classifier": "os:abort"}, 400, "unknown classifier 'os:abort'"),
        ({"release_after": 0}, 400, "'release_after'"),
        ({"redundancy": 101}, 400, "'redundancy'"),
        ({"name": "../made"}, 400, "a session's name has"),
        ({"name": "a/b"}, 400, "a session's name has"),
        ({"name": ".made"}, 400, "a session's name has"),
        ({"name": "x" * 101}, 400, "'name'"),
        ({"name": "\U0001d49c" * 60}, 400, "at most 200 bytes"),
        ({"name": "\u0000"}, 400, "name"),
        ({"table": "a,b\n1\n"}, 400, "my table.csv, line 2: 1 cells where the first row has 2"),
        ({"table": "body\n"}, 400, "names columns but holds no rows"),
        ({"edges": "source,target\nk1,k99\n", "id": "key"}, 400, "ends.csv, line 2: the edge from 'k1' to 'k99'"),
        ({"edges": ""}, 400, "ends.csv is empty"),
        ({"classes": ["a", "a"]}, 400, "each another one"),
    ],
)
def test_what_cannot_become_a_session_is_told_in_a_sentence(
    tmp_path: Path, fields: dict[str, Any], status: int, said: str
) -> None:
    table = fields.pop("table", TABLE).encode("utf-8", "surrogateescape")
    edges = fields.pop("edges", None)
    files = {"nodes": ("my table.csv", table)} | ({"edges": ("ends.csv", edges.encode())} if edges is not None else {})
    with running(tmp_path) as client:
        answer = client.post(
            f"{API}/session", files=files, data={"name": "made", "text": "body", "knn": 3, "budget": 5, **fields}
        )
        assert answer.status_code == status and said in answer.json()["error"], answer.text
        assert str(tmp_path) not in answer.json()["error"] and str(client.studio.scratch) not in answer.json()["error"]
        assert client.look("/studio")["session"] is None and client.scratch_files == []
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    job(tmp_path, "made").close()
    before = (tmp_path / "made.nodewise").read_bytes()
    with running(tmp_path) as client:
        assert "there is a session 'made' already" in refused(client, 409)
    assert (tmp_path / "made.nodewise").read_bytes() == before


def test_uploads_are_bounded_in_size_and_parts(tmp_path: Path) -> None:
    with running(tmp_path, upload_bytes=100_000) as client:
        assert "too large" in refused(client, 413, table=TABLE * 200)
        assert "too large" in refused(client, 413, table=TABLE * 20_000)  # told even to who is still sending
        kind = {"content-type": "multipart/form-data; boundary=x"}
        head = b'--x\r\nContent-Disposition: form-data; name="nodes"; filename="a.csv"\r\n\r\n'
        pieces = (head if number == 0 else b"1,2\n" * 25_000 for number in range(100))  # nobody says how much will come
        assert "too large" in client.refused(413, "POST", "/preview", content=pieces, headers=kind)
        many = [("nodes", ("a.csv", b"a\n1\n")), ("edges", ("b.csv", b"")), ("more", ("c.csv", b""))]
        client.refused(400, "POST", "/session", files=many, data={"name": "made"})
        client.refused(
            400, "POST", "/session", files={"nodes": ("a.csv", b"a\n1\n")}, data={f"field {n}": "x" for n in range(601)}
        )
        assert client.look("/studio")["sessions"] == []


def test_an_upload_that_cannot_be_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path) as client:
        client.get("/")  # it answers once it has started, for which it needs the folder
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
        answer = client.post(f"{API}/preview", files={"nodes": ("large.csv", b"a,b\n" + b"1,2\n" * 500_000)})
        assert (
            answer.status_code == 503
            and "cannot be read or written: No such file or directory" in answer.json()["error"]
        )


def test_whatever_a_table_holds_stays_text(tmp_path: Path) -> None:
    table = "name,body\n" + f'"{EVIL}",{EVIL}\n' + "".join(f"n{n},apple pie {n}\n" for n in range(10))
    with running(tmp_path) as client:
        answer = client.post(
            f"{API}/session",
            files={"nodes": (f"{EVIL}.csv", table.encode())},
            data={"name": "made", "text": "body", "knn": 2, "budget": 3},
        )
        assert answer.status_code == 201
        card = client.look("/nodes/0")
        assert card["name"] == EVIL and card["text"] == EVIL


def test_progress_is_told_over_the_websocket_while_a_session_is_made(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        heard: list[dict[str, Any]] = []
        address = f"ws://127.0.0.1:{client.base_url.port}{API}/updates"
        with hear(address) as socket:

            def listen() -> None:
                for message in socket:
                    heard.append(json.loads(message))
                    if heard[-1]["type"] == "session":
                        return

            listening = threading.Thread(target=listen)
            listening.start()
            assert make(client).status_code == 201
            listening.join()
    kinds = [message["type"] for message in heard]
    assert "progress" in kinds and "note" in kinds and kinds[-1] == "session" and heard[-1]["name"] == "made"
    assert {"type": "progress", "session": "made", "what": "build", "done": 0, "total": None} in heard
    assert any("24 nodes" in message["text"] for message in heard if message["type"] == "note")
    assert any(message["what"] != "build" and message["done"] > 0 for message in heard if message["type"] == "progress")


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    import os

    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    with running(folder) as client:
        assert not client.look("/studio")["can_create"]
        assert "cannot be made" in refused(client, 503)
