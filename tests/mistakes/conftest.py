from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import nodewise as nw
from tests.mistakes.telling import KARATE, World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("mistakes")
    shared: dict[str, Any] = {"budget": 5, "classes": ["alpha", "beta"], "use_labels": False}
    names: dict[str, dict[str, Any]] = {"open": {}, "closed": {"closed_classes": True}, "ended": {}}
    made = [nw.Session.create(folder / f"{name}.nodewise", KARATE, **shared, **more) for name, more in names.items()]
    made[-1].close()
    for name, content in (
        ("graph.xyz", b"1 2"),
        ("empty.npz", b""),
        ("p.safetensors", b"abc"),
        ("x.nodewise", b"hello"),
        ("rows.csv", b"a,b\n1,2\n"),
    ):
        (folder / name).write_bytes(content)
    yield World(folder, *made)
    for session in made[:-1]:
        session.close()
