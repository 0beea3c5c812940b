"""Options that commands share: lists, and that they say the same as Python does."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

import nodewise as nw
from nodewise.cli.app import app
from nodewise.cli.commands.train import train
from nodewise.cli.options import read_names, read_numbers, read_protocol, read_setting_options, setting_options
from nodewise.ground.errors import InputError
from nodewise.policy import PAPER_STATE_FEATURES
from nodewise.session.settings import NewSettings, settings_of
from nodewise.training import TrainingSettings


def test_lists_are_split_at_commas() -> None:
    assert read_numbers("10, 20,30", "--budgets") == (10, 20, 30)
    assert read_names("random , age", "--strategies") == ("random", "age")


@pytest.mark.parametrize("text", ["", "10,", "ten", "-5", "0", "1.5", "10;20"])
def test_a_list_of_numbers_that_is_none_is_refused_with_what_was_received(text: str) -> None:
    with pytest.raises(InputError, match="--budgets got ") as refused:
        read_numbers(text, "--budgets")
    assert repr(text) in str(refused.value)
    assert "commas" in str(refused.value)


def test_rates_and_costs_are_read_as_spreadsheets_write_them(tmp_path: Path) -> None:
    rates, costs = tmp_path / "rates.csv", tmp_path / "costs.csv"
    rates.write_text("0.8, 0.2\n0 ,1\n\n", encoding="utf-8-sig")
    costs.write_text("1\r\n2.5\r\n", newline="")
    protocol = read_protocol(1, 0, False, str(rates), None, costs)
    assert protocol is not None and protocol.noise == ((0.8, 0.2), (0.0, 1.0)) and protocol.cost == (1.0, 2.5)
    rates.write_text("\n")
    with pytest.raises(InputError, match=r"--noise must be a rate.*received .*rates\.csv.*it holds nothing"):
        read_protocol(1, 0, False, str(rates), None)


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(InputError, match="--strategies got 'random,,age'"):
        read_names("random,,age", "--strategies")


def test_every_setting_of_a_session_is_an_option_with_its_type_default_bounds_and_help() -> None:
    command: Any = typer.main.get_command(app).commands["session"].commands["new"]  # type: ignore[attr-defined]
    flags = {flag for option in command.params for flag in [*option.opts, *option.secondary_opts]}
    assert flags >= {"--use-labels", "--hide-labels", "--release-after", "--classes", "--set", "--data-dir"}
    declared = {parameter.name: parameter for parameter in setting_options()}
    types = {"count": int, "duration": float, "name": str, "names": str, "flag": bool}
    for one in settings_of(NewSettings):
        if one.kind == "mapping":  # by --set
            continue
        kind, option = get_args(declared[one.name].annotation)
        assert types[one.kind] in (kind, *get_args(kind)) and option.help == one.help_with_names, one.name
        assert declared[one.name].default == (one.default / 60 if one.kind == "duration" else one.default)
        assert one.kind != "count" or (option.min, option.max) == (one.least, one.most)
        assert f"--{one.name.replace('_', '-')}" in flags


def test_options_are_read_as_a_session_takes_them() -> None:
    given = {"classes": "a, b", "release_after": 0.5, "budget": None}
    assert read_setting_options(given) == {"classes": ("a", "b"), "release_after": 30.0, "budget": None}


@pytest.mark.parametrize(("command", "function"), [("evaluate", nw.evaluate), ("compare", nw.compare)])
def test_a_scoring_command_has_the_defaults_of_its_function(command: str, function: Callable[..., Any]) -> None:
    """The command cannot ask the function, since its help loads no torch: both say the same."""
    told = inspect.signature(importlib.import_module(f"nodewise.cli.commands.{command}").__dict__[command]).parameters
    known = inspect.signature(function).parameters
    shared = set(told) & set(known) - {"settings"}
    assert shared >= {"runs", "seed", "device", "features"}
    assert {name: told[name].default for name in shared if told[name].default is not inspect.Parameter.empty} == {
        name: known[name].default for name in shared if told[name].default is not inspect.Parameter.empty
    }


def test_training_has_the_defaults_of_its_settings() -> None:
    told = {name: one.default for name, one in inspect.signature(train).parameters.items()}
    usual = TrainingSettings(budgets=(1,))
    for name in ("episodes", "batch", "reward", "seed"):
        assert told[name] == getattr(usual, name), f"nodewise train --{name} has another default than TrainingSettings"
    assert told["classifier"] == usual.classifier.name
    assert told["architecture"] == usual.policy.architecture
    assert told["kl_scaling"] == usual.policy.state.kl_scaling
    assert (told["state"], usual.policy.state.features) == (None, PAPER_STATE_FEATURES)
    called = inspect.signature(nw.train_policy).parameters
    assert {name: told[name] for name in ("keep_every", "device", "resume")} == {
        name: called[name].default for name in ("keep_every", "device", "resume")
    }
