"""The API against its own description, with random input that fits and that does not: every answer is a documented
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")
schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: pip install schemathesis")

from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance  # noqa: E402

from nodewise.studio import StudioSettings, create_app  # noqa: E402
from nodewise.studio.api.documentation import describe  # noqa: E402
from tests.session.jobs import small_job  # noqa: E402
from tests.studio.serving import Client, running  # noqa: E402

pytestmark = pytest.mark.slow

EXCLUDED = [positive_data_acceptance]
"""A description cannot tell that a table must have columns or that a name must be printable; what does not fit is
refused with a sentence.
"""
TEXTS = ("/suggestions/preview",)
"""A form of texts alone, which is answered whatever they say: a form makes a text of every value, and leaves out what
is empty, so hardly any is wrong.
"""
EXAMPLES = 25
"""Random requests of each kind for each operation."""
NODES = 60
PLAIN = (
    "/people",
    "/people/report",
    *("/studio", "/session/settings", "/jobs", "/status", "/settings"),
    *("/map", "/map/colours", "/report", "/backup", "/disagreements"),
)
"""What takes no input, so that none can be wrong."""
RARE = (
    "/preview",
    "/session",
    "/session/open",
    "/nodes/{node}/picture",
    "/classes/rename",
    "/classes/merge",
    "/classes/order",
    "/settle",
    "/suggestions",
    "/suggestions/preview",
    "/suggestions/bring",
    "/suggestions/withdraw",
    "/jobs/duplicate",
    "/jobs/archive",
    "/jobs/restore",
    "/people",
    "/people/revoke",
    "/rows",
    "/rows/change",
    "/rows/predict",
    "/rows/preview",
    "/join",
    "/join/preview",
    "/session/backup",
)
"""What random input hardly ever fits: a table, the name of a session, a node with a picture, a class of the job."""
OPERATIONS = [
    *[("GET", path) for path in PLAIN],
    *[
        ("GET", path)
        for path in (
            "/nodes",
            "/nodes/{node}",
            "/nodes/{node}/picture",
            "/nodes/{node}/neighbourhood",
            "/nodes/{node}/similar",
            "/events",
            "/export/{form}",
            "/table",
            "/suggestions",
            "/known",
        )
    ],
    *[
        ("POST", path)
        for path in (
            "/preview",
            "/session",
            "/session/open",
            "/cancel",
            "/jobs/duplicate",
            "/jobs/archive",
            "/jobs/restore",
            "/settle",
            "/redundancy",
            "/ask",
            "/tell",
            "/bulk",
            "/skip",
            "/undo",
            "/notes",
            "/suggestions",
            "/suggestions/preview",
            "/suggestions/bring",
            "/suggestions/withdraw",
            "/release",
            "/people",
            "/people/revoke",
            "/rows",
            "/rows/change",
            "/rows/predict",
            "/rows/preview",
            "/rows/remove",
            "/join",
            "/join/preview",
            "/session/backup",
            "/assign",
            "/known",
            "/table/act",
        )
    ],
    *[
        ("POST", path)
        for path in ("/classes", "/classes/rename", "/classes/merge", "/classes/describe", "/classes/order", "/budget")
    ],
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A studio with a session that knows some labels."""
    folder = tmp_path_factory.mktemp("studio")
    session = small_job(folder / "job.nodewise", budget=50)
    session.tell([0, 1, 2, 59, 58], ["a", "a", "a", "b", "b"])
    with running(folder, session, upload_bytes=2**20) as found:
        yield found


@pytest.fixture(scope="module")
def schemas(client: Client) -> dict[str, Any]:
    """The description that requests are made from: where they are to fit, numbers are near those that there are."""
    found = httpx.get(f"{client.base_url}/api/openapi.json", timeout=120).raise_for_status().json()
    return {
        mode: schemathesis.openapi.from_dict(adapted(found, mode == "positive")) for mode in ("positive", "negative")
    }


def adapted(part: Any, near: bool) -> Any:
    """The same description with arrays in place of tuples, which schemathesis cannot check in answers; with ``near``,
    with smaller bounds.
    """
    if isinstance(part, list):
        return [adapted(each, near) for each in part]
    if not isinstance(part, dict):
        return part
    made = {key: adapted(value, near) for key, value in part.items()}
    if near and made.get("maximum") == 2**53 - 1:
        made["maximum"] = NODES + 10
    if near and made.get("description", "").startswith("which session"):  # one that there is
        made |= (
            {"schema": {"type": "string", "enum": ["job"]}}
            if "schema" in made
            else {"anyOf": [{"type": "string", "enum": ["job"]}]}
        )
    if "prefixItems" in made:
        made["items"] = {"anyOf": made.pop("prefixItems")}
    return made


def test_every_operation_is_listed_here(tmp_path: Path) -> None:
    app: Any = create_app(StudioSettings(folder=tmp_path))
    there = {(method.upper(), path) for path, each in describe(app.app)["paths"].items() for method in each}
    assert there == {(method, f"/api/v1{path}") for method, path in OPERATIONS}


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        (method, path, mode)
        for method, path in OPERATIONS
        for mode in ("positive", "negative")
        if mode == "positive" or path not in PLAIN
    ],
)
def test_random_input_gets_a_documented_answer(
    client: Client, schemas: dict[str, Any], method: str, path: str, mode: str
) -> None:
    """No 500 and no answer that the description does not know: its status, its type, its headers, its form."""
    operation = schemas[mode][f"/api/v1{path}"][method]
    statuses: dict[int, int] = {}

    @seed(0)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)))
    def try_it(case: Any) -> None:
        response = case.call(base_url=str(client.base_url))
        statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
        assert response.status_code not in {408, 500, 502, 504}, response.text
        excluded = [*EXCLUDED, negative_data_rejection] if path in TEXTS else EXCLUDED
        case.validate_response(response, excluded_checks=excluded)

    try_it()
    if mode == "positive" and path not in RARE:
        assert any(200 <= status < 300 for status in statuses), "nothing was accepted, so little was tried"
