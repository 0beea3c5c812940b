"""The guard, asked directly: who is let in, what is counted, what every answer carries."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.studio.guard.guard import CONTENT_POLICY, Guard
from nodewise.studio.guard.origins import GuardRules
from tests.studio.guarding import HOST, JSON, LOCAL, LOCKED, OURS, TOKEN, ask


def fetch(site: str, mode: str = "cors", dest: str = "empty") -> tuple[tuple[str, str], ...]:
    return (("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest))


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"])
def test_our_own_names_are_let_in(host: str) -> None:
    for kind in ("http", "websocket"):
        answer = ask(LOCAL, ("host", host), kind=kind)
        assert answer.status in {200, 101} and len(answer.reached) == 1


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:80",
        "127.0.0.1:8081",
        "127.0.0.1:08080",
        "localhost.:8080",
        "127.0.0.1.:8080",
        "127.0.0.1.nip.io:8080",
        "127.1:8080",
        "2130706433:8080",
        "0x7f.1:8080",
        "0.0.0.0:8080",
        "[::]:8080",
        "::1:8080",
        "[::1%25lo]:8080",
        "[::ffff:127.0.0.1]:8080",
        "user@127.0.0.1:8080",
        "127.0.0.1:8080@evil.example",
        "127.0.0.1:8080,evil.example",
        "127.0.0.1:8080 evil.example",
        "127.0.0.1:8080/",
        "http://127.0.0.1:8080",
        "",
        " ",
        "null",
        "127.0.0.1:8080\xff",
        "ⅼocalhost:8080".encode().decode("latin-1"),
    ],
)
def test_any_other_host_is_refused_however_it_is_written(host: str) -> None:
    for rules in (LOCAL, LOCKED):
        for kind in ("http", "websocket"):
            answer = ask(rules, ("host", host), ("authorization", f"Bearer {TOKEN}"), kind=kind)
            assert answer.status == 403 and not answer.reached and b"secret" not in answer.body


def test_a_request_without_host_is_refused() -> None:
    assert ask(LOCAL).status == 403
    assert ask(LOCAL, kind="websocket").status == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://127.0.0.1:8080",
        "http://127.0.0.1",
        "http://127.0.0.1:8081",
        "http://localhost:8080",
        "null",
        "",
        "file://",
        "http://127.0.0.1:8080.evil.example",
        "http://127.0.0.1:8080@evil.example",
        "http://127.0.0.1:8080/",
        "http://127.0.0.1:8080 http://evil.example",
        "chrome-extension://abcdefgh",
        "ws://127.0.0.1:8080",
        "//127.0.0.1:8080",
        "127.0.0.1:8080",
        "http://[::1]:8080",
    ],
)
def test_no_other_origin_reads_or_tells_anything(origin: str) -> None:
    for rules in (LOCAL, LOCKED):
        token = ("authorization", f"Bearer {TOKEN}")
        for answer in (
            ask(rules, HOST, ("origin", origin), token),
            ask(rules, HOST, ("origin", origin), token, JSON, method="POST", path="/api/v1/tell"),
            ask(rules, HOST, ("origin", origin), token, method="OPTIONS", path="/api/v1/tell"),
            ask(rules, HOST, ("origin", origin), token, path="/"),
            ask(rules, HOST, ("origin", origin), token, kind="websocket", path="/api/v1/updates"),
        ):
            assert answer.status == 403 and not answer.reached
            assert not [name for name, _ in answer.headers if name.startswith("access-control")]


def test_our_own_page_and_plain_programs_are_let_in() -> None:
    assert ask(LOCAL, HOST, OURS, *fetch("same-origin")).status == 200
    assert ask(LOCAL, HOST, OURS, *fetch("same-origin"), JSON, method="POST", path="/api/v1/tell").status == 200
    assert ask(LOCAL, HOST, OURS, kind="websocket").status == 101
    assert ask(LOCAL, ("host", "[::1]:8080"), ("origin", "http://[::1]:8080")).status == 200
    assert ask(LOCAL, HOST, JSON, method="POST", path="/api/v1/tell").status == 200
    assert ask(LOCAL, HOST, *fetch("none", "navigate", "document"), path="/").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "whatever", "Same-Origin"])
@pytest.mark.parametrize(
    ("mode", "dest"), [("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")]
)
def test_a_browser_that_tells_no_origin_tells_where_the_request_comes_from(site: str, mode: str, dest: str) -> None:
    for path in ("/api/v1/status", "/", "/page/app.js"):
        answer = ask(LOCAL, HOST, *fetch(site, mode, dest), path=path)
        assert answer.status == 403 and not answer.reached
    assert ask(LOCAL, HOST, OURS, *fetch(site, mode, dest)).status == 403


def test_a_link_on_another_page_leads_to_our_pages_only() -> None:
    led = fetch("cross-site", "navigate", "document")
    assert ask(LOCAL, HOST, *led, path="/").status == 200
    assert ask(LOCAL, HOST, *led, path="/new").status == 200
    for path in ("/api/v1/status", "/api/v1/export/csv", "/page/app.js", "//", "/x"):
        assert ask(LOCAL, HOST, *led, path=path).status in {400, 403}
    assert ask(LOCAL, HOST, *led, method="POST", path="/").status == 403
    assert ask(LOCAL, HOST, *led, ("origin", "null"), path="/").status == 403


def test_an_old_browser_is_known_by_its_referer() -> None:
    posted: dict[str, Any] = {"method": "POST", "path": "/api/v1/tell"}
    assert ask(LOCAL, HOST, JSON, ("referer", "http://evil.example/http://127.0.0.1:8080/"), **posted).status == 403
    assert ask(LOCAL, HOST, JSON, ("referer", "http://127.0.0.1:8080.evil.example/"), **posted).status == 403
    assert ask(LOCAL, HOST, JSON, ("referer", "http://127.0.0.1:8080/new"), **posted).status == 200


@pytest.mark.parametrize(
    "name",
    [
        "host",
        "Origin",
        "authorization",
        "content-length",
        "content-type",
        "sec-fetch-site",
        "sec-fetch-mode",
        "sec-fetch-dest",
        "referer",
    ],
)
def test_a_header_sent_twice_is_refused(name: str) -> None:
    value = {
        "host": "127.0.0.1:8080",
        "Origin": "http://127.0.0.1:8080",
        "content-length": "0",
        "sec-fetch-site": "same-origin",
    }.get(name, "x")
    answer = ask(LOCAL, HOST, (name, value), (name.upper(), value))
    assert answer.status == 400 and name.lower() in answer.error and not answer.reached


def test_a_body_has_one_length() -> None:
    answer = ask(
        LOCAL, HOST, JSON, ("content-length", "3"), ("transfer-encoding", "chunked"), method="POST", path="/api/v1/tell"
    )
    assert answer.status == 400 and not answer.reached


@pytest.mark.parametrize(
    "path",
    [
        "*",
        "http://127.0.0.1:8080/api/v1/status",
        "127.0.0.1:8080",
        "",
        "//evil.example",
        "/api//v1",
        "/page/../x",
        "/page/..",
        "/./x",
        "/a\\b",
        "/a\0",
        "/a\r\nx: y",
        "/\x7f",
    ],
)
def test_odd_paths_are_refused(path: str) -> None:
    assert ask(LOCAL, HOST, path=path).status == 400
    assert ask(LOCAL, HOST, path="/fine", raw_path=path.encode() or b"x").status == (
        400 if not path.startswith("/") else 200
    )


def test_only_reading_and_posting_exist_and_no_header_changes_that() -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"):
        answer = ask(LOCAL, HOST, method=method)
        assert answer.status == 405 and answer.header("allow") == ["GET, HEAD, POST"] and not answer.reached
    answer = ask(LOCAL, HOST, ("x-http-method-override", "POST"), ("x-method-override", "POST"))
    assert [scope["method"] for scope in answer.reached] == ["GET"]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"]
)
def test_what_a_foreign_form_can_send_is_not_taken_for_json(kind: str) -> None:
    answer = ask(LOCAL, HOST, ("content-type", kind), method="POST", path="/api/v1/tell")
    assert answer.status == 415 and "application/json" in answer.error and not answer.reached
    assert (
        ask(LOCAL, HOST, ("content-type", "Application/JSON; charset=utf-8"), method="POST", path="/api/v1/tell").status
        == 200
    )


def test_uploads_are_multipart() -> None:
    assert ask(LOCAL, HOST, JSON, method="POST", path="/api/v1/session").status == 415
    assert (
        ask(
            LOCAL, HOST, ("content-type", "multipart/form-data; boundary=x"), method="POST", path="/api/v1/preview"
        ).status
        == 200
    )


@pytest.mark.parametrize(
    "brought",
    [
        (),
        ("authorization", "Bearer"),
        ("authorization", "Bearer wrong"),
        ("authorization", f"Basic {TOKEN}"),
        ("authorization", TOKEN),
        ("authorization", f"Bearer {TOKEN}x"),
        ("authorization", f"Bearer {TOKEN[:-1]}"),
        ("authorization", f"Bearer {TOKEN.upper()}"),
        ("cookie", f"other={TOKEN}"),
        ("cookie", "nodewise_token_8080="),
        ("cookie", f"nodewise_token_8080={TOKEN}x"),
        ("cookie", TOKEN),
        ("cookie", f"Nodewise_Token_8080={TOKEN}"),
        ("x-token", TOKEN),
        ("cookie", f'x="; nodewise_token_8080=y{TOKEN}'),
        ("proxy-authorization", f"Bearer {TOKEN}"),
    ],
)
def test_nothing_is_read_or_told_without_the_token(brought: tuple[str, str] | tuple[()]) -> None:
    more = [brought] if brought else []
    for answer in (
        ask(LOCKED, HOST, *more),
        ask(LOCKED, HOST, *more, query=f"token={TOKEN}"),  # not in an address of the API
        ask(LOCKED, HOST, *more, path="/page/app.js"),
        ask(LOCKED, HOST, *more, path="/api/openapi.json"),
        ask(LOCKED, HOST, *more, JSON, method="POST", path="/api/v1/tell"),
        ask(LOCKED, HOST, *more, path="/"),
        ask(LOCKED, HOST, *more, path="/", method="HEAD", query=f"token={TOKEN}"),
        ask(LOCKED, HOST, *more, path="/", query="token=wrong&token="),
        ask(LOCKED, HOST, *more, kind="websocket", query=f"token={TOKEN}", extensions={"websocket.http.response": {}}),
    ):
        assert answer.status == 401 and not answer.reached and b"secret" not in answer.body
        assert (
            answer.header("www-authenticate") == ["Bearer"]
            and not answer.header("set-cookie")
            and TOKEN.encode() not in answer.body
        )
    assert (
        ask(LOCKED, HOST, *more, kind="websocket").status == 403
    )  # where the server cannot answer a websocket with a status


@pytest.mark.parametrize(
    "brought",
    [
        [("authorization", f"Bearer {TOKEN}")],
        [("authorization", f"bearer  {TOKEN} ")],
        [("cookie", f"nodewise_token_8080={TOKEN}")],
        [("cookie", f"nodewise_token={TOKEN}")],
        [("cookie", f"a=b; nodewise_token_8080=planted;nodewise_token_8080={TOKEN}; c")],
        [("cookie", "nodewise_token_8080=planted"), ("cookie", f"nodewise_token_8080={TOKEN}")],
        [("authorization", "Bearer stale"), ("cookie", f"nodewise_token_8080={TOKEN}")],
    ],
)
def test_the_token_opens_http_and_websocket(brought: list[tuple[str, str]]) -> None:
    assert ask(LOCKED, HOST, *brought).body == b"secret"
    assert ask(LOCKED, HOST, OURS, *brought, kind="websocket").status == 101
    assert ask(LOCKED, HOST, *brought, kind="websocket").status == 101


def test_the_address_with_the_token_gives_a_cookie_and_leads_on() -> None:
    answer = ask(LOCKED, HOST, path="/new", query=f"a=1&token={TOKEN}&b=%C3%A9%0D%0Ax")
    assert answer.status == 303 and answer.header("location") == ["/new?a=1&b=%C3%A9%0D%0Ax"] and not answer.reached
    (cookie,) = answer.header("set-cookie")
    assert re.fullmatch(
        rf"nodewise_token_8080={re.escape(TOKEN)}:[\w-]{{22}}; HttpOnly; SameSite=Strict; Path=/", cookie
    )
    assert ask(LOCKED, HOST, ("cookie", cookie.partition(";")[0])).reached
    again = ask(LOCKED, HOST, path="/new", query=f"token={TOKEN}")
    assert again.header("set-cookie") != [cookie], "every page has a word of its own"
    assert ask(LOCKED, HOST, path="/", query=f"token={TOKEN}").header("location") == ["/"]
    assert ask(LOCKED, HOST, ("cookie", f"nodewise_token_8080={TOKEN}"), path="/", query="token=old").header(
        "location"
    ) == ["/"]


def test_behind_https_the_cookie_stays_there() -> None:
    rules = GuardRules.for_address("127.0.0.1", 8080, token=TOKEN, allow_hosts=["https://label.example.org"])
    answer = ask(rules, ("host", "label.example.org"), path="/", query=f"token={TOKEN}")
    (cookie,) = answer.header("set-cookie")
    assert cookie.startswith(f"nodewise_token_8080={TOKEN}:")
    assert cookie.endswith("; HttpOnly; SameSite=Strict; Path=/; Secure")


def test_a_link_in_a_mail_works_although_the_cookie_stays_at_home_at_first() -> None:
    led = fetch("cross-site", "navigate", "document")
    answer = ask(LOCKED, HOST, *led, path="/", query=f"token={TOKEN}&q=%22%3E%3Cscript%3E")
    assert (
        answer.status == 200
        and answer.header("set-cookie")
        and b"url=/?q=" in answer.body
        and b"<script>" not in answer.body
    )
    again = ask(LOCKED, HOST, *led, path="/")
    assert again.status == 401 and b'http-equiv="refresh"' in again.body
    assert b"refresh" not in ask(LOCKED, HOST, *fetch("same-origin", "navigate", "document"), path="/").body


def test_the_token_is_not_told_to_who_comes_from_elsewhere() -> None:
    """A page of another origin learns nothing from the answer: not even whether it has the token."""
    for token in (TOKEN, "wrong"):
        answer = ask(LOCKED, HOST, ("origin", "http://evil.example"), ("authorization", f"Bearer {token}"))
        assert answer.status == 403


def test_every_answer_carries_the_headers_once() -> None:
    for answer in (
        ask(LOCAL, HOST),
        ask(LOCAL),
        ask(LOCKED, HOST, path="/"),
        ask(LOCKED, HOST, path="/", query=f"token={TOKEN}"),
    ):
        assert answer.header("content-security-policy") == [CONTENT_POLICY]
        assert answer.header("x-content-type-options") == ["nosniff"] and answer.header("x-frame-options") == ["DENY"]
        assert answer.header("referrer-policy") == ["no-referrer"] and answer.header("cache-control") == ["no-store"]
        assert (
            answer.header("cross-origin-resource-policy")
            == answer.header("cross-origin-opener-policy")
            == ["same-origin"]
        )
    assert ask(LOCAL, HOST, path="/page/app.js").header("cache-control") == ["private, no-cache"]
    assert "'unsafe" not in CONTENT_POLICY and CONTENT_POLICY.startswith("default-src 'none'")


SMALL = replace(LOCAL, body_limit=100, upload_limit=1000, patience=0.05)
POSTED: dict[str, Any] = {"method": "POST", "path": "/api/v1/tell"}


@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("101", 413),
        ("999999999999999999", 413),
        ("9" * 30, 400),
        ("-1", 400),
        ("1e3", 400),
        ("0x10", 400),
        ("", 400),
        ("+5", 400),
        ("1_0", 400),
    ],
)
def test_a_length_that_is_none_or_above_the_limit_is_refused_unread(length: str, status: int) -> None:
    answer = ask(SMALL, HOST, JSON, ("content-length", length), **POSTED)
    assert answer.status == status and not answer.reached
    assert status != 413 or answer.header("connection") == ["close"]


def test_a_body_is_counted_as_it_arrives() -> None:
    assert ask(SMALL, HOST, JSON, pieces=[b"x" * 50, b"x" * 50], **POSTED).read == b"x" * 100
    answer = ask(SMALL, HOST, JSON, pieces=[b"x" * 50, b"x" * 51, b"x" * 1000], **POSTED)
    assert answer.status == 413 and "100 bytes" in answer.error and len(answer.read) <= 100
    lied = ask(SMALL, HOST, JSON, ("content-length", "5"), pieces=[b"x" * 101], **POSTED)
    assert lied.status == 413


def test_uploads_may_be_larger() -> None:
    upload: dict[str, Any] = {"method": "POST", "path": "/api/v1/session"}
    form = ("content-type", "multipart/form-data; boundary=x")
    assert ask(SMALL, HOST, form, pieces=[b"x" * 1000], **upload).status == 200
    assert ask(SMALL, HOST, form, pieces=[b"x" * 1001], **upload).status == 413
    assert ask(SMALL, HOST, JSON, pieces=[b"x" * 500], method="POST", path="/api/v1/session/").status == 413


def test_what_the_app_makes_of_a_cut_body_is_not_sent() -> None:
    async def stubborn(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 400, "headers": []})
        await send({"type": "http.response.body", "body": b"told wrongly"})

    async def failing(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        raise RuntimeError("client has gone")

    for app in (stubborn, failing):
        answer = ask(SMALL, HOST, JSON, pieces=[b"x" * 101], app=app, **POSTED)
        assert answer.status == 413 and b"told wrongly" not in answer.body


def test_a_body_that_does_not_arrive_is_given_up() -> None:
    answer = ask(SMALL, HOST, JSON, pieces=[b"..."], **POSTED)
    assert answer.status == 408 and answer.reached


def test_the_apps_own_failure_is_its_own() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(LOCAL, HOST, app=broken)


def test_the_servers_start_and_end_pass() -> None:
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(Guard(app, LOCKED)({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    asyncio.run(Guard(app, LOCKED)({"type": "unheard-of"}, None, None))  # type: ignore[arg-type]
    assert seen == ["lifespan"]


headers = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "host",
                "Host",
                "origin",
                "authorization",
                "cookie",
                "sec-fetch-site",
                "sec-fetch-mode",
                "content-length",
                "referer",
                "x",
            ]
        ),
        st.one_of(
            st.sampled_from(["127.0.0.1:8080", "http://127.0.0.1:8080", "same-origin", "navigate"]),
            st.text(st.characters(max_codepoint=255), max_size=20),
        ),
    ),
    max_size=6,
)


@given(
    headers,
    st.text(st.characters(max_codepoint=255), max_size=15),
    st.sampled_from(["http", "websocket"]),
    st.sampled_from(["GET", "POST", "PUT"]),
)
def test_no_input_breaks_the_guard_and_none_gets_by_without_the_token(
    pairs: list[tuple[str, str]], path: str, kind: str, method: str
) -> None:
    answer = ask(LOCKED, *pairs, path=path, kind=kind, method=method, query=path)
    assert answer.status in {400, 401, 403, 405, 415} and not answer.reached
