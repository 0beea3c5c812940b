"""Chunks on a real Ray cluster of several machines: equal to the local result, whatever is killed on the way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.cli import main
from nodewise.cluster import RayEngine, connection
from nodewise.cluster.connection import connected
from nodewise.cluster.versions import Versions
from nodewise.datasets import synthetic_graph
from nodewise.evaluation import ChunkStore, Comparison, compare
from nodewise.graph import Graph, write_graph
from nodewise.ground.errors import ClusterError, InputError, MissingExtraError
from nodewise.ground.events import Event, Progress
from tests.cluster.marking import Marking, running

ray = pytest.importorskip("ray", reason="the extra cluster is not installed")
ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]  # Ray's own: sockets and files that it leaves to the end of the process


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without cores and three machines with one each; a worker finds its machine's name in MACHINE."""
    from ray.cluster_utils import Cluster

    before = dict(os.environ)
    os.environ |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "OMP_NUM_THREADS": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    machines = {}
    for name in ("one", "two", "three"):
        machines[name] = made.add_node(num_cpus=1, object_store_memory=80 * 2**20, env_vars={"MACHINE": name})
    yield SimpleNamespace(address=made.address, machines=machines)
    if ray.is_initialized():
        ray.shutdown()
    made.shutdown()
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small() -> Graph:
    return synthetic_graph(nodes=120, classes=3, mean_degree=6, features=8, seed=3, name="small")


def marked(folder: Path, pause: float, runs: int = 60, **more: Any) -> Comparison:
    folder.mkdir(exist_ok=True)
    return compare(
        small(), [Marking(str(folder), pause)], classifiers=["gcn"], budgets=4, runs=runs, device="cpu", **more
    )


def assert_same(one: Comparison, other: Comparison) -> None:
    assert [(s.graph, s.budget, s.classifier, s.features) for s in one.settings] == [
        (s.graph, s.budget, s.classifier, s.features) for s in other.settings
    ]
    for mine, theirs in zip(one.settings, other.settings, strict=True):
        assert list(mine.outcomes) == list(theirs.outcomes)
        for name, outcome in mine.outcomes.items():
            for part in ("micro_f1", "macro_f1", "queries"):
                np.testing.assert_array_equal(getattr(outcome, part), getattr(theirs.outcomes[name], part))


def chunk_files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.json")}


@pytest.mark.long
def test_the_result_is_the_local_one_for_names_files_and_graphs_in_memory(cluster: Any, tmp_path: Path) -> None:
    write_graph(synthetic_graph(nodes=90, classes=2, features=0, seed=1, name="plain"), tmp_path / "plain.npz")
    graphs: list[Any] = ["karate", tmp_path / "plain.npz", small()]
    settings: dict[str, Any] = {"classifiers": ["gcn"], "budgets": [3, 5], "runs": 12, "device": "cpu"}
    events: list[Progress] = []

    def listen(event: Event, /) -> None:
        if isinstance(event, Progress):
            events.append(event)

    store = ChunkStore(tmp_path / "chunks")
    there = compare(
        graphs, ["random", "age"], store=store, engine=RayEngine(cluster.address), reporter=listen, **settings
    )
    assert_same(there, compare(graphs, ["random", "age"], **settings))
    assert len({event.task for event in events}) == 3
    for task in {event.task for event in events}:
        told = [event for event in events if event.task == task]
        assert told[-1].done == told[-1].total == 24 and [e.done for e in told] == sorted(e.done for e in told)
    assert [path.parent.name for path in tmp_path.rglob("*.npz")].count(
        "graphs"
    ) == 1  # the one that had neither name nor file
    assert not ray.is_initialized()
    before = chunk_files(tmp_path)
    nowhere = RayEngine("127.0.0.1:1")  # nothing is left to do, so that no cluster is looked for
    assert_same(
        compare(graphs, ["random", "age"], store=ChunkStore(tmp_path / "chunks"), engine=nowhere, **settings), there
    )
    assert chunk_files(tmp_path) == before


