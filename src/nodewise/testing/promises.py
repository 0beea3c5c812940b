"""What a broken promise is reported with, and the small graphs on which promises are tried."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from nodewise.contracts import CAPABILITIES, Capability, Classifier, Kind, Learner, Strategy, check_capabilities
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors

__all__ = ["ContractError", "Suite", "close", "graph_parts", "odd_graphs", "reordered", "small_graph", "with_labels"]


class ContractError(AssertionError):
    """A contract is not kept: the sentence says which promise, and what happened instead."""


class Suite:
    """Promises of one object, tried one after another.

    Args:
        kind: what it is, for the sentence: ``"classifier"``.
        thing: the object.
    """

    def __init__(self, kind: str, thing: Classifier | Strategy) -> None:
        self._who = f"the {kind} {getattr(thing, 'name', thing)!r}"

    def fail(self, promise: str, instead: str = "") -> NoReturn:
        """Tell that a promise is not kept."""
        raise ContractError(f"{self._who} does not keep its contract: {promise}{f'; {instead}' if instead else ''}")

    def expect(self, kept: bool | torch.Tensor, promise: str, instead: str = "") -> None:
        """Go on where a promise is kept."""
        if not bool(kept):
            self.fail(promise, instead)

    def attempt(self, promise: str, check: Callable[[], None]) -> None:
        """Try a promise; whatever else is raised on the way breaks it, too."""
        try:
            check()
        except ContractError:
            raise
        except Exception as error:
            raise ContractError(
                f"{self._who} does not keep its contract: {promise}; it raised {type(error).__name__}: {error}"
            ) from error

    def identity(self, thing: Classifier | Strategy) -> None:
        """Name and identity are what files and keys can hold, and outlive a pickle."""
        self.expect(isinstance(thing.name, str) and bool(thing.name), "its name is a text", f"got {thing.name!r}")
        try:
            text = json.dumps(dict(thing.identity()), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            self.fail("identity() gives what JSON can hold", str(error))
        try:
            twin = pickle.loads(pickle.dumps(thing))
        except Exception as error:
            self.fail("it can be pickled, so that other processes can be given it", str(error))
        same = (twin.name, json.dumps(dict(twin.identity()), sort_keys=True)) == (thing.name, text)
        self.expect(same, "a pickled copy has the same name and identity")

    def capabilities(self, thing: Classifier | Learner | Strategy, kind: Kind, name: str) -> None:
        """What it says that it can do are names of its kind.

        It has the methods of its own that these stand for, and no others that somebody might wait for in vain.
        """
        check_capabilities(thing, kind, name)
        for capability, info in CAPABILITIES.items():
            if info.is_said_by(kind):
                methods = info.methods if kind == info.declared_by else ()
                own = [method for method in methods if not method.startswith("Learner.")]
                self.methods(thing, capability, own, declared=capability in thing.capabilities)

    def methods(self, thing: object, capability: Capability, names: Sequence[str], declared: bool) -> None:
        """Who declares a capability has the methods that it stands for, and who has them declares it."""
        there = [name for name in names if callable(getattr(thing, name, None))]
        called = type(thing).__name__
        if declared:
            missing = " and no ".join(f"{name}()" for name in names if name not in there)
            self.expect(
                not missing, f"with the capability {capability!r} come its methods", f"{called} has no {missing}"
            )
        else:
            self.expect(
                not there,
                f"a method that nodewise uses is declared: add {capability!r} to capabilities, or call it otherwise",
                f"{called} has {' and '.join(f'{name}()' for name in there)}",
            )

    @contextmanager
    def untouched(self, given: dict[str, torch.Tensor]) -> Iterator[None]:
        """What it is given, tensors by what they are called, is as before: others are given the same ones."""
        before = {name: tensor.clone() for name, tensor in given.items()}
        yield
        for name, tensor in given.items():
            self.expect(
                torch.equal(tensor, before[name]), f"it changes nothing that it is given, here {name}: work on a copy"
            )

    @contextmanager
    def own_randomness(self) -> Iterator[None]:
        """All randomness follows from the seed: the global states of torch and numpy stay as they are."""
        before, numpy_before = torch.get_rng_state(), _numpy_state().copy()
        yield
        same = torch.equal(torch.get_rng_state(), before) and bool((_numpy_state() == numpy_before).all())
        self.expect(same, "it leaves the global random states of torch and numpy alone")


def _numpy_state() -> npt.NDArray[np.uint32]:
    """The numbers of numpy's global generator."""
    state: npt.NDArray[np.uint32] = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002
    return state


