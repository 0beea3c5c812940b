"""What votes come to, by hand and as a property."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph.label_sets import SEPARATOR as OF_GRAPHS
from nodewise.session.answers import SEPARATOR, Event, majority, numbers_of, said_of
from nodewise.session.meaning.history import extend_history, read_history

SETS = st.frozensets(st.integers(1, 4)).map(lambda numbers: tuple(sorted(numbers)))


def test_majority_and_its_ties() -> None:
    assert majority({"ada": 1, "bob": 2, "eve": 2}) == 2
    assert majority({"ada": 1, "bob": 2}) == 1
    said = (("ada", "x"), ("bob", "y"), ("ada", "z"))
    told = [Event(n, 0.0, who, "tell", {"node": 1, "label": label}) for n, (who, label) in enumerate(said, 1)]
    changed = read_history(told)
    assert changed.labels == {1: "y"}  # ada's first vote is gone, so bob's is the oldest
    assert changed.disagreements == {1: {"bob": "y", "ada": "z"}}


def test_sets_are_counted_class_by_class() -> None:
    assert majority({"ada": (1, 2), "bob": (2, 3), "eve": (2,)}) == (2,)
    assert majority({"ada": (1, 2), "bob": (2, 3), "eve": (1, 3)}) == (1, 2, 3)  # a set that nobody has said
    assert majority({"ada": (), "bob": (), "eve": (1,)}) == ()
    # between as many for as against, the oldest vote decides
    assert majority({"ada": (1,), "bob": (2,)}) == (1,) and majority({"bob": (2,), "ada": (1,)}) == (2,)
    assert majority({"ada": ()}) == () and majority({"ada": (), "bob": (2,)}) == ()


@given(st.dictionaries(st.sampled_from("abcdefg"), SETS, min_size=1))
def test_a_class_counts_where_more_name_it_than_not(votes: dict[str, tuple[int, ...]]) -> None:
    result = numbers_of(majority(votes))
    first = next(iter(votes.values()))
    for number in range(1, 5):
        named = sum(number in vote for vote in votes.values())
        if 2 * named != len(votes):
            assert (number in result) == (2 * named > len(votes))
        else:
            assert (number in result) == (number in first)
    assert majority({who: votes[who] for who in votes}) == result
    assert result == tuple(sorted(set(result)))


def test_what_is_said_is_sorted_by_number() -> None:
    assert said_of([3, 1], ["c", "a"]) == ((1, 3), ("a", "c")) and said_of([], []) == ((), ())
    assert said_of(2, "b") == (2, ("b",))
    assert SEPARATOR == OF_GRAPHS


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.integers(0, 3), st.sampled_from("ab"), SETS),
        st.tuples(st.just("undo"), st.integers(0, 30), st.just("a"), st.just(())),
        st.tuples(st.just("merge"), st.integers(1, 4), st.just("a"), st.just((1,))),
    ),
    max_size=25,
)


@given(EVENTS, st.integers(0, 25))
def test_a_log_of_sets_means_the_same_at_once_and_step_by_step(
    drawn: list[tuple[str, int, str, tuple[int, ...]]], cut: int
) -> None:
    events: list[Event] = []
    for kind, number, who, said in drawn:
        body: dict[str, Any] = {"node": number, "label": [f"class {each}" for each in said], "class": list(said)}
        if kind == "undo":
            if not events:
                continue
            body = {"event": 1 + number % len(events)}
        elif kind == "merge":
            body = {"class": number, "into": 1}
        events.append(Event(len(events) + 1, float(len(events)), who, kind, body))
    whole = read_history(events, ["class 1"])
    grown = extend_history(read_history(events[:cut], ["class 1"]), events, ["class 1"])
    assert (grown.numbers, grown.labels, grown.classes.names) == (whole.numbers, whole.labels, whole.classes.names)
    for node, by in whole.ballots.items():
        resolved = {who: whole.classes.resolve(vote.number) for who, vote in by.items()}
        assert whole.numbers[node] == majority(resolved)
        assert whole.labels[node] == (";".join(map(whole.classes.name, numbers_of(whole.numbers[node]))) or ";")
    last = Event(len(events) + 1, 0.0, "z", "tell", {"node": 0, "label": ["class 2"], "class": [2]})
    taken_back = Event(len(events) + 2, 0.0, "z", "undo", {"event": last.id})
    assert read_history([*events, last, taken_back], ["class 1"]).labels == whole.labels
