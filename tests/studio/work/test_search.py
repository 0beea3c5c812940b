"""Finding nodes by name."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph import Graph
from nodewise.studio.work.search import NameIndex

GRAPH = Graph.build(np.zeros((2, 0), np.int64), 1200)


def named(*names: str) -> NameIndex:
    return NameIndex(names, len(names))


def test_the_exact_name_comes_first_then_beginnings_then_the_rest() -> None:
    index = named("xab", "ab", "abc", "AB", "cab", "zzz")
    assert index.find("ab", 10) == [1, 3, 2, 0, 4]
    assert index.find("ab", 2) == [1, 3]
    assert index.find("  AB ", 10) == index.find("ab", 10)
    assert index.find("q", 10) == [] and index.find("", 3) == [0, 1, 2]


def test_letters_count_alike_in_any_case() -> None:
    assert named("STRASSE", "straße", "ΣΊΣΥΦΟΣ").find("straße", 5) == [0, 1]
    assert named("ΣΊΣΥΦΟΣ").find("σίσυφος", 5) == [0]


def test_a_name_may_hold_anything() -> None:
    index = named("a\nb", "a b", "%_*", "[a]")
    assert index.find("a\nb", 5) == [0] and index.find("%", 5) == [2] and index.find("[a", 5) == [3]


def test_nodes_without_names_are_found_by_their_numbers() -> None:
    index = NameIndex(GRAPH.node_names, GRAPH.num_nodes)
    assert index.find("7", 13) == [6, *range(69, 79), 699, 700], "rows are counted from 1"
    assert index.find("1200", 5) == [1199] and index.find("1201", 5) == [] and index.find("0", 5) == []
    assert index.find("07", 5) == [] and index.find("-1", 5) == [] and index.find("9" * 50, 5) == []


@given(
    st.lists(st.text("aB \x1f\n", min_size=1, max_size=4), min_size=1, max_size=8, unique=True),
    st.text("aB \x1f", min_size=1, max_size=3),
    st.integers(1, 9),
)
def test_names_are_found_as_by_looking_at_each(names: list[str], text: str, limit: int) -> None:
    folded = [name.casefold().replace("\x1f", " ") for name in names]
    wanted = text.strip().casefold().replace("\x1f", " ")
    ranks = [0 if name == wanted else 1 if name.startswith(wanted) else 2 if wanted in name else 3 for name in folded]
    expected = [node for node in sorted(range(len(names)), key=lambda node: ranks[node]) if ranks[node] < 3]
    assert named(*names).find(text, limit) == (expected if wanted else list(range(len(names))))[:limit]


@given(st.integers(1, 1300), st.integers(1, 100))
def test_numbers_are_found_as_their_texts_would_be(wanted: int, limit: int) -> None:
    expected = [node for node in range(1200) if str(node + 1).startswith(str(wanted))]
    assert (
        NameIndex(GRAPH.node_names, GRAPH.num_nodes).find(str(wanted), limit)
        == sorted(expected, key=lambda node: (len(str(node + 1)), node))[:limit]
    )
