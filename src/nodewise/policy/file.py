"""Policy files: our own, one ``.safetensors`` with weights and everything needed to use them.

Those that come with nodewise; the paper's released ones.

Nothing in a file is executed.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from nodewise.ground.errors import PolicyFileError, UnknownNameError, WrongTypeError
from nodewise.ground.files import as_path, whole_file
from nodewise.policy.policy import Policy, PolicySettings

__all__ = [
    "DEFAULT_POLICY",
    "FORMAT",
    "find_policy",
    "import_released",
    "load_policy",
    "save_policy",
    "shipped_policies",
    "tensor_digest",
]


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
        PolicyFileError: there is no such folder, the file would not be recognised by its ending, or the disk takes it
            not.
    """
    if not isinstance(policy, Policy):
        raise WrongTypeError(
            f"a policy was expected, received {type(policy).__name__}: give what train_policy or load_policy has given"
        )
    path = as_path(path, "the file of the policy")
    if path.suffix != ".safetensors" or not path.absolute().parent.is_dir():
        raise PolicyFileError(
            f"no policy can be written to {str(path)!r}: name a .safetensors file in a folder that is there"
        )
    record = {
        "format": FORMAT,
        "settings": json.dumps(policy.settings.as_dict()),
        "origin": json.dumps(dict(origin or policy.origin)),
    }
    tensors = {name: tensor.detach().cpu().float().contiguous() for name, tensor in policy.state_dict().items()}
    record["digest"] = tensor_digest(record, tensors)
    try:
        with whole_file(path) as file:
            file.write(_ordered(save(tensors, metadata=record)))
    except OSError as error:
        raise PolicyFileError(
            f"no policy can be written to {str(path)!r}: {error.strerror or error}; check the space left and the"
            " permissions"
        ) from error


def tensor_digest(record: Mapping[str, str], tensors: Mapping[str, torch.Tensor]) -> str:
    """What tells one file of tensors from another: its texts but for the digest itself, names, shapes and numbers."""
    digest = hashlib.blake2b(digest_size=16)
    texts = sorted((key, text) for key, text in record.items() if key != "digest")
    digest.update(json.dumps([texts, [(n, str(t.dtype), list(t.shape)) for n, t in sorted(tensors.items())]]).encode())
    for _, tensor in sorted(tensors.items()):
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


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
        from nodewise.policy.file import shipped_policies

        path = shipped_policies().get(path, path)
    path = as_path(path, "a policy's name or file")
    if not path.is_file():
        raise PolicyFileError(
            f"no policy file at {str(path)!r}: give a .safetensors file, or one of the names in 'nodewise policy list'"
        )
    try:
        with safe_open(path, framework="pt") as file:
            record = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, OSError) as error:
        raise PolicyFileError(
            f"{str(path)!r} is not a readable policy file ({error}): train it again, or import a state dict"
        ) from None
    if record.get("format") != FORMAT:
        raise PolicyFileError(
            f"{str(path)!r} has format {record.get('format')!r}, this version reads {FORMAT!r}: train the policy again,"
            " or update nodewise"
        )
    # files from before there were digests have none; one whose name is damaged is a text of another name
    if {*record} - {"format", "settings", "origin", "digest"} or (
        "digest" in record and record["digest"] != tensor_digest(record, tensors)
    ):
        raise PolicyFileError(
            f"{str(path)!r} does not hold what was written to it: use a copy of it, or train the policy again"
        )
    try:
        settings = PolicySettings.from_dict(json.loads(record["settings"]))
        _check_size(settings, tensors, str(path))
        policy = Policy(settings)
        policy.origin = dict(json.loads(record.get("origin", "{}")))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        own = re.match(r"unknown state feature '([\w.]+:[\w.]+)'", str(error))
        way = f"import it (on the command line: --state {own[1]})" if own else "update nodewise"
        raise PolicyFileError(
            f"{str(path)!r} says settings that this version does not know ({str(error).rstrip('.')}): {way}"
        ) from None
    _fill(policy, tensors, str(path))
    return policy


def _check_size(settings: PolicySettings, tensors: Mapping[str, torch.Tensor], source: str) -> None:
    """Refuses settings that claim more than the file holds, before anything of that size is made."""
    claimed = settings.layers * settings.hidden
    held = sum(tensor.numel() for tensor in tensors.values())
    own = settings.architecture not in ("gcn", "mlp")  # somebody's own network may hold fewer numbers than it has units
    if claimed > max(held, _SMALL if own else 0):
        raise PolicyFileError(
            f"{source!r} says {settings.layers} layers of {settings.hidden} units but holds only {held} numbers: the"
            " file is damaged"
        )


