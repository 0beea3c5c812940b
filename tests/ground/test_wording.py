from __future__ import annotations

from nodewise.ground.wording import count, listed


def test_count_knows_one_and_many() -> None:
    assert count(1, "edge") == "1 edge"
    assert count(12345, "edge") == "12,345 edges"
    assert count(0, "class", "classes") == "0 classes"


def test_listed_quotes_and_cuts() -> None:
    assert listed(["a", 2]) == "'a', '2'"
    assert listed(range(10), most=2) == "'0', '1' and 8 more"
    assert listed([]) == ""
