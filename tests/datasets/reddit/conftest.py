"""Without the extra ``reddit`` there is nothing to test here."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("duckdb") and find_spec("zstandard") else ["test_*.py"]
