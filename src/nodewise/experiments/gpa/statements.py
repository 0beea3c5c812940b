"""What the text says of the figure on budgets, beside what we find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodewise.experiments.gpa.numbers import paper_statements

__all__ = ["budget_statements"]

BASELINES = ("random", "uncertainty", "centrality", "coreset", "AGE", "ANRMAB")
"""The paper's six."""


def budget_statements(part: Mapping[str, Any], beside: bool) -> list[dict[str, Any]]:
    """How many labels GPA needs to reach what random selection and AGE reach with the largest budget, and what half of
    it is worth.

    Args:
        part: the part's record, one setting for each budget.
        beside: whether the paper's text says it for these budgets.
    """
    means = {
        setting["budget"]: {r["name"]: r["micro_f1"]["mean"] for r in setting["results"]}
        for setting in part["settings"]
    }
    largest = max(means)
    printed = paper_statements() if beside else {}
    statements = []
    for name, key in (("random", "random"), ("AGE", "age")):
        reached = means[largest].get(name)
        if reached is None:
            continue
        enough = [budget for budget, scores in sorted(means.items()) if scores.get("GPA", float("-inf")) >= reached]
        for statement, ours, what in (
            (f"budgets.{key}-at-100", round(reached, 2), f"Micro-F1 of {name} with {largest} labels"),
            (
                f"budgets.gpa-as-{key}-at-100",
                enough[0] if enough else None,
                f"labels with which GPA reaches what {name} reaches with {largest}",
            ),
        ):
            statements.append(
                {"what": what, "paper": printed[statement].value if statement in printed else None, "ours": ours}
            )
    half = means.get(largest // 2, {}).get("GPA")
    rivals = [means[largest][name] for name in BASELINES if name in means[largest]]
    if half is not None and rivals:
        statements.append(
            {
                "what": f"baselines with {largest} labels that GPA is above with {largest // 2}",
                "paper": printed["budgets.gpa-at-50-above"].value if beside else None,
                "ours": f"{sum(half > rival for rival in rivals)} of {len(rivals)}",
            }
        )
    return statements
