"""One record of a session's settings: what is refused, what old files mean, and that all else follows from it."""

from __future__ import annotations

import gzip
import inspect
import os
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from nodewise.classifiers import CLASSIFIERS, DEFAULT_CLASSIFIER
from nodewise.ground.errors import InputError, SessionFileError, UnknownNameError
from nodewise.session import Session
from nodewise.session.answers import MOST_OPINIONS
from nodewise.session.settings import (
    ABSENT_MEANS,
    NewSettings,
    SessionSettings,
    SettingsByName,
    check_choices,
    settings_of,
)
from nodewise.strategies import DEFAULT_STRATEGY, STRATEGIES
from tests.session import imagined_setting

ROOT = Path(__file__).parents[2]

ROWS = {one.name: one for one in settings_of(NewSettings)}


def test_type_checkers_know_every_setting_by_its_name_and_type() -> None:
    declared = {name: type.__forward_arg__ for name, type in SettingsByName.__annotations__.items()}
    missing = [f"{one.name}: {one.type}" for one in ROWS.values() if declared.get(one.name) != one.type]
    assert declared == {one.name: one.type for one in ROWS.values()}, f"write in SettingsByName: {missing}"


def test_create_shows_every_setting_with_its_type_default_and_help() -> None:
    parameters = inspect.signature(Session.create).parameters
    for one in ROWS.values():
        assert (parameters[one.name].annotation, parameters[one.name].default) == (one.type, one.default)
        assert f"{one.name}: {one.help_with_names}" in (inspect.getdoc(Session.create) or "")
    others = {"path", "graph", "candidates", "source", "suggestions", "annotator"}
    others |= {"embed_limit", "reporter", "wait", "clock"}
    assert set(parameters) - set(ROWS) == others


def test_every_setting_has_a_help_and_what_is_left_open_is_said() -> None:
    for one in ROWS.values():
        assert one.help.endswith(".") and (one.default is None) == bool(one.unset), one.name
    assert ROWS["strategy"].unset.startswith(DEFAULT_STRATEGY) and ROWS["classifier"].unset.endswith(DEFAULT_CLASSIFIER)
    assert ROWS["redundancy"].most == MOST_OPINIONS


def test_names_that_the_help_tells_are_there_and_all_can_be_chosen() -> None:
    for name, registered in (("strategy", STRATEGIES), ("classifier", CLASSIFIERS)):
        assert set(ROWS[name].words) <= set(registered) <= set(ROWS[name].choices())
        assert all(known in ROWS[name].help_with_names for known in ROWS[name].words)
    check_choices({"strategy": "age", "classifier": None, "budget": 3})
    for wrong in ("os:abort", "policy:somewhere.safetensors", "luck"):
        with pytest.raises(UnknownNameError, match="unknown strategy"):
            check_choices({"strategy": wrong})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 0}, "a session's budget must be a whole number, at least 1, got '0'"),
        ({"budget": True}, "a session's budget must be a whole number"),
        ({"seed": None}, "a session's seed must be a whole number, at least 0, got 'None'"),
        ({"redundancy": 101}, "a session's redundancy must be at most 100, got '101'"),
        ({"release_after": 0}, "a session's release_after must be a number of seconds above 0, got '0'"),
        ({"release_after": float("nan")}, "seconds above 0, got 'nan'"),
        ({"use_labels": "no"}, "a session's use_labels must be yes or no, got 'no'"),
        ({"closed_classes": "no"}, "a session's closed_classes must be yes or no, got 'no'"),
        ({"strategy_settings": [1]}, "a session's strategy_settings must be settings by name"),
    ],
)
def test_what_a_setting_cannot_be_is_refused_before_anything_is_made(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        Session.create(tmp_path / "job.nodewise", "karate", **given)
    assert said in str(refused.value) and list(tmp_path.iterdir()) == []


def test_what_every_absent_field_means_is_written_down() -> None:
    assert set(ABSENT_MEANS) == {one.name for one in fields(SessionSettings)} - {"budget"}, (
        "a setting that is new has a line in ABSENT_MEANS: what sessions did before there was one"
    )


def test_a_file_that_lacks_fields_means_what_it_did_when_it_was_written() -> None:
    """In the first files the policy and the GCN were the defaults, which are others today."""
    old = SessionSettings.from_dict({"budget": 20})
    assert (old.strategy, old.classifier, old.features, old.use_labels) == ("policy", "gcn", "raw", True)
    assert (old.release_after, old.redundancy, old.audit, old.seed, old.classes) == (3600.0, 1, 0, 0, ())
    assert (old.control, old.look_for_classes, old.policy, old.reason) == (0, 0, None, "")
    assert not any([old.trust, old.several, old.closed_classes, old.classifier_settings, old.strategy_settings])
    assert old.strategy != DEFAULT_STRATEGY and old.classifier != DEFAULT_CLASSIFIER


def test_a_real_file_of_before_has_the_settings_of_then(tmp_path: Path) -> None:
    path = tmp_path / "old.nodewise"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("first_form.nodewise.gz").read_bytes()))
    with Session.open(path) as session:
        old = session.settings
    assert (old.classifier, old.strategy, old.redundancy, old.classifier_settings) == ("gcn", "uncertainty", 2, {})
    assert old.classifier_digest is None and SessionSettings.from_dict(old.as_dict()) == old


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (["budget"], "cannot be used"),
        ({}, "a session's budget must be a whole number, at least 1, got 'None'"),
        ({"budget": 5, "mood": "good"}, "does not know, ['mood']: update nodewise"),
        ({"budget": 5, "strategy": None}, "a session's strategy must be a text"),
        ({"budget": 5, "policy": 7}, "a session's policy must be a text"),
        ({"budget": 5, "classes": "ab"}, "a session's classes must be a list of names"),
        ({"budget": 5, "classes": ["a", "a"]}, "each another one"),
        ({"budget": None}, "a session's budget must be a whole number"),
    ],
)
def test_settings_that_no_session_has_are_refused(record: Any, said: str) -> None:
    with pytest.raises(SessionFileError) as refused:
        SessionSettings.from_dict(record)
    assert said in str(refused.value)


def test_facts_are_in_words_and_leave_out_what_may_change() -> None:
    facts = SessionSettings.from_dict({"budget": 5, "seed": 12_000, "release_after": 90, "use_labels": False}).facts()
    assert facts == {
        "closed classes": "no",
        "several": "no",
        "strategy": "policy",
        "policy": "none",
        "classifier": "gcn",
        "seed": "12,000",
        "audit": "0",
        "look for classes": "0",
        "trust": "no",
        "release after": "1.5 min",
        "use labels": "no",
        "features": "raw",
        "why this strategy": "",
    }


def test_a_file_with_more_annotators_than_may_be_asked_for_today_is_read() -> None:
    assert SessionSettings.from_dict({"budget": 5, "redundancy": 500}).redundancy == 500


@pytest.mark.slow
def test_a_setting_that_is_added_to_the_record_is_everywhere(tmp_path: Path) -> None:
    """Three lines in one file of a copy of the package: Python, command line, HTTP, the form and the file have it."""
    pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")
    shutil.copytree(ROOT / "src" / "nodewise", tmp_path / "nodewise", ignore=shutil.ignore_patterns("__pycache__"))
    imagined_setting.add(tmp_path / "nodewise")
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    done = subprocess.run(
        [sys.executable, imagined_setting.__file__, str(jobs)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=jobs,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
