"""Connections that never finish what they began: they cost their sender, and nobody else."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import httpx
import pytest

from nodewise.studio.guard.connections import most_connections
from tests.studio.browsing import Server
from tests.studio.jobs import job
from tests.studio.raw import Wire, exchange, request, upgrade, wire
from tests.studio.serving import API, running


def half(port: int, count: int, stack: ExitStack) -> list[Wire]:
    lines = [stack.enter_context(wire(port)) for _ in range(count)]
    for line in lines:
        line.send(b"GET /api/v1/status HTTP/1.1\r\nHost: 127.0.0.1")
    return lines


@pytest.mark.slow
def test_many_half_sent_requests_do_not_stop_the_studio(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path), connections=40, head_seconds=600) as client, ExitStack() as stack:
        port = client.base_url.port
        assert port is not None
        lines = half(port, 200, stack)
        assert client.look("/status")["told"] == 0
        client.say("/tell", labels=[{"node": 1, "label": "a"}])
        assert exchange(port, upgrade(f"{API}/updates", ("Host", f"127.0.0.1:{port}"))).status == 101
        half(port, 100, stack)
        assert client.look("/status")["told"] == 1
        assert lines[0].reply().status == 0, "the one that has waited longest is gone"


@pytest.mark.long
def test_fourteen_hundred_half_sent_requests_do_not_stop_a_studio_that_the_network_reaches(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("needs 2000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as a studio has it on most machines
    job(tmp_path).close()
    token = "a-token-that-is-long-enough-0123456789"
    server = Server(tmp_path, "job.nodewise", "--host", "0.0.0.0", "--token", token)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    try:
        port = int(server.address.rpartition(":")[2])
        with ExitStack() as stack:
            half(port, 1400, stack)
            asked = httpx.get(
                f"http://127.0.0.1:{port}/api/v1/status", headers={"Authorization": f"Bearer {token}"}, timeout=60
            )
            assert asked.status_code == 200 and asked.json()["told"] == 0
    finally:
        server.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def trickling(port: int, count: int, stack: ExitStack, *headers: tuple[str, str]) -> list[Wire]:
    """Requests whose heads are whole, and whose bodies never are."""
    lines = [stack.enter_context(wire(port)) for _ in range(count)]
    own = (("Host", f"127.0.0.1:{port}"), ("Content-Type", "application/json"), ("Content-Length", "100000"))
    for line in lines:
        line.send(request("POST", f"{API}/tell", *own, *headers) + b"{")
    return lines


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many open files as both ends of all connections of a studio need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("needs 2000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft if soft == resource.RLIM_INFINITY else max(soft, 2000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
def test_many_trickling_bodies_without_a_token_do_not_stop_the_studio(tmp_path: Path) -> None:
    """As many as a studio has connections, 512; a head may take long, so that none goes for being slow."""
    token = "a-token-of-some-length"
    with running(tmp_path, job(tmp_path), head_seconds=600, token=token) as client, ExitStack() as stack:
        client.headers["Authorization"] = f"Bearer {token}"
        port = client.base_url.port
        assert port is not None and client.studio.settings.connections == 512
        lines = trickling(port, 512, stack)
        assert {line.reply().status for line in lines} == {401}
        for _ in range(3):
            for line in lines:
                line.send(b" ")
            with httpx.Client(
                base_url=client.base_url, headers=client.headers, timeout=120
            ) as other:  # a connection of its own
                assert other.get(f"{API}/status").status_code == 200


def test_who_was_answered_and_goes_on_sending_is_not_listened_to_for_long(tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    with running(tmp_path, job(tmp_path), head_seconds=0.5, token=token) as client, ExitStack() as stack:
        port = client.base_url.port
        assert port is not None
        # again where this machine took longer than that between a connection and its head
        line = next(line for _ in range(50) for line in trickling(port, 1, stack) if line.reply().status == 401)
        gone = False
        while not gone:  # until the connection is reset
            line.send(b" ")
            time.sleep(0.05)
            line.socket.setblocking(False)
            try:
                gone = line.socket.recv(1) == b""
            except BlockingIOError:
                pass
            except ConnectionResetError:
                gone = True
            line.socket.setblocking(True)
        assert gone
        own = (("Host", f"127.0.0.1:{port}"), ("Content-Type", "application/json"))

        def politely() -> list[int]:
            """A body that arrives whole leaves the connection to be used again."""
            with wire(port) as polite:
                told = []
                for _ in range(3):
                    polite.send(request("POST", f"{API}/tell", *own, body=b"{}"))
                    told.append(polite.reply().status)
                return told

        assert any(politely() == [401, 401, 401] for _ in range(50))


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
def test_many_trickling_bodies_on_a_studio_without_a_token_do_not_stop_it(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path), head_seconds=600) as client, ExitStack() as stack:
        port = client.base_url.port
        assert port is not None
        trickling(port, 600, stack)
        for _ in range(3):
            with httpx.Client(base_url=client.base_url, timeout=120) as other:
                assert other.get(f"{API}/status").status_code == 200


@pytest.mark.parametrize(
    "lengths",
    [
        [("Content-Length", "4"), ("Transfer-Encoding", "chunked")],
        [("Content-Length", "4"), ("Content-Length", "5")],
        [("Content-Length", "4, 5")],
        [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
    ],
)
def test_a_request_with_two_lengths_ends_the_connection(tmp_path: Path, lengths: list[tuple[str, str]]) -> None:
    """What follows could be read as another request by whoever counts otherwise."""
    with running(tmp_path, job(tmp_path)) as client, ExitStack() as stack:
        port = client.base_url.port
        assert port is not None
        own = (("Host", f"127.0.0.1:{port}"), ("Content-Type", "application/json"))
        line = stack.enter_context(wire(port))
        hidden = request("POST", f"{API}/skip", *own, body=b'{"node": 3}')
        line.send(request("POST", f"{API}/tell", *own, *lengths, body=b"0\r\n\r\n") + hidden)
        assert line.reply().status in (400, 501)
        assert line.reply().status == 0, "nothing more is answered there"
        assert client.look("/status")["last"] == 0


def test_a_head_that_does_not_arrive_in_time_is_not_waited_for(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path), head_seconds=0.5) as client, ExitStack() as stack:
        port = client.base_url.port
        assert port is not None
        silent = stack.enter_context(wire(port))
        (begun,) = half(port, 1, stack)

        def answered() -> Iterator[Wire]:
            """Connections whose head came in time: not each, where this machine is busy."""
            for _ in range(50):
                line = stack.enter_context(wire(port))
                line.send(request("GET", f"{API}/status", ("Host", f"127.0.0.1:{port}")))
                if line.reply().status == 200:
                    yield line

        again = next(answered())
        again.send(b"GET /api/v1/stat")  # the second request of a connection that is kept alive
        assert [line.reply().status for line in (silent, begun, again)] == [0, 0, 0]


def test_a_slow_answer_is_no_slow_head(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path), head_seconds=0.3) as client:
        client.say("/tell", labels=[{"node": node, "label": "ab"[node % 2]} for node in range(30)])
        assert client.look("/report")["labels"] == 30


def test_the_bound_leaves_files_for_everything_else() -> None:
    assert 8 <= most_connections(512) <= 512 and most_connections(10) == 10


MALFORMED = [
    b"\x81\x82\0\0\0\0\xff\xfe",
    b"\xf1\x80\0\0\0\0",
    b"\x83\x80\0\0\0\0",
    b"\x81\x02hi",
    b"\x89\xfe\0\x7e\0\0\0\0" + bytes(126),
    b"\x88\x81\0\0\0\0x",
]


@pytest.mark.slow
def test_what_is_no_http_behind_a_request_and_malformed_frames_leave_no_traceback(tmp_path: Path) -> None:
    """A body that is shorter than it is said to be, or none where one was sent: the rest is taken for a request."""
    job(tmp_path).close()
    server = Server(tmp_path, "job.nodewise")
    port = int(server.address.rpartition(":")[2])
    heads = [("Host", f"127.0.0.1:{port}"), ("Content-Type", "application/json")]
    rests = (b"[" * 70_000, b"\0" * 300, b"x" * 70_000, b"GET\r\n\r\n")
    for path, rest, method in product(("unheard-of", "status", "tell"), rests, ("GET", "HEAD", "POST")):
        for headers in (heads, [*heads, ("Content-Length", "3")], [*heads, ("Transfer-Encoding", "chunked")]):
            with wire(port) as line:
                line.send(request(method, f"{API}/{path}", *headers, body=b"") + rest)
                line.reply()
    assert httpx.get(f"{server.address}{API}/status", timeout=60).status_code == 200
    for frame in MALFORMED:
        with wire(port) as line:
            line.send(upgrade(f"{API}/updates", ("Host", f"127.0.0.1:{port}")))
            assert line.reply().status == 101
            line.send(frame)
            while line.frame() is not None:
                pass
        assert httpx.get(f"{server.address}{API}/status", timeout=60).status_code == 200, frame
    assert "Traceback" not in server.end()


@pytest.mark.slow
def test_wrong_tokens_are_few_a_minute_and_a_page_that_is_open_goes_on(tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    with running(tmp_path, job(tmp_path), token=token) as client:
        assert client.get(f"/?token={token}", follow_redirects=False).status_code == 303  # the cookie is kept
        tries = [
            client.get(f"{API}/status", headers={"Authorization": f"Bearer guess-{number:08d}"}) for number in range(3)
        ]
        assert {answer.status_code for answer in tries} == {200}, "the cookie is right, whatever else is brought"
        with httpx.Client(base_url=client.base_url, timeout=120) as stranger:
            tries = [
                stranger.get(f"{API}/status", headers={"Authorization": f"Bearer guess-{number:08d}"})
                for number in range(25)
            ]
            assert [answer.status_code for answer in tries] == [401] * 20 + [429] * 5
            assert "wait a minute" in tries[-1].json()["error"] and tries[-1].headers["retry-after"] == "60"
            assert stranger.get(f"{API}/status", headers={"Authorization": f"Bearer {token}"}).status_code == 429
            assert stranger.get(f"/?token={token}").status_code == 429
            assert stranger.get(f"{API}/status").status_code == 401, "who brings none is told what is needed"
        assert client.look("/status")["told"] == 0


@pytest.mark.slow
def test_guesses_by_cookie_are_counted_and_a_page_that_is_open_goes_on(tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    with running(tmp_path, job(tmp_path), token=token) as client:
        assert client.get(f"/?token={token}", follow_redirects=False).status_code == 303
        assert client.look("/status")["told"] == 0
        name = f"nodewise_token_{client.base_url.port}"

        def attempt(cookie: str) -> int:
            own = {"base_url": client.base_url, "cookies": {name: cookie}, "verify": False}
            with httpx.Client(**own, timeout=120) as stranger:  # quickly: what is counted is counted by the minute
                return stranger.get(f"{API}/status").status_code

        assert [attempt("a-stale-cookie-of-yesterday") for _ in range(30)] == [401] * 30, "one guess, however often"
        tries = [attempt(f"guess-{number:08d}") for number in range(25)]
        assert tries == [401] * 19 + [429] * 6
        assert [attempt(token), attempt(f"{token}:guess")] == [429, 429], "not even the right one is told apart"
        assert client.look("/status")["told"] == 0, "the page that was open goes on"


@pytest.mark.slow
def test_twenty_megabytes_of_commas_take_no_gigabytes(tmp_path: Path) -> None:
    job(tmp_path).close()
    server = Server(tmp_path)
    try:
        for content, said in (
            (b"," * 20_000_000, "first line is longer"),
            (b"a,b\n" + (b"," * 1000 + b"\n") * 20_000, "more than 10,000,000 cells"),
        ):
            for path in ("/preview", "/session"):
                answer = httpx.post(
                    f"{server.address}{API}{path}",
                    files={"nodes": ("commas.csv", content)},
                    data={"name": "x"},
                    timeout=120,
                )
                assert answer.status_code == 400 and said in answer.json()["error"], answer.text
        peak = server.peak_bytes()
        assert peak is None or peak < 1.2 * 2**30
    finally:
        server.stop()


def test_a_token_file_is_made_for_its_owner_alone_and_used_again(tmp_path: Path) -> None:
    from nodewise.ground.errors import InputError
    from nodewise.studio.guard.tokens import token_from_file

    path = tmp_path / "token"
    token = token_from_file(path)
    assert len(token) >= 32 and token_from_file(path) == token
    assert os.name != "posix" or path.stat().st_mode & 0o777 == 0o600
    if os.name == "posix":
        path.chmod(0o640)
        with pytest.raises(InputError, match="can be read by others .mode 640.: chmod 600"):
            token_from_file(path)
        os.mkfifo(tmp_path / "pipe", 0o600)
        began = time.monotonic()
        with pytest.raises(InputError, match="no plain file"):
            token_from_file(tmp_path / "pipe")
        assert time.monotonic() - began < 60, "nobody waits for somebody to write"
    with pytest.raises(InputError, match="cannot be used"):
        token_from_file(tmp_path / "no folder" / "token")


@pytest.mark.slow
def test_who_may_open_the_page_is_told_at_the_start(tmp_path: Path) -> None:
    server = Server(tmp_path)
    httpx.get(f"{server.address}{API}/studio", timeout=60)  # it has said everything once it answers
    assert "every user of this machine can open the page" in server.end()
    server = Server(tmp_path, "--token-file", "token")
    assert httpx.get(f"{server.address}{API}/studio", timeout=60).status_code == 401
    key = {"Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}"}
    assert httpx.get(f"{server.address}{API}/studio", headers=key, timeout=60).status_code == 200
    assert "every user" not in server.end()
