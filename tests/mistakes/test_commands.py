"""Mistakes on the command line."""

from __future__ import annotations

import pytest

from tests.mistakes.telling import Typed, World, is_told

COMMANDS: list[Typed] = [
    (
        "no such command",
        "sesion new job karate",
        2,
        "No such command 'sesion'. Did you mean 'session'?. Try 'nodewise --hel",
    ),
    ("no such data set", "evaluate karat", 2, "unknown data set 'karat': did you mean 'karate'? A file needs its endi"),
    (
        "no such option",
        "evaluate karate --run 3",
        2,
        "No such option: --run (Possible options: --runs). Try 'nodewise evalua",
    ),
    (
        "a number that is none",
        "evaluate karate --runs many",
        2,
        "Invalid value for '--runs': Input should be a valid integer, unable to",
    ),
    (
        "no runs on the command line",
        "evaluate karate --runs 0",
        2,
        "Invalid value for '--runs': Input should be greater than or equal to 1",
    ),
    (
        "no such strategy",
        "evaluate karate --strategy gian",
        2,
        "unknown strategy 'gian': did you mean 'gain' or 'margin'? One of your",
    ),
    (
        "no such classifier",
        "evaluate karate --classifier gcm",
        2,
        "unknown classifier 'gcm': did you mean 'gcn'? One of your own is named",
    ),
    (
        "no such device",
        "evaluate karate --device gpu --runs 1",
        2,
        "unknown device 'gpu': use auto, cpu, cuda or cuda:N",
    ),
    (
        "a graph's file that is not there",
        "convert nowhere.csv out.npz",
        2,
        "there is no file nowhere.csv: check the path",
    ),
    ("a session without a graph", "session new job", 2, "Missing argument 'GRAPH'. Try 'nodewise session new --help'."),
    (
        "a session on a graph that is not there",
        "session new job karat",
        2,
        "unknown data set 'karat': did you mean 'karate'? A file needs its endi",
    ),
    (
        "classes without names",
        "session new job karate --classes ,",
        2,
        "--classes got ',': give names joined by commas, with none left empty",
    ),
    (
        "a closed list that does not hold the graph's classes",
        "session new job karate --budget 3 --use-labels --closed-classes --classes x,y",
        2,
        "unknown class '0': known: x, y. The graph has labels of it, but the li",
    ),
    (
        "a budget of 0",
        "session new job karate --budget 0",
        2,
        "Invalid value for '--budget': Input should be greater than or equal to",
    ),
    (
        "a session that is not there, asked",
        "session ask none.nodewise",
        2,
        "there is no session 'none.nodewise': check the path, or make one with",
    ),
    (
        "a label for a node that is not there",
        "session tell open.nodewise 99 alpha",
        2,
        "there is no node '99': the graph 'karate' has nodes 0 to 33",
    ),
    (
        "a misspelt label",
        "session tell open.nodewise 3 alhpa",
        2,
        "unknown class 'alhpa': did you mean 'alpha'? If it is a new class, say",
    ),
    (
        "a word for nothing",
        "session tell open.nodewise 3 NaN",
        2,
        "'NaN' means unlabelled and is no class here: skip the node, or if it i",
    ),
    (
        "another class for a closed list",
        "session tell closed.nodewise 3 gamma --new-class",
        2,
        "unknown class 'gamma': known: alpha, beta. This session takes no other",
    ),
    (
        "an export without an ending",
        "session export open.nodewise labels",
        2,
        "cannot export to 'labels': the ending must be one of .csv, .json, .npz",
    ),
    (
        "a policy that is not there",
        "policy show nobody",
        2,
        "unknown policy 'nobody': known: citeseer+pubmed, cora+citeseer, cora+p",
    ),
    (
        "rows for a job that does not say how",
        "session add open.nodewise rows.csv",
        2,
        "the graph 'karate' does not say how its rows became features, so new r",
    ),
    ("rows that are not there", "session add open.nodewise none.csv", 2, "there is no file none.csv: check the path"),
    (
        "no node to take out",
        "session remove open.nodewise 99",
        2,
        "there is no node '99': the graph 'karate' has nodes",
    ),
    (
        "suggestions without a column of nodes",
        "session suggest open.nodewise rows.csv --as m",
        2,
        "'rows.csv' has the columns a, b: suggestions need one that names the n",
    ),
    (
        "an endpoint that is no address",
        "session suggest open.nodewise --from ftp://x --as m --show",
        2,
        "the endpoint must be an http or https address without a name or passwo",
    ),
    (
        "an endpoint with a password",
        "session suggest open.nodewise --from http://ada:secret@localhost --as m --show",
        2,
        "the endpoint must be an http or https address without a name or passwo",
    ),
    (
        "another job that is not there, joined",
        "session join open.nodewise none.nodewise",
        2,
        "there is no session 'none.nodewise': check the path, or make one with",
    ),
    (
        "a job joined with itself",
        "session join open.nodewise open.nodewise",
        2,
        "the job 'open.nodewise' has no label that is not here already: nothing",
    ),
    (
        "predictions of no learner",
        "predict x.nodewise rows.csv",
        2,
        "x.nodewise is no fitted learner, or damaged: give",
    ),
    (
        "a role that nobody has",
        "people add ada --role boss",
        2,
        "'boss' is not one of 'annotator', 'reviewer', 'onlooker', 'owner'",
    ),
    ("nobody's link taken away", "people revoke nobody", 2, "nobody called 'nobody' has a link: see `nodewise people"),
    (
        "a benchmark on no graph",
        "benchmark --graphs nothing",
        2,
        "unknown data set 'nothing': known: acmv9, actor, airp",
    ),
    ("a benchmark of no strategy", "benchmark --strategies gian", 2, "unknown strategy 'gian': did you mean 'gain' or"),
    (
        "noise in words",
        "evaluate karate --noise lots",
        2,
        "--noise must be a rate between 0 and 1, or a CSV file of rates, received 'lots' (there is no file lots",
    ),
    (
        "two classes for one row",
        "session tell open.nodewise 3 alpha beta",
        2,
        "1 node but 2 labels: give one for each; a row has one class",
    ),
    (
        "none of the classes, where a row has one",
        "session tell open.nodewise 3 --none",
        2,
        "--none was given, where a node has one class: give the label, or skip",
    ),
]


@pytest.mark.parametrize("mistake", COMMANDS, ids=lambda mistake: mistake[0])
def test_a_mistake_on_the_command_line_is_told(
    mistake: Typed, world: World, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    is_told(mistake, world, monkeypatch, capfd)
