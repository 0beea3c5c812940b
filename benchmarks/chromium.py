"""The Chromium that benchmarks open the studio's page in."""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""What the system's own is called; where it has none, Playwright's is taken."""


def open_chromium(playwright: Playwright) -> Browser:
    """A new browser, with no room of its own in the shared memory, of which containers have little."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"])
