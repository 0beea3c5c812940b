"""Post graphs from Reddit's monthly dumps, built as the paper's Appendix B describes."""

from __future__ import annotations

from nodewise.datasets.reddit.build import build_reddit
from nodewise.datasets.reddit.report import BuildReport, GroupReport
from nodewise.datasets.reddit.settings import KNOWN_BOTS, Limits, RedditSettings

__all__ = ["KNOWN_BOTS", "BuildReport", "GroupReport", "Limits", "RedditSettings", "build_reddit"]
