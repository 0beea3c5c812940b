"""A real server, raw bytes: nobody reads or tells anything who may not, and nobody stops the others."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")

from nodewise.studio.guard.tokens import WrongTokens
from tests.studio.browsing import studio
from tests.studio.jobs import job
from tests.studio.raw import Reply, Wire, exchange, request, upgrade, wire
from tests.studio.serving import Client, running

TOKEN = "correct-horse_battery.staple"
JSON = ("Content-Type", "application/json")
STATUS, TELL, UPDATES = "/api/v1/status", "/api/v1/tell", "/api/v1/updates"
LABEL = json.dumps({"labels": [{"node": 7, "label": "a"}]}).encode()
REBOUND = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "localhost.",
    "0.0.0.0",
    "[::ffff:7f00:1]",
    "127.1",
)


class Place:
    """A studio, and what an attacker knows of it: everything but the token."""

    def __init__(self, client: Client, token: str | None) -> None:
        assert client.base_url.port is not None
        self.port: int = client.base_url.port
        self.own = ("Host", f"127.0.0.1:{self.port}")
        self.origin = ("Origin", f"http://127.0.0.1:{self.port}")
        self.key = [("Authorization", f"Bearer {token}")] if token else []

    def ask(self, method: str, target: str, *headers: tuple[str, str], **parts: Any) -> Reply:
        return exchange(self.port, request(method, target, *headers, **parts))

    def last(self) -> int:
        """The number of the last event in the log, as the owner sees it."""
        found: int = self.ask("GET", STATUS, self.own, *self.key).json["last"]
        return found


@pytest.fixture(scope="module", params=[None, TOKEN], ids=["open", "token"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("studio")
    with running(folder, job(folder), token=request.param) as client:
        yield Place(client, request.param)


@pytest.fixture
def untold(place: Place) -> Iterator[Place]:
    """The studio, whose log is the same after the test as before it, and which still answers."""
    before = place.last()
    yield place
    assert place.last() == before


def nothing_said(reply: Reply, *statuses: int) -> None:
    """A refusal that gives nothing away."""
    assert reply.status in (statuses or (403,)), (reply.status, reply.body[:200])
    assert b"strategy" not in reply.body and TOKEN.encode() not in reply.body
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_the_owner_reads_tells_and_listens(place: Place) -> None:
    """What the other tests refuse does work for who may."""
    assert place.ask("GET", STATUS, place.own, *place.key).status == 200
    with wire(place.port) as line:
        line.send(upgrade(UPDATES, place.own, place.origin, *place.key))
        assert line.reply().status == 101
        told = place.ask("POST", TELL, place.own, place.origin, *place.key, JSON, body=LABEL)
        assert told.status == 200
        while (said := line.frame()) != {
            "type": "changed",
            "session": told.json["status"]["name"],
            "last": told.json["status"]["last"],
        }:
            assert said is not None and said["type"] == "changed"
    assert place.ask("POST", "/api/v1/undo", place.own, *place.key, JSON, body=b"{}").status == 200


@pytest.mark.parametrize("name", REBOUND)
def test_a_name_that_points_here_is_not_ours(untold: Place, name: str) -> None:
    """DNS rebinding: the browser believes that the attacker's page and the studio are one origin, and sends what it
    has.
    """
    host, origin = ("Host", f"{name}:{untold.port}"), ("Origin", f"http://{name}:{untold.port}")
    nothing_said(untold.ask("GET", STATUS, host, *untold.key))
    nothing_said(untold.ask("GET", "/", host, *untold.key))
    nothing_said(untold.ask("POST", TELL, host, origin, *untold.key, JSON, body=LABEL))
    nothing_said(exchange(untold.port, upgrade(UPDATES, host, origin, *untold.key)))


def test_wrong_repeated_and_missing_hosts(untold: Place) -> None:
    evil = ("Host", f"evil.example:{untold.port}")
    for headers in (
        [],
        [("Host", "")],
        [("Host", "127.0.0.1")],
        [("Host", f"127.0.0.1:{untold.port + 1}")],
        [evil, ("X-Forwarded-Host", f"127.0.0.1:{untold.port}")],
        [evil, ("Forwarded", f"host=127.0.0.1:{untold.port}")],
        [untold.own, evil],
        [evil, untold.own],
        [("Host", f"127.0.0.1:{untold.port}, evil.example")],
        [("Host", f"127.0.0.1:{untold.port}\x00")],
    ):
        for version in ("1.0", "1.1"):
            nothing_said(untold.ask("GET", STATUS, *headers, *untold.key, version=version), 400, 403)
            nothing_said(untold.ask("POST", TELL, *headers, *untold.key, JSON, body=LABEL, version=version), 400, 403)
        nothing_said(exchange(untold.port, upgrade(UPDATES, *headers, *untold.key)), 400, 403)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost:{port}",
        "http://127.0.0.1:{other}",
        "https://127.0.0.1:{port}",
        "file://",
        "",
    ],
)
def test_no_page_of_another_origin_reads_tells_or_listens(untold: Place, origin: str) -> None:
    """Even if it had the token: a browser would keep the answer from it, the studio does not give one."""
    foreign = ("Origin", origin.format(port=untold.port, other=untold.port + 1))
    for target in (STATUS, "/", "/page/work.js", "/api/openapi.json", "/api/v1/export/csv", "/api/v1/backup"):
        nothing_said(untold.ask("GET", target, untold.own, foreign, *untold.key))
    for kind in (
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        nothing_said(untold.ask("POST", TELL, untold.own, foreign, *untold.key, ("Content-Type", kind), body=LABEL))
    asked = ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type,authorization")
    nothing_said(untold.ask("OPTIONS", TELL, untold.own, foreign, *asked))
    nothing_said(exchange(untold.port, upgrade(UPDATES, untold.own, foreign, *untold.key)))
    nothing_said(untold.ask("GET", STATUS, untold.own, untold.origin, foreign, *untold.key), 400)
    nothing_said(exchange(untold.port, upgrade(UPDATES, untold.own, untold.origin, foreign, *untold.key)), 400)


@pytest.mark.parametrize("dest", ["image", "script", "style", "iframe", "object", "audio", "empty"])
def test_what_a_foreign_page_embeds_is_not_given(untold: Place, dest: str) -> None:
    for site in ("cross-site", "same-site"):
        told = (
            ("Sec-Fetch-Site", site),
            ("Sec-Fetch-Mode", "navigate" if dest == "iframe" else "no-cors"),
            ("Sec-Fetch-Dest", dest),
        )
        for target in (STATUS, "/", "/page/work.js", "/api/v1/nodes/0/picture"):
            nothing_said(untold.ask("GET", target, untold.own, *told, *untold.key))


def test_without_the_token_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WrongTokens, "too_many", lambda self, address: False)  # all these come from one address
    with running(tmp_path, job(tmp_path), token=TOKEN) as client:
        place = Place(client, TOKEN)
        before = place.last()
        for wrong in (
            [],
            [("Authorization", "Bearer wrong")],
            [("Authorization", f"Bearer {TOKEN}x")],
            [("Authorization", f"Basic {TOKEN}")],
            [("Cookie", f"nodewise_token_{place.port}=wrong")],
            [("Cookie", f"x={TOKEN}")],
        ):
            for target in (
                STATUS,
                f"{STATUS}?token={TOKEN}",
                "/",
                "/?token=wrong",
                "/page/work.js",
                "/api/openapi.json",
                "/api/docs",
                "/nowhere",
            ):
                nothing_said(place.ask("GET", target, place.own, *wrong), 401)
            nothing_said(place.ask("POST", TELL, place.own, place.origin, *wrong, JSON, body=LABEL), 401)
            nothing_said(exchange(place.port, upgrade(UPDATES, place.own, place.origin, *wrong)), 401)
            nothing_said(exchange(place.port, upgrade(f"{UPDATES}?token={TOKEN}", place.own, *wrong)), 401)
        nothing_said(place.ask("GET", STATUS, place.own, *place.key, *place.key), 400)
        assert place.last() == before
        welcome = place.ask("GET", f"/?token={TOKEN}", place.own)
        cookie = ("Cookie", welcome.headers["set-cookie"].partition(";")[0])
        assert welcome.status == 303 and welcome.headers["location"] == "/"
        assert place.ask("GET", STATUS, place.own, cookie).status == 200
        with wire(place.port) as line:
            line.send(upgrade(UPDATES, place.own, place.origin, cookie))
            assert line.reply().status == 101


@pytest.mark.parametrize(
    "target",
    [
        "/page/../settings.py",
        "/page/%2e%2e/settings.py",
        "/page/..%2fsettings.py",
        "/page/..%5c..%5csettings.py",
        "/page/%252e%252e/settings.py",
        "/page//etc/passwd",
        "/page/%2fetc%2fpasswd",
        "/page/work.js%00.png",
        "/page/\\..\\settings.py",
        "//evil.example/",
        "/%2f%2fevil.example",
        "http://evil.example/api/v1/status",
        "/api/v1/nodes/0/picture?path=../../settings.py",
        "/api/v1/export/..%2f..%2fpasswd",
        "*",
        "evil.example:80",
        "/api/v1/session/open/../../status",
        "/page/%c0%ae%c0%ae/settings.py",
    ],
)
def test_no_path_leads_out(untold: Place, target: str) -> None:
    reply = untold.ask("GET", target, untold.own, *untold.key)
    assert (
        reply.status in {400, 404}
        and b"import" not in reply.body
        and b"root:" not in reply.body
        and "location" not in reply.headers
    )


def test_no_session_is_opened_by_a_path(untold: Place, tmp_path: Path) -> None:
    job(tmp_path, "outside").close()
    for name in (
        str(tmp_path / "outside"),
        str(tmp_path / "outside.nodewise"),
        "../outside",
        "./job",
        "job.nodewise",
        "job\0",
        "/etc/passwd",
    ):
        reply = untold.ask(
            "POST", "/api/v1/session/open", untold.own, *untold.key, JSON, body=json.dumps({"name": name}).encode()
        )
        assert reply.status in {400, 404}, name


def test_methods_and_their_overrides(untold: Place) -> None:
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "post"):
        assert untold.ask(method, TELL, untold.own, *untold.key, JSON, body=LABEL).status in {400, 405}
    overrides = [(name, "POST") for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")]
    assert (
        untold.ask("GET", f"{TELL}?_method=POST", untold.own, *untold.key, *overrides, JSON, body=LABEL).status == 405
    )


def chunks(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.long
def test_a_body_is_bounded_however_it_comes(untold: Place) -> None:
    head = untold.own, *untold.key, JSON
    chunked = ("Transfer-Encoding", "chunked")
    nothing_said(untold.ask("POST", TELL, *head, ("Content-Length", str(2**20 + 1))), 413)
    nothing_said(untold.ask("POST", TELL, *head, ("Content-Length", str(10**15))), 413)
    nothing_said(untold.ask("POST", TELL, *head, ("Content-Length", "9" * 30)), 400)
    nothing_said(untold.ask("POST", TELL, *head, chunked, body=chunks(*[b"[" * 60_000] * 20)), 413)
    nothing_said(untold.ask("POST", TELL, *head, chunked, ("Content-Length", "5"), body=chunks(LABEL)), 400)
    for wrong in (b"zz\r\nx\r\n0\r\n\r\n", b"-5\r\nx\r\n0\r\n\r\n", b"5;" + b"x" * 100_000, b"ffffffffffffffff0\r\nx"):
        with wire(untold.port) as line:
            line.send(request("POST", TELL, *head, chunked, body=wrong))
            line.socket.shutdown(socket.SHUT_WR)
            nothing_said(line.reply(), 0, 400, 413)
    for coding in ("gzip", "chunked, chunked", "identity", "gzip, chunked"):
        nothing_said(
            untold.ask("POST", TELL, *head, ("Transfer-Encoding", coding), body=chunks(LABEL)), 400, 411, 415, 501
        )


def test_a_body_in_chunks_is_fine(place: Place) -> None:
    """The limit is the size, not the form."""
    head = place.own, *place.key, JSON, ("Transfer-Encoding", "chunked")
    assert place.ask("POST", TELL, *head, body=chunks(LABEL[:10], LABEL[10:])).status == 200
    assert place.ask("POST", "/api/v1/undo", place.own, *place.key, JSON, body=b"{}").status == 200


def test_nothing_hides_in_a_refused_body_or_behind_a_good_request(untold: Place) -> None:
    evil = request("POST", TELL, ("Host", "evil.example"), JSON, body=LABEL)
    hidden = request("POST", TELL, untold.own, *untold.key, JSON, body=LABEL)
    with wire(untold.port) as line:  # behind a good one on the same connection
        line.send(request("GET", STATUS, untold.own, *untold.key) + evil)
        assert line.reply().status == 200
        nothing_said(line.reply())
    with wire(untold.port) as line:  # a good request that is the body of a bad one is a body
        line.send(request("POST", TELL, ("Host", "evil.example"), JSON, body=hidden))
        nothing_said(line.reply())
        line.send(request("GET", STATUS, untold.own, *untold.key))
        assert line.reply().status in {0, 200}
    with wire(untold.port) as line:  # two lengths, of which a proxy may believe the other
        line.send(
            request(
                "POST",
                TELL,
                untold.own,
                *untold.key,
                JSON,
                ("Content-Length", "4"),
                ("Content-Length", str(len(hidden))),
                body=hidden,
            )
        )
        nothing_said(line.reply(), 400)


def test_a_websocket_is_at_one_place_only(untold: Place) -> None:
    for target in (STATUS, "/", "/api/v1/", "/page/work.js", "/api/v1/nodes/0"):
        assert exchange(untold.port, upgrade(target, untold.own, untold.origin, *untold.key)).status in {400, 403, 404}


def hung_up(line: Wire) -> bool:
    """Whether the server ends the websocket, after whatever it had to say."""
    while line.frame() is not None:
        pass
    return True


def test_what_a_websocket_says_is_of_no_interest_and_bounded(untold: Place) -> None:
    with wire(untold.port) as line:
        line.send(upgrade(UPDATES, untold.own, untold.origin, *untold.key))
        assert line.reply().status == 101
        line.send(b"\x81\x85\0\0\0\0hello" * 50)
        line.send(b"\x82\xff" + (2**40).to_bytes(8, "big") + b"\0\0\0\0")  # a message of a terabyte is announced
        assert hung_up(line)
    with wire(untold.port) as line:
        line.send(upgrade(UPDATES, untold.own, untold.origin, *untold.key))
        assert line.reply().status == 101
        line.send(b"\xff\xff\xff\xff garbage that is no frame")
        assert hung_up(line)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00" * 100,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: a\r\n b\r\nHost : x\r\n\r\n",
        b"\r\n\r\n\r\n",
    ],
)
def test_garbage_is_refused(untold: Place, data: bytes) -> None:
    with wire(untold.port) as line:
        line.send(data)
        line.socket.shutdown(socket.SHUT_WR)
        assert line.reply().status in {0, 400, 403}


def test_headers_and_addresses_are_bounded(untold: Place) -> None:
    for data in (
        request("GET", "/" + "a" * 200_000, untold.own),
        request("GET", STATUS, untold.own, *untold.key, ("X-Long", "a" * 200_000)),
        request("GET", STATUS, untold.own, *untold.key, *[(f"X-{number}", "a" * 100) for number in range(5000)]),
    ):
        assert exchange(untold.port, data).status in {0, 400, 414, 431}


@pytest.mark.slow
def test_slow_and_broken_clients_do_not_stop_the_others(untold: Place) -> None:
    """Hundreds that begin and do not end, and websockets that do not read: the owner is answered all the same."""
    stuck: list[Wire] = []
    try:
        for number in range(240):
            line = Wire(untold.port)
            stuck.append(line)
            whole = request("POST", TELL, untold.own, *untold.key, JSON, ("Content-Length", "1000"))
            line.send(
                [
                    whole[: 20 + number % 40],
                    whole + b"[",
                    upgrade(UPDATES, untold.own, untold.origin, *untold.key),
                    b"",
                ][number % 4]
            )
            if number % 12 == 5:
                line.reset()
        found: list[int] = []

        def read() -> None:
            for _ in range(5):
                found.append(untold.ask("GET", STATUS, untold.own, *untold.key).status)

        readers = [threading.Thread(target=read) for _ in range(5)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert found == [200] * 25
    finally:
        for line in stuck:
            line.socket.close()


def test_a_reader_who_stops_reading_does_not_stop_the_others(untold: Place) -> None:
    with wire(untold.port) as line:
        line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.send(request("GET", "/api/v1/nodes?limit=100", untold.own, *untold.key) * 300)
        for _ in range(10):
            assert untold.ask("GET", STATUS, untold.own, *untold.key).status == 200


def test_every_answer_of_the_server_carries_the_headers(place: Place) -> None:
    for target in ("/", "/new", "/page/nothing.js", STATUS, "/api/v1/nodes/99999999", "/api/v1/export/csv", "/nowhere"):
        reply = place.ask("GET", target, place.own, *place.key)
        assert (
            reply.headers["content-security-policy"].startswith("default-src 'none'")
            and reply.headers["x-content-type-options"] == "nosniff"
        )
        assert reply.headers["cross-origin-resource-policy"] == "same-origin" and "server" not in reply.headers, target


@pytest.mark.slow
def test_the_command_makes_a_token_for_an_address_that_others_can_reach(tmp_path: Path) -> None:
    job(tmp_path).close()
    with studio(tmp_path, "job.nodewise", "--host", "0.0.0.0") as server:
        port = int(server.address.rpartition(":")[2])
        own = ("Host", f"127.0.0.1:{port}")
        nothing_said(exchange(port, request("GET", STATUS, own)), 401)
        nothing_said(exchange(port, request("POST", TELL, own, JSON, body=LABEL)), 401)
        nothing_said(exchange(port, upgrade(UPDATES, own)), 401)
        nothing_said(exchange(port, request("GET", STATUS, ("Host", f"evil.example:{port}"))), 403)
