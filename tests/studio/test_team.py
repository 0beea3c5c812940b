"""A team on one job through a real studio: three annotators, a reviewer and an onlooker with links of their own, over
120 rows; one link is taken away in the middle.
"""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest

import nodewise as nw
from nodewise.client import Connection
from nodewise.ground.errors import SessionError
from nodewise.studio.guard.people import People
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph
from tests.studio.serving import running

pytestmark = pytest.mark.long

OWNER = "the-owners-token"
KNOWN = [5, 15, 25, 65, 75, 85, 95]
ROLES = {"ada": "annotator", "bo": "annotator", "cy": "annotator", "rita": "reviewer", "otto": "onlooker"}


def truth(node: int) -> str:
    return "ab"[node >= 60]


def work(there: Connection, questions: int, said: list[tuple[int, str]], wrong: bool = False) -> None:
    """Answer so many questions; what the studio has taken is noted."""
    for _ in range(questions):
        query = there.ask()
        label = truth(query.node) if not wrong else "ab"[query.node < 60]
        there.tell(query.node, label)
        said.append((query.node, label))


def test_a_team_with_links_of_their_own(tmp_path: Path) -> None:
    session = small_job(
        tmp_path / "job.nodewise", graph=unlabelled(block_graph(120)), budget=40, redundancy=2, control=20
    )
    people = People(tmp_path)
    tokens = {name: people.add(name, role) for name, role in ROLES.items()}  # type: ignore[arg-type]
    with running(tmp_path, session, token=OWNER) as client:
        url = str(client.base_url)
        owner = nw.connect(url, OWNER, annotator="olga")
        team = {name: nw.connect(url, token, annotator="somebody") for name, token in tokens.items()}
        owner._post("/known", labels=[{"node": node, "label": truth(node)} for node in KNOWN])
        owner._post("/assign", to="cy", filter="unlabelled", count=5)
        for name in ("rita", "otto"):
            with pytest.raises(SessionError):
                team[name].ask()
            with pytest.raises(SessionError):
                team[name].tell(3, "a")
        with pytest.raises(SessionError):
            team["ada"].predict()
        said: dict[str, list[tuple[int, str]]] = {name: [] for name in ("ada", "bo", "cy")}
        workers = [
            threading.Thread(target=work, args=(team[name], 14, said[name], name == "cy"))
            for name in ("ada", "bo", "cy")
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert [len(answers) for answers in said.values()] == [14, 14, 14]
        people.revoke("bo")  # in the middle
        with pytest.raises(SessionError, match="token"):
            team["bo"].ask()
        with pytest.raises(SessionError, match="token"):
            team["bo"].tell(said["bo"][0][0], "b")
        owner._post("/release", released="bo")
        work(team["ada"], 10, said["ada"])
        work(team["cy"], 10, said["cy"], wrong=True)

        kept = {(each.node, each.annotator): each.label for each in session.opinions()}
        for name, answers in said.items():
            for node, label in answers:
                assert kept[node, name] == label, "nothing that was taken is lost, under the name of the link"
        assert {who for _, who in kept} == {"ada", "bo", "cy"}
        votes = Counter(node for node, _ in kept if node not in KNOWN)
        assert max(votes.values()) <= 2, "nobody is asked a third time"
        differing = team["rita"]._get("/disagreements")["nodes"]
        assert differing
        settled = [each["node"] for each in differing if each["node"] not in KNOWN][:5]
        for node in settled:
            team["rita"]._post("/settle", node=node, label=truth(node))
        assert all(session.labels[node] == truth(node) for node in settled)
        scores = {each.annotator: each.known for each in session.person_reports()}
        assert scores["ada"] is not None and scores["ada"].mean == 1 and scores["ada"].low > 0.2
        assert scores["cy"] is not None and scores["cy"].mean == 0 and scores["cy"].high < 0.8
        assert team["otto"].status()["told"] == owner.status()["told"] > 0
        for name in ("ada", "cy", "otto"):
            events = team[name]._get("/events", limit="500", asks="true")["events"]
            assert all(each["kind"] != "known" for each in events)
        exported = team["rita"].export(tmp_path / "who.csv", format="votes")
        assert len(exported.read_text().splitlines()) == len(kept) + 1
