"""Live suggestions against a small server that answers well, slowly, wrongly, and stops in between."""

from __future__ import annotations

import gzip
import json
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.ground.errors import InputError, SessionError
from nodewise.session import Session
from nodewise.session import live as module
from nodewise.session.live import KEY, LiveSuggestions
from tests.session.endpoint import Endpoint, serving
from tests.session.jobs import answer_when_asked


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as server:
        yield server


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    texts = np.array([f"text {node}" for node in range(8)])
    graph = Graph.build([[0, 2, 4, 6], [1, 3, 5, 7]], name="mails", attributes={"text": texts})
    with Session.create(tmp_path / "job.nodewise", graph, budget=4, classes=["spam", "ham"]) as made:
        made.set_guideline("In doubt, ham.")
        made.tell(0, "ham")
        yield made


def prepared(session: Session, endpoint: Endpoint, name: str = "assistant") -> LiveSuggestions:
    return LiveSuggestions.prepare(session.moment(), session.path, endpoint.url, name)


def run(live: LiveSuggestions, calls: int = 100, **options: Any) -> tuple[module.Fetched, list[float]]:
    pauses: list[float] = []
    live.show(100)
    *_, last = live.fetch(calls, pause=pauses.append, **options)
    return last, pauses


def run_hastily(
    live: LiveSuggestions, patience: float, monkeypatch: pytest.MonkeyPatch
) -> tuple[module.Fetched, list[float]]:
    """With so many seconds for each reply until one was given up: those behind it may be as slow as the machine is."""
    pauses: list[float] = []
    monkeypatch.setattr(module, "_PATIENCE", patience)

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        monkeypatch.setattr(module, "_PATIENCE", 60.0)

    live.show(100)
    *_, last = live.fetch(100, pause=pause)
    return last, pauses


def test_what_left_is_exactly_what_was_shown(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "secret-key")
    live = prepared(session, endpoint)
    assert not list(live.fetch(100))  # nothing is sent that was not shown
    shown = live.show(100)
    assert not endpoint.bodies and len(shown) == 7
    prompt = json.loads(shown[0])["messages"]
    assert "In doubt, ham." in prompt[0]["content"] and "- spam" in prompt[0]["content"]
    assert [each["content"] for each in prompt[1:]] == ["text: text 0", "ham", "text: text 1"]
    done, _ = run(live)
    assert endpoint.bodies == shown
    assert set(endpoint.keys) == {"Bearer secret-key"}
    assert (done.calls, done.answered, done.tokens, done.left) == (7, 7, 70, 0)
    for file in session.path.parent.iterdir():
        assert b"secret-key" not in file.read_bytes()


def test_a_label_that_comes_later_changes_nothing_that_was_fixed(session: Session, endpoint: Endpoint) -> None:
    before = prepared(session, endpoint).body(5)
    session.tell(1, "spam")
    later = prepared(session, endpoint)
    assert later.body(5) == before and 1 not in later.waiting()


def test_too_many_requests_and_failures_are_waited_out_with_longer_and_longer_pauses(
    session: Session, endpoint: Endpoint
) -> None:
    endpoint.script = [429, 500, None, "ham"]
    done, pauses = run(prepared(session, endpoint))
    assert (done.calls, done.answered, done.failed) == (10, 7, 0)
    assert pauses == [7.0, 2.0, 4.0]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["drip", "drip body"])
