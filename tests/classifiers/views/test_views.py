"""The classifier `views` on whole graphs: any node order, any class order, anything missing; what making views takes is
told before; and they are kept.
"""

from __future__ import annotations

import errno
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from nodewise.classifiers.views import construction, graph_views, kept, needs, views
from nodewise.classifiers.views.construction import GraphViews, leading_columns, make_views
from nodewise.classifiers.views.kept import SUFFIX, read_views, write_views
from nodewise.classifiers.views.views import Views, ViewsLearner, cached_views, tell_needs, views_needs
from nodewise.datasets import synthetic_graph
from nodewise.evaluation import evaluate
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import free_memory
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note
from nodewise.session import Session
from tests.learners import learner
from tests.small_graphs import block_graph, random_graph, relabelled, with_labels

NOTHING = np.zeros((2, 0), np.int64)


def taught(graph: Graph, nodes: np.ndarray) -> ViewsLearner:
    """A run that has learned the graph's own labels of these nodes."""
    started: ViewsLearner = learner("views", GraphTensors(graph), 1)
    assert graph.y is not None
    if len(nodes):
        started.add(torch.from_numpy(nodes)[None], torch.from_numpy(graph.y[nodes]).long()[None])
    return started


def probabilities(graph: Graph, nodes: np.ndarray) -> torch.Tensor:
    return torch.softmax(taught(graph, nodes).logits()[0], -1)


@pytest.mark.parametrize("graph", [block_graph(150), random_graph(nodes=200, columns=300)], ids=["blocks", "random"])
@pytest.mark.parametrize("count", [1, 6, 30])
def test_node_order_does_not_matter(graph: Graph, count: int) -> None:
    order = np.random.default_rng(7).permutation(graph.num_nodes)
    nodes = np.random.default_rng(8).permutation(graph.num_nodes)[:count]
    there = probabilities(relabelled(graph, order), np.argsort(order)[nodes])
    torch.testing.assert_close(probabilities(graph, nodes)[order], there, atol=1e-3, rtol=0)


@pytest.mark.parametrize("count", [1, 6, 30])
def test_class_order_does_not_matter(count: int) -> None:
    graph, order = block_graph(150), np.array([2, 0, 1])
    assert graph.y is not None
    nodes = np.random.default_rng(8).permutation(150)[:count]
    other = probabilities(with_labels(graph, order[graph.y]), nodes)
    torch.testing.assert_close(probabilities(graph, nodes), other[:, order], atol=1e-3, rtol=0)


def test_lanczos_way_gives_the_same_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(nodes=400, columns=350)
    nodes = np.arange(0, 400, 13)
    exact = probabilities(graph, nodes)
    monkeypatch.setattr(construction, "_DENSE", 10)
    assert (probabilities(graph, nodes) - exact).abs().max() < 1e-3


