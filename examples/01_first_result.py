"""A first result: which handwritten digits to label.

1,797 pictures of digits, each joined to those nearest to it. A strategy chooses which to label, a classifier learns
from them, and the other pictures are scored. Every strategy meets the same splits, so that their differences can be
tested run by run.
"""

import nodewise as nw

graph = nw.load_graph("digits")
print(graph)

table = nw.compare(graph, ["gain", "random"], budgets=[10, 20, 30], runs=6)
print(table)
table.plot("curves.png")
