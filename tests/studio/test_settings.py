"""What a studio can be started with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodewise.ground.errors import InputError
from nodewise.studio import StudioSettings


def test_this_machine_alone_needs_no_token(tmp_path: Path) -> None:
    settings = StudioSettings(folder=tmp_path)
    assert settings.token is None and settings.rules().limit("/api/v1/preview") == settings.upload_bytes
    assert settings.rules().limit("/api/v1/tell") == settings.request_bytes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": "0.0.0.0"}, "it has no token"),
        ({"allowed_hosts": ("studio.example",)}, "it has no token"),
        ({"token": "a b"}, "a token must be"),
        ({"token": "a"}, "a token must be 12 to 200 letters"),
        ({"port": 70000}, "from 0 to 65535"),
        ({"folder": Path("not there")}, "no folder 'not there'"),
        ({"pictures": Path("not there")}, "no folder 'not there'"),
    ],
)
def test_what_would_be_unsafe_or_cannot_be_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        StudioSettings(**options)


def test_the_token_is_not_shown() -> None:
    assert "secret" not in repr(StudioSettings(token="secret-token"))