def test_forms_of_the_features_give_the_same_predictions() -> None:
    nodes = np.arange(0, 40, 4)
    torch.testing.assert_close(
        probabilities(random_graph("dense"), nodes), probabilities(random_graph("sparse"), nodes), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("missing", ["features", "edges", "both", "nothing"])
@pytest.mark.parametrize("count", [0, 1, 5, 40])
def test_whatever_is_missing_predictions_are_probabilities(missing: str, count: int) -> None:
    full = random_graph("dense")
    graph = Graph.build(
        NOTHING if missing in ("edges", "both") else full.edge_index,
        40,
        x=None if missing in ("features", "both") else full.x,
        y=full.y,
    )
    table = probabilities(graph, np.arange(count))
    assert torch.isfinite(table).all() and torch.allclose(table.sum(1), torch.ones(40), atol=1e-5)
    if not count:
        assert torch.allclose(table, torch.full((40, 3), 1 / 3), atol=1e-6)


def test_deterministic_to_the_bit() -> None:
    nodes = np.arange(0, 150, 7)
    assert torch.equal(probabilities(block_graph(150), nodes), probabilities(block_graph(150), nodes))


def test_what_can_be_learned_is_learned() -> None:
    graph = block_graph(150, signal=4.0)
    assert graph.y is not None
    nodes = np.concatenate([np.flatnonzero(graph.y == number)[:5] for number in range(3)])
    right = probabilities(graph, nodes).argmax(1).numpy() == graph.y
    assert right.mean() > 0.9


def test_leave_one_out_is_what_a_learner_without_the_label_predicts() -> None:
    """Not to the last digit: temperature and weights are those of all labels but for each label's own loss."""
    graph = block_graph(150)
    nodes = np.arange(0, 150, 6)
    left_out = taught(graph, nodes).leave_one_out()
    assert left_out is not None and left_out.shape == (1, 25, 3)
    refitted = torch.stack([probabilities(graph, np.delete(nodes, i))[nodes[i]] for i in range(25)])
    assert (left_out[0].argmax(1) == refitted.argmax(1)).float().mean() > 0.9
    assert (left_out[0] - refitted).abs().mean() < 0.05
    assert taught(graph, nodes[:0]).leave_one_out() is None


def test_a_class_nobody_has_named_yet() -> None:
    tensors = GraphTensors(block_graph(60))
    classifier = Views()
    started = classifier.start(tensors.unlabelled, tensors.prepared_by(classifier), 1, 0, 10)
    assert started.num_classes == 1 and started.logits().shape == (1, 60, 1)
    for number, name in enumerate("abc"):
        started.add_classes([name])
        started.add(torch.tensor([[number]]), torch.tensor([[number]]))
    known = classifier.start(tensors.unlabelled, tensors.prepared_by(classifier), 1, 3, 10)
    known.add(torch.tensor([[0, 1, 2]]), torch.tensor([[0, 1, 2]]))
    torch.testing.assert_close(started.logits(), known.logits(), atol=1e-5, rtol=0)
    started.reset(0)
    assert started.num_classes == 1


def test_more_labels_than_there_was_room_for() -> None:
    graph = block_graph(150)
    tensors, classifier = GraphTensors(graph), Views()
    small = classifier.start(tensors.unlabelled, tensors.prepared_by(classifier), 1, 3, 2)
    for node in range(9):
        small.add(torch.tensor([[node]]), tensors.y[None, [node]])
    torch.testing.assert_close(small.logits(), taught(graph, np.arange(9)).logits(), atol=1e-4, rtol=0)


def test_needs_of_a_million_nodes_are_about_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "cores", lambda: 2)
    million = views_needs(1_000_000, 10_000_000, 128)
    assert 4e9 < million.bytes < 8e9 and 240 < million.seconds < 360  # 297 were measured
    assert views_needs(2_000_000, 20_000_000, 128).bytes == 2 * million.bytes
    assert views_needs(50_000, 400_000, 10_000, 4_000_000).bytes > views_needs(50_000, 400_000, 256).bytes
    for features, measured in ((256, 10_900), (144, 7_000)):  # bytes a node: hops side by side, and kin
        assert measured < views_needs(60_000, 240_000, features).bytes / 60_000 < 1.1 * measured
    assert views_needs(1000, 5000, 0).bytes < views_needs(1000, 5000, 64).bytes
    two = views_needs(70_000, 280_000, 256).bytes  # each further core holds rows of all views side by side
    monkeypatch.setattr(needs, "cores", lambda: 16)
    assert 3e8 < views_needs(70_000, 280_000, 256).bytes - two < 6e8
    assert views_needs(70_000, 280_000, 0).bytes < two


def test_the_memory_that_is_free_is_told_where_the_machine_tells_it() -> None:
    free = free_memory()
    assert free is None or 2**20 < free < 2**50


def test_long_work_is_told_and_short_work_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[object] = []
    graph = block_graph(60)
    tell_needs(graph, events.append)
    assert not events
    monkeypatch.setattr(needs, "_WORTH_TELLING", 0.0)
    monkeypatch.setattr(needs, "free_memory", lambda: 2**34)  # what is free changes from one moment to the next
    tell_needs(graph, events.append)
    tell_needs(GraphTensors(graph), events.append)
    one, other = events
    assert (
        isinstance(one, Note)
        and one == other
        and "views of 60 nodes" in one.message
        and "made once and kept" in one.message
    )


def test_what_does_not_fit_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph = synthetic_graph(nodes=2500, features=16)
    monkeypatch.setattr(needs, "free_memory", lambda: 1_000_000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        InputError,
        match=(
            r"views of 2,500 nodes .* 1 MB are free here: .* label a part of the graph; about \d00 of its nodes"
            r" would fit"
        ),
    ):
        evaluate(graph, runs=1, budget=5)
    with pytest.raises(InputError, match="would fit"):
        Session.create(tmp_path / "job", graph, budget=5)
    assert not (tmp_path / "job").exists()


