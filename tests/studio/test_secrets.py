"""Who may see and change what: one walk over the API's own description, every route by every role, secret by secret.

Of each secret there are two worlds that differ in it alone. Whoever may not know it is answered the same in both, by
every route, before they have said anything and after; whoever may know it is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nodewise.session import Session
from nodewise.studio.guard.people import People
from nodewise.studio.guard.roles import permitted_roles
from tests.session.jobs import answer_when_asked
from tests.studio.guard.test_roles import all_routes, calls
from tests.studio.jobs import named_graph
from tests.studio.serving import API, Client, running

pytestmark = pytest.mark.long

OWNER, SHARED = "the-owners-token", "the-annotators-token"
ROLES = ("owner", "reviewer", "annotator", "onlooker", "shared")
"""The four roles by links of their own, and annotators with the token that they share."""
BODIES: dict[str, dict[str, Any]] = {
    "tell": {"labels": [{"node": node, "label": "a"} for node in (5, 7)]},
    "bulk": {"labels": [{"node": node, "label": "b"} for node in (11, 13)]},
    "skip": {"node": 17},
    "notes": {"node": 5, "text": "hm"},
    "undo": {},
    "release": {"released": "an annotator", "nodes": [17]},
    "table/act": {"action": "note", "text": "so", "nodes": [5, 7]},
    "settle": {"node": 0, "label": "a"},
    "ask": {"k": 1},
    "cancel": {"ticket": "a-ticket-of-mine"},
    "session/open": {"name": "job"},
}
"""What is sent to each route that somebody beside the owner may change something by, in this order."""
QUERIES: dict[str, list[dict[str, Any]]] = {
    "table": [
        {"limit": 100, "columns": ["said"]},
        *(
            {"limit": 100, "filter": name}
            for name in ("labelled", "bulk", "mistake", "unlike", "disagreement", "changed")
        ),
        {"limit": 100, "by": "ada"},
        {"limit": 100, "sort": "time", "descending": True},
    ],
    "events": [{"limit": 500, "asks": True}],
    "nodes": [{"q": "Paper 5", "limit": 100}],
    "nodes/{node}/similar": [{"limit": 50, "labelled": True}],
    "export/{form}": [{}],
}
"""What is asked of routes that can be asked in several ways."""
NODES = (5, 7, 11, 13, 30)
MOVING = {
    "time",
    "changed",
    "bytes",
    "listing",
    "digest",
    "seconds",
    "updating",
    "predictions_from",
    "predictions_version",
}
"""What differs between two equal worlds: moments, sizes, words drawn at random, how far the background is."""


@dataclass(frozen=True)
class Secret:
    """Something that some may not know.

    Attributes:
        make: makes a world of it, the first or the second.
        kept_from: the roles that may not know it.
        redundancy: how many opinions are wanted in its job.
        still: the roles whose predictions are compared: they may see none, or the secret moves none; of others they
            are not compared, which labels move.
        not_compared: fields that are compared for nobody.
        told_by: the routes by which a role may know it all the same: role and path.
    """

    make: Callable[[Session, bool], None]
    kept_from: frozenset[str]
    redundancy: int = 1
    still: frozenset[str] = frozenset()
    not_compared: frozenset[str] = frozenset()
    told_by: tuple[tuple[str, str], ...] = ()


def known_rows(session: Session, second: bool) -> None:
    rows = (7, 13) if second else (5, 11)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "eve")
    session.set_known(dict.fromkeys(rows, "a"), annotator="olga", percent=0)
    answer_when_asked(session, "bo", dict.fromkeys(rows, "b"))


def known_answers(session: Session, second: bool) -> None:
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "eve")
    session.set_known(dict.fromkeys((5, 7), "b" if second else "a"), annotator="olga", percent=0)
    answer_when_asked(session, "ada", dict.fromkeys((5, 7), "b" if second else "a"))  # right, which nobody else sees


def votes(session: Session, second: bool) -> None:
    """What eve said of a row that waits for a further opinion; everybody who labels is asked for it, so is blind."""
    for who in ("ada", "eve"):
        session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], who)
    session.tell([30, 31], ["b", "b"] if second else ["a", "a"], "eve")
    assert [session.ask(1, who)[0].node for who in ("an annotator", "shared")] == [30, 31]


def models(session: Session, second: bool) -> None:
    """What a model says, while everybody who labels is asked for a judgement without one."""
    votes(session, False)
    session.suggest("assistant", dict.fromkeys(range(60), "b" if second else "a"))


OTHERS = frozenset(ROLES) - {"owner"}
PREDICTED = frozenset({"predicted", "sure", "trust", "score", "rank", "features", "why", "guess", "queries"})
REPORTED = frozenset(
    {"change_rate", "left_out", "curve", "next_change", "next_gain", "words", "unlike", "left_out_lack"}
)
EXPORTS = (("reviewer", "export"), ("reviewer", "people/report"))
SECRETS = {
    "known rows": Secret(known_rows, OTHERS, still=OTHERS, told_by=EXPORTS),
    "known answers": Secret(known_answers, OTHERS, still=OTHERS, told_by=EXPORTS),
    "others' votes": Secret(votes, OTHERS, 2, frozenset({"annotator", "shared"}), REPORTED, EXPORTS),
    "models' answers": Secret(
        models, frozenset({"annotator", "shared"}), 2, frozenset({"annotator", "shared"}), REPORTED
    ),
}
"""What the report estimates from all labels together is not compared where these may differ."""


@dataclass(frozen=True)
class World:
    """A studio, and everybody's token."""

    client: Client
    tokens: dict[str, str]

    def send(self, role: str, method: str, path: str, **options: Any) -> tuple[int, Any]:
        """How a request by somebody of a role is answered, without what differs anyway."""
        self.client.cookies.clear()
        headers = {"Authorization": f"Bearer {self.tokens[role]}"}
        answer = self.client.request(method, path, headers=headers, **options)
        if "json" in answer.headers.get("content-type", ""):
            return answer.status_code, answer.json()
        return answer.status_code, answer.text


