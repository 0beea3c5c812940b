"""The examples in the docstrings run and print what they say: every public name has one."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import nodewise as nw
from nodewise.evaluation import Comparison, Evaluation

NAMES = [name for name in nw.__all__ if name != "__version__"]


def examples(thing: object, name: str) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    module = inspect.getmodule(thing)
    return [
        test for test in finder.find(thing, name, module=module, globs={"nw": nw, "Graph": nw.Graph}) if test.examples
    ]


@pytest.mark.parametrize("name", NAMES)
def test_examples_of(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = examples(getattr(nw, name), name)
    assert any(test.name == name for test in found), f"{name} has no example of its own"
    for test in found:
        said: list[str] = []
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
            test, out=said.append
        )
        assert not result.failed, "".join(said)


def test_examples_of_the_adapter() -> None:
    from nodewise.adapters import PoolQuery

    (test,) = examples(PoolQuery, "PoolQuery")
    said: list[str] = []
    assert not doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append).failed, "".join(said)


def test_what_is_given_back_is_shown_too() -> None:
    for kind in (Evaluation, Comparison):
        assert inspect.getdoc(kind) and inspect.getdoc(kind.to_dataframe) and inspect.getdoc(kind.plot)
