"""Policies in the form that the paper's authors released: plain PyTorch state dicts."""

from __future__ import annotations

from pathlib import Path

import torch

from nodewise.ground.errors import PolicyFileError
from nodewise.policy.file import _fill
from nodewise.policy.network import Policy, PolicySettings

__all__ = ["import_released"]

_NAMES = {
    "gcn.0.weight": "weights.0", "gcn.1.weight": "weights.1",
    "gcn.0.bias": "biases.0", "gcn.1.bias": "biases.1",
    "output_layer.weight": "output",
}  # fmt: skip


def import_released(path: str | Path) -> Policy:
    """A policy from a released state dict; only tensors are read, nothing in the file is executed.

    Raises:
        PolicyFileError: the file is not such a state dict.
    """
    path = Path(path)
    if not path.is_file():
        raise PolicyFileError(f"no file at {str(path)!r}: give a state dict saved by torch.save")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # bytes that are no state dict fail in whatever way torch's reader stumbles over them
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise PolicyFileError(
            f"{str(path)!r} is not a plain state dict ({reason}): only files that hold nothing but tensors are read"
        ) from None
    if not isinstance(found, dict) or set(found) != set(_NAMES) or not all(isinstance(part, torch.Tensor) for part in found.values()):
        names = sorted(map(str, found)) if isinstance(found, dict) else type(found).__name__
        raise PolicyFileError(f"{str(path)!r} holds {names}, a released policy holds the tensors {sorted(_NAMES)}: it is of another kind")
    size = path.stat().st_size
    if any(4 * tensor.numel() > size for tensor in found.values()):  # a view that repeats what little the file holds
        raise PolicyFileError(f"{str(path)!r} holds tensors larger than itself: it is no plain state dict")
    policy = Policy(PolicySettings(hidden=max(1, found["gcn.0.bias"].numel())))
    _fill(policy, {_NAMES[name]: tensor for name, tensor in found.items()}, str(path))
    policy.origin = {"imported_from": path.name, "source_graphs": []}
    return policy
