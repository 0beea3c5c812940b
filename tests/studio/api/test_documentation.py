"""The API's description is exact, and can be read without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.studio.serving import Client, running

PATHS = {
    "/api/v1/studio": {"get"},
    "/api/v1/preview": {"post"},
    "/api/v1/session": {"post"},
    "/api/v1/session/open": {"post"},
    "/api/v1/session/settings": {"get"},
    "/api/v1/cancel": {"post"},
    "/api/v1/jobs": {"get"},
    "/api/v1/jobs/duplicate": {"post"},
    "/api/v1/jobs/archive": {"post"},
    "/api/v1/jobs/restore": {"post"},
    "/api/v1/settings": {"get"},
    "/api/v1/people": {"get", "post"},
    "/api/v1/people/revoke": {"post"},
    "/api/v1/people/report": {"get"},
    "/api/v1/assign": {"post"},
    "/api/v1/disagreements": {"get"},
    "/api/v1/settle": {"post"},
    "/api/v1/redundancy": {"post"},
    "/api/v1/status": {"get"},
    "/api/v1/ask": {"post"},
    "/api/v1/tell": {"post"},
    "/api/v1/skip": {"post"},
    "/api/v1/undo": {"post"},
    "/api/v1/bulk": {"post"},
    "/api/v1/notes": {"post"},
    "/api/v1/suggestions": {"get", "post"},
    "/api/v1/release": {"post"},
    "/api/v1/classes": {"post"},
    "/api/v1/classes/rename": {"post"},
    "/api/v1/classes/merge": {"post"},
    "/api/v1/classes/describe": {"post"},
    "/api/v1/classes/order": {"post"},
    "/api/v1/budget": {"post"},
    "/api/v1/table": {"get"},
    "/api/v1/table/act": {"post"},
    "/api/v1/nodes": {"get"},
    "/api/v1/nodes/{node}": {"get"},
    "/api/v1/nodes/{node}/picture": {"get"},
    "/api/v1/nodes/{node}/neighbourhood": {"get"},
    "/api/v1/nodes/{node}/similar": {"get"},
    "/api/v1/map": {"get"},
    "/api/v1/map/colours": {"get"},
    "/api/v1/report": {"get"},
    "/api/v1/events": {"get"},
    "/api/v1/export/{form}": {"get"},
    "/api/v1/backup": {"get"},
    "/api/v1/rows/remove": {"post"},
    "/api/v1/rows/preview": {"post"},
    "/api/v1/rows": {"post"},
    "/api/v1/rows/change": {"post"},
    "/api/v1/rows/predict": {"post"},
    "/api/v1/join/preview": {"post"},
    "/api/v1/join": {"post"},
    "/api/v1/session/backup": {"post"},
    "/api/v1/suggestions/withdraw": {"post"},
    "/api/v1/suggestions/preview": {"post"},
    "/api/v1/suggestions/bring": {"post"},
    "/api/v1/known": {"get", "post"},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(tmp_path_factory.mktemp("studio")) as client:
        yield client


@pytest.fixture(scope="module")
def described(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/openapi.json").json()
    return found


def test_every_route_is_described(described: dict[str, Any]) -> None:
    assert {path: set(operations) for path, operations in described["paths"].items()} == PATHS
    titles = {operation["summary"] for each in described["paths"].values() for operation in each.values()}
    assert {"Preview Upload", "Similar", "Tell"} < titles


def test_every_route_tells_who_may_use_it(client: Client, described: dict[str, Any]) -> None:
    told = {path: operation["x-permitted"] for path, each in described["paths"].items() for operation in each.values()}
    assert told["/api/v1/tell"] == ["annotator", "owner"] and told["/api/v1/settle"] == ["owner", "reviewer"]
    every = [operation["x-permitted"] for each in described["paths"].values() for operation in each.values()]
    owners = sum(roles == ["owner"] for roles in every)
    assert client.get("/api/docs").text.count("For the owner.") == owners >= 15


def test_every_route_tells_what_it_may_refuse(described: dict[str, Any]) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["description"] and {"400", "401", "403", "413", "503"} <= set(operation["responses"]), path
            assert "422" not in operation["responses"]
            assert method == "get" or "415" in operation["responses"]
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    schema = answer["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
                    assert schema in ("Failure", "Typo")
    assert "HTTPValidationError" not in described["components"]["schemas"]


def test_everything_that_is_taken_has_bounds(described: dict[str, Any]) -> None:
    def bounded(schema: dict[str, Any], where: str) -> None:
        if "$ref" in schema:
            schema = described["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        for each in schema.get("anyOf", ()):
            bounded(each, where)
        kind = schema.get("type")
        if (
            kind == "string"
            and "enum" not in schema
            and "contentMediaType" not in schema
            and schema.get("format") != "binary"
        ):
            assert "maxLength" in schema, where
        if kind == "integer":
            assert "minimum" in schema and "maximum" in schema, where
        if kind == "array":
            assert "maxItems" in schema, where
            bounded(schema["items"], where)
        for name, part in schema.get("properties", {}).items():
            bounded(part, f"{where}.{name}")

    for path, operations in described["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                bounded(parameter["schema"], f"{path}?{parameter['name']}")
            for content in operation.get("requestBody", {}).get("content", {}).values():
                bounded(content["schema"], path)


def test_the_page_lists_every_route_and_needs_nothing_from_elsewhere(client: Client) -> None:
    answer = client.get("/api/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for path in PATHS:
        assert path in answer.text
    assert "<script" not in answer.text and "style=" not in answer.text
    linked = re.findall(r'(?:href|src)="([^"]+)"', answer.text)
    assert linked and all(link.startswith("/") and not link.startswith("//") for link in linked)
    assert client.get("/page/tokens.css").status_code == 200


def test_what_is_not_there_is_told_as_json(client: Client) -> None:
    answer = client.get("/api/v1/nothing")
    assert answer.status_code == 404 and answer.json() == {
        "error": "there is nothing at /api/v1/nothing: see /api/docs for what there is"
    }
    answer = client.get("/api/v1/ask")
    assert answer.status_code == 405 and "GET is not possible at /api/v1/ask" in answer.json()["error"]


@pytest.mark.parametrize(
    "path", ["/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd", "/page/"]
)
def test_nothing_but_the_page_is_served(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404) and "create_app" not in answer.text and "root:" not in answer.text


def test_the_pages_are_there(client: Client) -> None:
    assert client.get("/new").status_code == 200
    assert client.get("/", follow_redirects=False).status_code == 303
    assert Path(client.get("/new").url.path).name == "new"
