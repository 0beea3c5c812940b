"""Live suggestions against a small server that answers well, slowly, wrongly, and stops in between."""

from __future__ import annotations

import json
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
        Session.create(tmp_path / "bare.nodewise", "karate", budget=4, use_labels=False) as bare,
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


@pytest.mark.parametrize("content", [b"", b"[]\n", b'{"url": 1}\n', b"\xff\n"])
def test_a_file_of_replies_that_a_kill_left_without_its_head_is_told(
    session: Session, endpoint: Endpoint, content: bytes
) -> None:
    prepared(session, endpoint)
    next(session.path.parent.glob("*.replies.jsonl")).write_bytes(content)
    with pytest.raises(InputError, match="look with --show again"):
        prepared(session, endpoint)
