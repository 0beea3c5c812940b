"""No test fails for being slow: whatever waits for an answer says for how long, and that is minutes."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUESTS = {"Client", "delete", "get", "head", "options", "patch", "post", "put", "request", "stream"}


def hasty(node: ast.AST) -> bool:
    """Whether something is asked with as little patience as its library has by itself."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("websockets.sync"):
        return "connect" in {name.name for name in node.names}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    called, patience = node.func, {key.arg for key in node.keywords}
    own = isinstance(called.value, ast.Name) and called.value.id == "httpx"
    return own and called.attr in REQUESTS and not patience & {"timeout", None}  # None: by **options


def test_no_request_relies_on_the_five_seconds_of_httpx_or_the_ten_of_websockets() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"  # type: ignore[attr-defined]
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if hasty(node) and path.name != "serving.py"  # whose `hear` is a patient websocket
    ]
    assert found == []
