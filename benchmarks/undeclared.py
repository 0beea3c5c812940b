"""A class that nobody declared: how many questions until one of its rows is asked.

With `gain` alone, and with a question now and then where the learner's views say "unlike everything labelled".

    python benchmarks/undeclared.py [--seeds 5]

Texts are drawn: 800 of 8 to 15 words, a third of them words of their topic; eight topics are declared, a ninth is not.
``far``: five rows with words of their own; ``near``: 16 rows that take half of these words from a declared topic. The
rule that is tried: from the 13th question on, every fifth goes to the row with the largest share of its prior variance
unexplained by the labels, Σ_v w_v zᵀ M_v z / zᵀ z over the views v with their weights w, M = (I + Zᵀ Z / r)⁻¹.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from machine import write_record

from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session

RESULTS = Path(__file__).parent / "results" / "undeclared.json"
TOPICS, ROWS, QUESTIONS = 8, 800, 70
HIDDEN = {"far": (5, 0.0), "near": (16, 0.5)}


def write_texts(kind: str, seed: int) -> tuple[list[str], list[int]]:
    """Texts and their topics; the last topic is the one that nobody declares."""
    generator = np.random.default_rng(seed)
    hidden, borrowed = HIDDEN[kind]
    texts, topics = [], []
    for number in generator.permutation(ROWS).tolist():
        topic = TOPICS if number < hidden else int(generator.integers(TOPICS))
        words = []
        for _ in range(int(generator.integers(8, 16))):
            if generator.random() < 0.35:
                own = 0 if topic == TOPICS and generator.random() < borrowed else topic
                words.append(f"topic{own}word{generator.integers(40)}")
            else:
                words.append(f"word{generator.integers(200)}")
        texts.append(" ".join(words))
        topics.append(topic)
    return texts, topics


def unexplained(session: Session) -> tuple[np.ndarray, np.ndarray]:
    """The share of each row's prior variance that the labels leave unexplained, and which rows may be asked."""
    learner = session.follow(session.refresh())
    posterior = learner.learner.ridge_posterior()  # type: ignore[attr-defined]
    weights, rows = posterior.solution().weights[0], posterior.views.leading
    variance = torch.einsum("vni,vij,vnj->vn", rows, posterior.covariances()[:, 0], rows)
    share = (weights[:, None] * variance / (rows * rows).sum(-1).clamp_min(1e-12)).sum(0) / weights.sum()
    return share.numpy(), learner.environment.pool[0].numpy()


def questions_until_found(kind: str, seed: int, every: int | None) -> int | None:
    """Which question first asks about the class that nobody declared; None: none of them does."""
    texts, topics = write_texts(kind, seed)
    graph = knn_from_table({"text": texts}, 10, text="text", label="")
    with tempfile.TemporaryDirectory() as folder:
        names = [f"topic {topic}" for topic in range(TOPICS)]
        path = Path(folder) / "job.nodewise"
        with Session.create(path, graph, budget=2 * QUESTIONS, classes=names, seed=seed) as session:
            for question in range(1, QUESTIONS + 1):
                if every is not None and question > 12 and question % every == 0:
                    share, allowed = unexplained(session)
                    node = int(np.where(allowed, share, -np.inf).argmax())
                else:
                    node = session.ask().node
                if topics[node] == TOPICS:
                    return question
                session.tell(node, names[topics[node]])
    return None


def main() -> None:
    """Plays all of it and keeps the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    begin = time.time()
    row = {
        kind: {
            name: [questions_until_found(kind, seed, every) for seed in range(seeds)]
            for name, every in (("gain", None), ("gain, every fifth unlike all", 5))
        }
        for kind in HIDDEN
    }
    write_record(RESULTS, "undeclared", begin, {"seeds": seeds, "questions": QUESTIONS, "rows": ROWS, **row})


if __name__ == "__main__":
    main()
