"""The page on sessions lists the settings that there are."""

from __future__ import annotations

from benchmarks.settings_page import PAGE, page_text, settings_table
from nodewise.session.settings import NewSettings, settings_of


def test_the_page_has_the_settings_of_the_record() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page_text(text) == text, "python -m benchmarks.settings_page"
    assert settings_table() in text
    assert all(f"| `{one.name}` |" in text for one in settings_of(NewSettings))
