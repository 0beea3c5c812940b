"""A browser for each file of tests, and a studio that all of them share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.studio.browsing import Server, chromium, studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, which `visit` gives a fresh profile each time. It ends with the file: as long as it lives, no other
    test may have an event loop.
    """
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def shared_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The studio of all tests that need no other: to start one and have it learn for the first time takes longer than
    most of them.
    """
    folder = tmp_path_factory.mktemp("studio")
    (folder / "pictures").mkdir()
    with studio(folder, "--pictures", "pictures") as started:
        yield started


@pytest.fixture
def server(shared_studio: Server) -> Iterator[Server]:
    """A studio without sessions."""
    yield shared_studio
    shared_studio.clear()