def held_at_work(marks: Path, killed: list[str]) -> tuple[int, str, str]:
    """A worker that is at a chunk and was stopped there, so that it cannot end before it is killed."""
    while True:
        for process, machine, mark in running(marks):
            if mark in killed or not Path(f"/proc/{process}").exists():
                continue
            os.kill(process, signal.SIGSTOP)
            if not (marks / f"{mark}.ended").exists():
                return process, machine, mark
            os.kill(process, signal.SIGCONT)
        time.sleep(0.02)


@pytest.mark.long
def test_a_worker_and_then_a_machine_are_killed_at_work(
    cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    marks, killed = tmp_path / "marks", []
    told: list[Event] = []

    def kill(event: Event, /) -> None:
        """After the first chunk a worker, after the third a whole machine, each while it is at a chunk."""
        if not isinstance(event, Progress):
            told.append(event)
            return
        if event.done not in (10, 30):
            return
        process, machine, mark = held_at_work(marks, killed)
        if event.done == 10:
            os.kill(process, signal.SIGKILL)
        else:
            node = cluster.machines.pop(machine)
            os.kill(node.all_processes["raylet"][0].process.pid, signal.SIGKILL)
            os.kill(process, signal.SIGKILL)
        killed.append(mark)

    engine = RayEngine(cluster.address)
    there = marked(marks, 0.5, store=ChunkStore(tmp_path / "chunks"), engine=engine, reporter=kill)
    assert len(killed) == 2 and not any(
        (marks / f"{mark}.ended").exists() for mark in killed
    )  # the kills hit running work
    assert len(list(marks.glob("*.begun"))) >= 6 + 2 and len(cluster.machines) == 2  # which was begun again
    assert "worker died" in str(told) and "begun again, 5 times at most" in str(told)
    assert capfd.readouterr().out == ""  # where results stand, maybe as JSON
    assert_same(there, marked(tmp_path / "local", 0.0))


@pytest.mark.long
def test_a_driver_that_is_killed_goes_on_and_does_nothing_twice(cluster: Any, tmp_path: Path) -> None:
    marks, chunks = tmp_path / "marks", tmp_path / "chunks"
    code = (
        "from pathlib import Path\nfrom nodewise.cluster import RayEngine\nfrom tests.cluster.test_engine import"
        f" marked\nmarked(Path({str(marks)!r}), 2.0, store={str(chunks)!r}, engine=RayEngine({cluster.address!r}))\n"
    )
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths})
    while process.poll() is None and (len(chunk_files(chunks)) < 2 or not running(marks)):
        time.sleep(0.05)
    assert process.poll() is None
    process.kill()
    process.wait()
    kept = chunk_files(chunks)
    assert 2 <= len(kept) < 6
    while any(
        Path(f"/proc/{one[0]}").exists() for one in running(marks)
    ):  # Ray ends the workers of a driver that is gone
        time.sleep(0.1)
    begun = len(list(marks.glob("*.begun")))
    again = marked(marks, 0.0, store=ChunkStore(chunks), engine=RayEngine(cluster.address))
    after = chunk_files(chunks)
    assert {name: after[name] for name in kept} == kept and len(after) == 6
    assert len(list(marks.glob("*.begun"))) - begun == 6 - len(kept)
    assert_same(again, marked(tmp_path / "local", 0.0))