def test_a_reply_that_drips_for_ever_is_given_up(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A byte each fiftieth of a second would hold a request as long as only the silence between two bytes counts."""
    endpoint.script = [way]
    done, pauses = run_hastily(prepared(session, endpoint), 1.0, monkeypatch)
    assert (done.calls, done.answered) == (8, 7) and pauses == [1.0]


@pytest.mark.slow
def test_an_endpoint_may_be_slow_but_not_slower_than_it_has_time(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.seconds, endpoint.script = [0.1, 4.5], ["ham", "ham", "spam"]
    live = prepared(session, endpoint)
    done, pauses = run_hastily(live, 3.0, monkeypatch)
    assert (done.answered, done.failed) == (7, 0) and pauses == [1.0]
    assert [reply.label for reply in live.replies()][:2] == ["ham", "spam"]


def test_a_reply_that_stops_in_the_middle_is_asked_for_again(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = ["cut", "ham"]
    live = prepared(session, endpoint)
    done, pauses = run(live)
    assert (done.calls, done.answered, pauses) == (8, 7, [1.0])
    assert endpoint.bodies[0] == endpoint.bodies[1] and live.replies()[0].label == "ham"


def test_an_endpoint_that_is_down_is_not_asked_about_every_node(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = ["ham", *[500] * 15]
    live = prepared(session, endpoint)
    with pytest.raises(SessionError, match="no answer about 3 nodes in a row.*goes on once it answers again"):
        run(live)
    assert len(endpoint.bodies) == 16
    done, _ = run(live)
    assert done.answered == 6 and not live.waiting()


def test_a_node_that_no_reply_comes_for_is_left_for_the_next_time(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = [503] * 5
    live = prepared(session, endpoint)
    done, pauses = run(live)
    assert (done.failed, done.answered) == (1, 6) and pauses == [1.0, 2.0, 4.0, 8.0]
    assert live.waiting() == [1]


def test_refusals_and_what_names_no_class_are_counted_and_not_guessed(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = ['"Spam".', "probably spam", {"content": None, "refusal": "I will not"}, "", "HAM", "egg", "ham"]
    live = prepared(session, endpoint)
    done, _ = run(live)
    assert (done.answered, done.unnamed, done.refused) == (3, 2, 2)
    assert [reply.label for reply in live.replies()] == ["spam", None, None, None, "ham", None, "ham"]
    assert not live.waiting()


def test_the_budget_of_calls_counts_every_request(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = [500, 500]
    live = prepared(session, endpoint)
    done, _ = run(live, calls=4)
    assert (done.calls, len(endpoint.bodies), done.answered, done.left) == (4, 4, 2, 5)


def test_a_rate_is_kept(session: Session, endpoint: Endpoint) -> None:
    now = iter(range(100))
    done, pauses = run(prepared(session, endpoint), calls=3, rate=6, clock=lambda: float(next(now)))
    assert done.calls == 3 and pauses[0] == 0 and all(8 <= each <= 10 for each in pauses[1:])


def test_a_fetch_that_was_killed_goes_on_and_asks_nothing_twice(session: Session, endpoint: Endpoint) -> None:
    live = prepared(session, endpoint)
    live.show(3)
    fetch = live.fetch(100, pause=lambda seconds: None)
    next(fetch)
    next(fetch)
    del fetch
    file = next(session.path.parent.glob("*.replies.jsonl"))
    with file.open("a") as torn:  # a kill in the middle of a line
        torn.write('{"node": 3, "te')
    again = prepared(session, endpoint)
    assert again.waiting() == [3, 4, 5, 6, 7]
    run(again)
    assert len(endpoint.bodies) == len(set(endpoint.bodies)) == 7
    assert sorted(reply.node for reply in prepared(session, endpoint).replies()) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(("code", "said"), [(401, "check the key in NODEWISE_SUGGEST_KEY"), (404, "check the address")])
def test_what_another_try_would_not_mend_ends_the_fetch(
    session: Session, endpoint: Endpoint, code: int, said: str
) -> None:
    endpoint.script = [code]
    with pytest.raises(SessionError, match=said):
        run(prepared(session, endpoint))
    assert len(endpoint.bodies) == 1


def test_a_redirection_is_not_followed(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = [302]
    with pytest.raises(SessionError, match="answers 302"):
        run(prepared(session, endpoint))


def test_what_cannot_be_prepared_is_told(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ends = ("https://host:port/x", "https://[::1/x", "https://host/é", "https://host/a b")
    for url in ("ftp://here/x", "assistant", "https://me:secret@host/x", *ends):
        with pytest.raises(InputError, match="must be an http or https address"):
            LiveSuggestions.prepare(session.moment(), session.path, url, "assistant")
    prepared(session, endpoint)
    with pytest.raises(InputError, match="give another name"):
        LiveSuggestions.prepare(session.moment(), session.path, "http://127.0.0.1:1/other", "assistant")
    monkeypatch.setenv(KEY, "secret-key")
    with pytest.raises(InputError, match="readable by others") as told:
        LiveSuggestions.prepare(session.moment(), session.path, "http://example.org/v1", "other")
    assert "secret-key" not in str(told.value)
    with (
        Session.create(tmp_path / "bare.nodewise", Graph.build([[0, 1], [1, 2]]), budget=2, classes=["a", "b"]) as bare,
        pytest.raises(InputError, match="no texts or columns"),
    ):
        LiveSuggestions.prepare(bare.moment(), bare.path, endpoint.url, "assistant")


def test_rows_that_were_taken_out_are_neither_sent_nor_shown_as_examples(session: Session, endpoint: Endpoint) -> None:
    session.tell(2, "spam")
    session.remove_rows([2, 5])
    live = prepared(session, endpoint)
    run(live)
    assert live.replies() and not {2, 5} & {reply.node for reply in live.replies()}
    sent = b"".join(endpoint.bodies)
    assert b"text 1" in sent and b"text 2" not in sent and b"text 5" not in sent


def test_what_people_say_of_rows_with_known_answers_is_no_example(session: Session, endpoint: Endpoint) -> None:
    session.set_known({2: "ham"}, "olga", percent=10)
    answer_when_asked(session, "ada", {2: "spam"})
    run(prepared(session, endpoint))
    examples = [message for message in json.loads(endpoint.bodies[0])["messages"] if message["role"] == "assistant"]
    assert [each["content"] for each in examples] == ["ham"], "what was told of row 0 alone"


def test_a_column_of_known_answers_is_not_sent(tmp_path: Path, endpoint: Endpoint) -> None:
    cells = {"text": np.array(["one", "two", "three"]), "gold": np.array(["spam", "ham", ""])}
    graph = Graph.build([[0, 1], [1, 2]], attributes=cells)
    with Session.create(tmp_path / "known.nodewise", graph, budget=3, classes=["spam", "ham"]) as session:
        session.set_known("gold", "olga")
        run(prepared(session, endpoint))
    sent = b"".join(endpoint.bodies)
    assert b"text: one" in sent and b"gold" not in sent


def test_a_reply_belongs_to_what_was_sent_and_not_to_a_number(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = prepared(session, endpoint)
    run(live)
    assert len(live.replies()) == 7 and not live.waiting()
    whole = module._row
    monkeypatch.setattr(module, "_row", lambda moment, node: whole(moment, node) + (" changed" if node == 3 else ""))
    changed = prepared(session, endpoint)
    assert 3 not in {reply.node for reply in changed.replies()} and changed.waiting() == [3]
    assert not list(changed.fetch(100))  # it was not shown as it is now
    endpoint.script = ["ham"]
    run(changed)
    assert json.loads(endpoint.bodies[-1])["messages"][-1]["content"] == "text: text 3 changed"
    assert {reply.node: reply.label for reply in changed.replies()}[3] == "ham" and len(changed.replies()) == 7


def test_replies_of_an_earlier_version_belong_to_what_was_shown_before_them(
    session: Session, endpoint: Endpoint
) -> None:
    live = prepared(session, endpoint)
    run(live)
    file = next(session.path.parent.glob("*.replies.jsonl"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line.pop("sent", None)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(live.replies()) == 7
    kept = [line for line in lines if "shown" not in line]
    file.write_text("".join(json.dumps(line) + "\n" for line in kept))
    assert not live.replies()


def test_rows_that_come_or_go_leave_the_other_replies_as_they_are(tmp_path: Path, endpoint: Endpoint) -> None:
    texts = [f"the {kind} number {number}" for number in range(6) for kind in ("cat", "dog")]
    graph = Graph.from_texts(texts, k=3)
    with Session.create(tmp_path / "job.nodewise", graph, budget=4, classes=["spam", "ham"]) as job:
        run(prepared(job, endpoint))
        job.remove_rows([0])
        job.add_rows(["a bird number 7"])
        later = prepared(job, endpoint)
        assert {reply.node for reply in later.replies()} == set(range(1, 12)) and later.waiting() == [12]
        run(later)
    assert len(endpoint.bodies) == 13 and b"a bird number 7" in endpoint.bodies[-1]


def test_a_row_that_got_a_label_meanwhile_is_not_asked_and_its_reply_stays(
    session: Session, endpoint: Endpoint
) -> None:
    live = prepared(session, endpoint)
    live.show(100)
    next(live.fetch(1))
    session.tell(1, "ham")
    session.tell(2, "ham")
    later = prepared(session, endpoint)
    assert later.waiting() == [3, 4, 5, 6, 7] and [reply.node for reply in later.replies()] == [1]


@pytest.mark.parametrize("key", ["secret\nkey", "secret-\u201ckey\u201d"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv(KEY, key)
    with pytest.raises(InputError, match="set it again") as told:
        run(prepared(session, endpoint))
    assert "secret" not in str(told.value) and not endpoint.bodies


def test_tokens_that_no_reply_takes_are_not_believed() -> None:
    message = b'{"choices": [{"message": {"content": "ham"}}], "usage": {"total_tokens": %s}}'
    with pytest.raises(module._AgainError):
        module._said(message % b"1e999")
    assert module._said(message % (b"9" * 400)) == ("ham", 10**9)


REPLY = json.dumps({"choices": [{"message": {"content": "ham"}}]}).encode()
HOSTILE = {
    "a chunk of less than nothing": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n" + bytes(2**25),
    "a chunk of far less": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n" + bytes(100),
    "a chunk of no number": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"9" * 5000 + b"\r\n",
    "an answer of another number": b"HTTP/1.1 \xb2\xb3 OK\r\n\r\n",
    "a length of all there is": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n" + bytes(2**25),
    "no length": b"HTTP/1.0 200 OK\r\n\r\n" + bytes(2**25),
    "heads without end": b"HTTP/1.0 200 OK\r\n" + b"X: y\r\n" * 10**5,
    "a head without end": b"HTTP/1.0 200 OK\r\nX: " + b"y" * 10**6,
    "one more moment without end": b"HTTP/1.1 100 Continue\r\n\r\n" * 10**6,
    "packed zeros": b"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(REPLY + b" " * 10**7),
    "lists in lists": b"HTTP/1.0 200 OK\r\n\r\n" + b"[" * 10**5,
    "a number without end": b"HTTP/1.0 200 OK\r\n\r\n" + b'{"choices": ' + b"9" * 10**5 + b"}",
    "no protocol": b"\x16\x03\x01" * 1000,
}


@pytest.mark.parametrize("reply", HOSTILE)
def test_what_a_hostile_endpoint_sends_is_no_answer_and_takes_no_memory(
    session: Session, endpoint: Endpoint, reply: str
) -> None:
    endpoint.script = [HOSTILE[reply], "ham"]
    tracemalloc.start()
    try:
        done, _ = run(prepared(session, endpoint), calls=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (done.calls, done.answered) == (2, 1) and peak < 2**24
    assert endpoint.bodies[0] == endpoint.bodies[1]


def test_of_a_long_reply_no_more_is_kept_than_could_name_a_class(session: Session, endpoint: Endpoint) -> None:
    endpoint.script = ["x" * 500_000, " " * 500_000 + "ham"]
    done, _ = run(prepared(session, endpoint), calls=2)
    assert (done.unnamed, done.answered) == (1, 1)
    assert next(session.path.parent.glob("*.replies.jsonl")).stat().st_size < 50_000


@pytest.mark.parametrize("content", [b"", b"[]\n", b'{"url": 1}\n', b"\xff\n"])
def test_a_file_of_replies_that_a_kill_left_without_its_head_is_told(
    session: Session, endpoint: Endpoint, content: bytes
) -> None:
    prepared(session, endpoint)
    next(session.path.parent.glob("*.replies.jsonl")).write_bytes(content)
    with pytest.raises(InputError, match="look with --show again"):
        prepared(session, endpoint)


@pytest.mark.parametrize("kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.long)])
def test_kills_while_suggestions_are_fetched_lose_no_reply_and_ask_for_none_twice(
    tmp_path: Path, endpoint: Endpoint, clean_environment: dict[str, str], kills: int
) -> None:
    """The command itself; each kill may cost the one request that was under way, and nothing else."""
    texts, nodes = np.array([f"text {node}" for node in range(40 * kills)]), 40 * kills
    edges = np.stack([np.arange(nodes - 1), np.arange(1, nodes)])
    path, moments = tmp_path / "job.nodewise", random.Random(2)
    graph = Graph.build(edges, name="mails", attributes={"text": texts})
    with Session.create(path, graph, budget=4, classes=["spam", "ham"]) as made:
        made.tell([0, 1], ["ham", "spam"], "ada")
        shown = prepared(made, endpoint).show(nodes)
    assert len(shown) == nodes - 2
    command = [sys.executable, "-m", "nodewise", "session", "suggest", str(path), "--from", endpoint.url]
    command += ["--as", "assistant", "--yes", "--calls", str(nodes)]
    endpoint.seconds = [0.004] * (2 * nodes)
    kept: list[module.Reply] = []
    for number in range(kills):
        before = len(endpoint.bodies)
        with subprocess.Popen(command, env=clean_environment, stdout=subprocess.PIPE, text=True) as process:
            while len(endpoint.bodies) == before:
                assert process.poll() is None
                time.sleep(0.005)
            time.sleep(moments.random() * 0.15)
            process.send_signal(signal.SIGKILL)
        with Session.open(path) as session:
            replies = prepared(session, endpoint).replies()
            assert session.labels == {0: "ham", 1: "spam"} and not session.suggestions
        assert replies[: len(kept)] == kept and len({reply.node for reply in replies}) == len(replies)
        time.sleep(0.05)  # what was under way has arrived
        assert len(replies) <= len(endpoint.bodies) <= len(replies) + number + 1
        kept = replies
    done = subprocess.run(command, env=clean_environment, capture_output=True, text=True, check=True)
    assert f"assistant says something of {nodes - 2} of {nodes} nodes" in done.stdout
    assert len(endpoint.bodies) <= nodes - 2 + kills and set(shown) <= set(endpoint.bodies)
    torn = set(endpoint.bodies) - set(shown)  # a kill may cut a request off
    assert all(any(whole.startswith(body) for whole in shown) for body in torn)
    sent = len(endpoint.bodies)
    again = subprocess.run(command, env=clean_environment, capture_output=True, text=True, check=True)
    assert "nothing was sent" in again.stdout and len(endpoint.bodies) == sent
    with Session.open(path) as session:
        assert [event.kind for event in session.events].count("suggest") == 1
