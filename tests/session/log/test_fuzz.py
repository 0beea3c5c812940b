"""A few hundred damaged and forged files; ``benchmarks/fuzz.py`` plays many thousands."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.fuzz import FOLDERS, FORGED, OTHER, SESSION, Originals, play

pytestmark = pytest.mark.slow

CASES = {
    **dict.fromkeys(SESSION, 60),
    "journal": 60,
    "attached": 60,
    "joined": 60,
    **dict.fromkeys(FORGED, 120),
    **dict.fromkeys(OTHER, 25),
    **dict.fromkeys(FOLDERS, 40),
    "chunk": 120,
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Originals:
    return Originals(tmp_path_factory.mktemp("originals"))


@pytest.mark.parametrize("kind", CASES)
def test_a_damaged_or_forged_file_is_refused_in_words_or_read_right(kind: str, originals: Originals) -> None:
    counts: Counter[str] = Counter()
    for number in range(CASES[kind]):
        outcome, where = play(originals, kind, number)
        assert outcome in ("refused", "right"), f"{kind}:{number} {outcome}\n{where}"
        counts[outcome] += 1
    assert counts["refused"] > CASES[kind] // 10
