"""Links of people's own: the file, what a running studio makes of it, and attacks on it."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from nodewise.ground.errors import InputError
from nodewise.studio.guard.origins import GuardRules
from nodewise.studio.guard.people import PEOPLE_FILE, People
from tests.studio.guarding import ask
from tests.studio.jobs import job
from tests.studio.serving import API, Client, hear, running

OWNER, SHARED = "the-owners-token", "the-annotators-token"
HOST = ("host", "127.0.0.1:8080")


def test_the_file_keeps_digests_alone_and_its_owner_alone_reads_it(tmp_path: Path) -> None:
    people = People(tmp_path)
    tokens = [people.add(name, "annotator") for name in ("ada", "bob")]
    text = (tmp_path / PEOPLE_FILE).read_text(encoding="utf-8")
    assert len(set(tokens)) == 2 and all(len(token) >= 32 and token not in text for token in tokens)
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / PEOPLE_FILE).stat().st_mode) == 0o600
    other = People(tmp_path)  # as another process sees it
    assert [other.find(token).name for token in tokens] == ["ada", "bob"]  # type: ignore[union-attr]
    other.revoke("ADA")
    assert people.find(tokens[0]) is None and people.find(tokens[1]) is not None
    assert people.has_name("Ada "), "a name that was somebody's is nobody else's"
    again = people.add("ada", "reviewer")
    assert other.find(tokens[0]) is None and other.find(again).role == "reviewer"  # type: ignore[union-attr]


def test_many_at_once_lose_nobody(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=lambda number=number: People(tmp_path).add(f"p{number}", "onlooker"))  # type: ignore[misc]
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.name for each in People(tmp_path).all()} == {f"p{number}" for number in range(12)}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"schema": 3, "people": []}',
        '{"schema": 2, "people": [], "digest": "00"}',
        '{"schema": 1, "people": [{"name": "eve", "role": "queen", "digest": "", "added": 0}]}',
        '{"schema": 1, "people": [{"name": "eve", "role": "owner", "digest": 7, "added": 0}]}',
        '{"schema": 1, "people": 5}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_lets_nobody_in_and_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    people = People(tmp_path)
    token = people.add("ada", "owner")
    (tmp_path / PEOPLE_FILE).write_text(content, encoding="utf-8")
    assert people.find(token) is None and people.has_name("anybody")
    for attempt in (people.all, lambda: people.add("bob", "owner"), lambda: people.revoke("ada")):
        with pytest.raises(InputError, match="cannot be read"):
            attempt()  # type: ignore[operator]
    assert (tmp_path / PEOPLE_FILE).read_text(encoding="utf-8") == content


def test_a_changed_letter_lets_nobody_in_and_a_list_of_the_first_form_is_read(tmp_path: Path) -> None:
    people = People(tmp_path)
    token = people.add("ada", "owner")
    path = tmp_path / PEOPLE_FILE
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace('"ada"', '"adb"'), encoding="utf-8")
    assert people.find(token) is None
    with pytest.raises(InputError, match="damaged, or changed by hand"):
        people.all()
    first = {"schema": 1, "people": json.loads(whole)["people"]}
    path.write_text(json.dumps(first), encoding="utf-8")
    assert people.find(token).name == "ada"  # type: ignore[union-attr]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_that_others_can_change_lets_nobody_in(tmp_path: Path) -> None:
    people = People(tmp_path)
    token = people.add("ada", "owner")
    (tmp_path / PEOPLE_FILE).chmod(0o666)
    assert people.find(token) is None
    with pytest.raises(InputError, match="chmod 600"):
        people.all()


def test_a_link_leads_in_by_a_cookie_and_the_address_forgets_it(tmp_path: Path) -> None:
    people = People(tmp_path)
    rules = GuardRules.for_address("127.0.0.1", 8080, token=OWNER, people=people)
    token = people.add("ada", "annotator")
    led = ask(rules, HOST, path="/", query=f"token={token}")
    assert led.status == 303 and led.header("location") == ["/"] and led.header("referrer-policy") == ["no-referrer"]
    cookie = ("cookie", led.header("set-cookie")[0].partition(";")[0])
    assert "HttpOnly; SameSite=Strict" in led.header("set-cookie")[0]
    assert ask(rules, HOST, cookie).reached[0]["nodewise.role"] == "annotator"
    planted = ("cookie", f"{cookie[1]}; nodewise_token={OWNER}")
    assert ask(rules, HOST, planted).reached[0]["nodewise.role"] == "owner", "of two the one that may do more"
    people.revoke("ada")
    for brought in (cookie, ("authorization", f"Bearer {token}")):
        assert ask(rules, HOST, brought).status == 401
        assert ask(rules, HOST, brought, path="/api/v1/updates", kind="websocket").status == 403
    assert ask(rules, HOST, path="/", query=f"token={token}").status == 401, "the link itself as well"


def test_a_studio_without_a_token_takes_a_link_for_who_it_is(tmp_path: Path) -> None:
    people = People(tmp_path)
    rules = GuardRules.for_address("127.0.0.1", 8080, people=people)
    token = people.add("olga", "onlooker")
    assert ask(rules, HOST).reached[0]["nodewise.role"] == "owner"
    assert ask(rules, HOST, path="/", query=f"token={token}").status == 303
    assert ask(rules, HOST, ("authorization", f"Bearer {token}")).reached[0]["nodewise.role"] == "onlooker"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    session = job(tmp_path, redundancy=2)
    session.tell([0, 1, 59], ["a", "a", "b"], "ada")
    with running(tmp_path, session, token=OWNER, annotator_token=SHARED) as found:
        yield found


def send(client: Client, token: str, method: str, path: str, **options: Any) -> httpx.Response:
    client.cookies.clear()
    return client.request(method, API + path, headers={"Authorization": f"Bearer {token}"}, **options)


def give(client: Client, name: str, role: str = "annotator") -> str:
    answer = send(client, OWNER, "POST", "/people", json={"name": name, "role": role})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["token"])


@pytest.mark.slow
def test_a_persons_name_is_that_of_their_token_whatever_they_say(client: Client) -> None:
    ada, bob = give(client, "ada"), give(client, "bob")
    own = send(client, ada, "POST", "/tell", json={"annotator": "bob", "labels": [{"node": 5, "label": "a"}]}).json()
    events = send(client, OWNER, "GET", "/events").json()["events"]
    assert events[0]["event"] == own["events"][0] and events[0]["annotator"] == "ada"
    query = send(client, bob, "POST", "/ask", json={"annotator": "ada"}).json()["queries"][0]
    assert query["annotator"] == "bob"
    hidden = send(client, bob, "GET", "/nodes/0?annotator=ada").json()
    assert hidden["votes"] == {} and hidden["label"] is None, "nor sees what ada may see by giving her name"
    assert send(client, ada, "GET", "/nodes/0?annotator=bob").json()["votes"] == {"ada": "a"}
    undo = send(client, bob, "POST", "/undo", json={"annotator": "ada", "event": own["events"][0]})
    assert undo.status_code == 403
    assert send(client, bob, "POST", "/release", json={"released": "ada"}).status_code == 403
    assert send(client, bob, "POST", "/release", json={"released": "bob"}).status_code == 200
    studio = send(client, ada, "GET", "/studio").json()
    assert (studio["role"], studio["person"]) == ("annotator", "ada")


@pytest.mark.slow
def test_the_shared_token_speaks_for_nobody_who_has_a_link(client: Client) -> None:
    give(client, "Ada")
    send(client, OWNER, "POST", "/people/revoke", json={"name": "ada"})
    for name in ("ada", "ADA "):
        for path, body in (
            ("/tell", {"labels": [{"node": 7, "label": "a"}]}),
            ("/ask", {}),
            ("/undo", {}),
            ("/skip", {"node": 7}),
            ("/release", {"annotator": "x", "released": name}),
        ):
            refused = send(client, SHARED, "POST", path, json={"annotator": name, **body})
            assert refused.status_code == 403, (path, refused.text)
        assert send(client, SHARED, "GET", f"/nodes/0?annotator={name}").status_code == 403
    unnamed = send(client, SHARED, "GET", "/nodes/0").json()
    assert unnamed["votes"] == {} and unnamed["label"] is None, "without a name least is seen"


@pytest.mark.slow
def test_a_link_that_is_taken_away_ends_at_once_also_what_is_open(client: Client) -> None:
    ada = give(client, "ada")
    key = {"Authorization": f"Bearer {ada}"}
    with hear(f"ws://127.0.0.1:{client.base_url.port}{API}/updates", additional_headers=key) as socket:
        assert send(client, ada, "GET", "/status").status_code == 200
        People(client.studio.settings.folder).revoke("ada")  # by another process
        assert send(client, ada, "GET", "/status").status_code == 401
        send(client, OWNER, "POST", "/tell", json={"annotator": "o", "labels": [{"node": 9, "label": "a"}]})
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=300)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
    listed = send(client, OWNER, "GET", "/people").json()
    assert [(each["name"], each["revoked"] is not None) for each in listed["people"]] == [("ada", True)]


@pytest.mark.slow
def test_a_reviewer_settles_and_takes_only_that_back_an_onlooker_changes_nothing(client: Client) -> None:
    rita, olga, ada = give(client, "rita", "reviewer"), give(client, "olga", "onlooker"), give(client, "ada")
    send(client, OWNER, "POST", "/tell", json={"annotator": "bob", "labels": [{"node": 0, "label": "b"}]})
    settled = send(client, rita, "POST", "/settle", json={"annotator": "eve", "node": 0, "label": "b"})
    assert settled.status_code == 200
    assert send(client, rita, "GET", "/disagreements").json()["nodes"][0]["settled_by"] == "rita"
    new = send(client, rita, "POST", "/settle", json={"node": 0, "label": "something else entirely"})
    assert new.status_code == 403 and "no class of this session" in new.json()["error"]
    assert send(client, rita, "POST", "/undo", json={"event": 1}).status_code == 403
    assert send(client, ada, "POST", "/undo", json={"event": settled.json()["event"]}).status_code == 403
    assert send(client, rita, "POST", "/undo", json={}).json()["undone"]["kind"] == "settle"
    before = send(client, OWNER, "GET", "/status").json()["last"]
    for path in ("/ask", "/tell", "/skip", "/bulk", "/undo", "/notes", "/settle", "/release", "/budget", "/people"):
        assert send(client, olga, "POST", path, json={}).status_code == 403, path
    seen = send(client, olga, "GET", "/nodes/1").json()
    assert seen["votes"] == {} and seen["label"] is None, "a vote that another is to follow is not for onlookers"
    assert send(client, olga, "GET", "/table").status_code == 200
    assert send(client, OWNER, "GET", "/status").json()["last"] == before


@pytest.mark.slow
def test_guesses_beside_a_link_that_is_right_are_counted(client: Client) -> None:
    """Whoever has a link tries no owner's tokens with it: after some the guesses are not looked at."""
    ada = give(client, "ada")
    port = client.base_url.port
    opened = client.get("/", params={"token": ada}, follow_redirects=False).headers["set-cookie"].partition(";")[0]
    told = set()
    for guess in [*(f"a-wrong-guess-{number}" for number in range(40)), OWNER]:
        answer = httpx.get(
            f"http://127.0.0.1:{port}{API}/studio",
            headers={"Cookie": opened, "Authorization": f"Bearer {guess}"},
            timeout=120,
            verify=False,  # without certificates it is quick: guesses are counted by the minute
        )
        told.add((answer.status_code, answer.json().get("role")))
    assert told == {(200, "annotator")}, "also the right one, once there were too many"


