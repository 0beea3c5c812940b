"""Whether the constants of `views` and `gain` are still the best with thirteen views, and whether each view is needed:
one change at a time, chosen by a rule that came first and confirmed on copies that had no part in the choice.

    python benchmarks/constants.py --device cuda --jobs 14 [--runs 100] [--rows build/constants.json]

What the file of rows holds is not played again, so the same command goes on. What the rule looks at is written to
benchmarks/results/constants.json.

Most constants were chosen with ten or eleven views, 50 runs and two copies of 18 graphs (sweeps 1 to 6).

**The rule.** It was written and committed before any of the forms was played.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes and the generated kinds
  on which hardly anything can be learned; four copies or seeds that no search has used for the choice (`FIRST`), four
  others to confirm it (`SECOND`). 1, 2, 5 and 10 labels a class, Micro-F1 on test nodes, the same splits for all.
- `CONSTANTS`: another value of one constant. `LEFT_OUT`: one view less. `ADDED`: one view, or two, more.
- J of a graph is (2 × Micro-F1 at 5 + at 1 + at 2 labels a class) / 4, the mean of that after `gain`, asking with the
  form, and after random choice; a form's score is the mean of its lead over the real domains, over what there is.
- A constant or an added view passes if its score is at least 0.1, its lead over graphs and copies above 0 by the 95 %
  interval, and no domain, generated kinds among them, is more than 0.5 behind.
- A view may be left out if its score is above −0.02, the interval over graphs and copies does not lie below 0, and no
  domain is more than 0.3 behind: fewer views are faster.
- Of what passes, the best constant, the best added view, the best view to leave out, and all of these together are
  played on the second copies. Taken is what holds there by the same bounds, the highest score first; of what holds
  within 0.05 of it the one with fewest views.
- What is taken is measured once on the graphs that are reported on, whatever comes out.

**What became of it.** Trying the script out had shown other copies (52 to 59) of three graphs, with two runs; `FIRST`
and `SECOND` are later ones. The view *kin* was left out. `kin_forms.py` goes on from there.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import budgets_of
from machine import describe_machine
from more_views import FAR, NEAR, PER_CLASS, WORTH, Given, added, by_labels, diffused, judged, rare_features
from together import kept_rows, played_on, write_rows

from nodewise.classifiers.views import posterior
from nodewise.classifiers.views import views as views_module
from nodewise.classifiers.views.construction import GraphViews, make_views, unit_features
from nodewise.classifiers.views.products import mean_row, scipy_matrix, symmetric_propagation
from nodewise.evaluation import compare
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json
from nodewise.strategies import gain

FIRST, SECOND = (60, 61, 62, 63), (64, 65, 66, 67)
CONSTANTS: dict[str, tuple[Any, str, Any]] = {
    "sharpness 5": (posterior, "_SHARPNESS", 5.0),
    "sharpness 6": (posterior, "_SHARPNESS", 6.0),
    "sharpness 12": (posterior, "_SHARPNESS", 12.0),
    "ramp 5": (posterior, "_RAMP", 5.0),
    "ramp 20": (posterior, "_RAMP", 20.0),
    "shrink 5": (posterior, "_SHRINK", 5.0),
    "shrink 20": (posterior, "_SHRINK", 20.0),
    "loss 2": (posterior, "_VOTE", 2.0),
    "loss 3.5": (posterior, "_VOTE", 3.5),
    "three views": (gain, "_VIEWS", 3),
    "six views": (gain, "_VIEWS", 6),
    "eight views": (gain, "_VIEWS", 8),
    "undecided at 4": (gain, "_TEMPERATURE", 4.0),
    "undecided at 9": (gain, "_TEMPERATURE", 9.0),
    "expected error three a class": (gain, "_EARLY", 3),
    "expected error of 16": (gain, "_CANDIDATES", 16),
}
LEFT_OUT = ("near", "far", "farther", "farthest", "walk", "two hops", "layers", "own", "kin", "kin near", "role")
ADDED = ("rarity", "centred")
KINDS = (tuple(CONSTANTS), ADDED, tuple(f"without {name}" for name in LEFT_OUT))


def without(views: GraphViews, names: Iterable[str]) -> GraphViews:
    """The views but some."""
    stay = [number for number, name in enumerate(views.names) if name not in names]
    return GraphViews(tuple(views.names[number] for number in stay), views.columns[:, stay].contiguous())


def more(graph: Graph, tensors: GraphTensors, form: str) -> dict[str, np.ndarray]:
    """The views that a form adds."""
    adjacency = scipy_matrix(tensors.adjacency)
    if not adjacency.nnz:
        return {}
    step = symmetric_propagation(adjacency)
    if form == "rarity":
        return {"near rare": diffused(step, rare_features(graph), NEAR, False)}
    x = unit_features(tensors)
    x = x - mean_row(x)
    return {name: diffused(step, x, how, True) for name, how in (("near centred", NEAR), ("far centred", FAR))}


def views_of(form: str, graph: Graph, tensors: GraphTensors, views: GraphViews) -> GraphViews | None:
    """The views in a form, of several parts, too; None where they are those that there are."""
    parts = form.split(" + ")
    gone = {part.removeprefix("without ") for part in parts if part.startswith("without ")}
    found = without(views, gone) if gone & set(views.names) and len(views.names) > 2 else views
    if tensors.has_features:
        for part in set(parts) & set(ADDED):
            extra = more(graph, tensors, part)
            found = added(found, extra) if extra else found
    return None if found is views else found


def scored(graph: Graph, views: GraphViews, form: str, runs: int, device: str) -> Iterator[dict[str, Any]]:
    """Micro-F1 of `gain` and of random choice with these views, by labels a class."""
    budgets = budgets_of(graph, PER_CLASS)
    found = compare(
        graph, ["gain", "random"], classifiers=[Given(form, views)], budgets=budgets, runs=runs, device=device
    )
    for per, setting in zip(PER_CLASS, found.settings, strict=False):
        ours, by_chance = (round(float(each.micro_f1.mean()), 3) for each in setting.outcomes.values())
        yield {"form": form, "per_class": per, "gain": ours, "random": by_chance}


def measured(graph: Graph, forms: Iterable[str], runs: int, device: str) -> Iterator[dict[str, Any]]:
    """One graph in all forms; where a form changes nothing it has no row."""
    views_module._TRIED = 16  # as many as the kernels have room for
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    there = views.to(torch.device(device), torch.float32)
    for form in forms:
        others = views_of(form, graph, tensors, views)
        changed = [CONSTANTS[part] for part in form.split(" + ") if part in CONSTANTS]
        if others is None and not changed and form != "as it is":
            continue
        kept = [(module, name, getattr(module, name)) for module, name, _ in changed]
        try:
            for module, name, value in changed:
                setattr(module, name, value)
            using = there if others is None else others.to(torch.device(device), torch.float32)
            yield from scored(graph, using, form, runs, device)
        finally:
            for module, name, value in kept:
                setattr(module, name, value)


@lru_cache
def games(copy: int) -> list[tuple[str, str, Any]]:
    """Domain, name and graph of everything that is played of a copy."""
    return list(played_on(copy))


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    domain, name, make = games(copy)[number]
    return domain, name, list(measured(make(), forms, runs, device))


def passes(form: str, score: dict[str, Any]) -> bool:
    """Whether a form is within the rule's bounds; one with any part that is added or changed by those of that kind."""
    mean, half = score["over_graphs"] or (0.0, 0.0)
    if all(part.startswith("without ") for part in form.split(" + ")):
        return bool(score["lead"] > -0.02 and mean + half >= 0 and score["worst"] >= -0.3)
    return bool(score["lead"] >= 0.1 and mean - half > 0 and score["worst"] >= -0.5)