@contextmanager
def worlds(folder: Path, secret: Secret) -> Iterator[tuple[World, World]]:
    """The two worlds of a secret."""
    made = []
    with ExitStack() as stack:
        for second in (False, True):
            place = folder / str(int(second))
            place.mkdir()
            graph = named_graph(said=["a" if node in NODES else "" for node in range(60)])
            session = Session.create(
                place / "job.nodewise",
                graph,
                classes=["a", "b"],
                budget=40,
                strategy="random",
                use_labels=False,
                redundancy=secret.redundancy,
                clock=lambda: 1e9,
            )
            secret.make(session, second)
            people = People(place)
            tokens = {role: people.add(_called(role), role) for role in ROLES if role != "shared"}  # type: ignore[arg-type]
            client = stack.enter_context(running(place, session, token=OWNER, annotator_token=SHARED))
            made.append(World(client, {**tokens, "shared": SHARED}))
        yield made[0], made[1]


def _called(role: str) -> str:
    return "shared" if role == "shared" else f"{'an' if role[0] in 'ao' else 'a'} {role}"


def requests(client: Client) -> Iterator[tuple[str, str, dict[str, Any], frozenset[str]]]:
    """Method, path, options and who may, of every route: all that look, then all that change, then all that look."""
    looks, changes = [], []
    for route in all_routes(client.app.routes):
        roles = permitted_roles(route) or frozenset()
        for call in calls(route):
            method, path = call.split(" ")
            short = path.removeprefix(f"{API}/")
            if method == "GET" and path.startswith(API) and short not in ("updates",):
                for query in QUERIES.get(short, [{}]):
                    for node in NODES if "{node}" in path else (0,):
                        looks.append((method, path.format(node=node, form="votes"), {"params": query}, roles))
            elif method == "POST" and roles - {"owner"}:
                assert short in BODIES, f"say in BODIES what is sent to {path}"
                changes.append((list(BODIES).index(short), (method, path, {"json": BODIES[short]}, roles)))
    yield from looks
    yield from (request for _, request in sorted(changes, key=lambda one: one[0]))
    yield from looks


def comparable(found: Any, left_out: frozenset[str]) -> Any:
    """An answer without what differs between equal worlds, and what is not compared."""
    if isinstance(found, dict):
        return {key: comparable(value, left_out) for key, value in found.items() if key not in left_out | MOVING}
    if isinstance(found, list):
        return [comparable(each, left_out) for each in found]
    return re.sub(r"\d{10}\.\d+", "", found) if isinstance(found, str) else found


@pytest.mark.parametrize("what", SECRETS)
@pytest.mark.parametrize("roles", [("onlooker", "reviewer", "annotator", "owner"), ("shared", "owner")])
def test_nobody_is_told_what_they_may_not_know(what: str, roles: tuple[str, ...], tmp_path: Path) -> None:
    """Every route, every role: who may not know is answered alike in both worlds, and the owner is not.

    In each pair of worlds one labels, behind those who only look: two who compare what they labelled and saw can tell
    which answers are known, as docs/team.md says.
    """
    secret = SECRETS[what]
    with worlds(tmp_path, secret) as (one, other):
        listed = list(requests(one.client))
        assert len({path for _, path, _, _ in listed}) > 40
        differing: dict[str, list[str]] = {role: [] for role in roles}
        for role in roles:
            for method, path, options, permitted in listed:
                mine = "annotator" if role == "shared" else role
                if role == "shared":
                    where = "params" if method == "GET" else "json"
                    options = {where: {**options[where], "annotator": "shared"}}
                answers = [world.send(role, method, path, **options) for world in (one, other)]
                if role not in secret.still and options.get("params", {}).get("filter") in ("mistake", "unlike"):
                    continue  # found by what is predicted
                if mine not in permitted:
                    assert [status for status, _ in answers] == [403, 403], (role, method, path)
                    continue
                left_out = secret.not_compared | (frozenset() if role in secret.still else PREDICTED)
                left, right = (comparable(answer, left_out) for _, answer in answers)
                if (answers[0][0], left) != (answers[1][0], right):
                    differing[role].append(f"{method} {path}: {_difference(left, right)}")
        assert differing.pop("owner"), "a secret that nobody can read is none"
        for role, found in differing.items():
            told = [prefix for who, prefix in secret.told_by if who == role]
            leaks = [line for line in found if not any(f"{API}/{prefix}" in line for prefix in told)]
            assert not (role in secret.kept_from and leaks), (what, role, leaks[:5])


def _difference(one: Any, other: Any) -> str:
    """Where two answers begin to differ."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        key = next(key for key in one if one[key] != other[key])
        return f"{key}.{_difference(one[key], other[key])}"
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        index = next(number for number, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
        return f"{index}.{_difference(one[index], other[index])}"
    return f"{json.dumps(one)[:200]} / {json.dumps(other)[:200]}"


def test_no_answer_holds_a_token_or_its_digest(tmp_path: Path) -> None:
    """Every route by every role; the owner is told a token once, when they give it."""
    with worlds(tmp_path, SECRETS["known rows"]) as (world, _):
        digests = [person.digest for person in People(tmp_path / "0").all()]
        hidden = [*world.tokens.values(), OWNER, *digests]
        for role in ROLES:
            for method, path, options, _ in requests(world.client):
                _, answer = world.send(role, method, path, **options)
                assert not [secret for secret in hidden if secret in json.dumps(answer)], (role, method, path)
