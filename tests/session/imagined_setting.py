"""Adds a setting to a copy of the package, and sees it everywhere: run by `test_settings`, in a process of its own."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

SETTING = """
    pause: int = setting(7, kind="count", least=2, most=9, help="An imagined number.", title="An imagined title")
"""
LINES = {
    "    def __post_init__(self) -> None:\n        types = ": SETTING,
    "\n\n@dataclass(frozen=True, kw_only=True)\nclass SessionSettings(": "    pause: int\n",
    '    "classifier_digest": None,\n': '    "pause": 5,\n',
}
"""Before which text which line goes: in `NewSettings`, in `SettingsByName`, in `ABSENT_MEANS`."""


def add(package: Path) -> None:
    """Write the setting into the record of a copy of the package."""
    record = package / "session" / "settings.py"
    text = record.read_text(encoding="utf-8")
    for before, line in LINES.items():
        assert text.count(before) == 1, before
        text = text.replace(before, line + before)
    record.write_text(text, encoding="utf-8")


def see(folder: Path) -> None:
    """The setting on the command line, in Python, over HTTP, in the form and in the file."""
    from fastapi.testclient import TestClient

    import nodewise as nw
    from nodewise.cli import main
    from nodewise.session.settings import SessionSettings
    from nodewise.studio import StudioSettings, create_app

    shown = inspect.signature(nw.Session.create).parameters["pause"]
    assert (shown.annotation, shown.default) == ("int", 7)
    assert "pause: An imagined number." in (nw.Session.create.__doc__ or "")
    with nw.Session.create(folder / "python.nodewise", "karate", budget=3, pause=8) as made:
        assert made.settings.pause == 8

    command = ["session", "new", str(folder / "command.nodewise"), "karate", "--budget", "3"]
    assert main([*command, "--pause", "1"]) == 2 and main([*command, "--pause", "3"]) == 0
    for name, value in (("python", 8), ("command", 3)):
        with nw.Session.open(folder / f"{name}.nodewise") as opened:
            assert opened.settings.pause == value and opened.settings.as_dict()["pause"] == value
    assert SessionSettings.from_dict({"budget": 3}).pause == 5

    studio = create_app(StudioSettings(folder=folder))
    with TestClient(studio, base_url="http://127.0.0.1:8080") as client:
        body = client.get("/api/openapi.json").json()["components"]["schemas"]["Body_new_session_api_v1_session_post"]
        asked = body["properties"]["pause"]
        assert (asked["default"], asked["minimum"], asked["maximum"]) == (7, 2, 9)
        (field,) = [one for one in client.get("/api/v1/session/settings").json()["settings"] if one["name"] == "pause"]
        assert (field["title"], field["help"], field["least"]) == ("An imagined title", "An imagined number.", 2)
        table = "text\n" + "".join(f"row {number % 5} of {number}\n" for number in range(20))
        data = {"name": "http", "text": "text", "knn": 3, "budget": 3, "pause": 4}
        headers = {"origin": "http://127.0.0.1:8080"}
        answer = client.post("/api/v1/session", files={"nodes": ("a.csv", table)}, data=data, headers=headers)
        assert answer.status_code == 201, answer.text
        now = client.get("/api/v1/settings").json()
        assert now["pause"] == 4 and now["facts"]["pause"] == "4"
    with nw.Session.open(folder / "http.nodewise") as opened:
        assert opened.settings.pause == 4


if __name__ == "__main__":
    see(Path(sys.argv[1]))
