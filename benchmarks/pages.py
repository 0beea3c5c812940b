"""Writes every page whose figures come from result files anew: README's table and the pages of docs/.

    python benchmarks/pages.py [docs/scale.md …]

Nothing is measured: whoever has measured puts the result into benchmarks/results and calls this. A test holds the pages
to it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What is written -> the arguments of Python that write it.
PAGES: dict[str, list[str]] = {
    "SECURITY.md": ["benchmarks/campaigns.py", "--page"],
    "docs/benchmark.md": ["benchmarks/benchmark_page.py"],
    "docs/closed-form.md": ["-m", "benchmarks.closed_form_page"],  # README.md's table, too
    "docs/closed-form-search.md": ["-m", "benchmarks.closed_form_search_page"],
    "docs/graphs.md": ["-m", "benchmarks.graphs_page"],
    "docs/limits.md": ["benchmarks/limits_page.py"],
    "docs/methods.md": ["benchmarks/printed_figures.py", "--page"],
    "docs/outlook.md": ["benchmarks/outlook_page.py"],
    "docs/policies.md": ["benchmarks/policies_page.py"],
    "docs/reproduction/index.md": ["-m", "benchmarks.reproduction_page"],  # its folder, departures.md and figures/, too
    "docs/several-labels.md": ["benchmarks/several_labels.py", "--page"],
    "docs/scale.md": ["benchmarks/scale_page.py"],
    "docs/speed.md": ["benchmarks/speed_page.py"],
    "docs/studio.md": ["benchmarks/studio_page.py"],
    "docs/guides/fitted.md": ["benchmarks/new_rows.py", "--page"],
    "docs/guides/relations.md": ["-m", "benchmarks.relations", "--page"],
    "docs/guides/suggestions.md": ["benchmarks/suggestions.py", "--page"],
    "docs/guides/trust.md": ["benchmarks/trust.py", "--page"],
    "docs/session.md": ["benchmarks/session.py", "table", "--out", "docs/session.md"],
    "docs/installs.md": ["benchmarks/clean_installs.py", "--page"],
}


def main(wanted: list[str]) -> None:
    """Runs the commands, in a folder that holds benchmarks/, docs/ and README.md."""
    unknown = [page for page in wanted if page not in PAGES]
    if unknown:
        sys.exit(f"{unknown[0]} is not made from results: name {', '.join(PAGES)}")
    for page in wanted or PAGES:
        print(page, flush=True)
        subprocess.run([sys.executable, *PAGES[page]], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
