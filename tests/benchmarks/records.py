"""Records of two small experiments, as result files hold them."""

from __future__ import annotations

from typing import Any


def result(name: str, micro: float, macro: float = 50.0, paper: dict[str, float] | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "micro_f1": {"mean": micro, "ci95": 0.5},
        "macro_f1": {"mean": macro, "ci95": 0.5},
        "paper": paper,
    }


def lead(second: str, difference: float, p: float | None) -> dict[str, Any]:
    return {"first": "GPA", "second": second, "difference": difference, "corrected_p": p}


def setting(
    graph: str, features: str = "raw", budget: int = 5, gpa: float = 71.04, p: float | None = 0.01
) -> dict[str, Any]:
    results = [
        result("AGE", 70.0, 60.0, {"micro_f1": 70.5, "macro_f1": 63.0}),
        result("AGE, fixed weights", 66.0, 55.0, {"micro_f1": 70.5, "macro_f1": 63.0}),
        result("GPA", gpa, 61.0, {"micro_f1": 72.0, "macro_f1": 62.0}),
        result("k-center", 60.0),
    ]
    leads = [lead("AGE", gpa - 70, p), lead("AGE, fixed weights", gpa - 66, 0.001), lead("k-center", gpa - 60, None)]
    return {"graph": graph, "features": features, "budget": budget, "results": results, "leads": leads}


def record(name: str, *settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"experiment": name, "parts": [{"settings": list(settings)}], **more}


RECORDS = {
    "one": record("one", setting("cora"), setting("pubmed", p=0.2), setting("reddit1", "structural", gpa=65.0)),
    "two": record("two", setting("cora", budget=5, gpa=75.0), setting("cora", budget=9, gpa=68.0)),
}
