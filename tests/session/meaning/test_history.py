"""What the log means, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.ground.errors import InputError, SessionError
from nodewise.session.answers import Event
from nodewise.session.meaning.changes import undoable
from nodewise.session.meaning.history import History, OpenQuery, Query, extend_history, read_history


def log(*entries: tuple[Any, ...]) -> list[Event]:
    """Events from (kind, annotator, body), one second apart."""
    return [Event(number, float(number), who, kind, body) for number, (kind, who, body) in enumerate(entries, 1)]


def told(node: int, label: str, who: str = "me") -> tuple[str, str, dict[str, Any]]:
    return "tell", who, {"node": node, "label": label}


def asked(node: int, who: str = "me") -> tuple[str, str, dict[str, Any]]:
    return "ask", who, {"node": node}


def undo(event: int) -> tuple[str, str, dict[str, Any]]:
    return "undo", "me", {"event": event}


def test_order_is_that_of_the_first_vote_that_counts() -> None:
    assert list(read_history(log(told(4, "a"), told(2, "b"), told(4, "c"))).labels.items()) == [(4, "c"), (2, "b")]
    assert list(read_history(log(told(4, "a"), told(2, "b"), told(4, "c"), undo(1))).labels.items()) == [
        (2, "b"),
        (4, "c"),
    ]
    assert read_history(log(told(4, "a"), undo(1))).labels == {}


people, nodes, numbers = st.sampled_from(["ada", "bob"]), st.integers(0, 4), st.integers(1, 7)
entries = st.one_of(
    st.builds(told, nodes, st.sampled_from("abc"), people),
    st.builds(asked, nodes, people),
    st.builds(lambda node, who: ("skip", who, {"node": node}), nodes, people),
    st.builds(lambda name: ("class", "me", {"name": name}), st.sampled_from("abcde")),
    st.builds(lambda budget: ("budget", "me", {"budget": budget}), st.integers(1, 9)),
    st.builds(undo, st.integers(1, 12)),
    st.builds(
        lambda node, who, number: ("tell", who, {"node": node, "label": f"n{number}", "class": number}),
        nodes,
        people,
        numbers,
    ),
    st.builds(lambda node, who: ("tell", who, {"node": node, "label": "a", "overrule": True}), nodes, people),
    st.builds(
        lambda chosen, who, number: (
            "bulk",
            who,
            {"nodes": chosen, "labels": ["a"] * len(chosen), "classes": [number] * len(chosen)},
        ),
        st.lists(nodes, min_size=1, max_size=3),
        people,
        numbers,
    ),
    st.builds(
        lambda number, name: ("rename", "me", {"class": number, "name": name}), numbers, st.sampled_from("abxyz")
    ),
    st.builds(lambda number, into: ("merge", "me", {"class": number, "into": into}), numbers, numbers),
    st.builds(
        lambda number: ("describe", "me", {"class": number, "text": "what it is"}), st.one_of(st.none(), numbers)
    ),
    st.builds(lambda order: ("order", "me", {"classes": order}), st.lists(numbers, max_size=4)),
    st.builds(lambda node, who: ("note", who, {"node": node, "text": "odd"}), nodes, people),
    st.builds(lambda who: ("release", "me", {"annotator": who}), people),
)


def spelt_out(history: History) -> list[object]:
    """All of a history, the order in its dictionaries included."""
    ballots = [(node, list(by.items())) for node, by in history.ballots.items()]
    votes = [(node, list(by.items())) for node, by in history.votes.items()]
    classes = history.classes
    return [
        history.last,
        ballots,
        votes,
        list(history.numbers.items()),
        list(history.labels.items()),
        sorted(history.overruled.items()),
        list(history.skipped.items()),
        list(history.asked),
        sorted(history.released.items()),
        list(classes),
        classes.in_order,
        classes.next_number,
        sorted(classes.merged.items()),
        sorted(classes.aliases.items()),
        sorted(classes.first_names.items()),
        history.guideline,
        sorted(history.notes.items()),
        history.budget,
        list(history.changes),
        history.bulk,
        [query.event for query in history.open_queries(2)],
    ]


@given(st.lists(entries, max_size=25), st.data())
def test_carried_on_the_history_is_what_it_is_read_at_once(listed: list[tuple[Any, ...]], data: st.DataObject) -> None:
    events = log(
        *(
            undo(1 + each[2]["event"] % number) if each[0] == "undo" else each
            for number, each in enumerate([told(0, "a"), *listed])
        )
    )
    seen, history = 0, read_history([])
    while seen < len(events):
        seen = data.draw(st.integers(seen + 1, len(events)))
        before = spelt_out(history)
        following = extend_history(history, events[:seen])
        assert spelt_out(history) == before  # the earlier one is left as it was
        history = following
        assert set(history.numbers) == set(history.ballots) and set(history.numbers.values()) <= set(
            history.classes.numbers
        )
        assert spelt_out(history) == spelt_out(read_history(events[:seen]))


def test_an_undone_undo_counts_no_more() -> None:
    events = log(told(4, "a"), undo(1), undo(2))
    assert read_history(events).labels == {4: "a"}
    assert read_history([*events, *[Event(4, 4.0, "me", "undo", {"event": 3})]]).labels == {}
    with pytest.raises(InputError, match="undone already"):
        undoable(events, read_history(events), 2, None)
    assert undoable(events, read_history(events), None, None).id == 1
    with pytest.raises(SessionError, match="nothing to undo"):
        undoable(log(asked(1)), read_history(log(asked(1))), None, None)


def test_a_query_is_open_until_its_annotator_answers_or_the_node_has_its_votes() -> None:
    events = log(asked(1, "ada"), asked(2, "bob"), told(2, "x", "eve"), ("skip", "ada", {"node": 1}))
    assert [(q.annotator, q.node) for q in read_history(events).open_queries(1)] == []
    assert [(q.annotator, q.node) for q in read_history(events).open_queries(2)] == [("bob", 2)]
    assert [
        (q.annotator, q.node)
        for q in read_history([*events, Event(5, 5.0, "me", "undo", {"event": 4})]).open_queries(1)
    ] == [("ada", 1)]


def test_a_query_has_the_names_that_classes_have_now() -> None:
    classes = read_history([], ["cat", "dog", "hound"]).classes
    now = type(classes)(classes.first_names, {1: "feline", 2: "dog", 3: "hound"}, {3: 2}, {}, {"cat": 1})
    body = {"node": 4, "why": ["so"], "predicted": [["cat", 0.5], ["dog", 0.3], ["hound", 0.2]], "rank": 1}
    query = Query.from_log(OpenQuery(9, 1.0, "ada", 4, body), "n4", now)
    assert query.predicted == {"feline": 0.5, "dog": 0.5} and (query.guess, query.sure) == ("feline", 0.5)
    assert (query.node, query.name, query.event, query.audit, query.score) == (4, "n4", 9, False, None)
    assert query.as_dict()["why"] == ["so"] and query.as_dict()["predicted"] == [["feline", 0.5], ["dog", 0.5]]
