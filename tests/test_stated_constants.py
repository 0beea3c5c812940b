"""Constants that pages state in a sentence are the program's; those in tables are generated, and tested there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views.construction import view_names
from nodewise.classifiers.views.graph_views import SAMPLED
from nodewise.classifiers.views.products import LARGE
from nodewise.classifiers.wrapped import module
from nodewise.graph import relational, relations
from nodewise.graph.relations import NodeType, Relation
from nodewise.session.log.contents import EMBED_LIMIT
from nodewise.strategies import expected_error, gain, grain, typiclust
from nodewise.strategies.bald import Bald
from nodewise.strategies.igp import Igp
from nodewise.strategies.rim import Rim
from nodewise.studio.settings import StudioSettings

DOCS = Path(__file__).parents[1] / "docs"
WORDS = {3: "three", 4: "Four", 8: "eight", 12: "twelve", 13: "thirteen"}


def most_views() -> int:
    """The views of a graph that has all there can be: two other types with features, and more relations than lead."""
    rows = np.ones((6, 2), np.float32)
    types = [NodeType("paper", 6, rows), *(NodeType(name, 6, rows) for name in "abcd")]
    pairs = np.stack([np.arange(6), np.arange(6)])
    found = [Relation(f"{name}{number}", "paper", name, pairs) for name in "abcd" for number in range(3)]
    graph = relational.RelationalGraph(tuple(types), tuple(found), "paper", name="everything").to_graph()
    return len(view_names(True, True, graph.relations))


PLAIN = len(view_names(True, True))
STATED = {
    "closed-form.md": [
        f"its edges alone give {WORDS[len(view_names(False, True))]} views",
        f"any kin where a graph has {LARGE:,} nodes or more",
    ],
    "methods.md": [
        f"its {typiclust._NEIGHBOURS} nearest",
        f"On more than {int(grain._TABLE**0.5):,} nodes the candidates",
        f"It looks at {expected_error._CANDIDATES} candidates and at the error of {expected_error._LOOKED_AT:,} nodes",
        f"(P^2)_{{vu}} > {Rim().threshold}$",
        f"among the {Igp().candidates} with most neighbours",
        f"which of {Bald().members} classifiers is right",
    ],
    "plugins.md": ["it gets the paper's {hidden_channels} and {num_layers};".format(**module._USUAL)],
    "scale.md": [
        f"**From {LARGE:,} nodes on**, views are made in a fixed number of products",
        f"**From {gain.LARGE_POOL:,} nodes on**, on the CPU, a question is chosen from {SAMPLED:,} nodes",
    ],
    "session.md": [f"inside up to {EMBED_LIMIT >> 20} MB"],
    "studio.md": [f"Uploads up to {StudioSettings().upload_bytes >> 20} MB"],
    "guides/relations.md": [
        f"{WORDS[relations.LEADING]} relations or paths lead",
        f"{WORDS[PLAIN - 1]} of the {WORDS[PLAIN]} views that a plain graph with features has",
        f"at most {most_views()} views",
        f"joined to the {relational._NEAREST} it has most in common",
        f"with more than {relational._TOGETHER} others are compared with {relational._TOGETHER} of them",
    ],
}


@pytest.mark.parametrize("page", STATED)
def test_a_page_states_the_programs_constants(page: str) -> None:
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    assert [sentence for sentence in STATED[page] if sentence not in text] == []
