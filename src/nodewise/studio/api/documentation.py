"""The API's description: OpenAPI, exact about failures, and a page that lists it without any script."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

__all__ = ["describe", "page"]

_DESCRIPTION = (
    "Ask which node to label next, and tell labels. Node ids are indices. Every failure answers with one sentence,"
    ' `{"error": …}`. Where the studio has a token, send it as `Authorization: Bearer TOKEN`. The websocket'
    ' `/api/v1/updates` sends JSON: `{"type": "changed", "session": name, "last": n}` when the log has grown or'
    " predictions were made again, `progress` and `note` while a session is made, `session` when one was opened;"
    " `?session=` keeps to one session. It takes nothing."
)


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with who may use each call (``x-permitted``).

    A request that does not fit is answered with 400, not with FastAPI's own 422.
    """
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes)
        for path in schema["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for route, roles in app.state.permissions.declared():
            for operation in schema["paths"].get(route.path, {}).values():
                operation["x-permitted"] = sorted(roles)
        parts = schema["components"]
        for name in ("HTTPValidationError", "ValidationError"):
            parts["schemas"].pop(name, None)
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{}, {"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema


def page(schema: dict[str, Any]) -> str:
    """The description as a page for people; everything in it is escaped, and it needs no network."""
    parts = []
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(path, method, operation))
    info = schema["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,'
        ' initial-scale=1">'
        f'<title>{escape(info["title"])}: API</title><link rel="icon" href="/page/icon.svg"><link rel="stylesheet"'
        ' href="/page/tokens.css">'
        '<link rel="stylesheet" href="/page/base.css"></head><body class="docs"><main>'
        f"<h1>{escape(info['title'])}, version {escape(info['version'])}</h1><p>{_prose(info['description'])}</p>"
        '<p>For machines: <a href="/api/openapi.json">openapi.json</a>. Back to <a href="/">the'
        f" page</a>.</p>{''.join(parts)}"
        "</main></body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{_kind(each['schema'])}</td>"
        f"<td>{escape(each.get('description', ''))}</td></tr>"
        for each in operation.get("parameters", ())
    )
    body = operation.get("requestBody", {}).get("content", {})
    sent = "".join(f"<p>Takes {escape(kind)}: {_kind(content['schema'])}</p>" for kind, content in body.items())
    answers = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td><td>{_content(answer)}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    roles = operation["x-permitted"]
    owner = "" if "onlooker" in roles else f" <b>For {_listed(roles)}.</b>"
    return (
        f"<section><h2><code>{method.upper()}"
        f" {escape(path)}</code></h2><p>{_prose(operation.get('description', ''))}{owner}</p>"
        f"{f'<table>{rows}</table>' if rows else ''}{sent}"
        f"<details><summary>Answers</summary><table>{answers}</table></details></section>"
    )


def _listed(roles: list[str]) -> str:
    """Those who may use a call, in words: the owner first."""
    others = [f"{role}s" for role in roles if role != "owner"]
    return " and ".join(["the owner", *others])


def _content(answer: dict[str, Any]) -> str:
    return ", ".join(
        f"{escape(kind)} {_kind(content.get('schema', {}))}" for kind, content in answer.get("content", {}).items()
    )


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f"<code>{name}</code>"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "from"), ("maximum", "to"), ("default", "default"))
        if key in schema
    ]
    return escape(" ".join([str(schema.get("type", "")), *map(str, bounds)]))


def _prose(text: str) -> str:
    """Escaped text with `code` marked."""
    pieces = escape(text).replace("``", "`").split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))