def chosen(scores: Iterable[dict[str, Any]], kinds: Iterable[Iterable[str]]) -> list[str]:
    """What is played on the second copies: the best of each kind that passes, and these together."""
    leads = {score["form"]: score["lead"] for score in scores if score["passes"]}
    best = [max(own, key=lambda form: leads[form]) for kind in kinds if (own := [one for one in kind if one in leads])]
    return [*best, " + ".join(best)] if len(best) > 1 else best


def told(rows: list[dict[str, Any]], forms: Iterable[str]) -> list[dict[str, Any]]:
    """What the rule looks at, form by form."""
    scores = [judged(rows, form, WORTH, (0.5, 0.5)) | {"at": by_labels(rows, form)} for form in forms]
    return [score | {"passes": passes(score["form"], score)} for score in scores]


Play = Callable[[int, int, tuple[str, ...], int, str], tuple[str, str, list[Any]]]


def search(
    about: str | None, name: str, play: Play, copies: tuple[tuple[int, ...], ...], kinds: tuple[tuple[str, ...], ...]
) -> None:
    """Play all forms on the first copies, what the rule chooses on the second, and write what it looks at.

    Args:
        about: the script's own words; name: of the benchmark and its result; play: plays one graph of a copy.
        copies: the first and the second ones; kinds: the forms, by what they are compared with.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--graphs", help="by name, with commas; all without it")
    parser.add_argument("--rows", type=Path, default=Path(f"build/{name}.json"))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / f"{name}.json")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    machines, rows = kept_rows(given.rows)
    machine = describe_machine(given.device)
    record: dict[str, Any] = {"schema": 1, "benchmark": name, "seed": 0, "runs": given.runs}
    forms = ("as it is", *(form for kind in kinds for form in kind))
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for part, numbers in zip(("first", "second"), copies, strict=True):
            done = {(row["graph"], row["copy"]) for row in rows}
            wanted = [
                (copy, number)
                for copy in numbers
                for number, (_, graph, _) in enumerate(games(copy))
                if (graph, copy) not in done and (given.graphs is None or graph in given.graphs.split(","))
            ]
            waiting = {pool.submit(play, *one, forms, given.runs, given.device): one for one in wanted}
            for future in as_completed(waiting):
                domain, graph, found = future.result()
                rows += [{"graph": graph, "domain": domain, "copy": waiting[future][0], **row} for row in found]
                machines += [machine] if machine not in machines else []
                write_rows(given.rows, {**record, "machines": machines}, rows)
            record[part] = told([row for row in rows if row["copy"] in numbers], forms[1:])
            for score in record[part]:
                print(part, {key: value for key, value in score.items() if key != "domains"}, flush=True)
            write_json(given.out, {**record, "machines": machines}, compact=True)
            forms = ("as it is", *chosen(record["first"], kinds))
            if len(forms) == 1:
                break


if __name__ == "__main__":
    search(__doc__, "constants", play, (FIRST, SECOND), KINDS)
