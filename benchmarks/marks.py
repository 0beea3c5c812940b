"""Parts of a page that are made anew: what stands between ``<!-- name:begin -->`` and ``<!-- name:end -->``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def fill(page: Path, contents: Mapping[str, str]) -> None:
    """Makes what stands between two marks of a page anew, for each name."""
    text = page.read_text(encoding="utf-8")
    for name, content in contents.items():
        text = filled(text, name, content)
    page.write_text(text, encoding="utf-8")


def filled(text: str, name: str, content: str) -> str:
    """A page's text with what stands between a name's two marks made anew."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    return re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: f"{begin}\n{content}\n{end}", text, flags=re.S)
