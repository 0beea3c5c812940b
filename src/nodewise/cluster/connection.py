"""A connection to a Ray cluster, or a cluster of this machine's own.

What is wrong with it is said before any work begins.
"""

from __future__ import annotations

import io
import logging
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO

from nodewise.cluster.versions import Versions
from nodewise.ground.errors import ClusterError, InputError, MissingExtraError

__all__ = ["check_machines", "connected", "import_ray"]

_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""How a gRPC client opens a connection: HTTP/2's preface and empty settings."""

_METHODS = {"": "/ray.rpc.NodeInfoGcsService/GetAllNodeInfo", "ray://": "/ray.rpc.RayletDriver/ClusterInfo"}
"""What every Ray answers at an address, by how the address begins; another gRPC server says that it has no such."""

_PATIENCE = 10.0
"""Seconds for a connection to the head node."""

_ANSWER = 60.0
"""Seconds for what listens there to answer a question: a head node that is very busy does."""

_SETTINGS, _HEADERS, _DATA = 4, 1, 0
"""Kinds of frames (RFC 9113, section 6)."""

_UNKNOWN = (b"\x0212", b"\x82\x08\xbf", b"\x8c", b"\x8d")
"""How headers say it (RFC 7541): the status 12 of gRPC, "unimplemented", plain or in Huffman's code; at the beginning
of them HTTP's 400 and 404.
"""

_SPEAKER = re.compile(r"^\S*\([^)]*\)\S* ")
"""What Ray sets before a sentence: who says it, in colour."""

_START = 180.0
"""Seconds for a machine to start a worker and answer."""


def import_ray() -> Any:
    """Ray's module.

    Raises:
        MissingExtraError: it is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster that we start tells nobody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's coming default, which spares a warning
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtraError("ray", "cluster") from None
    return ray


@contextmanager
def connected(address: str | None, hears: Callable[[str], object] | None = None) -> Iterator[Any]:
    """Ray's module while there is a connection.

    A connection that the caller has made before is used and left open.

    Args:
        address: ``HOST:PORT`` of a head node, ``ray://HOST:PORT``, or ``"auto"`` for a cluster that this machine
            belongs to; None: what the environment variable ``RAY_ADDRESS`` names, else a cluster of this machine alone,
            which ends with the work.
        hears: called, from a thread of Ray's, with what the cluster tells meanwhile: that a worker died, that it is out
            of memory.

    Raises:
        ClusterError: there is no cluster at the address, or its Ray or Python differ.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    wanted = address or os.environ.get("RAY_ADDRESS") or None
    if wanted is not None:
        _check_reach(wanted)
    before = set(threading.enumerate())
    own: dict[str, Any] = {"include_dashboard": False} if wanted is None else {}
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):  # Ray tells how it is set up
            ray.init(
                address=wanted or "local",
                configure_logging=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                **own,
            )
    except Exception as error:  # Ray raises whatever its layers do
        reason = " ".join(str(error).split())
        if "ersion mismatch" in reason:
            raise ClusterError(
                f"the cluster at {wanted} runs another Python or Ray than this machine: use the same on both"
                f" ({reason[:300]})"
            ) from None
        where = (
            "a Ray cluster of this machine could not be started"
            if wanted is None
            else f"no Ray cluster answers at {wanted!r}"
        )
        raise ClusterError(
            f"{where} ({reason[:300]}): see ray status on its head node, or use --engine local"
        ) from None
    overheard: Any = _Overheard(sys.stdout, set(threading.enumerate()) - before, hears or (lambda text: None))
    with redirect_stdout(overheard):  # to the end of the connection: Ray may print until it is closed
        try:
            yield ray
        finally:
            overheard.listen_to(threading.current_thread())  # which prints what Ray kept back, when it shuts down
            with suppress(Exception):  # the work is done, or given up for a reason that must not be hidden
                ray.shutdown()