def test_a_session_and_evaluate_tell_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(needs, "_WORTH_TELLING", 0.0)
    monkeypatch.setattr(needs, "free_memory", lambda: 2**34)  # what is free changes from one moment to the next
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    graph = synthetic_graph(nodes=2100, features=8, mean_degree=4)
    told: list[object] = []
    Session.create(tmp_path / "job", graph, budget=5, reporter=told.append).close()
    evaluate(graph, strategy="random", runs=1, budget=5, reporter=told.append)
    said = [event.message for event in told if isinstance(event, Note) and "made once and kept" in event.message]
    assert len(said) == 2
    evaluate(graph, strategy="random", runs=1, budget=5, reporter=told.append)  # they are there now
    assert sum(isinstance(event, Note) and "made once and kept" in event.message for event in told) == 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's folder, of a cache that keeps the views of small graphs as well."""
    monkeypatch.setattr(views, "user_cache", lambda: tmp_path / "nodewise")
    monkeypatch.setattr(views, "_LEAST_NODES", 10)
    return tmp_path / "nodewise" / "views"


def tensors(seed: int = 0) -> GraphTensors:
    return GraphTensors(random_graph(seed=seed))


def refuse(*_: object) -> None:
    raise AssertionError("the views were made again")


def test_a_hit_is_a_miss(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cached_views(tensors())
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(views, "make_views", refuse)
    read = cached_views(tensors())
    assert read.names == made.names and torch.equal(read.columns, made.columns)


def test_other_graphs_have_other_views(folder: Path) -> None:
    assert not torch.equal(cached_views(tensors(0)).columns, cached_views(tensors(1)).columns)
    assert len(list(folder.glob(f"*{SUFFIX}"))) == 2


def test_views_of_small_graphs_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "user_cache", lambda: tmp_path / "nodewise")
    cached_views(tensors())
    assert not list(tmp_path.iterdir())


def damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    path.write_text("not ours")


def other_shape(path: Path) -> None:
    write_views(path, GraphViews(("own",), torch.zeros(3, 1, 2)))


def not_numbers(path: Path) -> None:
    write_views(path, GraphViews(("own",), torch.full((40, 1, 2), torch.nan)))


def without_names(path: Path) -> None:
    save_file({"columns": torch.zeros(40, 1, 2)}, path)


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


def fewer_columns(path: Path) -> None:
    """In the file's own head: what is read then would be other numbers."""

    def less(match: re.Match[bytes]) -> bytes:
        last = match[2].decode()
        return match[1] + str(int(last) - 1).rjust(len(last)).encode() + b"]"

    content, changed = re.subn(rb'("shape": \[\d+, \d+, )(\d+)\]', less, path.read_bytes())
    assert changed == 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "harm", [damaged, empty, foreign, other_shape, not_numbers, without_names, longer, flipped, fewer_columns]
)
def test_a_damaged_or_foreign_file_is_made_again(harm: object, folder: Path) -> None:
    made = cached_views(tensors())
    (path,) = folder.glob(f"*{SUFFIX}")
    harm(path)  # type: ignore[operator]
    assert torch.equal(cached_views(tensors()).columns, made.columns)
    assert torch.equal(cached_views(tensors()).columns, made.columns)


