"""A strategy of your own.

It gives every node a score for every run; the largest in the pool is asked. This one asks where the two likeliest
classes are closest. The check says whether it keeps the contract that everything else relies on.
"""

import torch

import nodewise as nw
from nodewise.testing import check_strategy


class Closest(nw.Strategy):
    """Asks the node whose two likeliest classes are closest."""

    name, stateless, reads_budget = "closest", True, False

    def scores(self, observation):
        """The smaller the margin, the more a node is wanted; noise chooses among equals."""
        if observation.num_classes < 2:
            return observation.noise
        first, second = torch.topk(observation.probabilities, 2, dim=-1).values.unbind(-1)
        return second - first + 1e-6 * observation.noise


if __name__ == "__main__":
    table = nw.compare("wine", ["random", Closest()], classifiers="gcn", budgets=[6, 9, 12], runs=6)
    print(table.to_dataframe()[["budget", "name", "micro_f1", "micro_f1_ci95", "best"]].to_string(index=False))
    table.plot("closest.png")
    check_strategy(Closest)
