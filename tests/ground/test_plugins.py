"""What tells an object's code from a corrected one, and its settings from others: two that can differ in their results
never share a key.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from nodewise.classifiers import Gcn, Views
from nodewise.contracts import Strategy
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.plugins import code_changed, code_of, identity_of
from nodewise.policy import Policy, PolicySettings
from nodewise.policy.policy import POLICY_NETWORKS, STATE_FEATURES, StateSettings
from nodewise.strategies import STRATEGIES, Learned

STRATEGY = """
from nodewise.classifiers import Gcn, Views
from nodewise.contracts import Strategy
{imports}
class Mine({base}):
    name = "mine"
    def scores(self, observation):
        return SIGN * observation.negative_entropy
"""
FEATURE = """
from nodewise.policy import register_policy_network, register_state_feature
@register_state_feature("own")
def own(observation, settings):
    return {sign} * observation.graph.degree
"""
NETWORK = """
import torch
from nodewise.policy import register_policy_network
@register_policy_network("own-network")
class Net(torch.nn.Module):
    def __init__(self, features, hidden, layers, generator):
        super().__init__()
    def forward(self, graph, states):
        return {sign} * states.sum(-1)
"""

Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Writes files and imports a module, anew each time."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    features, networks = dict(STATE_FEATURES), dict(POLICY_NETWORKS)

    def forget() -> None:
        for name in set(sys.modules) - before:
            if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]

    def write(module: str, **files: str) -> ModuleType:
        forget()
        for name, text in files.items():
            monkeypatch.delitem(sys.modules, name.replace("__", "."), raising=False)  # another test's of the same name
            path = tmp_path / (name.replace("__", "/") + ".py")
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(module)

    yield write
    forget()
    for registry, kept in ((STATE_FEATURES, features), (POLICY_NETWORKS, networks)):
        registry.clear()
        registry.update(kept)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "imports",
    [
        "from pack.helper import SIGN",
        "from .helper import SIGN",
        "from . import between\nSIGN = between.helper.SIGN",
        "import pack.helper\nSIGN = 1",
    ],
)
def test_a_corrected_file_that_the_module_imports_is_another_code(load: Load, imports: str) -> None:
    files = {
        "pack__mine": STRATEGY.format(imports=imports, base="Strategy"),
        "pack__between": "from pack import helper\n",
    }
    one = identity_of(load("pack.mine", **files, pack__helper="SIGN = 1\n", pack__unused="").Mine())
    again = identity_of(
        load("pack.mine", **files, pack__helper="SIGN = 1\n", pack__unused="something = 'else'\n").Mine()
    )
    other = identity_of(load("pack.mine", **files, pack__helper="SIGN = -1\n").Mine())
    assert one.storable and one == again and one != other


def test_so_is_one_beside_a_lone_module_and_one_of_a_class_that_it_inherits_from(load: Load) -> None:
    lone = STRATEGY.format(imports="from beside import SIGN", base="Strategy")
    assert identity_of(load("lone", lone=lone, beside="SIGN = 1").Mine()) != identity_of(
        load("lone", lone=lone, beside="SIGN = -1").Mine()
    )
    child = STRATEGY.format(imports="from parent import *", base="Parent")
    parent = "from nodewise.contracts import Strategy\nSIGN = 1\nclass Parent(Strategy):\n    tilt = {}\n"
    first, second = (identity_of(load("child", child=child, parent=parent.format(tilt)).Mine()) for tilt in (1, 2))
    assert first.storable and first != second


def test_ours_that_is_inherited_from_counts_too(load: Load) -> None:
    text = (
        "from nodewise.strategies import Random, Uncertainty\nclass One(Random): pass\nclass Other(Uncertainty): pass\n"
    )
    derived = load("derived", derived=text)
    assert identity_of(derived.One()).code != identity_of(derived.Other()).code


def test_what_is_ours_carries_a_version_and_no_digest() -> None:
    made = [make() for name, make in STRATEGIES.items() if name != "policy"]
    for thing in (*made, Learned(Policy(seed=1)), Gcn(), Views()):
        assert code_of(thing) == f"version {type(thing).version}", "raised by hand, in the class itself"
        assert isinstance(thing.version, int)


def test_a_version_of_one_s_own_speaks_for_the_object_and_one_of_ours_does_not(load: Load) -> None:
    derived = "from nodewise.strategies import Random\nclass Mine(Random):\n    {}\n"
    code = code_of(load("derived", derived=derived.format("tilt = 1")).Mine())
    assert code is not None and code.endswith(", Random version 1")
    assert code != code_of(load("derived", derived=derived.format("tilt = 2")).Mine())
    assert code_of(load("derived", derived=derived.format("version = 3")).Mine()) == "version 3"
    mine = load("derived", derived=derived.format("tilt = 1")).Mine()
    mine.version = "2024-05"
    assert code_of(mine) == "version 2024-05"


def test_an_attribute_of_somebody_s_own_that_is_called_code_is_a_setting_like_any_other(load: Load) -> None:
    text = (
        "from dataclasses import dataclass\nimport nodewise as nw\n@dataclass(frozen=True)\nclass Mine(nw.Strategy):\n"
        "    code: str = 'ab'\n    name = 'mine'\n    def scores(self, seen):\n        return seen.noise\n"
    )
    mine = load("coded", coded=text)
    assert identity_of(mine.Mine()).storable
    assert identity_of(mine.Mine()).settings != identity_of(mine.Mine("cd")).settings


@pytest.mark.parametrize(
    ("begun", "now", "changed"),
    [
        ("version 1", "version 1", False),
        ("version 1", "version 2", True),
        ("0123456789abcdef", "fedcba9876543210", True),
        ("0123456789abcdef", "0123456789abcdef", False),
        ("0123456789abcdef", "version 1", False),  # a digest of our files, from before they had versions
        ("0123456789abcdef", "fedcba9876543210, Random version 1", False),
        ("fedcba9876543210, Random version 1", "fedcba9876543210, Random version 2", True),
        ("version 1", "0123456789abcdef", True),
        (None, "version 1", False),
        ("version 1", None, False),
    ],
)
def test_changed_code_is_told_where_it_can_be_known(begun: str | None, now: str | None, changed: bool) -> None:
    assert code_changed(begun, now) is changed


@pytest.mark.parametrize("text", [FEATURE, NETWORK])
def test_a_corrected_state_feature_or_network_is_another_code_of_the_policy(load: Load, text: str) -> None:
    def policy() -> Policy:
        if text == FEATURE:
            return Policy(PolicySettings(state=StateSettings(("entropy", "own"))), seed=1)
        return Policy(PolicySettings(architecture="own-network"), seed=1)

    identities = []
    for sign in (1, 1, -1):
        load("parts", parts=text.format(sign=sign))
        identities.append(identity_of(Learned(policy())))
    assert identities[0].storable and identities[0] == identities[1] != identities[2]
    assert identities[0].settings == identities[2].settings, "the weights are the same"


def test_a_state_feature_typed_into_a_shell_is_not_stored() -> None:
    space: dict[str, Any] = {"__name__": "typed"}
    exec(FEATURE.format(sign=1), space)
    try:
        assert not identity_of(Learned(Policy(PolicySettings(state=StateSettings(("own",)))))).storable
    finally:
        del STATE_FEATURES["own"]
    assert identity_of(Learned(Policy())).storable


class Plain(Strategy):
    """No dataclass."""

    name = "plain"

    def __init__(self, weight: float, *, tilt: float = 0.5) -> None:
        self.weight, self._tilt = weight, tilt


class Lost(Strategy):
    """Keeps what it was given under another name."""

    name = "lost"

    def __init__(self, weight: float) -> None:
        self.something = weight


class Bare(Strategy):
    """No settings."""

    name = "bare"


def test_what_a_plain_class_was_made_with_is_its_identity() -> None:
    assert Plain(2.0, tilt=1.0).identity() == {"weight": 2.0, "tilt": 1.0}
    assert identity_of(Plain(2.0)) != identity_of(Plain(3.0))
    assert Bare().identity() == {}
    with pytest.raises(InputError, match=r"made with 'weight' but keeps no attribute of that name.*identity\(\)"):
        Lost(2.0).identity()


@pytest.mark.parametrize("name", ["entrpy", "mine:progress"])
def test_an_unknown_state_feature_is_told_how_it_becomes_known(name: str) -> None:
    with pytest.raises(
        UnknownNameError,
        match=f"unknown state feature '{name}'.*registered by the file that makes it, which you import first",
    ):
        StateSettings((name,))
