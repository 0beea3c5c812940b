"""Graphs that hypothesis makes: odd names, isolated nodes, every kind of features and labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nodewise.graph import Graph
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


@st.composite
def graphs(draw: st.DrawFn, texts: st.SearchStrategy[str] = ORDINARY) -> Graph:
    """Any graph up to 12 nodes, without further fields, with weights at times."""
    word = st.sampled_from(ODD) | texts
    size = draw(st.integers(1, 12))
    edges = draw(hnp.arrays(np.int64, (2, draw(st.integers(0, 20))), elements=st.integers(0, size - 1)))
    positive = st.floats(width=32, min_value=2.0**-60, max_value=2.0**60)
    weights = draw(st.none() | hnp.arrays(np.float32, edges.shape[1], elements=positive))
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
    )
