"""Ports, addresses, and what is missing."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nodewise.ground.errors import InputError
from nodewise.studio import address, bind, open_browser


def test_a_taken_port_is_refused_where_it_was_asked_for_and_else_the_next_is_taken() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(
            InputError, match=f"port {port} of 127.0.0.1 is taken: give another one, or leave --port out"
        ):
            bind("127.0.0.1", port)
        with bind("127.0.0.1", port, exactly=False) as second:
            assert port < second.getsockname()[1] < port + 100


def test_a_port_is_listened_at_from_the_moment_that_it_is_chosen() -> None:
    with bind("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()) as early:
        early.sendall(b"before anybody has accepted")
        accepted, where = listening.accept()
        with accepted:
            assert where == early.getsockname()
            assert accepted.recv(100) == b"before anybody has accepted"
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(listening.getsockname())


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InputError, match="cannot listen at '192.0.2.7'"):
        bind("192.0.2.7", 0)
    with pytest.raises(InputError, match="cannot listen at 'no.such.host.invalid'"):
        bind("no.such.host.invalid", 0)


def test_the_address_is_one_that_a_browser_can_open() -> None:
    assert address("127.0.0.1", 8080) == "http://127.0.0.1:8080/"
    assert address("::1", 8080, "secret-token") == "http://[::1]:8080/?token=secret-token"
    everywhere = address("0.0.0.0", 81)
    assert everywhere.startswith("http://") and "0.0.0.0" not in everywhere and everywhere.endswith(":81/")


def test_no_token_stands_on_a_browsers_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user of the machine can read what a browser was started with; the file that leads on is its owner's."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    app = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(studio=SimpleNamespace(scratch=tmp_path))))
    server: Any = SimpleNamespace(started=True, should_exit=False, config=SimpleNamespace(app=app))
    open_browser(server, "http://127.0.0.1:8080/?token=secret-token")
    open_browser(server, "http://127.0.0.1:8080/")
    (file,) = tmp_path.iterdir()
    assert opened == [file.as_uri(), "http://127.0.0.1:8080/"]
    assert "secret-token" in file.read_text() and file.stat().st_mode & 0o077 == 0
