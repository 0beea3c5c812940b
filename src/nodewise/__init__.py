"""Which nodes of a graph to label next, so that all others are predicted well from as few labels as possible.

    graph = nw.load_graph("digits")                 a graph by name or file: list_datasets() tells the names
    nw.Graph.from_pyg(data), .from_networkx(g), .from_csv(…), .from_dataframe(…), .from_texts(…), nw.knn_graph(x)
    session = nw.Session.create("job.nodewise", graph, budget=50)
    query = session.ask(); session.tell(query.node, "spam"); session.predict()         Session.open goes on
    fitted = nw.fit(graph, {3: "spam", 17: "ham"})  a nw.Fitted without a session: predict, also new rows; load_fitted
    session = nw.open_studio(frame, text="body")    the same in a browser, from a notebook; session.close() ends it
    job = nw.connect(url, token)                    a job in a studio that runs elsewhere: ask, tell, predict, export
    nw.evaluate(graph, "random", runs=20)           one strategy on a labelled graph; progress=True shows a bar
    nw.compare([graph, "wine"], ["random", mine])   several, on the same splits: to_dataframe(), plot("curves.png")
    policy = nw.train_policy([graph], episodes=200) a nw.Policy of your own; save_policy, load_policy
    nw.Strategy, nw.Classifier                      what one of your own inherits from
    nw.NodewiseError                                all that nodewise refuses: the message says what to do

help(nw.evaluate) tells more about one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodewise.ground.lazy import lazy_names

if TYPE_CHECKING:
    from nodewise.client import connect
    from nodewise.contracts import Classifier, Strategy
    from nodewise.datasets import list_datasets, load_graph
    from nodewise.evaluation.compare import compare
    from nodewise.evaluation.evaluate import evaluate
    from nodewise.fitted import Fitted, fit, load_fitted
    from nodewise.graph import Graph
    from nodewise.graph.knn.knn import knn_graph
    from nodewise.ground.errors import NodewiseError
    from nodewise.policy import Policy, load_policy, save_policy
    from nodewise.session import Session
    from nodewise.studio.notebook import open_studio
    from nodewise.training import train_policy

__version__ = "0.2.0"

__all__ = [
    "Classifier",
    "Fitted",
    "Graph",
    "NodewiseError",
    "Policy",
    "Session",
    "Strategy",
    "__version__",
    "compare",
    "connect",
    "evaluate",
    "fit",
    "knn_graph",
    "list_datasets",
    "load_fitted",
    "load_graph",
    "load_policy",
    "open_studio",
    "save_policy",
    "train_policy",
]

# A room is imported when one of its names is first used, so that `import nodewise` stays light.
if not TYPE_CHECKING:  # so that a checker refuses a misspelt name
    __getattr__ = lazy_names(
        __name__,
        {
            "Classifier": "contracts",
            "Fitted": "fitted",
            "Graph": "graph",
            "NodewiseError": "ground.errors",
            "Policy": "policy",
            "Session": "session",
            "Strategy": "contracts",
            "compare": "evaluation",
            "connect": "client",
            "evaluate": "evaluation",
            "fit": "fitted",
            "knn_graph": "graph",
            "list_datasets": "datasets",
            "load_fitted": "fitted",
            "load_graph": "datasets",
            "load_policy": "policy",
            "open_studio": "studio.notebook",
            "save_policy": "policy",
            "train_policy": "training",
        },
    )


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
