"""What counts as ours: addresses, names that are allowed, tokens."""

from __future__ import annotations

import pytest

from nodewise.ground.errors import InputError
from nodewise.studio.guard.origins import GuardRules
from tests.studio.guarding import HOST, LOCKED, TOKEN, ask


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.5", "label.example.org", "", "fe80::1"])
def test_an_address_that_others_can_reach_needs_a_token(host: str) -> None:
    with pytest.raises(InputError, match="--token"):
        GuardRules.for_address(host, 8080)
    assert GuardRules.for_address(host, 8080, token=TOKEN).arrival


def test_a_proxy_needs_a_token_too_and_a_tunnel_does_not() -> None:
    with pytest.raises(InputError, match="--token"):
        GuardRules.for_address("127.0.0.1", 8080, allow_hosts=["label.example.org"])
    rules = GuardRules.for_address("127.0.0.1", 8080, allow_hosts=["localhost:9000"])
    assert ask(rules, ("host", "localhost:9000"), ("origin", "http://localhost:9000")).status == 200


def test_bound_to_every_address_the_one_it_arrived_at_counts() -> None:
    rules, token = GuardRules.for_address("0.0.0.0", 8080, token=TOKEN), ("authorization", f"Bearer {TOKEN}")
    assert ask(rules, ("host", "192.168.0.5:8080"), token, server=("192.168.0.5", 8080)).status == 200
    assert ask(rules, ("host", "192.168.0.5:8080"), token, server=("::ffff:192.168.0.5", 8080)).status == 200
    assert (
        ask(
            rules, ("host", "[fd00::5]:8080"), ("origin", "http://[fd00::5]:8080"), token, server=("fd00::5", 8080)
        ).status
        == 200
    )
    assert ask(rules, HOST, token).status == 200
    for host in ("192.168.0.6:8080", "192.168.0.5", "evil.example:8080", "192.168.0.5:8081"):
        assert ask(rules, ("host", host), token, server=("192.168.0.5", 8080)).status == 403
    assert ask(rules, ("host", "evil.example:8080"), token, server=("evil.example", 8080)).status == 403
    assert ask(rules, ("host", "x:8080"), token, server=("x", None)).status == 403


def test_an_allowed_name_counts_at_our_port_and_the_default_ones() -> None:
    rules, token = (
        GuardRules.for_address("127.0.0.1", 8080, token=TOKEN, allow_hosts=["Label.Example.org"]),
        ("authorization", f"Bearer {TOKEN}"),
    )
    for host, origin in (
        ("label.example.org", "https://label.example.org"),
        ("label.example.org", "http://label.example.org"),
        ("label.example.org:443", "https://label.example.org"),
        ("label.example.org:8080", "http://label.example.org:8080"),
    ):
        assert ask(rules, ("host", host), ("origin", origin), token).status == 200
    for host in (
        "label.example.org:9000",
        "x.label.example.org",
        "example.org",
        "label.example.org.",
        "label.example.org:8080.evil.example",
    ):
        assert ask(rules, ("host", host), token).status == 403
    assert ask(rules, ("host", "label.example.org:443"), ("origin", "http://label.example.org"), token).status == 403
    only = GuardRules.for_address("127.0.0.1", 8080, token=TOKEN, allow_hosts=["https://label.example.org"])
    assert ask(only, ("host", "label.example.org"), ("origin", "http://label.example.org"), token).status == 403
    assert ask(only, ("host", "label.example.org"), ("origin", "https://label.example.org"), token).status == 200


@pytest.mark.parametrize(
    "name", ["*", "*.example.org", "a b", "http://", "ftp://x", "x:0", "x:99999", "x/y", "user@x", "-x", "x..y", ""]
)
def test_an_allowed_name_must_be_one(name: str) -> None:
    with pytest.raises(InputError):
        GuardRules.for_address("127.0.0.1", 8080, token=TOKEN, allow_hosts=[name])


@pytest.mark.parametrize("token", ["", "a b", "a;b", "é", "a\n", "x" * 201, '"'])
def test_a_token_must_fit_a_cookie_and_is_never_shown(token: str) -> None:
    with pytest.raises(InputError) as caught:
        GuardRules.for_address("127.0.0.1", 8080, token=token)
    assert len(token) < 3 or token not in str(caught.value)
    assert TOKEN not in repr(LOCKED)
