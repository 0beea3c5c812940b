"""Post graphs from Reddit: the paper's as its authors released them, and others built from monthly dumps as its
Appendix B describes.
"""

from __future__ import annotations

from nodewise.datasets.reddit.build import build_reddit
from nodewise.datasets.reddit.released import read_released
from nodewise.datasets.reddit.report import BuildReport, GroupReport
from nodewise.datasets.reddit.settings import KNOWN_BOTS, Limits, RedditSettings

__all__ = ["KNOWN_BOTS", "BuildReport", "GroupReport", "Limits", "RedditSettings", "build_reddit", "read_released"]
