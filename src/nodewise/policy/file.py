"""The policy file: one ``.safetensors``, weights and everything needed to use them; nothing in it is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from nodewise.ground.errors import PolicyFileError
from nodewise.ground.files import whole_file
from nodewise.policy.network import Policy, PolicySettings

__all__ = ["FORMAT", "load_policy", "save_policy"]

FORMAT = "nodewise-policy-1"

_SMALL = 4096
"""So many units may always be claimed."""


def save_policy(policy: Policy, path: str | Path, origin: Mapping[str, Any] | None = None) -> None:
    """Write a policy file; whole or not at all. The same policy gives the same bytes.

    Args:
        policy: what to save.
        path: ends with ``.safetensors``.
        origin: where it comes from: source graphs with their sizes and average degrees, episodes, seed, version.

    Example:
        >>> import nodewise as nw
        >>> nw.save_policy(nw.load_policy("cora+citeseer"), "copy.safetensors")

    Raises:
        PolicyFileError: there is no such folder, or the file would not be recognised by its ending.
    """
    path = Path(path)
    if path.suffix != ".safetensors" or not path.absolute().parent.is_dir():
        raise PolicyFileError(f"no policy can be written to {str(path)!r}: name a .safetensors file in a folder that is there")
    record = {"format": FORMAT, "settings": json.dumps(policy.settings.as_dict()), "origin": json.dumps(dict(origin or policy.origin))}
    tensors = {name: tensor.detach().cpu().float().contiguous() for name, tensor in policy.state_dict().items()}
    with whole_file(path) as file:
        file.write(_ordered(save(tensors, metadata=record)))


def _ordered(content: bytes) -> bytes:
    """A safetensors file with the entries of its header in order: the library leaves that to chance."""
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + length]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)  # the weights that follow stay aligned
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def load_policy(path: str | Path) -> Policy:
    """Read a policy file, or one of the policies that come with nodewise by its name.

    Example:
        >>> import nodewise as nw
        >>> nw.load_policy("cora+citeseer").settings.architecture
        'gcn'

    Raises:
        PolicyFileError: there is no such file, it is damaged, or it is not a policy of this version.
    """
    if isinstance(path, str) and not path.endswith(".safetensors"):
        from nodewise.policy.shipped import shipped_policies

        path = shipped_policies().get(path, path)
    path = Path(path)
    if not path.is_file():
        raise PolicyFileError(f"no policy file at {str(path)!r}: give a .safetensors file, or one of the names in 'nodewise policy list'")
    try:
        with safe_open(path, framework="pt") as file:
            record = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, OSError) as error:
        raise PolicyFileError(f"{str(path)!r} is not a readable policy file ({error}): train it again, or import a state dict") from None
    if record.get("format") != FORMAT:
        raise PolicyFileError(
            f"{str(path)!r} has format {record.get('format')!r}, this version reads {FORMAT!r}: train the policy again, or update nodewise"
        )
    try:
        settings = PolicySettings.from_dict(json.loads(record["settings"]))
        _check_size(settings, tensors, str(path))
        policy = Policy(settings)
        policy.origin = dict(json.loads(record.get("origin", "{}")))
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyFileError(f"{str(path)!r} says settings that this version does not know ({error}): update nodewise") from None
    _fill(policy, tensors, str(path))
    return policy


def _check_size(settings: PolicySettings, tensors: Mapping[str, torch.Tensor], source: str) -> None:
    """Refuses settings that claim more than the file holds, before anything of that size is made."""
    claimed = settings.layers * settings.hidden
    held = sum(tensor.numel() for tensor in tensors.values())
    own = settings.architecture not in ("gcn", "mlp")  # somebody's own network may hold fewer numbers than it has units
    if claimed > max(held, _SMALL if own else 0):
        raise PolicyFileError(
            f"{source!r} says {settings.layers} layers of {settings.hidden} units but holds only {held} numbers: the file is damaged"
        )


def _fill(policy: Policy, tensors: Mapping[str, torch.Tensor], source: str) -> None:
    """Copy weights into a policy after comparing every name and shape."""
    wanted = policy.state_dict()
    for name in sorted(wanted.keys() | tensors.keys()):
        have = tuple(tensors[name].shape) if name in tensors else "nothing"
        want = tuple(wanted[name].shape) if name in wanted else "nothing"
        if have != want:
            raise PolicyFileError(f"{source!r}: weight {name!r} has shape {have}, its settings say {want}: the file is damaged")
        if not torch.isfinite(tensors[name]).all():
            raise PolicyFileError(f"{source!r}: weight {name!r} holds values that are not finite: train the policy again")
    policy.load_state_dict(dict(tensors))