@pytest.mark.long
def test_ctrl_c_on_the_command_line_keeps_what_is_finished(cluster: Any, tmp_path: Path) -> None:
    command = [
        "compare",
        "karate",
        "--strategies",
        "random",
        "--classifiers",
        "gcn",
        "--budgets",
        "4",
        "--device",
        "cpu",
        "--out",
        "d",
    ]
    there = ["--engine", "ray", "--address", cluster.address]
    process = subprocess.Popen(
        [sys.executable, "-m", "nodewise", *command, "--runs", "100000", *there],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and len(chunk_files(tmp_path)) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert (
        err.splitlines()[-1]
        == "nodewise compare: interrupted; what is finished lies in d, and the same command goes on from there"
    )
    kept = chunk_files(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "nodewise", *command, "--runs", "20", *there],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert b"karate" in done.stdout
    assert {name: when for name, when in chunk_files(tmp_path).items() if name in kept} == kept


@pytest.mark.long
@pytest.mark.parametrize("lent", [False, True], ids=["own", "lent"])
def test_an_interrupt_ends_what_is_under_way(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lent: bool
) -> None:
    """Work is cancelled on a connection that stays; one of the engine's own is closed, with which Ray ends it."""
    cancelled, cancel = [], ray.cancel

    def cancels(answer: Any, **more: Any) -> None:
        cancelled.append(answer)
        cancel(answer, **more)
        raise ray.exceptions.RaySystemError("the task is gone")

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress) and event.done:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ray, "cancel", cancels)
    with connected(cluster.address) if lent else nullcontext():
        with pytest.raises(KeyboardInterrupt):
            marked(tmp_path, 0.2, runs=1000, engine=RayEngine(cluster.address), reporter=interrupt)
        assert ray.is_initialized() == lent and (len(cancelled) > 10) == lent
        time.sleep(3)  # what had been begun may come to its end
        begun = len(list(tmp_path.glob("*.begun")))
        time.sleep(4)
        assert len(list(tmp_path.glob("*.begun"))) == begun < 60


