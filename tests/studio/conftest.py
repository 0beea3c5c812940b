"""The studio's tests need what the studio needs; where it is not installed, they are left out."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("fastapi", "httpx", "python_multipart", "uvicorn", "websockets")

collect_ignore_glob = ["test_*.py"] if any(find_spec(module) is None for module in NEEDED) else []
