"""Where something is computed, on how many threads, and from which seed.

Decided by name, nothing touches the global random state.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING

import numpy as np

from nodewise.ground.errors import InputError, WrongTypeError

if TYPE_CHECKING:
    import torch

__all__ = ["cores", "derive_seed", "free_memory", "in_blocks", "numpy_generator", "one_thread", "resolve_device"]

_CGROUPS = (
    ("", Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    ("memory", Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Where a container tells the memory that it may take, takes, and takes for files that it can let go of, in both forms
that Linux has.
"""

_OWN_CGROUPS = Path("/proc/self/cgroup")
"""Which group this process is in: a batch system such as Slurm sets its limit on an inner one."""


def resolve_device(name: str | torch.device = "auto") -> torch.device:
    """The device of that name, or torch's own object for it; ``"auto"`` is a GPU where there is one, else the CPU.

    An explicit request is honoured or refused, never replaced. A GPU asked for by number becomes torch's current one:
    kernels and recorded steps run there.

    Raises:
        InputError: the device is unknown or not there.
    """
    import torch

    if isinstance(name, torch.device):
        name = str(name)
    if not isinstance(name, str):
        raise WrongTypeError(
            f"a device is named auto, cpu, cuda or cuda:N, got {name!r}: leave it out for the best there is"
        )
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, index = name.partition(":")
    if kind not in ("cpu", "cuda") or (index and not (kind == "cuda" and index.isdigit())):
        raise InputError(f"unknown device {name!r}: use auto, cpu, cuda or cuda:N")
    if kind == "cuda":
        if not torch.cuda.is_available():
            raise InputError(
                f"device {name!r} was asked for, but torch sees no CUDA GPU here: choose the device cpu, or install"
                " a CUDA build of torch"
            )
        if index and int(index) >= torch.cuda.device_count():
            raise InputError(
                f"device {name!r} was asked for, but there are {torch.cuda.device_count()} GPUs: use cuda:0 to"
                f" cuda:{torch.cuda.device_count() - 1}"
            )
        if index:
            torch.cuda.set_device(int(index))
        return torch.device(kind, torch.cuda.current_device())
    return torch.device("cpu")


@contextmanager
def one_thread() -> Iterator[None]:
    """torch without gradients and on a single thread, as it was before afterwards, in whatever order threads leave.

    Sums then have one order, so that a session's numbers do not depend on how many cores there are; and with a single
    run the work is so small that threads waiting for each other cost more than they bring, many times more on a busy
    machine.
    """
    import torch

    if _THREAD.inside:  # inside another such block
        with torch.no_grad() if torch.is_grad_enabled() else nullcontext():
            yield
        return
    before = _enter()
    try:
        with torch.no_grad():
            yield
    finally:
        _leave(before)


def _enter() -> int:
    """Set this thread to one; gives how many threads torch had here."""
    import torch

    with _COUNTING:
        before = torch.get_num_threads()
        # a thread that meets torch for the first time is given what was set last, which is the one of another block
        if before == 1 and _BLOCKS.open and not _THREAD.works:
            before = _BLOCKS.outside
        elif not _BLOCKS.open:
            _BLOCKS.outside = before
        _BLOCKS.open += 1
        _THREAD.inside = True
        torch.set_num_threads(1)
    return before


def _leave(before: int) -> None:
    import torch

    with _COUNTING:
        _BLOCKS.open -= 1
        _THREAD.inside = False
        torch.set_num_threads(before)


class _Blocks:
    """How many threads are inside `one_thread`, and how many threads torch had before the first of them."""

    open = 0
    outside = 1


def cores() -> int:
    """Cores that this process may use: those that it is bound to, or fewer where OMP_NUM_THREADS says so."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(bound, int(wanted)) if wanted.isdigit() and int(wanted) else bound)


def free_memory() -> int | None:
    """Bytes that this process may still take.

    What the machine has free, or less where a container or a batch system sets a limit; None where nobody tells.
    """
    found = []
    with suppress(OSError, ValueError, KeyError):
        found.append(1024 * _figures(Path("/proc/meminfo"))["MemAvailable:"])
    for kind, root, limit, used, let_go in _CGROUPS:
        for folder in _own_groups(kind, root):
            with suppress(OSError, ValueError, KeyError):
                most, now = (int((folder / name).read_text()) for name in (limit, used))
                found.append(most - now + _figures(folder / "memory.stat")[let_go])
    return max(0, min(found)) if found else None


def _own_groups(kind: str, root: Path) -> list[Path]:
    """The folder of the group that this process is in, and of all around it."""
    with suppress(OSError, ValueError):
        for line in _OWN_CGROUPS.read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kind in kinds.split(","):
                inner = root / path.lstrip("/")
                return [root, inner, *(folder for folder in inner.parents if root in folder.parents)]
    return [root]


def _figures(path: Path) -> dict[str, int]:
    """The numbers in a file of the kernel, by the word in front of each."""
    return {line.split()[0]: int(line.split()[1]) for line in path.read_text().splitlines() if len(line.split()) > 1}


def in_blocks(count: int, size: int, work: Callable[[int, int], None]) -> None:
    """Do work on rows 0 to ``count``, so many at a time, each block on one thread, on all cores.

    The same numbers, however many there are.

    Args:
        count: how many rows.
        size: rows of a block.
        work: gets the first row of a block and the one after its last.
    """
    bounds = [(first, min(first + size, count)) for first in range(0, count, size)]
    threads = min(cores(), len(bounds))
    if threads <= 1 or _THREAD.works:  # a block's own blocks would wait for a thread for ever
        for first, end in bounds:
            work(first, end)
        return
    import torch

    left = iter(bounds)  # whoever is free takes the next one

    def take_part() -> None:
        for first, end in left:
            work(first, end)

    own = torch.get_num_threads() == 1
    others = [_workers(cores()).submit(take_part) for _ in range(threads - own)]
    try:
        if own:
            _THREAD.works = True
            take_part()
    finally:
        if own:
            _THREAD.works = False
        wait(others)
    for other in others:
        other.result()


class _Thread(local):
    """What is known of the present thread: whether it works for `in_blocks`, and whether it is inside `one_thread`."""

    works = False
    inside = False


_THREAD, _BLOCKS, _COUNTING = _Thread(), _Blocks(), Lock()


@cache
def _workers(count: int) -> ThreadPoolExecutor:
    """Threads that stay: new ones would have to get all their memory anew, which takes longer than a session's
    blocks.
    """
    return ThreadPoolExecutor(count, "nodewise-block", _begin_worker)


def _begin_worker() -> None:
    import torch

    _THREAD.works = True
    torch.set_num_threads(1)


def _begin_child() -> None:
    """Other threads do not survive a fork: neither those that work, nor those that were inside a block."""
    global _COUNTING
    _COUNTING, _BLOCKS.open = Lock(), int(_THREAD.inside)
    _workers.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


def derive_seed(seed: int, *path: int | str) -> int:
    """A 63-bit seed for the draw that ``path`` names, the same on every machine and version.

    Two different paths give unrelated seeds, so a draw never depends on which other draws were made before it.
    """
    text = "/".join([str(int(seed)), *map(str, path)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def numpy_generator(seed: int, *path: int | str) -> np.random.Generator:
    """numpy's SFC64 generator for the draw that ``path`` names."""
    return np.random.Generator(np.random.SFC64(derive_seed(seed, *path)))