def graph_parts(graph: GraphTensors) -> dict[str, torch.Tensor]:
    """The tensors of a graph that all strategies and learners share, by what they are called."""
    parts = {"graph.degree": graph.degree, "graph.adjacency": graph.adjacency.values, "graph.norm": graph.norm.values}
    if graph.dense_x is not None:
        parts["graph.dense_x"] = graph.dense_x
    if graph.sparse_x is not None:
        parts["graph.sparse_x"] = graph.sparse_x.values
    return parts


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    """The same: to the bit on the CPU; on a GPU, whose sums have no fixed order, nearly."""
    if one.shape != other.shape:
        return False
    return torch.equal(one, other) if one.device.type == "cpu" else torch.allclose(one, other, rtol=0.02, atol=0.02)


def small_graph(features: str = "dense", nodes: int = 60, classes: int = 3, seed: int = 0) -> Graph:
    """Communities, of which the last three nodes stand alone, with features that tell the class in part.

    Args:
        features: ``"dense"``, ``"sparse"``, ``"offset"`` (sparse and centred) or ``"none"``.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(nodes) % classes
    ends = rng.integers(0, nodes - 3, (2, 6 * nodes))
    edges = ends[:, (y[ends[0]] == y[ends[1]]) | (rng.random(6 * nodes) < 0.1)]
    x = np.maximum(rng.normal(size=(nodes, 9)) + 2 * np.eye(classes, 9)[y], 0).astype(np.float32)
    if features == "none":
        return Graph.build(edges, nodes, y=y, name="small")
    mean = x.mean(0) if features == "offset" else None
    return Graph.build(edges, nodes, x=x if features == "dense" else sp.csr_matrix(x), y=y, x_offset=mean, name="small")


def odd_graphs() -> dict[str, Graph]:
    """Graphs that real data hold and code forgets, each with its name in a sentence."""
    whole = small_graph()
    nodes = np.arange(30)
    ring = np.stack([nodes, (nodes + 1) % 30])
    return {
        "a graph without edges": Graph.build(np.zeros((2, 0), dtype=np.int64), whole.num_nodes, x=whole.x, y=whole.y),
        "a graph with a single edge": Graph.build([[0], [1]], whole.num_nodes, x=whole.x, y=whole.y),
        "a graph without features": small_graph("none"),
        "sparse features": small_graph("sparse"),
        "sparse features that are centred": small_graph("offset"),
        "a single class": small_graph(classes=1),
        "nodes that are all alike": Graph.build(ring, 30, x=np.ones((30, 2), dtype=np.float32), y=nodes % 2),
    }


def with_labels(graph: Graph, y: np.ndarray[Any, np.dtype[np.int64]]) -> Graph:
    """The same graph with other labels."""
    return Graph.build(
        graph.edge_index, graph.num_nodes, x=graph.x, y=y, class_names=graph.class_names, name=graph.name
    )


def reordered(graph: Graph, order: np.ndarray[Any, np.dtype[np.int64]], dtype: torch.dtype) -> GraphTensors:
    """The tensors of the same graph with its nodes in another order.

    Node ``i`` is node ``order[i]`` of the given one.
    """
    assert graph.x is not None and graph.y is not None
    index = np.argsort(order)
    turned = Graph.build(
        index[graph.edge_index], graph.num_nodes, x=graph.x[order], y=graph.y[order], class_names=graph.class_names
    )
    return GraphTensors(turned, dtype=dtype)
