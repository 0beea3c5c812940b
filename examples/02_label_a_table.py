"""Label a table of your own.

A data frame becomes a graph: each row is joined to the rows most like it. A session asks about the rows that teach the
most; here an answer key stands in for a person. Every answer is in the session's file, and another process can go on
with it.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine

import nodewise as nw

data = load_wine(as_frame=True)
frame = data.data.assign(id=[f"bottle {i}" for i in range(len(data.data))])
answers = [data.target_names[i] for i in data.target]

graph = nw.Graph.from_dataframe(frame, k=8)
print(graph)

with nw.Session.create("wine.nodewise", graph, budget=12, classes=list(data.target_names)) as session:
    while not session.done:
        query = session.ask()
        session.tell(query.node, answers[query.node])
    report = session.stop_report()
    print(*report.words, sep="\n")
    session.export("labels.csv")

result = pd.read_csv("labels.csv")
print(result[result["label"].notna()].iloc[:4, :4].to_string(index=False))

figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot([point.labels for point in report.curve], [100 * point.confidence for point in report.curve], marker="o")
axes.set(xlabel="labels", ylabel="mean probability of the likeliest class, %", title="How sure the predictions are")
figure.savefig("sure.png", dpi=150)
