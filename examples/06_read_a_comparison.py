"""Read a comparison: intervals, paired tests, ranks.

Runs differ much from split to split; the same splits for all strategies make differences far surer than the means
alone. `against_best` holds the paired tests, corrected for how many were made; `ranking` sets strategies in order over
graphs.
"""

import nodewise as nw

table = nw.compare(
    ["wine", "breast-cancer"], ["random", "centrality", "uncertainty"], classifiers="gcn", budgets=8, runs=8
)
print(table)
for setting in table.settings:
    for test in setting.against_best():
        print(
            f"{setting.graph}: {test.first} leads {test.second} by {test.difference} points, "
            f"wins {test.win_rate:.0%} of runs, p = {test.corrected_p:.3f} after Holm's correction"
        )
ranking = table.ranking()
print("average ranks:", {name: round(rank, 2) for name, rank in ranking.ranks.items()})
table.plot("means.png")
