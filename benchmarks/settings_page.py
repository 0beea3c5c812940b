"""The page on sessions: the table of settings, from the record that defines them.

python -m benchmarks.settings_page
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.marks import filled
from nodewise.session.settings import NewSettings, SettingInfo, settings_of

PAGE = Path(__file__).parents[1] / "docs" / "session.md"


def settings_table() -> str:
    """A row for each setting: what Python and the command line call it, its default and what it is for."""
    rows = [
        f"| `{one.name}` | {_flag(one)} | {_default(one)} | {one.help_with_names} |" for one in settings_of(NewSettings)
    ]
    return "\n".join(["| Python | command line | default | |", "| --- | --- | --- | --- |", *rows])


def _flag(one: SettingInfo) -> str:
    if one.kind == "mapping":
        return f"`--set {one.name.removesuffix('_settings')}.KEY=VALUE`"
    return ", ".join(f"`{flag}`" for flag in (one.flags or f"--{one.name.replace('_', '-')}").split("/"))


def _default(one: SettingInfo) -> str:
    if one.unset:
        return one.unset
    return f"{one.default:g} s, {one.say(one.default)}" if one.kind == "duration" else one.say(one.default)


def page_text(text: str) -> str:
    """The page with its table made anew."""
    return filled(text, "settings", settings_table())


if __name__ == "__main__":
    PAGE.write_text(page_text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