@pytest.mark.long
def test_what_ray_says_of_dropped_work_does_not_hide_ctrl_c(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise ray.exceptions.RaySystemError("the connection to the raylet is gone")

    def interrupt(event: Event) -> None:
        if isinstance(event, Progress) and event.done:
            signal.raise_signal(signal.SIGINT)

    end = ray.shutdown
    monkeypatch.setattr(ray, "shutdown", lambda: (end(), refused()))
    with pytest.raises(KeyboardInterrupt):
        marked(tmp_path, 0.0, engine=RayEngine(cluster.address), reporter=interrupt)
    assert not ray.is_initialized()


@pytest.mark.long
def test_machines_with_another_nodewise_are_named(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = Versions.here()
    monkeypatch.setattr(Versions, "here", classmethod(lambda cls: Versions(here.python, "9.9.9", here.parts)))
    with pytest.raises(
        ClusterError, match=rf"has nodewise {here.nodewise}, this machine 9\.9\.9: install the same version on both"
    ):
        marked(tmp_path, 0.0, engine=RayEngine(cluster.address))
    monkeypatch.setattr(
        "nodewise.cluster.engine.check_machines", lambda ray: None
    )  # a machine that joins later is refused as well
    with pytest.raises(ClusterError, match=r"has nodewise .* 9\.9\.9"):
        marked(tmp_path, 0.0, engine=RayEngine(cluster.address))
    assert not list(tmp_path.glob("*.begun"))


@pytest.mark.long
def test_an_error_of_the_task_is_told_once_and_not_retried(cluster: Any) -> None:
    with pytest.raises(InputError, match="budget of 500 queries is more than the pool's"):
        compare(
            small(),
            ["random"],
            classifiers=["gcn"],
            budgets=500,
            runs=2,
            device="cpu",
            engine=RayEngine(cluster.address),
        )


@pytest.mark.long
def test_a_graph_that_workers_cannot_read_is_named(cluster: Any, tmp_path: Path) -> None:
    store = ChunkStore(tmp_path)
    engine = RayEngine(cluster.address)
    prepare = engine.prepare

    def lost(graph: Graph, *more: Any) -> Any:
        reference, tensors = prepare(graph, *more)
        Path(reference.source or "").unlink()
        return reference, tensors

    engine.prepare = lost  # type: ignore[method-assign]
    with pytest.raises(ClusterError, match=r"cannot read the graph 'small' from .*shared folder"):
        compare(small(), ["random"], classifiers=["gcn"], budgets=4, runs=2, device="cpu", store=store, engine=engine)


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("127.0.0.1:1", ClusterError, "no Ray cluster answers at '127.0.0.1:1'.*ray start --head"),
        ("nowhere", InputError, "HOST:PORT"),
    ],
)
def test_a_cluster_out_of_reach(address: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare(small(), ["random"], classifiers=["gcn"], budgets=4, runs=2, device="cpu", engine=RayEngine(address))


def test_something_else_that_listens_is_no_cluster() -> None:
    """Ray itself tries for a quarter of an hour."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as dashboard:
        Thread(target=dashboard.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{dashboard.server_port}"
        with pytest.raises(ClusterError, match=f"what listens at '{address}' is no Ray cluster"):
            compare(
                small(), ["random"], classifiers=["gcn"], budgets=4, runs=2, device="cpu", engine=RayEngine(address)
            )
        dashboard.shutdown()


@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_another_grpc_server_is_no_cluster(prefix: str) -> None:
    grpc = pytest.importorskip("grpc")
    foreign = grpc.server(futures.ThreadPoolExecutor(1))
    port = foreign.add_insecure_port("127.0.0.1:0")
    foreign.start()
    try:
        address = f"{prefix}127.0.0.1:{port}"
        with pytest.raises(ClusterError, match=f"what listens at '{address}' is no Ray cluster"), connected(address):
            raise AssertionError
    finally:
        foreign.stop(None).wait()


def test_what_answers_no_question_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """It speaks gRPC's first words, and then nothing, or hangs up, or has no end."""
    monkeypatch.setattr(connection, "_ANSWER", 1.0)
    settings, ping = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]), bytes([0, 0, 8, 6, *[0] * 13])

    def serve(taker: socket.socket, then: str) -> None:
        other, _ = taker.accept()
        with other, suppress(OSError):
            other.sendall(settings)
            while then == "pings":
                other.sendall(ping)
            while then == "silence" and other.recv(2**16):
                pass

    for then in ("silence", "nothing", "pings"):
        with socket.create_server(("127.0.0.1", 0)) as taker:
            thread = Thread(target=serve, args=(taker, then), daemon=True)
            thread.start()
            address = f"127.0.0.1:{taker.getsockname()[1]}"
            with pytest.raises(ClusterError, match="is no Ray cluster"), connected(address):
                raise AssertionError
            thread.join()


def test_a_cluster_with_too_few_gpus_waits_and_a_machine_alone_does_not() -> None:
    told: list[Event] = []
    for share, resources, lacking in ((0.5, {"CPU": 2.0}, "no GPU"), (2, {"GPU": 1.0}, "1 GPU")):
        engine = RayEngine(gpus_per_task=share)
        there: Any = SimpleNamespace(cluster_resources=lambda: resources)  # noqa: B023
        assert engine._room(there, told.append) > 0
        assert f"the cluster has {lacking} for --gpus-per-task {share}: the work waits" in str(told.pop())
        engine._alone = True
        with pytest.raises(ClusterError, match=f"this machine has {lacking} for .*leave it out to use cores"):
            engine._room(there, told.append)


def test_settings_that_make_no_sense(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for share in (-1, 1.5, float("nan")):
        with pytest.raises(InputError, match="gpus-per-task"):
            RayEngine(gpus_per_task=share)
    assert RayEngine().device("auto") == "cpu" and RayEngine(gpus_per_task=0.5).device("auto") == "cuda:0"
    for engine, device in ((RayEngine(), "cuda"), (RayEngine(gpus_per_task=1), "cpu")):
        with pytest.raises(InputError, match="contradict each other"):
            engine.device(device)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"needs ray.*\[cluster\]"):
        connection.import_ray()
    assert main(["compare", "karate", "--engine", "ray", "--quiet"]) == 2
    assert "[cluster]" in capfd.readouterr().err
