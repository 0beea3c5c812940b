"""What the closed form reached on each graph: the lines of `closed_form.py` as means, intervals and leads.

They stand in results/closed-form.json by graph and budget, each with the machine and the commit that it was measured
with; `closed_form_page.py` tells them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.ground.files import write_json
from nodewise.strategies import gain

HERE = Path(__file__).parent
HALVES = json.loads((HERE / "halves.json").read_text())
DOMAINS = {
    name: domain for half in ("developed_on", "reported_on") for domain, names in HALVES[half].items() for name in names
}
HALF = {name: half for half in ("developed_on", "reported_on") for names in HALVES[half].values() for name in names}
PER_CLASS = ("1", "2", "5", "10", "20")
VERSIONS = {"fb8ed4c": 3, "e43d045": 3}
"""The version of `gain` at commits whose lines did not tell it; at all others that did not, an older one."""


def interval(values: np.ndarray) -> list[float]:
    return [round(float(values.mean()), 2), round(float(1.96 * values.std(ddof=1) / len(values) ** 0.5), 2)]


def read_lines(files: list[Path]) -> dict[tuple[str, str], dict[str, Any]]:
    """The lines by graph and strategy."""
    return {
        (line["graph"], line["strategy"]): line
        for file in files
        for line in map(json.loads, file.read_text().splitlines())
    }


def read_result(path: Path) -> dict[str, Any]:
    """The result with every machine spelled out where something was measured with it."""
    record = json.loads(path.read_text())
    machines = record.pop("machines", [])
    spelled: dict[str, Any] = _with_machines(record, lambda machine: machines[machine])
    return spelled


def write_result(path: Path, result: dict[str, Any]) -> None:
    """The result with every machine written once, and its number wherever something was measured with it."""
    machines: list[dict[str, Any]] = []

    def number(machine: dict[str, Any]) -> int:
        machines.extend([machine] if machine not in machines else [])
        return machines.index(machine)

    record = _with_machines(result, number)
    write_json(path, {"schema": 1, "machines": machines, **record}, compact=True)


def _with_machines(value: Any, told: Callable[[Any], Any]) -> Any:
    """A record in which every machine is what `told` makes of it."""
    if not isinstance(value, dict):
        return value
    return {
        name: told(part) if name in ("machine", "curve_machine") else _with_machines(part, told)
        for name, part in value.items()
    }


def over_copies(lines: dict[tuple[str, str], dict[str, Any]], name: str) -> dict[str, Any]:
    """Means over a graph's copies by budget, with intervals over copies."""
    own = {strategy: line for (graph, strategy), line in lines.items() if graph == name}
    if not {"gain", "random"} <= own.keys():
        return {}
    budgets, found = sorted(map(int, own["gain"]["budgets"])), {}
    for per in PER_CLASS:
        if (budget := str(budgets[0] * int(per))) in own["gain"]["budgets"]:
            scores = {s: np.array(line["budgets"][budget]["micro_f1"]) for s, line in own.items()}
            found[per] = {
                **{s: interval(v) for s, v in scores.items()},
                "lead": interval(scores["gain"] - scores["random"]),
                "machine": named(own["gain"]["machine"]),
            }
    return {"number": own["gain"]["copies"], "runs": own["gain"]["runs"], "at": found}


def summary(files: list[Path], copies: list[Path], before: dict[str, Any]) -> dict[str, Any]:
    """Means with 95 % intervals by graph, budget and strategy, and the paired leads of gain over random choice.

    What was measured before stays where no line is newer.
    """
    lines, copied, graphs = read_lines(files), read_lines(copies), dict(before["graphs"])
    for name in DOMAINS:
        own = {strategy: line for (graph, strategy), line in lines.items() if graph == name}
        record: dict[str, Any] = dict(graphs.get(name, {}))
        if {"gain", "random"} <= own.keys():
            measured = of_graph(name, own)
            at = {**record.get("at", {}), **measured["at"]}
            curves = [one["curve"]["gain"] for one in (record, measured) if "curve" in one]
            if len(curves) == 2 and len(curves[1]) < len(curves[0]):  # a longer one is there
                del measured["curve"], measured["area"], measured["curve_machine"]
            record |= {**measured, "at": {per: at[per] for per in PER_CLASS if per in at}}
        if of_copies := over_copies(copied, name):
            record["copies"] = {**of_copies, "at": {**copied_at(record), **of_copies["at"]}}
        if record:
            graphs[name] = record
    return {**before, "graphs": {name: graphs[name] for name in DOMAINS if name in graphs}}


