"""What annotators may do and what is the owner's, by raw requests to a studio with two tokens."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from starlette.routing import Route
from websockets.exceptions import InvalidStatus

from nodewise.ground.errors import InputError
from nodewise.studio.guard.origins import UPLOADS, GuardRules
from nodewise.studio.guard.people import People
from nodewise.studio.guard.roles import Permissions, Role, permit, permitted_roles
from tests.studio.guarding import ask
from tests.studio.jobs import job
from tests.studio.serving import API, Client, hear, running

pytestmark = pytest.mark.slow

OWNER, ANNOTATOR = "the-owners-token", "the-annotators-token"
RULES = GuardRules.for_address("127.0.0.1", 8080, token=OWNER, annotator_token=ANNOTATOR)
HOST = ("host", "127.0.0.1:8080")
EVERYBODY_MAY = {
    *(f"GET /{path}" for path in ("", "new", "s/{name}", "page", "api/docs", "api/openapi.json")),
    *(f"GET {API}/{path}" for path in ("studio", "jobs", "status", "settings", "table", "disagreements", "report")),
    *(f"GET {API}/{path}" for path in ("map", "map/colours", "events", "updates", "nodes", "nodes/{node}")),
    *(f"GET {API}/nodes/{{node}}/{path}" for path in ("picture", "neighbourhood", "similar")),
    *(f"POST {API}/{path}" for path in ("cancel", "session/open")),
}
"""All that an onlooker may; nothing of it changes a session. A route is added here only by somebody who means it."""
MAY = {
    "onlooker": EVERYBODY_MAY,
    "annotator": EVERYBODY_MAY
    | {f"POST {API}/{path}" for path in ("ask", "tell", "bulk", "skip", "undo", "notes", "release", "table/act")},
    "reviewer": EVERYBODY_MAY
    | {f"POST {API}/{path}" for path in ("settle", "undo", "notes", "table/act")}
    | {f"GET {API}/{path}" for path in ("suggestions", "export/{form}", "people/report")},
}


def all_routes(routes: Iterable[Any]) -> Iterator[Any]:
    """Every route that an application answers, those of the routers that it includes among them."""
    for route in routes:
        included = getattr(route, "original_router", None)
        yield from [route] if included is None else all_routes(included.routes)


def calls(route: Any) -> list[str]:
    """Method and path of what a route answers; a websocket counts as GET."""
    return [f"{method} {route.path}" for method in getattr(route, "methods", None) or ["GET"]]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    session = job(tmp_path, redundancy=2)
    session.tell([0, 1, 59], ["a", "a", "b"], "ada")
    session.tell(0, "b", "bob")
    with running(tmp_path, session, token=OWNER, annotator_token=ANNOTATOR) as found:
        yield found


def send(client: Client, token: str, method: str, path: str, **options: Any) -> httpx.Response:
    return client.request(method, API + path, headers={"Authorization": f"Bearer {token}"}, **options)


def test_every_route_says_who_may_and_that_is_what_happens(client: Client) -> None:
    """All routes, as the application has them, by each role and by somebody with neither token."""
    routes = list(all_routes(client.app.routes))
    assert [route.path for route in routes if permitted_roles(route) is None] == []
    declared = {call: permitted_roles(route) or frozenset() for route in routes for call in calls(route)}
    for role, calls_of in MAY.items():
        assert {call for call, roles in declared.items() if role in roles} == calls_of, role
    assert {call for call, roles in declared.items() if "owner" in roles} == set(declared)
    assert len(declared) >= 45
    people = People(client.studio.settings.folder)
    tokens = {f"{role}'s own": people.add(f"an {role}", role) for role in get_args(Role)}
    tokens |= {"owner": OWNER, "annotator": ANNOTATOR, "nobody": ""}
    for call, roles in declared.items():
        method, path = call.split(" ")
        path = path.format(name="job", node=5, form="csv") + ("/icon.svg" if path == "/page" else "")
        for whose, token in tokens.items():
            role = whose.removesuffix("'s own")
            status, said = attempt(client, token, method, path)
            if role == "nobody":
                assert status == 401, call
            elif role in roles:
                assert status not in (401, 405, 500) and "owner's token" not in said, (call, whose, status, said)
            else:
                assert status == 403 and "owner's token" in said, (call, whose, status, said)


def attempt(client: Client, token: str, method: str, path: str) -> tuple[int, str]:
    """What a request without anything in it is answered, which an allowed one is as well: it lacks what it needs."""
    key = {"Authorization": f"Bearer {token}"} if token else {}
    if path.endswith("/updates"):
        try:
            with hear(f"ws://127.0.0.1:{client.base_url.port}{path}", additional_headers=key):
                return 101, ""
        except InvalidStatus as refused:
            return refused.response.status_code, refused.response.body.decode()
    form = path in UPLOADS
    body: dict[str, Any] = {"files": {"nodes": ("t.csv", b"text")}} if form else {"json": {}}
    client.cookies.clear()
    answer = client.request(method, path, headers=key, **({} if method == "GET" else body))
    return answer.status_code, answer.text


def test_a_route_that_does_not_say_who_may_keeps_the_studio_from_starting() -> None:
    async def silent(request: Any) -> None:
        raise AssertionError

    with pytest.raises(TypeError, match="does not say who may use it"):
        Permissions([Route("/api/v1/new", silent)])
    permissions = Permissions([Route("/api/v1/new", permit("owner")(silent))])
    scope = {"type": "http", "method": "GET", "path": "/api/v1/new", "headers": []}
    assert permissions("owner", scope) and not permissions("annotator", scope)
    assert not permissions("annotator", {**scope, "path": "/api/v1/unheard-of"}), "what nobody answers is the owner's"


def test_an_annotators_upload_is_refused_before_it_has_arrived(client: Client) -> None:
    """The role is looked at before the body is read: who may not upload fills no disk."""
    port = client.base_url.port
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(
            f"POST {API}/session HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {ANNOTATOR}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 200000000\r\n\r\n--b\r\n".encode()
        )
        assert raw.recv(12) == b"HTTP/1.1 403"


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


def test_annotators_overrule_nobody_and_change_nothing_that_was_overruled(client: Client) -> None:
    for path in ("/tell", "/bulk"):
        body = {"annotator": "cyd", "labels": [{"node": 1, "label": "b"}], "overrule": True}
        refused = send(client, ANNOTATOR, "POST", path, json=body)
        assert refused.status_code == 403 and "overrule nobody" in refused.json()["error"]
    assert label_of(client, 1) == "a"
    decided = {"annotator": "eve", "labels": [{"node": 1, "label": "b"}], "overrule": True}
    event = send(client, OWNER, "POST", "/tell", json=decided).json()["events"][0]
    assert label_of(client, 1) == "b"
    for who in ("eve", "ada", "cyd"):  # names are not checked: anybody may call themselves eve
        body = {"annotator": who, "labels": [{"node": 1, "label": "a"}]}
        assert send(client, ANNOTATOR, "POST", "/tell", json=body).status_code == (403 if who == "eve" else 200)
        assert label_of(client, 1) == "b"
    for undo in ({"annotator": "eve"}, {"annotator": "eve", "event": event}, {"event": event}, {}):
        assert send(client, ANNOTATOR, "POST", "/undo", json=undo).status_code == 403
    assert label_of(client, 1) == "b"
    assert send(client, OWNER, "POST", "/undo", json={"annotator": "eve"}).status_code == 200
    redo = send(client, OWNER, "GET", "/status").json()["last"]
    assert send(client, ANNOTATOR, "POST", "/undo", json={"annotator": "eve", "event": redo}).status_code == 403


def test_annotators_take_back_what_is_their_own_and_no_vote_on_what_was_settled(client: Client) -> None:
    send(client, OWNER, "POST", "/settle", json={"annotator": "eve", "node": 0, "label": "b"})
    settled = send(client, OWNER, "GET", "/disagreements").json()
    votes = [event for event in send(client, OWNER, "GET", "/events").json()["events"] if event["node"] == 0]
    assert [event["kind"] for event in votes] == ["settle", "tell", "tell"]
    for event in votes:
        for who in ("cyd", "ada", "bob", "eve"):
            undo = {"annotator": who, "event": event["event"]}
            assert send(client, ANNOTATOR, "POST", "/undo", json=undo).status_code == 403
    assert send(client, ANNOTATOR, "POST", "/undo", json={"annotator": "bob"}).status_code == 403, "his last one"
    assert send(client, OWNER, "GET", "/disagreements").json() == settled and label_of(client, 0) == "b"
    others = send(client, ANNOTATOR, "POST", "/undo", json={"annotator": "cyd", "event": 2})
    assert others.status_code == 403 and "is by 'ada'" in others.json()["error"], "nor another's vote on anything else"
    nameless = send(client, ANNOTATOR, "POST", "/undo", json={"event": 2})
    assert nameless.status_code == 403 and "say who you are" in nameless.json()["error"]
    assert label_of(client, 1) == "a"
    own = send(client, ANNOTATOR, "POST", "/undo", json={"annotator": "ada", "event": 2})
    assert own.status_code == 200 and label_of(client, 1) is None
    again = {"annotator": "ada", "event": own.json()["status"]["last"]}
    assert send(client, ANNOTATOR, "POST", "/undo", json=again).status_code == 200 and label_of(client, 1) == "a"


def label_of(client: Client, node: int) -> str | None:
    found: str | None = send(client, OWNER, "GET", f"/nodes/{node}").json()["label"]
    return found


def test_a_browser_keeps_the_token_that_its_address_brought(tmp_path: Path) -> None:
    for token in (OWNER, ANNOTATOR):
        led = ask(RULES, HOST, path="/", query=f"token={token}")
        assert led.status == 303 and led.header("set-cookie")[0].startswith(f"nodewise_token_8080={token}:")
    cookie = ("cookie", f"nodewise_token_8080={ANNOTATOR}")
    assert ask(RULES, HOST, cookie).reached[0]["nodewise.role"] == "annotator"
    assert ask(RULES, HOST, cookie, path="/api/v1/updates", kind="websocket").reached
    both = ("cookie", f"nodewise_token_8080={ANNOTATOR}; nodewise_token={OWNER}")
    assert ask(RULES, HOST, both).reached[0]["nodewise.role"] == "owner"


def test_a_token_for_annotators_needs_another_one_for_the_owner() -> None:
    for options in ({"annotator_token": ANNOTATOR}, {"token": OWNER, "annotator_token": OWNER}):
        with pytest.raises(InputError, match="needs another one for the owner"):
            GuardRules.for_address("127.0.0.1", 8080, **options)
    with pytest.raises(InputError, match="12 to 200"):
        GuardRules.for_address("127.0.0.1", 8080, token=OWNER, annotator_token="short")
