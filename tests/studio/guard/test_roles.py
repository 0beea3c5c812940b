"""What annotators may do and what is the owner's, by raw requests to a studio with two tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from nodewise.ground.errors import InputError
from nodewise.studio.guard.origins import GuardRules
from nodewise.studio.guard.roles import is_permitted
from tests.studio.guarding import ask
from tests.studio.jobs import job
from tests.studio.serving import API, Client, running

pytestmark = pytest.mark.slow

OWNER, ANNOTATOR = "the-owners-token", "the-annotators-token"
RULES = GuardRules.for_address("127.0.0.1", 8080, token=OWNER, annotator_token=ANNOTATOR)
HOST = ("host", "127.0.0.1:8080")
OWNERS = [
    *(("GET", path) for path in ("/export/csv", "/export/full", "/export/pt", "/backup")),
    *(
        ("POST", path)
        for path in ("/classes", "/classes/rename", "/classes/merge", "/classes/describe", "/classes/order", "/budget")
    ),
    *(
        ("POST", path)
        for path in (
            "/redundancy",
            "/settle",
            "/jobs/duplicate",
            "/jobs/archive",
            "/jobs/restore",
            "/session",
            "/preview",
        )
    ),
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    session = job(tmp_path, redundancy=2)
    session.tell([0, 1, 59], ["a", "a", "b"], "ada")
    session.tell(0, "b", "bob")
    with running(tmp_path, session, token=OWNER, annotator_token=ANNOTATOR) as found:
        yield found


def send(client: Client, token: str, method: str, path: str, **options: Any) -> httpx.Response:
    return client.request(method, API + path, headers={"Authorization": f"Bearer {token}"}, **options)


@pytest.mark.parametrize(("method", "path"), OWNERS)
def test_the_owners_calls_are_refused_to_annotators_whatever_is_in_them(client: Client, method: str, path: str) -> None:
    form: dict[str, Any] = (
        {"files": {"nodes": ("t.csv", b"text\na")}} if path in ("/session", "/preview") else {"json": {}}
    )
    options = {} if method == "GET" else form
    refused = send(client, ANNOTATOR, method, path, **options)
    assert refused.status_code == 403 and "owner's token" in refused.json()["error"]
    assert send(client, OWNER, method, path, **options).status_code != 403
    assert send(client, "a-wrong-token-1", method, path, **options).status_code == 401


def test_annotators_label_skip_write_notes_take_their_own_back_and_look(client: Client) -> None:
    def say(path: str, **body: Any) -> Any:
        answer = send(client, ANNOTATOR, "POST", path, json={"annotator": "cyd", **body})
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()

    node = say("/ask")["queries"][0]["node"]
    event = say("/tell", labels=[{"node": node, "label": "a"}])["events"][0]
    say("/undo", event=event)
    say("/skip", node=5)
    say("/notes", node=5, text="odd")
    say("/bulk", labels=[{"node": 20, "label": "a"}, {"node": 21, "label": "b"}])
    say("/undo")
    for path in (
        "/studio",
        "/jobs",
        "/status",
        "/settings",
        "/table",
        "/disagreements",
        "/nodes",
        "/nodes/5",
        "/nodes/5/neighbourhood",
        "/map",
        "/map/colours",
        "/report",
        "/events",
    ):
        assert send(client, ANNOTATOR, "GET", path).status_code == 200, path
    studio = send(client, ANNOTATOR, "GET", "/studio").json()
    assert studio["role"] == "annotator" and not studio["can_create"]
    assert send(client, OWNER, "GET", "/studio").json()["role"] == "owner"


def test_annotators_add_no_classes_by_telling_them(client: Client) -> None:
    for path in ("/tell", "/bulk"):
        body = {"annotator": "cyd", "labels": [{"node": 9, "label": "unheard of"}], "new_class": True}
        refused = send(client, ANNOTATOR, "POST", path, json=body)
        assert refused.status_code == 403 and "annotators add none" in refused.json()["error"]
    assert send(client, OWNER, "GET", "/status").json()["classes"] == ["a", "b"]


def test_annotators_take_back_no_change_of_the_session_itself(client: Client) -> None:
    changes = (("/budget", {"budget": 30}), ("/classes", {"name": "third"}), ("/settle", {"node": 0, "label": "b"}))
    for path, body in changes:
        event = send(client, OWNER, "POST", path, json={"annotator": "eve", **body}).json()["event"]
        for undo in ({"annotator": "eve"}, {"annotator": "eve", "event": event}):
            refused = send(client, ANNOTATOR, "POST", "/undo", json=undo)
            assert refused.status_code == 403 and "only its owner" in refused.json()["error"]
    undone = send(client, OWNER, "POST", "/undo", json={"annotator": "eve"}).json()["undone"]
    redo = send(client, OWNER, "GET", "/status").json()["last"]
    assert undone["kind"] == "settle"
    assert send(client, ANNOTATOR, "POST", "/undo", json={"event": redo}).status_code == 403, "nor an undo of it"


def test_what_is_listed_nowhere_is_the_owners() -> None:
    assert not is_permitted("annotator", "POST", "/api/v1/something/new") and not is_permitted(
        "annotator", "GET", "/api/v2/status"
    )
    assert not is_permitted("annotator", "GET", "/api/v1/export/csv") and not is_permitted(
        "annotator", "GET", "/api/v1/nodes/5/else"
    )
    assert is_permitted("owner", "POST", "/api/v1/something/new") and is_permitted("annotator", "GET", "/s/job")


def test_a_browser_keeps_the_token_that_its_address_brought(tmp_path: Path) -> None:
    for token in (OWNER, ANNOTATOR):
        led = ask(RULES, HOST, path="/", query=f"token={token}")
        assert led.status == 303 and led.header("set-cookie")[0].startswith(f"nodewise_token_8080={token};")
    cookie = ("cookie", f"nodewise_token_8080={ANNOTATOR}")
    assert ask(RULES, HOST, cookie).reached[0]["nodewise.role"] == "annotator"
    assert ask(RULES, HOST, cookie, path="/api/v1/backup").status == 403
    assert ask(RULES, HOST, cookie, path="/api/v1/updates", kind="websocket").reached
    both = ("cookie", f"nodewise_token_8080={ANNOTATOR}; nodewise_token={OWNER}")
    assert ask(RULES, HOST, both).reached[0]["nodewise.role"] == "owner"


def test_a_token_for_annotators_needs_another_one_for_the_owner() -> None:
    for options in ({"annotator_token": ANNOTATOR}, {"token": OWNER, "annotator_token": OWNER}):
        with pytest.raises(InputError, match="needs another one for the owner"):
            GuardRules.for_address("127.0.0.1", 8080, **options)
    with pytest.raises(InputError, match="12 to 200"):
        GuardRules.for_address("127.0.0.1", 8080, token=OWNER, annotator_token="short")
