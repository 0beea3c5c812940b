"""Runs the paper's experiments and writes what they give: the result, tables with theirs beside ours, and figures."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodewise.classifiers import Gcn
from nodewise.datasets import load_graph
from nodewise.evaluation.engine import Engine, make_engine
from nodewise.evaluation.task import ChunkStore
from nodewise.experiments.gpa.case_study import case_study_record
from nodewise.experiments.gpa.dataset_table import dataset_record
from nodewise.experiments.gpa.experiments import Experiment, find_experiment
from nodewise.experiments.gpa.figures import draw_figure
from nodewise.experiments.gpa.numbers import paper_statement
from nodewise.experiments.gpa.parts import Arrangement, Prefixed, play_part, settings_of
from nodewise.experiments.gpa.rendering import render
from nodewise.experiments.gpa.statements import budget_statements
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter, Silent, Warned
from nodewise.ground.files import rounded, write_json

__all__ = ["QUICK", "reproduce"]

OTHER_DRAWS = 9
"""Further seeds of the case study, to see how much of a sequence is chance."""

QUICK = (10, 2)
"""Runs of a quick reproduction: on graphs of up to 10,000 nodes, and on larger ones."""


def reproduce(
    name: str,
    out: str | Path,
    *,
    runs: int | None = None,
    quick: bool = False,
    policies: str | Path | None = None,
    data_dir: str | Path | None = None,
    device: str = "auto",
    seed: int = 0,
    classifier: Mapping[str, Any] | None = None,
    engine: Engine | str = "local",
    reporter: Reporter | None = None,
) -> dict[str, Any]:
    """Runs one experiment and writes ``NAME.json``, ``NAME.md`` and, where the paper has a figure, ``NAME.png``.

    What is finished is kept in ``out/chunks``: a second call, or another experiment that needs the same runs, does not
    do them again.

    Args:
        name: one of `EXPERIMENTS`.
        out: the folder for results.
        runs: independent runs; None: the paper's 100.
        quick: at most 10 runs, 2 on graphs above 10,000 nodes; the policies are the same.
        policies: folder of trained policies; None: ``policies`` in the present one, else those that come with nodewise.
        classifier: settings of the GCN that are not the protocol's, such as ``closing_epochs``.
        engine: ``"local"``, ``"ray"``, or an engine of your own.

    Returns:
        The result file's record.

    Raises:
        InputError: nothing of the experiment can be played; says what is missing and the command that makes it.
    """
    experiment, begin = find_experiment(name), time.perf_counter()
    report = reporter or Silent()
    folder = Path(out)
    wanted = runs or int(paper_statement("protocol.runs"))
    small, large = (min(wanted, most) for most in QUICK) if quick else (wanted, wanted)
    used = make_engine(engine)
    used.device(device)
    how = Arrangement(
        small,
        large,
        seed,
        device,
        ChunkStore(folder / "chunks"),
        Prefixed(report, name),
        None if policies is None else Path(policies),
        None if data_dir is None else Path(data_dir),
        Gcn(**(classifier or {})),
        used,
    )
    body = _body(experiment, how)
    missing = [one for part in body.get("parts", []) for one in part["missing"]] + body.get("missing", [])
    for one in missing:
        report(Warned(f"{name}: {one['what']} is left out: {one['why']}"))
    if not any(part["settings"] for part in body.get("parts", [])) and not body.get("rows"):
        raise InputError(
            f"nothing of {name!r} can be played: " + "; ".join(f"{one['what']}: {one['why']}" for one in missing)
        )
    record: dict[str, Any] = rounded(
        {**_head(experiment, how, quick), **body, "seconds": round(time.perf_counter() - begin, 1)}
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / f"{name}.json", record, compact=True)
    (folder / f"{name}.md").write_text(render(record), encoding="utf-8")
    draw_figure(record, folder / f"{name}.png", how.data_dir)
    return record


def _head(experiment: Experiment, how: Arrangement, quick: bool) -> dict[str, Any]:
    import torch

    from nodewise import __version__

    where = make_engine(how.engine).device(how.device)
    name = torch.cuda.get_device_name(where) if where != "cpu" and torch.cuda.is_available() else platform.machine()
    return {
        "schema": 1,
        "kind": "reproduction",
        "nodewise_version": __version__,
        "experiment": experiment.name,
        "title": experiment.title,
        "place": experiment.place,
        "about": experiment.about,
        "figure": experiment.figure,
        "quick": quick,
        "runs": how.runs,
        "large_runs": how.large_runs,
        "seed": how.seed,
        "device": where.partition(":")[0],
        "device_name": name,
        "classifier": how.classifier.identity(),
        "torch": torch.__version__,
        "commit": os.environ.get("NODEWISE_COMMIT"),
    }


def _body(experiment: Experiment, how: Arrangement) -> dict[str, Any]:
    if experiment.kind == "datasets":
        return dataset_record(how.data_dir)
    if experiment.kind == "scores":
        parts = [play_part(part, how) for part in experiment.parts]
        described = (
            budget_statements(parts[0], experiment.name == "budgets")
            if experiment.figure == "budgets" and parts[0]["settings"]
            else []
        )
        return {"parts": parts, **({"statements": described} if described else {})}
    (part,) = experiment.parts
    record = play_part(part, how)
    settings, _ = settings_of(part, how)  # every chunk is there already
    if not settings:
        return {"parts": [record], "sequences": []}
    others = [settings_of(part, replace(how, seed=how.seed + draw))[0][0] for draw in range(1, OTHER_DRAWS + 1)]
    return {
        "parts": [record],
        "sequences": case_study_record(settings[0], load_graph(part.graphs[0], data_dir=how.data_dir), others),
    }