def _fill(policy: Policy, tensors: Mapping[str, torch.Tensor], source: str) -> None:
    """Copy weights into a policy after comparing every name and shape."""
    wanted = policy.state_dict()
    for name in sorted(wanted.keys() | tensors.keys()):
        have = tuple(tensors[name].shape) if name in tensors else "nothing"
        want = tuple(wanted[name].shape) if name in wanted else "nothing"
        if have != want:
            raise PolicyFileError(
                f"{source!r}: weight {name!r} has shape {have}, its settings say {want}: the file is damaged"
            )
        if not torch.isfinite(tensors[name]).all():
            raise PolicyFileError(
                f"{source!r}: weight {name!r} holds values that are not finite: train the policy again"
            )
    policy.load_state_dict(dict(tensors))


DEFAULT_POLICY = "cora+citeseer"


def shipped_policies() -> dict[str, Path]:
    """Every shipped policy's file by name."""
    folder = Path(str(files("nodewise.policy"))) / "shipped"
    return {path.name.removesuffix(".safetensors"): path for path in sorted(folder.glob("*.safetensors"))}


def find_policy(name_or_file: str | Path | None = None) -> Policy:
    """A policy by its shipped name or from a file; the default one for None.

    Raises:
        UnknownNameError: it is neither a shipped policy's name nor a file.
        PolicyFileError: the file cannot be used.
    """
    wanted = str(name_or_file or DEFAULT_POLICY)
    shipped = shipped_policies()
    if wanted in shipped:
        return load_policy(shipped[wanted])
    if Path(wanted).suffix != ".safetensors" and not Path(wanted).exists():
        raise UnknownNameError("policy", wanted, shipped, "Or give a .safetensors file.")
    return load_policy(wanted)


_RELEASED_NAMES = {
    "gcn.0.weight": "weights.0",
    "gcn.1.weight": "weights.1",
    "gcn.0.bias": "biases.0",
    "gcn.1.bias": "biases.1",
    "output_layer.weight": "output",
}


def _refusal(error: Exception) -> str:
    """Why torch read nothing, without its advice to run what the file holds."""
    said = str(error).strip()
    if "weights_only" not in said:
        return said.splitlines()[0] if said else type(error).__name__
    asked = re.search(r"GLOBAL ([\w.]+)", said)
    return f"it asks for {asked[1]}, which tensors do not need" if asked else "it is damaged, or of another kind"


def import_released(path: str | Path) -> Policy:
    """A policy in the form that the paper's authors released, a plain PyTorch state dict.

    Only tensors are read, nothing in the file is executed.

    Raises:
        PolicyFileError: the file is not such a state dict.
    """
    path = Path(path)
    if not path.is_file():
        raise PolicyFileError(f"no file at {str(path)!r}: give a state dict saved by torch.save")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # torch's on pickles of other protocols, which are read or refused all the same
            state_dict = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # bytes that are no state dict fail in whatever way torch's reader stumbles over them
        raise PolicyFileError(
            f"{str(path)!r} is not a plain state dict ({_refusal(error)}): only files that hold nothing but tensors are"
            " read"
        ) from None
    if (
        not isinstance(state_dict, dict)
        or set(state_dict) != set(_RELEASED_NAMES)
        or not all(isinstance(part, torch.Tensor) for part in state_dict.values())
    ):
        names = sorted(map(str, state_dict)) if isinstance(state_dict, dict) else type(state_dict).__name__
        raise PolicyFileError(
            f"{str(path)!r} holds {names}, a released policy holds the tensors {sorted(_RELEASED_NAMES)}: it is of"
            " another kind"
        )
    size = path.stat().st_size
    if any(
        4 * tensor.numel() > size for tensor in state_dict.values()
    ):  # a view that repeats what little the file holds
        raise PolicyFileError(f"{str(path)!r} holds tensors larger than itself: it is no plain state dict")
    policy = Policy(PolicySettings(hidden=max(1, state_dict["gcn.0.bias"].numel())))
    _fill(policy, {_RELEASED_NAMES[name]: tensor for name, tensor in state_dict.items()}, str(path))
    policy.origin = {"imported_from": path.name, "source_graphs": []}
    return policy
