"""``nodewise people``: links are given, listed and taken away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.studio.guard.people import People


def test_a_link_is_shown_once_listed_without_its_token_and_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["people", "add", "ada", "--address", "https://label.example.org"]) == 0
    link = capsys.readouterr().out.strip()
    token = link.removeprefix("https://label.example.org/?token=")
    found = People(tmp_path).find(token)
    assert found is not None and (found.name, found.role) == ("ada", "annotator")
    assert main(["people", "add", "rita", "--role", "reviewer", "--folder", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["link"] == f"http://127.0.0.1:8080/?token={told['token']}" and told["role"] == "reviewer"
    assert main(["people", "list", "--json"]) == 0
    listed = capsys.readouterr().out
    assert [each["name"] for each in json.loads(listed)["people"]] == ["ada", "rita"] and token not in listed
    assert main(["people", "revoke", "ada"]) == 0
    assert People(tmp_path).find(token) is None
    assert main(["people", "list"]) == 0
    assert "taken away" in capsys.readouterr().out


def test_what_cannot_be_done_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["people", "list"]) == 0
    assert main(["people", "revoke", "ada"]) == 2
    assert main(["people", "add", "ada", "--role", "queen"]) == 2
    assert main(["people", "add", "ada"]) == 0
    assert main(["people", "add", "Ada"]) == 2
    said = capsys.readouterr().err
    assert "nobody called 'ada' has a link" in said and "'queen'" in said and "'ada' has a link already" in said