@pytest.mark.slow
def test_a_studio_without_a_token_gives_no_links(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path)) as client:
        assert client.look("/people") == {"people": [], "possible": False}
        assert "start it with --token-file" in client.refused(409, "POST", "/people", json={"name": "ada"})


@pytest.mark.slow
def test_a_call_without_a_name_sees_no_prediction_while_somebody_is_asked_blindly(tmp_path: Path) -> None:
    session = job(tmp_path, audit=5)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"])
    with running(tmp_path, session) as client:
        for _ in range(20):
            query = client.say("/ask", annotator="me")["queries"][0]
            if query["audit"]:
                break
            client.say("/tell", annotator="me", labels=[{"node": query["node"], "label": "a"}])
        assert query["audit"]
        client.look("/map/colours")
        assert all(row["predicted"] is None for row in client.look("/table", limit=60)["rows"])
        assert set(client.look("/map/colours")["predicted"]) == {-1}
        assert any(row["predicted"] for row in client.look("/table", limit=60, annotator="rita")["rows"])


@pytest.mark.skipif(os.name != "posix", reason="asks who owns a file")
def test_a_list_that_is_somebody_elses_lets_nobody_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = People(tmp_path).add("ada", "owner")
    assert People(tmp_path).find(token) is not None
    mine = os.geteuid()
    (tmp_path / PEOPLE_FILE).chmod(0o644)  # others may read it, nobody may write it but who made it
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    monkeypatch.setattr(os, "fstat", lambda handle, stat=os.fstat: _owned_by(stat(handle), 4711))
    assert People(tmp_path).find(token) is None
    with pytest.raises(InputError, match="can be changed by others: it must be yours"):
        People(tmp_path).all()


def _owned_by(facts: os.stat_result, owner: int) -> os.stat_result:
    fields = list(facts)
    fields[stat.ST_UID] = owner
    return os.stat_result(fields)


def test_a_link_of_the_owners_name_from_before_it_was_refused_does_not_work(tmp_path: Path) -> None:
    """Under it an annotator would be taken for an owner who gives no name."""
    tokens = {role: People(tmp_path / role) for role in ("annotator", "owner")}
    for role, people in tokens.items():
        (tmp_path / role).mkdir()
        token = people.add("somebody", role)  # type: ignore[arg-type]
        content = json.loads(people.path.read_text(encoding="utf-8"))
        listed = [{**content["people"][0], "name": "Me"}]
        people.path.write_text(json.dumps({"schema": 1, "people": listed}), encoding="utf-8")
        found = People(tmp_path / role)
        assert (found.find(token) is None) == (role == "annotator")
        assert (found.all()[0].revoked is None) == (role == "owner")