@pytest.mark.parametrize("mapped_from", [0, 2**28])
def test_no_flipped_bit_of_a_kept_file_is_read_as_other_views(
    mapped_from: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_MAPPED", mapped_from)
    made = cached_views(tensors())
    (path,) = folder.glob(f"*{SUFFIX}")
    content, chance = path.read_bytes(), random.Random(4)
    head = 8 + int.from_bytes(content[:8], "little")
    for _ in range(300):
        damaged = bytearray(content)
        index = chance.randrange(head if chance.random() < 0.7 else len(content))
        damaged[index] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        read = read_views(path, made.columns.shape[0], made.leading_columns)
        assert read is None or (read.names == made.names and torch.equal(read.columns, made.columns))


def test_kept_views_are_checked_block_by_block(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_BLOCK", 1000)
    monkeypatch.setattr(views, "LARGE", 10)
    made = cached_views(tensors())
    (path,) = folder.glob(f"*{SUFFIX}")
    content = path.read_bytes()
    assert made.first_gains is not None
    for place in range(8 + int.from_bytes(content[:8], "little"), len(content), 4000):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert read_views(path, made.columns.shape[0], made.leading_columns) is None
    path.write_bytes(content)
    read = read_views(path, made.columns.shape[0], made.leading_columns)
    assert read is not None and read.first_gains is not None
    assert torch.equal(read.columns, made.columns) and torch.equal(read.first_gains, made.first_gains)


def test_kept_views_have_the_form_of_safetensors(folder: Path) -> None:
    made = cached_views(tensors())
    (path,) = folder.glob(f"*{SUFFIX}")
    assert torch.equal(load_file(path)["columns"], made.columns)


@pytest.mark.parametrize("mapped_from", [0, 2**28])
def test_what_is_read_outlives_its_file_and_writing_to_it_does_not_reach_the_file(
    mapped_from: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "_MAPPED", mapped_from)
    made = cached_views(tensors())
    (path,) = folder.glob(f"*{SUFFIX}")
    content = path.read_bytes()
    assert (8 + int.from_bytes(content[:8], "little")) % 64 == 0  # as memory is aligned: products give the same bits
    read = read_views(path, made.columns.shape[0], made.leading_columns)
    other = read_views(path, made.columns.shape[0], made.leading_columns)
    assert read is not None and other is not None
    read.columns.zero_()
    assert path.read_bytes() == content
    write_views(path, read)  # another file takes its place
    assert torch.equal(other.columns, made.columns)
    path.unlink()
    assert torch.equal(other.columns, made.columns)


def test_turned_columns_of_many_views_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_views(tensors())
    few, many = GraphViews(made.names, made.columns), GraphViews(made.names, made.columns)
    monkeypatch.setattr(graph_views, "_KEPT", 4 * made.leading_columns * len(made.columns))
    for view in range(5):
        assert torch.equal(few.turned(view, 4), made.columns[:, view, : made.leading_columns].T)
        assert torch.equal(many.turned(view, 5), few.turned(view, 4))
        assert few.turned(view, 4) is few.turned(view, 5) and many.turned(view, 5) is not many.turned(view, 5)


def test_files_of_the_former_form_count_for_the_bound_of_the_cache(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(parents=True)
    former = folder / "former.npz"
    former.write_bytes(bytes(1000))
    os.utime(former, (1, 1))
    monkeypatch.setattr(kept, "_MOST_BYTES", 900)
    cached_views(tensors())
    assert not former.exists()


def test_a_cache_on_a_read_only_disk_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cached_views(tensors())

    def refuse_to_write(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(kept.os, "utime", refuse_to_write)
    monkeypatch.setattr(views, "make_views", refuse)
    assert torch.equal(cached_views(tensors()).columns, made.columns)


def test_the_cache_is_bounded_and_the_oldest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_views(tensors(0))
    (first,) = folder.glob(f"*{SUFFIX}")
    os.utime(first, (1, 1))
    monkeypatch.setattr(kept, "_MOST_BYTES", int(2.5 * first.stat().st_size))
    cached_views(tensors(1))
    assert len(list(folder.glob(f"*{SUFFIX}"))) == 2
    cached_views(tensors(2))
    assert len(list(folder.glob(f"*{SUFFIX}"))) == 2 and not first.exists()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")
    assert torch.isfinite(cached_views(tensors()).columns).all()
    assert folder.read_text() == "a file where the folder should be"


def test_a_class_without_a_label_is_predicted_for_nobody() -> None:
    tensors = GraphTensors(synthetic_graph(nodes=300, classes=3, seed=1))
    learner = Views().start(tensors, Views().prepare(tensors), 1, 5, 10)
    learner.reset(0)
    assert torch.allclose(torch.softmax(learner.logits(), -1), torch.full((1, 300, 5), 0.2))  # nothing is known
    learner.add(torch.tensor([[3]]), torch.tensor([[1]]))
    assert (learner.logits().argmax(-1) == 1).all()
    learner.add(torch.tensor([[4]]), torch.tensor([[3]]))
    chances = torch.softmax(learner.logits(), -1)
    assert (chances[..., [0, 2, 4]] == 0).all() and torch.isfinite(learner.logits()).all()


def test_columns_grow_with_the_classes_also_on_the_way() -> None:
    graph = synthetic_graph(nodes=400, classes=4, seed=1)
    tensors = GraphTensors(graph)
    assert [leading_columns(classes) for classes in (1, 25, 26, 51, 100, 1000)] == [32, 32, 64, 64, 128, 256]
    prepared = Views().prepare(tensors)
    at_once = Views().start(tensors, prepared, 1, 60, 200)
    assert at_once.views.leading_columns == 128 and at_once.views.names == prepared.names
    one_by_one = Views().start(tensors, prepared, 1, 4, 200)
    nodes, labels = torch.arange(120)[None], (torch.arange(120) % 60)[None]
    for each in (at_once, one_by_one):
        each.reset(0)
    one_by_one.add(nodes[:, :4], labels[:, :4])
    one_by_one.add_classes([str(number) for number in range(4, 60)])
    at_once.add(nodes[:, :4], labels[:, :4])
    for each in (at_once, one_by_one):
        each.add(nodes[:, 4:], labels[:, 4:])
    assert one_by_one.views is at_once.views
    torch.testing.assert_close(one_by_one.logits(), at_once.logits())
    one_by_one.reset(0)
    assert one_by_one.views is prepared and one_by_one.num_classes == 4
