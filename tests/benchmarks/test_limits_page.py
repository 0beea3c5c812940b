"""The page of limits: what it shows is what the commands answer now."""

from __future__ import annotations

import pytest

from benchmarks.limits_page import PAGE, page_text


@pytest.mark.long
def test_every_answer_on_the_page_is_what_the_command_says() -> None:
    pytest.importorskip("torch_geometric")
    assert PAGE.read_text(encoding="utf-8") == page_text(), "python benchmarks/limits_page.py"