class _Overheard:
    """Standard output, but for what Ray's own threads print there.

    Ray prints what the cluster tells, that a worker died for example, among the results, whatever it is asked to log.
    It offers no other way to take it.
    """

    def __init__(self, stream: TextIO, threads: set[threading.Thread], hears: Callable[[str], object]) -> None:
        self._stream, self._threads, self._hears = stream, threads, hears

    def listen_to(self, thread: threading.Thread) -> None:
        """What this thread prints from now on is Ray's, too."""
        self._threads.add(thread)

    def write(self, text: str) -> int:
        """Hands on what anybody prints, and tells what Ray does, without who says it."""
        if threading.current_thread() not in self._threads:
            return self._stream.write(text)
        if text.strip():
            self._hears(_SPEAKER.sub("", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _check_reach(address: str) -> None:
    """Refuses an address that nothing, or something else than Ray, listens at: Ray itself would try for minutes."""
    if address in ("auto", "local"):
        return
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise InputError(f"--address must be HOST:PORT, ray://HOST:PORT or auto, got {address!r}")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE) as connection:
            plain = os.environ.get("RAY_USE_TLS", "0") in ("", "0")
            method = _METHODS["ray://" if address.startswith("ray://") else ""]
            if plain and not (_speaks_grpc(connection) and _knows(connection, method)):
                raise ClusterError(
                    f"what listens at {address!r} is no Ray cluster: give the port of its head node, 6379 if ray start"
                    " --head was given no other, not that of its dashboard"
                )
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"no Ray cluster answers at {address!r} ({error}): is ray start --head running there, and the port open?"
            " Without --address, a cluster of this machine alone is used"
        ) from None


def _speaks_grpc(connection: socket.socket) -> bool:
    """Whether the other side answers a gRPC client with settings, as every gRPC server does at once."""
    try:
        connection.sendall(_GREETING)
        kind, _, _, _ = _frame(connection)
    except OSError:  # silent for too long, or hung up
        return False
    return kind == _SETTINGS


def _knows(connection: socket.socket, method: str) -> bool:
    """Whether what speaks gRPC has a method; refused for another reason, it has.

    By frames of HTTP/2 and not by a library for gRPC, which Ray's smallest installation has no need of.
    """
    names = [(b"\x83\x86\x04", method), (b"\x01", "ray")]  # POST, http, path, authority: RFC 7541's table of names
    names += [(b"\x0f\x10", "application/grpc"), (b"\x00\x02te", "trailers")]
    headers = b"".join(name + bytes([len(value)]) + value.encode() for name, value in names)
    asked = _made_frame(_HEADERS, 4, 1, headers) + _made_frame(_DATA, 1, 1, bytes(5))  # one message, of nothing
    end = time.monotonic() + _ANSWER
    try:
        connection.sendall(_made_frame(_SETTINGS, 1, 0, b"") + asked)
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            kind, flags, stream, content = _frame(connection)
            if kind == _DATA and stream == 1:
                return True
            if kind == _HEADERS and stream == 1:
                recognised = any(said in content for said in _UNKNOWN[:2]) or content.startswith(_UNKNOWN[2:])
                if recognised or flags & 1:  # the end of the stream
                    return not recognised
    except OSError:  # silent for too long, or hung up
        return False
    return False


def _made_frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    return len(content).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + content


def _frame(connection: socket.socket) -> tuple[int, int, int, bytes]:
    """The next frame of HTTP/2: kind, flags, stream, content, which is cut where it is long.

    Raises:
        OSError: it does not come.
    """

    def read(size: int) -> bytes:
        part = b""
        while len(part) < size:
            more = connection.recv(min(size - len(part), 2**16))
            if not more:
                raise ConnectionError("the connection was closed")
            part += more
        return part

    head = read(9)
    size = int.from_bytes(head[:3], "big")
    if size > 2**16:  # longer than anybody may send unasked
        return head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF, b""
    return head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF, read(size)


def check_machines(ray: Any) -> None:
    """Asks one worker on every machine of the cluster for its versions.

    Raises:
        ClusterError: a machine has no nodewise, or another version of it or of Python.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def versions() -> Any:  # pickled by value, so that it can tell that nodewise is not there
        import platform

        try:
            from nodewise.cluster.versions import Versions
        except ImportError as error:
            return f"cannot import it ({error}; Python {platform.python_version()})"
        there = Versions.here()
        return there.python, there.nodewise, there.parts

    remote = ray.remote(num_cpus=0, max_retries=1)(versions)
    asked = {
        remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote(): node[
            "NodeManagerHostname"
        ]
        for node in ray.nodes()
        if node["Alive"]
    }
    here = Versions.here()
    for answer, host in asked.items():
        try:
            reply = ray.get(answer, timeout=_START)
        except ray.exceptions.GetTimeoutError:
            raise ClusterError(
                f"the machine {host} of the cluster did not start a worker in {_START:.0f} s: see ray status"
            ) from None
        except ray.exceptions.RayError:
            continue  # it died meanwhile: its work goes to the others
        if isinstance(reply, str):
            raise ClusterError(
                f"the worker on {host} has no nodewise, it {reply}: install nodewise {here.nodewise} on every machine"
            )
        difference = here.difference(Versions(*reply), f"the worker on {host}")
        if difference is not None:
            raise ClusterError(difference)