def of_graph(name: str, own: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the lines of one graph's strategies say."""
    budgets = sorted(map(int, own["gain"]["budgets"]))
    record: dict[str, Any] = {
        "nodes": own["gain"]["nodes"],
        "classes": own["gain"]["classes"],
        "half": HALF[name],
        "domain": DOMAINS[name],
        "at": {},
    }
    for per in PER_CLASS:
        budget = str(budgets[0] * int(per))
        if budget not in own["gain"]["budgets"]:
            continue
        scores = {
            s: np.array(line["budgets"][budget]["micro_f1"]) for s, line in own.items() if budget in line["budgets"]
        }
        macro = np.array(own["gain"]["budgets"][budget]["macro_f1"])
        record["at"][per] = {
            "labels": int(budget),
            "micro_f1": {s: interval(values) for s, values in scores.items()},
            "macro_f1_gain": interval(macro),
            "lead": interval(scores["gain"] - scores["random"]),
            "runs": {s: len(values) for s, values in scores.items()},
            "machine": named(own["gain"]["machine"]),
        }
    if len(budgets) > 2:  # the first two labels a class alone are no curve
        areas = {s: area(own[s]) for s in ("gain", "random")}
        record["area"] = {
            **{s: interval(values) for s, values in areas.items()},
            "lead": interval(areas["gain"] - areas["random"]),
        }
        record["curve"] = {
            s: {str(b): round(float(np.mean(own[s]["budgets"][str(b)]["micro_f1"])), 2) for b in budgets} for s in areas
        }
        record["curve_machine"] = named(own["gain"]["machine"])
    return record


def named(machine: dict[str, Any]) -> dict[str, Any]:
    """What a table says of a machine: its GPU or else its CPU, the commit, and the version of `gain`."""
    kept = ("gpu" if "gpu" in machine else "cpu", "commit", "gain")
    return {name: machine[name] for name in kept if name in machine}


def is_older(machine: dict[str, Any]) -> bool:
    """Whether something was measured with an older version of `gain` than today's."""
    return machine.get("gain", VERSIONS.get(machine["commit"], 0)) != gain.Gain.version


def machine_of(result: dict[str, Any], record: dict[str, Any], at: dict[str, Any]) -> dict[str, Any]:
    """What a graph's figure at one budget was measured with."""
    found: dict[str, Any] = at.get("machine", record.get("machine", result["machine"]))
    return found


def area(line: dict[str, Any]) -> np.ndarray:
    """The mean Micro-F1 of each run over the number of labels, from the first budget to the last.

    The area under the curve, by trapezia.
    """
    counts = sorted(map(int, line["budgets"]))
    scores = np.array([line["budgets"][str(count)]["micro_f1"] for count in counts])
    result: np.ndarray = np.trapezoid(scores, counts, axis=0) / (counts[-1] - counts[0])
    return result


def rows_at(result: dict[str, Any], per: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for name, record in result["graphs"].items():
        if per in record["at"]:
            yield name, record, record["at"][per]


def copied_at(record: dict[str, Any]) -> dict[str, Any]:
    """What a graph's copies gave, by labels a class."""
    found: dict[str, Any] = record.get("copies", {}).get("at", {})
    return found


def scores_at(result: dict[str, Any], name: str, labels: str) -> dict[str, Any]:
    """What both strategies reached on a graph with so many labels, as newly measured as can be; nothing if never."""
    record = result["graphs"].get(name, {"at": {}})
    for at in record["at"].values():
        if str(at["labels"]) == labels and not is_older(machine_of(result, record, at)):
            return {"older": False, **{who: at["micro_f1"][who][0] for who in ("gain", "random")}}
    curve = record.get("curve", {})
    if labels not in curve.get("gain", {}):
        return {}
    older = "curve_machine" not in record or is_older(record["curve_machine"])
    return {"older": older, **{who: curve[who][labels] for who in ("gain", "random")}}
