"""Graphs that hypothesis makes: odd names, isolated nodes, every kind of features and labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nodewise.graph import Graph, NodeType, Relation, RelationalGraph
from nodewise.graph.checks import tidy_name

ODD = (
    "007",
    "7",
    "7.0",
    "<img src=x onerror=alert(1)>",
    'a "quoted" name',
    "comma, semi; tab\t|",
    "two\nlines",
    "\r\n",
    "# no comment",
    "%",
    " ",
    " blank ",
    "naïve 🦉 名",
    "&amp;",
    "]]>",
    "<!DOCTYPE x>",
    "id",
    "label",
    "source",
    "-1",
    "nan",
    "None",
    "\u2028",
    "\x85",
    "'",
    "\\",
    "=1+1",
)
ORDINARY = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cn")), min_size=1, max_size=8)
"""Texts without control characters: those XML can hold."""
ANYTHING = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


POSITIVE = st.floats(width=32, min_value=2.0**-60, max_value=2.0**60)
NAMES = st.sampled_from(("paper", "author", "node", "edges", "written by", "x y", "naïve 🦉 名", "a&b", "<t>"))
"""Of node types and relations: those that files are called after."""


@st.composite
def graphs(draw: st.DrawFn, texts: st.SearchStrategy[str] = ORDINARY, rich: bool = False) -> Graph:
    """Any graph up to 12 nodes, without further fields, with weights at times.

    A rich one has sets of classes, directed edges, or both, at times.
    """
    word = st.sampled_from(ODD) | texts
    size = draw(st.integers(1, 12))
    edges = draw(hnp.arrays(np.int64, (2, draw(st.integers(0, 20))), elements=st.integers(0, size - 1)))
    weights = draw(st.none() | hnp.arrays(np.float32, edges.shape[1], elements=POSITIVE))
    values = st.floats(width=32, allow_nan=False, allow_infinity=False)
    x: object = None
    offset = None
    kind = draw(st.sampled_from(["none", "dense", "sparse", "centred"]))
    if kind != "none":
        width = draw(st.integers(0 if kind != "centred" else 1, 4))
        x = draw(hnp.arrays(np.float32, (size, width), elements=st.just(0.0) | values))
        x = x if kind == "dense" else sp.csr_matrix(x)
        offset = draw(hnp.arrays(np.float32, width, elements=values)) if kind == "centred" else None
    classes = draw(st.lists(word.map(tidy_name).filter(bool), max_size=3, unique=True))
    y = draw(hnp.arrays(np.int64, size, elements=st.integers(-1, len(classes) - 1))) if draw(st.booleans()) else None
    if rich and classes and draw(st.booleans()):
        y = draw(label_sets(size, len(classes)))
    names = draw(st.lists(word, min_size=size, max_size=size, unique=True)) if draw(st.booleans()) else None
    attributes = draw(st.dictionaries(word, st.lists(word | st.just(""), min_size=size, max_size=size), max_size=2))
    return Graph.build(
        edges,
        size,
        x=x,
        y=y,
        class_names=classes,
        node_names=names,
        attributes=attributes,
        name=draw(word),
        x_offset=offset,
        features=draw(st.sampled_from(["raw", "unit", "row+center"])),
        edge_weight=weights,
        directed=rich and draw(st.booleans()),
    )


@st.composite
def label_sets(draw: st.DrawFn, size: int, classes: int) -> np.ndarray:
    """Which of the classes each node has, int8 [node, class]; a row of -1 where nobody knows."""
    sets = draw(hnp.arrays(np.int8, (size, classes), elements=st.integers(0, 1)))
    sets[draw(hnp.arrays(bool, size))] = -1
    return sets


@st.composite
def relational_graphs(draw: st.DrawFn) -> RelationalGraph:
    """Any graph of up to three node types and relations: weights, features, names and sets of classes at times."""
    kinds = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        size = draw(st.integers(1, 5))
        x = draw(st.none() | hnp.arrays(np.float32, (size, 2), elements=st.sampled_from((0.0, 1.0, 0.1, -3.5e-7))))
        x = sp.csr_matrix(x) if x is not None and draw(st.booleans()) else x
        word = st.sampled_from(ODD) | ORDINARY
        names = draw(st.none() | st.lists(word, min_size=size, max_size=size, unique=True))
        shown = draw(st.dictionaries(st.just("title"), st.lists(word, min_size=size, max_size=size), max_size=1))
        shown = {key: np.array([*texts, ""], object)[:-1] for key, texts in shown.items()}
        kinds.append(NodeType(name, size, x, None if names is None else tuple(names), shown))
    relations = []
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        one, other = draw(st.sampled_from(kinds)), draw(st.sampled_from(kinds))
        ends = st.tuples(st.integers(0, one.count - 1), st.integers(0, other.count - 1))
        pairs = np.array(draw(st.lists(ends, max_size=6)), np.int64).reshape(-1, 2).T
        weights = draw(st.none() | hnp.arrays(np.float32, pairs.shape[1], elements=POSITIVE))
        relations.append(Relation(name, one.name, other.name, pairs, weights))
    labelled = draw(st.sampled_from(kinds))
    y: object = draw(st.none() | hnp.arrays(np.int64, labelled.count, elements=st.integers(-1, 1)))
    classes = () if y is None else ("one", "the;other")
    if y is None and draw(st.booleans()):
        classes = draw(st.sampled_from((("one", "the;other"), ("one",))))
        y = draw(label_sets(labelled.count, len(classes)))
    return RelationalGraph(tuple(kinds), tuple(relations), labelled.name, y, classes, name="many")
