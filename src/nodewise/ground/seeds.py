"""Seeds for every random draw, derived by name: nothing touches the global random state."""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["derive_seed", "numpy_generator"]


def derive_seed(seed: int, *path: int | str) -> int:
    """A 63-bit seed for the draw that ``path`` names, the same on every machine and version.

    Two different paths give unrelated seeds, so a draw never depends on which other draws were made before it.
    """
    text = "/".join([str(int(seed)), *map(str, path)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


def numpy_generator(seed: int, *path: int | str) -> np.random.Generator:
    """numpy's SFC64 generator for the draw that ``path`` names."""
    return np.random.Generator(np.random.SFC64(derive_seed(seed, *path)))
